"""The pages of the manual with their sections, and the search in them.

A page is a Markdown file in `resources/manual`. The `README.md` of this folder links to all pages.

    >>> slug("What ties decide, and when"), slug("`a.b`")
    ('what-ties-decide-and-when', 'ab')
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import resources
from bpe_core.errors import OutputError
from bpe_core.support.atomic import write_atomically
from bpe_core.support.private_folder import home

FOLDER = Path(resources.__file__).parent / "manual"
CONTENTS = "README.md"
CHANGES = "changes.md"
_LINK = re.compile(r"\]\(([\w./-]+\.md)\)")
_COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)
_HEADING = re.compile(r"(#{1,3}) (.+)")


@dataclass(frozen=True)
class Section:
    page: str  # the name of its file
    title: str
    level: int  # 1 for the title of a page
    text: str

    @property
    def place(self) -> str:
        return self.page if self.level == 1 else f"{self.page}#{slug(self.title)}"


def slug(title: str) -> str:
    """Return the name that links use for a heading. Sites such as GitHub form this name in the same way."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


@cache
def page_names() -> tuple[str, ...]:
    return tuple(dict.fromkeys((CONTENTS, *_LINK.findall(text_of(CONTENTS)))))


def text_of(page: str) -> str:
    """Return the text of a page, without the comments for its editors."""
    return _COMMENT.sub("", (FOLDER / page).read_text(encoding="utf-8"))


@cache
def sections() -> tuple[Section, ...]:
    return tuple(section for page in page_names() for section in _sections_of(page))


def _sections_of(page: str) -> Iterator[Section]:
    title = ""
    level = 1
    lines = list[str]()
    is_code = False
    for line in text_of(page).splitlines():
        is_code ^= line.startswith("```")
        heading = None if is_code else _HEADING.fullmatch(line)
        if heading and title:
            yield Section(page, title, level, "\n".join(lines))
        if heading:
            level = len(heading[1])
            title = heading[2]
            lines = []
        else:
            lines.append(line)
    yield Section(page, title, level, "\n".join(lines))


def search(typed: str) -> list[Section]:
    """Return the sections that contain all typed words. Sections with more of the words in their titles come first."""
    words = typed.casefold().split()

    def missing_in_title(section: Section) -> int:
        return sum(word not in section.title.casefold() for word in words)

    def has_all_words(section: Section) -> bool:
        return all(word in f"{section.title}\n{section.text}".casefold() for word in words)

    return sorted(filter(has_all_words, sections()), key=missing_in_title)


def place_of(titles: Sequence[str]) -> str:
    """Return the place in the manual of a section whose heading is one of these titles. Prefer earlier titles.

    If no title is a heading, return the place of the table of contents.
    """
    known = {section.title: section.place for section in reversed(sections())}
    return next((known[title] for title in titles if title in known), CONTENTS)


def proposed_path(page: str) -> str:
    """Return the path that the dialog proposes when a user saves a page."""
    return str((home() or Path()) / f"{Path(page).stem}.pdf")


def save_page(content: bytes, path: Path) -> str:
    """Save a page as a PDF file. Return a sentence about the result."""
    try:
        with write_atomically(path) as file:
            file.write(content)
    except OutputError as error:
        return str(error)
    return f"Saved as {path}."
