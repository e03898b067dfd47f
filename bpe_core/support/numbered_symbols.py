"""The private characters that represent numbered symbols, such as the notes of a melody.

A sequence of numbers becomes a text with one private character of Unicode for each number. So all methods can learn
from the sequence as from a text. Other texts hardly ever contain these characters. The characters are in the order of
their numbers, and each takes four bytes of UTF-8. Such a character is shown as `<#60>`.

>>> text = characters_of(np.array([60, 64]))
>>> text.tobytes().decode() == character_of(60) + character_of(64), numbers_in(text).tolist()
(True, [60, 64])
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import numpy.typing as npt

from bpe_core.support.arrays import Int64s

FIRST = 0xF0000  # the code point of the number 0: the beginning of the two private planes of Unicode
MOST = 2**17  # the private planes have as many code points
UNKNOWN = MOST - 1  # the number of a symbol without a name, which no alphabet holds
LARGEST = MOST - 2  # the largest number of a symbol
WIDTH = 4  # bytes of a private character in UTF-8
_PART = re.compile(f"[{chr(FIRST)}-{chr(FIRST + MOST - 1)}]|[^{chr(FIRST)}-{chr(FIRST + MOST - 1)}]+")
_SHOWN = re.compile(f"<#([0-9]{{1,6}})>|[{chr(FIRST)}-{chr(FIRST + MOST - 1)}]")
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
    """Return the readable form of a character that represents a number.

    >>> form_of(character_of(60))
    '<#60>'
    """
    return f"<#{ord(character) - FIRST}>"


@cache
def _table() -> npt.NDArray[np.uint32]:
    """Return an array with the four UTF-8 bytes of each character that represents a symbol, as one 32-bit number.

    The characters come from the private planes of Unicode.
    """
    codes = np.arange(FIRST, FIRST + MOST, dtype="<u4")
    return np.frombuffer(codes.tobytes().decode("utf-32-le").encode(), np.uint32)


def characters_of(numbers: npt.NDArray[np.integer]) -> npt.NDArray[np.uint8]:
    """Return the characters that represent these numbers, as bytes of UTF-8. Each number is from 0 to `MOST - 1`."""
    text: npt.NDArray[np.uint8] = _table()[numbers].view(np.uint8)
    return text


def numbers_in(text: npt.NDArray[np.uint8]) -> Int64s:
    """Return the numbers that a text represents.

    `text` holds UTF-8 bytes. Each character is a private-use character of Unicode, and represents one number.
    """
    parts = text.reshape(-1, WIDTH).astype(np.int64) & 0x3F
    return ((parts[:, 0] & 7) << 18 | parts[:, 1] << 12 | parts[:, 2] << 6 | parts[:, 3]) - FIRST


@dataclass(frozen=True)
class SymbolNames:
    """The names of numbered symbols.

    Parameters
    ----------
    names
        The name of each symbol, in the order of the numbers. An empty string means that the number is the name.
    has_numbers
        Whether a symbol without a name is named by its number.

    Examples
    --------
    >>> notes = SymbolNames(("C", "D", "E"), has_numbers=True)
    >>> notes.numbers_of(["D", "C", "60"]).tolist(), notes.shown("<#1><#60>")
    ([1, 0, 60], '<D><60>')
    """

    names: tuple[str, ...] = ()
    has_numbers: bool = False

    @cached_property
    def _number_of(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.names) if name}

    def name_of(self, number: int) -> str:
        name = self.names[number] if number < len(self.names) else ""
        return name or (str(number) if self.has_numbers and number != UNKNOWN else "?")

    def numbers_of(self, names: Iterable[str]) -> Int64s:
        """Return the number of each name. An unknown name has the number `UNKNOWN`."""
        number_of = self._number_of
        return np.array([number_of[name] if name in number_of else self._by_digits(name) for name in names], np.int64)

    def _by_digits(self, name: str) -> int:
        is_number = self.has_numbers and name.isascii() and name.isdigit() and len(name) < 7
        return min(int(name), UNKNOWN) if is_number else UNKNOWN

    def text_of(self, names: Iterable[str]) -> str:
        """Return a text in which each name is represented by one character of Unicode's private use areas."""
        return "".join(map(character_of, self.numbers_of(names).tolist()))

    def text_of_typed(self, text: str) -> str:
        """Convert names that are separated by spaces into a text with one character for each name.

        The characters come from the private planes of Unicode. A text that already begins with such a character is
        returned unchanged.

        >>> notes = SymbolNames(("C", "D", "E"))
        >>> notes.names_in(notes.text_of_typed("E C")), notes.text_of_typed(character_of(1)) == character_of(1)
        ('E C', True)
        """
        return self.text_of(text.split()) if text and number_of(text[0]) is None else text

    def names_in(self, text: str) -> str:
        """Return the names of all symbols in `text`, with spaces between them.

        Each symbol is one character from Unicode's private use areas.
        """
        parts = [
            part if (number := number_of(part[0])) is None else self.name_of(number) for part in _PART.findall(text)
        ]
        return " ".join(part.strip() for part in parts if not part.isspace())

    def shown(self, text: str) -> str:
        """Replace numbers and private characters by names, in a text that is about to be shown."""
        if not _SHOWN.search(text):
            return text
        return _SHOWN.sub(lambda form: f"<{self.name_of(int(form[1] or ord(form[0]) - FIRST))}>", text)
