"""The functions that write numbers, tokens and tips for people."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping

from bpe_core.history.history import ADDED, NOTHING
from bpe_core.support.wording import count_text as count_text

STEP_SIGNS = {NOTHING: "− ", ADDED: "+ "}  # before a token that is dropped or added


OPTION = re.compile(r"--([a-z][a-z-]*)")
PLACES = {"--corpus": "the panel Corpus", "--group": "groups in the panel Corpus", "--text": "the text of the window"}


def without_options(sentence: str, fields: Mapping[str, str]) -> str:
    """Replace the options of commands in a sentence by fields and panels of the window.

    `fields` are the labels of the fields, by the options that they stand for.

    >>> without_options("Name texts with --corpus, or words with --words.", {"--words": "Words"})
    'Name texts with the panel Corpus, or words with the field Words.'
    >>> without_options("--weights needs numbers.", {"--weights": "Weights"})
    'The field Weights needs numbers.'
    """

    def place(option: re.Match[str]) -> str:
        label = fields.get(option[0])
        where = f"the field {label}" if label else PLACES.get(option[0], option[1].replace("-", " "))
        return where if option.start() else where[:1].upper() + where[1:]

    return OPTION.sub(place, sentence)


def size_text(size: float) -> str:
    """Return a number of bytes in the largest fitting unit.

    >>> size_text(512), size_text(1_500), size_text(10_797_148)
    ('512 B', '1.5 kB', '10.8 MB')
    """
    for unit in ("B", "kB", "MB", "GB"):
        if size < 999.5 or unit == "GB":
            break
        size /= 1000
    return f"{size:.0f} {unit}" if unit == "B" or size >= 100 else f"{size:.1f} {unit}"


def duration_text(seconds: float) -> str:
    """Return a duration as text. Long durations have no seconds.

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
    """Return the text of a tip so that Qt shows it literally, even if it looks like markup."""
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
    """Return the text of a token with direction marks, so that it is painted from left to right.

    Without the marks, Qt would split the name of a byte after a Hebrew letter, and would swap the two Hebrew
    tokens of a pair. Letters within a token keep their own direction. Do not use the result for copying.

    >>> with_direction_marks("␣a + <0xD7>")
    '␣a + <0xD7>'
    >>> ascii(with_direction_marks("\\u05e9<0xD7>"))
    "'\\\\u200e\\\\u05e9\\\\u200e<0xD7>\\\\u200e'"
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


def number_in(link: str) -> int:
    """Return the number in a link. Raise ValueError if the link has another form.

    >>> number_in("step:1204")
    1204
    """
    match = re.fullmatch(r"[a-z]+:(\d+)", link)
    if match is None:
        raise ValueError(f"{link} is not a page or action of this program")
    return int(match[1])


def sorted_heading(heading: str, *, from_end: bool) -> str:
    """Return the heading of the column that sorts a table, with a mark.

    Qt's own mark would cover a heading on the right.
    """
    return f"{heading} {'▾' if from_end else '▴'}"
