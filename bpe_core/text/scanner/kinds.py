"""The kinds of characters that the named patterns tell apart, and which kind each character is.

One division serves all patterns. It is found by asking `regex` itself, so that the scanner
and the expressions always mean the same version of Unicode.
"""

from __future__ import annotations

import string
from enum import IntEnum
from functools import cache

import numpy as np
import numpy.typing as npt
import regex

from bpe_core.text.patterns import IDEOGRAPHS


class Kind(IntEnum):
    """What a character is to a pattern. Letters that may stand in a contraction are kinds of their own."""

    OTHER = 0  # neither blank, letter, mark, number nor punctuation
    NEWLINE = 1
    RETURN = 2
    SPACE = 3
    BLANK = 4  # every other blank
    APOSTROPHE = 5
    SLASH = 6
    PUNCTUATION = 7  # every other mark of it, and what else ASCII has beside letters and digits
    SDMT = 8  # the letters that make a contraction alone
    L = 9
    V = 10
    R = 11
    E = 12
    LETTER = 13  # the other ASCII letters
    UPPER_SDMT = 14
    UPPER_L = 15
    UPPER_V = 16
    UPPER_R = 17
    UPPER_E = 18
    UPPER_LETTER = 19
    LONG_S = 20  # ſ, which is an s where case does not count
    FOREIGN_LOWER = 21  # beyond ASCII from here on
    FOREIGN_UPPER = 22  # title case included
    FOREIGN_CASELESS = 23
    IDEOGRAPH = 24  # a Chinese character: of them those without case that lie in the blocks of IDEOGRAPHS
    MARK = 25
    DIGIT = 26  # decimal digits of any script
    NUMBER = 27  # such as ½ and Ⅳ
    END = 28  # behind the last character of a text


KINDS = len(Kind)

# Kinds of whole ranges of characters; no character matches two of them.
_EXPRESSIONS = {
    Kind.OTHER: r"[\p{Cn}\p{Co}]",  # most code points: looked for first, and found in long runs
    Kind.BLANK: r"\s",
    Kind.PUNCTUATION: r"[\p{P}$+<=>^`|~]",
    Kind.FOREIGN_LOWER: r"\p{Ll}",
    Kind.FOREIGN_UPPER: r"[\p{Lu}\p{Lt}]",
    Kind.FOREIGN_CASELESS: r"[\p{Lm}\p{Lo}]",
    Kind.MARK: r"\p{M}",
    Kind.DIGIT: r"\p{Nd}",
    Kind.NUMBER: r"[\p{Nl}\p{No}]",
}
# Kinds of single characters, which go before; of two the later.
_CHARACTERS = {
    Kind.NEWLINE: "\n",
    Kind.RETURN: "\r",
    Kind.SPACE: " ",
    Kind.APOSTROPHE: "'",
    Kind.SLASH: "/",
    Kind.LETTER: string.ascii_lowercase,
    Kind.SDMT: "sdmt",
    Kind.L: "l",
    Kind.V: "v",
    Kind.R: "r",
    Kind.E: "e",
    Kind.UPPER_LETTER: string.ascii_uppercase,
    Kind.UPPER_SDMT: "SDMT",
    Kind.UPPER_L: "L",
    Kind.UPPER_V: "V",
    Kind.UPPER_R: "R",
    Kind.UPPER_E: "E",
    Kind.LONG_S: "ſ",
}

BLANKS = frozenset({Kind.NEWLINE, Kind.RETURN, Kind.SPACE, Kind.BLANK})
LINE_ENDS = frozenset({Kind.NEWLINE, Kind.RETURN})
ASCII_LETTERS = frozenset(Kind(i) for i in range(Kind.SDMT, Kind.LONG_S))
LETTERS = frozenset(Kind(i) for i in range(Kind.SDMT, Kind.MARK))
NUMBERS = frozenset({Kind.DIGIT, Kind.NUMBER})

SURROGATES = range(0xD800, 0xE000)  # code points that are no characters
CODE_POINTS = 0x110000


@cache
def kind_of_code_point() -> npt.NDArray[np.uint8]:
    """The kind of every code point.

    >>> [Kind(kind_of_code_point()[ord(character)]).name for character in "aſ½ "]
    ['LETTER', 'LONG_S', 'NUMBER', 'SPACE']
    """
    kinds = np.zeros(CODE_POINTS, np.uint8)
    ranges = regex.compile("|".join(f"({kind}+)" for kind in _EXPRESSIONS.values()))
    order = list(_EXPRESSIONS)
    for first, stop in ((0, SURROGATES.start), (SURROGATES.stop, CODE_POINTS)):
        characters = np.arange(first, stop, dtype=np.uint32).tobytes().decode("utf-32-le")
        for found in ranges.finditer(characters):
            kinds[first + found.start() : first + found.end()] = order[found.lastindex - 1]
    for block in IDEOGRAPHS:
        of_block = kinds[block.start : block.stop]
        of_block[of_block == Kind.FOREIGN_CASELESS] = Kind.IDEOGRAPH
    for kind, characters in _CHARACTERS.items():
        kinds[[ord(character) for character in characters]] = kind
    kinds.flags.writeable = False
    return kinds
