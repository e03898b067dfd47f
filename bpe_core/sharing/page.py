"""A web page that contains training runs or lessons, and the scripts that show them. It loads no other file.

These calls write such pages:

    share({"ours": study, "theirs": bpe.open("tokenizer.json")}, "duel.html")
    share_lessons("class.html")
"""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

from bpe_core.errors import BpeError
from bpe_core.figures.coloured_text import PAGE_COLOURS, SAMPLE, background_styles
from bpe_core.methods.registry import METHODS
from bpe_core.report import Report
from bpe_core.sharing.contents import SharedRun, contents_of, symbols_of
from bpe_core.sharing.packing import pack
from bpe_core.studies.study import Study
from bpe_core.support.atomic import write_atomically
from bpe_core.support.markup import Markup, element, joined
from bpe_core.support.wording import count_text
from resources import page_part

RUN_SCRIPTS = ("unpack", "elements", "words", "tokens", "cuts", "run", "lane", "curve", "address")
LESSON_SCRIPTS = ("unpack", "elements", "answers", "lesson")
ALL_LESSONS = "Lessons on tokens"
MOST_RUNS = 6
MOST_TEXT = 20_000  # characters of the text to begin with


def share(given: Any, path: Path | str, *, title: str = "", text: str = "", note: str = "") -> None:
    """Write a run, or several runs side by side, as one page that splits any text and plays all steps.

    Parameters
    ----------
    given
        A study, or a dictionary from names to at most six studies.
    path
        The name of the file.
    title
        The title of the page. By default this is the names of the runs.
    text
        The text that the page shows first. By default this is a short sample.
    note
        A note below the name of each run.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import bpe_core as bpe
    >>> study = bpe.train("low low lower", "gpt2", vocab_size=258)
    >>> with TemporaryDirectory() as folder:
    ...     share(study, Path(folder, "run.html"), title="Two merges")
    ...     "<title>Two merges</title>" in Path(folder, "run.html").read_text(encoding="utf-8")
    True
    """
    several = given if isinstance(given, Mapping) else {"": given}
    runs = [shared(Study.of(learned), name, note) for name, learned in several.items()]
    write_page(runs, path, title=title, text=text)


def shared(study: Study, name: str = "", note: str = "") -> SharedRun:
    title = name or study.name or METHODS[study.history.recipe.method].title
    return SharedRun(title, study.history, study.inside.learned_from, note)


def shared_report(report: Report) -> SharedRun:
    """Convert the run of a report to a shared run, with the notes that a user wrote at its steps."""
    steps = report.wording.step.capitalize()
    notes = (f"{steps} {mark.merge:,}: {mark.note}" for mark in report.bookmarks if mark.note)
    return shared(report.study, report.title, "\n".join(notes))


def share_reports(reports: Sequence[Report], path: Path | str) -> None:
    """Write the runs of several reports as one page, side by side."""
    write_page([shared_report(report) for report in reports], path, text=reports[0].text)


def with_different_titles(runs: Sequence[SharedRun]) -> list[SharedRun]:
    """Return the same runs, with longer titles for runs that have the same title.

    The recipe and the vocabulary size are added to each of these titles, and a number if the titles are still equal.
    """
    times = Counter(run.title for run in runs)
    longer = [
        run.title
        if times[run.title] == 1
        else f"{run.title} · {run.history.recipe.name}, {count_text(run.history.vocabulary_size, 'token')}"
        for run in runs
    ]
    return [replace(run, title=title) for run, title in zip(runs, _numbered(longer), strict=True)]


def _numbered(titles: Sequence[str]) -> list[str]:
    """Return the titles, with a number after each title that is equal to an earlier one.

    >>> _numbered(["ours", "theirs", "ours", "ours (2)"])
    ['ours', 'theirs', 'ours (3)', 'ours (2)']
    """
    used = set(titles)
    seen = set[str]()
    numbered = list[str]()
    for title in titles:
        if title in seen:
            title = next(other for number in count(2) if (other := f"{title} ({number})") not in used)
            used.add(title)
        seen.add(title)
        numbered.append(title)
    return numbered


def write_page(runs: Sequence[SharedRun], path: Path | str, *, title: str = "", text: str = "") -> None:
    page = page_of(runs, title=title, text=text).encode()
    with write_atomically(path) as file:
        file.write(page)


def page_of(runs: Sequence[SharedRun], *, title: str = "", text: str = "") -> str:
    if not 1 <= len(runs) <= MOST_RUNS:
        raise BpeError(f"A page shows 1 to {MOST_RUNS} runs, not {len(runs):,}.")
    title = title or " and ".join({run.title: None for run in runs})
    runs = with_different_titles(runs)
    symbols = symbols_of(runs)
    kept = (text or ("" if symbols else SAMPLE))[:MOST_TEXT].encode(errors="replace").decode()
    contents = [contents_of(run) for run in runs]
    some = {content["cuts"]["by"] for content in contents} - {""}  # a page holds only the scripts that it needs
    some |= {"symbols"} if symbols else set()
    some |= {"prepare"} if any(content["preparation"] for content in contents) else set()
    data = {"title": title, "text": kept, "symbols": symbols, "runs": contents}
    return _page(title, data, (*RUN_SCRIPTS, *sorted(some), "page"), ("page",))


def share_lessons(path: Path | str, names: Sequence[str] = (), *, title: str = "") -> None:
    """Write lessons as one page that asks questions, checks the answers and explains them.

    The answers of a user who takes a lesson stay in the browser.

    Parameters
    ----------
    path
        The name of the file.
    names
        The names of the lessons, or parts of the names, such as "ties". By default all lessons are written.
    title
        The title of the page. By default this is "Lessons on tokens", or the lesson's title if there is only one
        lesson.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     share_lessons(Path(folder, "ties.html"), ["ties"])
    ...     "<title>When two pairs are equal</title>" in Path(folder, "ties.html").read_text(encoding="utf-8")
    True
    """
    page = lesson_page_of(names, title=title).encode()
    with write_atomically(path) as file:
        file.write(page)


def lesson_page_of(names: Sequence[str] = (), *, title: str = "") -> str:
    from bpe_core.lessons.lessons import lessons  # loads machine code
    from bpe_core.sharing.lesson_contents import lesson_contents

    for name in names:
        if not any(name in lesson.name for lesson in lessons()):
            known = ", ".join(lesson.name for lesson in lessons())
            raise BpeError(f"There is no lesson {name!r}; the lessons are {known}.")
    chosen = [lesson for lesson in lessons() if not names or any(name in lesson.name for name in names)]
    title = title or (chosen[0].title if len(chosen) == 1 else ALL_LESSONS)
    data = {"title": title, "lessons": [lesson_contents(lesson) for lesson in chosen]}
    return _page(title, data, LESSON_SCRIPTS, ("page", "lesson"))


def _page(title: str, data: Any, scripts: Sequence[str], styles: Sequence[str]) -> str:
    script = '"use strict";\n' + "\n".join(page_part(f"{name}.js") for name in scripts)
    style = _style(styles)
    # The browser runs only this script and this style, even if the page contains others.
    policy = f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; base-uri 'none'"
    head = [
        Markup('<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'),
        element("meta", {"http-equiv": "Content-Security-Policy", "content": policy}).removesuffix("</meta>"),
        element("title", {}, title),
        element("style", {}, Markup(style)),
    ]
    body = [
        element("main", {}, element("p", {}, "This page needs a browser of 2023 or later, with scripts allowed.")),
        element("footer", {"class": "muted"}, "Made with BPE Explorer. This page loads nothing and sends nothing."),
        element("script", {"type": "text/plain", "id": "data"}, pack(data)),
        element("script", {}, Markup(script)),
    ]
    inside = joined(Markup(part) for part in head), joined(body)
    return f'<!DOCTYPE html>\n<html lang="en"><head>{inside[0]}</head><body>{inside[1]}</body></html>\n'


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _style(parts: Sequence[str]) -> str:
    light, dark = background_styles()
    own = "".join(page_part(f"{name}.css") for name in parts)
    return f"{PAGE_COLOURS}{own}{light}\n@media (prefers-color-scheme: dark) {{ {dark} }}\n"
