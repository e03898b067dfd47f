"""Functions that format numbers, tokens and tooltips for display."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from types import MappingProxyType

from bpe_core.history.history import ADDED, NOTHING
from bpe_core.history.token_texts import BLANK
from bpe_core.support.wording import count_text as count_text
from bpe_core.support.wording import size_text as size_text

STEP_SIGNS = {NOTHING: "− ", ADDED: "+ "}  # before a token that is dropped or added


OPTION = re.compile(r"--([a-z][a-z-]*)")
IN_PYTHON = re.compile(r", or with \w+=\[\.\.\.\] in Python")
PLACES = {  # fields of questions are named by their labels
    "--across-words": "the field “New tokens may hold several words”",
    "--base": "the field Starts from",
    "--corpus": "the panel Corpus",
    "--font": "the command film",
    "--group": "groups in the panel Corpus",
    "--method": "the method",
    "--min-word-count": "the command count",
    "--text": "the text of the window",
    "--variant": "the variant",
    "--word-list": "the entry “Words with Their Counts” in the corpus list",
}


def without_options(sentence: str, fields: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return a sentence that names fields and panels of the window instead of options of commands.

    `fields` holds the label of a field for each option.

    >>> without_options("Floors need texts: name them with --corpus, or with texts=[...] in Python.")
    'Floors need texts: name them with the panel Corpus.'
    >>> without_options("Name texts with --corpus, or words with --words.", {"--words": "Words"})
    'Name texts with the panel Corpus, or words with the field Words.'
    >>> without_options("--weights needs numbers.", {"--weights": "Weights"})
    'The field Weights needs numbers.'
    """

    def place(option: re.Match[str]) -> str:
        label = fields.get(option[0])
        where = f"the field {label}" if label else PLACES.get(option[0], option[1].replace("-", " "))
        return where if option.start() else where[:1].upper() + where[1:]

    return OPTION.sub(place, IN_PYTHON.sub("", sentence))


def duration_text(seconds: float) -> str:
    """Return a duration as text. For an hour or more, the text has no seconds.

    >>> duration_text(0.4), duration_text(48.2), duration_text(75), duration_text(4000)
    ('less than a second', '48 s', '1 min 15 s', '1 h 6 min')
    """
    whole = round(seconds)
    if whole < 1:
        return "less than a second"
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def rate_text(per_second: float, things: str) -> str:
    """Return a rate per second as text.

    >>> rate_text(4.24, "merges"), rate_text(48_211, "merges")
    ('4.2 merges/s', '48,211 merges/s')
    """
    return f"{per_second:.1f} {things}/s" if per_second < 10 else f"{per_second:,.0f} {things}/s"


def tip(text: str) -> str:
    """Return the text of a tip in a form that Qt shows literally, even if the text looks like markup."""
    return f"<qt>{html.escape(text)}</qt>".replace("\n", "<br>") if "<" in text else text


MARK = "\N{LEFT-TO-RIGHT MARK}"  # invisible
# The blocks of Unicode for scripts from right to left.
_FROM_THE_RIGHT = re.compile(
    "[\u0590-\u08ff\u200f\ufb1d-\ufdff\ufe70-\ufeff\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
_SIGNS = re.compile(r"<0x[0-9A-F]{2}>| \+ ")


def reads_from_the_right(text: str) -> bool:
    """Return whether a text contains letters of a script that is written from right to left."""
    return _FROM_THE_RIGHT.search(text) is not None


def with_direction_marks(text: str) -> str:
    r"""Return the text of a token with marks of direction, so that it is painted from left to right.

    Without the marks, Qt would tear apart the name of a byte after a Hebrew letter, and would swap two Hebrew tokens of
    a pair. Letters within a token keep their own direction. Do not copy the result to the clipboard.

    >>> with_direction_marks("␣a + <0xD7>")
    '␣a + <0xD7>'
    >>> ascii(with_direction_marks("\u05e9<0xD7>"))
    "'\\u200e\\u05e9\\u200e<0xD7>\\u200e'"
    """
    if not _FROM_THE_RIGHT.search(text):
        return text
    return MARK + _SIGNS.sub(lambda sign: f"{MARK}{sign[0]}{MARK}", text)


def link_to_step(step: int, text: str) -> str:
    """Return an HTML link to a step. `text` must be HTML already.

    >>> link_to_step(7, "merge 7")
    '<a href="step:7">merge 7</a>'
    """
    return f'<a href="step:{step}">{text}</a>'


def with_readable_blanks(text: str) -> str:
    """Return HTML in which the sign ␣, which represents a space, is not underlined as a part of a link.

    The sign looks like an underline itself.

    >>> with_readable_blanks("␣a")
    '<span style="text-decoration: none">␣</span>a'
    """
    return text.replace(BLANK, f'<span style="text-decoration: none">{BLANK}</span>')


def number_in(link: str) -> int:
    """Return the number in a link such as `step:1204`. Raise ValueError if the link has no number.

    >>> number_in("step:1204")
    1204
    """
    match = re.fullmatch(r"[a-z]+:(\d+)", link)
    if match is None:
        raise ValueError(f"{link} is not a page or action of this program")
    return int(match[1])


def sorted_heading(heading: str, *, from_end: bool) -> str:
    """Return the heading of the column by which a table is sorted, with a mark for the sort order.

    Qt's own mark would cover a heading that is aligned to the right.
    """
    return f"{heading} {'▾' if from_end else '▴'}"
