r"""Functions that find the words of a text by its letters, digits and spaces, without a tokenizer.

    >>> text = "Low prices, 2:\nget_price(天気)"
    >>> [f"{text[start:stop]} {kind}" for start, stop, kind in words_of(text)]
    ['Low Latin', 'prices Latin', '2 digits', 'get_price names', '天 Han', '気 Han']

A word is a run of letters with their marks, and with apostrophes between letters. Where a script puts no spaces
between words, each letter is a word. A run of digits is a word. A name in program code is a word: it has an
underscore, a digit after a letter, or a capital letter after a lowercase letter.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import regex

DIGITS = "digits"
NAMES = "names"
WITHOUT_SPACES = ("Han", "Hiragana", "Katakana", "Thai", "Lao", "Khmer", "Myanmar", "Tibetan")
_CALLED = {  # scripts of letters whose names begin otherwise
    **dict.fromkeys(("CJK", "KANGXI"), "Han"),
    **dict.fromkeys(("FULLWIDTH", "FEMININE", "MASCULINE", "KELVIN", "ANGSTROM"), "Latin"),
    **dict.fromkeys(("MICRO", "OHM"), "Greek"),
    **dict.fromkeys(("MATHEMATICAL", "MODIFIER", "SUPERSCRIPT", "DOUBLE", "SCRIPT", "BLACK"), "Other"),
    "HALFWIDTH": "Katakana",
}


class Word(NamedTuple):
    start: int  # in characters
    stop: int
    kind: str  # a script, or one of the names above


def words_of(text: str) -> Iterator[Word]:
    """Yield each word of a text with its start, its stop and its kind.

    The kind is the script of the letters, such as "Latin", or "digits", or "names" for a name in program code, such as
    `get_price`.
    """
    for match in _pattern().finditer(text):
        start, stop = match.span()
        yield Word(start, stop, match.lastgroup if match.lastgroup in (DIGITS, NAMES) else script_of(text[start]))


@cache
def script_of(letter: str) -> str:
    """Return the script of a letter, from the first word of its Unicode name.

    >>> [script_of(letter) for letter in "aжµ東かアก"]
    ['Latin', 'Cyrillic', 'Greek', 'Han', 'Hiragana', 'Katakana', 'Thai']
    """
    first = unicodedata.name(letter, "OTHER").split()[0].partition("-")[0]
    return _CALLED.get(first, first.capitalize())


@cache
def _pattern() -> regex.Pattern[str]:
    import regex  # takes a while to load

    alone = "".join(rf"\p{{Script={script}}}" for script in WITHOUT_SPACES)
    letter = rf"[\p{{L}}--[{alone}]]"
    name = rf"(?P<{NAMES}>(?=\w*?(?:[^\W\d]_|_[^\W\d]|[^\W\d_]\d|\p{{Ll}}\p{{Lu}}))[^\W\d]\w*)"
    plain = rf"{letter}[{letter}\p{{M}}]*(?:['’][{letter}\p{{M}}]+)*"
    return regex.compile(rf"(?V1)(?:{name}|[{alone}&&\p{{L}}]\p{{M}}*|(?P<{DIGITS}>\p{{N}}+)|{plain})")


def segmented(lines: Sequence[str]) -> tuple[str, list[Word]]:
    r"""Join lines of segmented text. Return the text and its words.

    Spaces in `lines` separate words. The text has no spaces. Words without a letter are left out, unless they are
    numbers.

    >>> text, words = segmented(["天気 が", "良い"])
    >>> text, [tuple(word) for word in words]
    ('天気が\n良い', [(0, 2, 'Han'), (2, 3, 'Hiragana'), (4, 6, 'Han')])
    """
    text: list[str] = []
    words: list[Word] = []
    place = 0
    for line in lines:
        for word in line.split():
            text.append(word)
            kind = next((script_of(letter) for letter in word if letter.isalpha()), "")
            if kind or word.isdecimal():
                words.append(Word(place, place + len(word), kind or DIGITS))
            place += len(word)
        text.append("\n")
        place += 1
    return "".join(text[:-1]), words
