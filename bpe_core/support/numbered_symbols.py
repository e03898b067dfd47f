"""The private characters that represent numbered symbols, such as the notes of a melody.

A sequence of numbers becomes a text of private characters of Unicode, one character for each number. So all methods can
learn from the sequence as from a text. Other texts hardly ever contain these characters. The order of the characters is
the order of the numbers, and each character takes four bytes of UTF-8. People see a character in the form `<#60>`.

>>> text = characters_of(np.array([60, 64]))
>>> text.tobytes().decode() == character_of(60) + character_of(64), numbers_in(text).tolist()
(True, [60, 64])
"""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import numpy.typing as npt

from bpe_core.support.arrays import Int64s

FIRST = 0xF0000  # the code point of the number 0: the beginning of the two private planes of Unicode
MOST = 2**17  # the private planes have as many code points
UNKNOWN = MOST - 1  # the number of a symbol without a name, which no alphabet holds
LARGEST = MOST - 2  # the largest number of a symbol
WIDTH = 4  # bytes of a private character in UTF-8
FORM = re.compile(r"<#([0-9]{1,6})>")


def character_of(number: int) -> str:
    return chr(FIRST + number)


def number_of(character: str) -> int | None:
    """Return the number that a character represents. Return None for any other character.

    >>> number_of(character_of(7)), number_of("7")
    (7, None)
    """
    return ord(character) - FIRST if ord(character) >= FIRST else None


def form_of(character: str) -> str:
    """Return the form in which a person reads a character that represents a number.

    >>> form_of(character_of(60))
    '<#60>'
    """
    return f"<#{ord(character) - FIRST}>"


@cache
def _table() -> npt.NDArray[np.uint32]:
    """Return the UTF-8 bytes of each private character as one number of 32 bits."""
    codes = np.arange(FIRST, FIRST + MOST, dtype="<u4")
    return np.frombuffer(codes.tobytes().decode("utf-32-le").encode(), np.uint32)


def characters_of(numbers: npt.NDArray[np.integer]) -> npt.NDArray[np.uint8]:
    """Return the characters that represent these numbers, as bytes of UTF-8. Each number lies from 0 to `MOST - 1`."""
    text: npt.NDArray[np.uint8] = _table()[numbers].view(np.uint8)
    return text


def numbers_in(text: npt.NDArray[np.uint8]) -> Int64s:
    """Return the numbers that a text of private characters represents."""
    parts = text.reshape(-1, WIDTH).astype(np.int64) & 0x3F
    return ((parts[:, 0] & 7) << 18 | parts[:, 1] << 12 | parts[:, 2] << 6 | parts[:, 3]) - FIRST
