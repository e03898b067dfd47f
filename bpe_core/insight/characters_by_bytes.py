"""A search for characters whose UTF-8 contains certain bytes.

Some tokenizers write an unknown character as tokens of its bytes. For these tokenizers, characters that have a token
are left out.

    >>> characters = CharactersByBytes(map(ord, "ab"))
    >>> [characters.can_meet(*pair) for pair in ((0xC3, 0xA9), (0xA9, 0xC3), (0xC3, 0xC3), (0xA9, 0x61), (0xA9, 0x63))]
    [True, True, False, False, True]
    >>> [characters.can_begin(byte) for byte in (0x61, 0x63, 0xC3, 0xA9, 0xFF)]
    [False, True, True, False, False]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

import numpy as np

from bpe_core.support.arrays import Bools, Int64s
from bpe_core.text.scanner.kinds import CODE_POINTS, SURROGATES

MOST_EXAMPLES = 4  # characters with a byte that are tried in a text
LENGTHS = ((0x80, 1), (0x800, 2), (0x10000, 3), (CODE_POINTS, 4))  # where the UTF-8 of a character gets longer


class CharactersByBytes:
    """A set of characters, stored as their UTF-8 bytes: all characters except those with the given code points."""

    def __init__(self, but: Iterable[int] = ()) -> None:
        self._but = [*but]

    @cached_property
    def _codes(self) -> Int64s:
        codes = np.arange(CODE_POINTS)
        codes = np.delete(codes, SURROGATES)
        return codes[~np.isin(codes, self._but)]

    @cached_property
    def _bytes(self) -> list[Int64s]:
        """Return four arrays of characters, for the characters with one, two, three and four bytes in UTF-8.

        Each row of an array holds the bytes of one character.
        """
        rows = []
        start = 0
        for stop, length in LENGTHS:
            codes = self._codes[(self._codes >= start) & (self._codes < stop)]
            start = stop
            parts = [0x80 | (codes >> 6 * later) & 0x3F for later in range(length - 1)][::-1]
            lead = codes if length == 1 else (0xF00 >> length) & 0xFF | codes >> 6 * (length - 1)
            rows.append(np.stack([lead, *parts], axis=1))
        return rows

    @cached_property
    def _firsts(self) -> Bools:
        return self._marked(np.concatenate([rows[:, 0] for rows in self._bytes]))

    @cached_property
    def _lasts(self) -> Bools:
        return self._marked(np.concatenate([rows[:, -1] for rows in self._bytes]))

    @cached_property
    def _inside(self) -> Bools:
        """Return a mask of the pairs of bytes that are neighbours inside a character."""
        mask = np.zeros((256, 256), np.bool_)
        for rows in self._bytes:
            for place in range(rows.shape[1] - 1):
                mask[rows[:, place], rows[:, place + 1]] = True
        return mask

    def _marked(self, values: Int64s) -> Bools:
        mask = np.zeros(256, np.bool_)
        mask[values] = True
        return mask

    def can_begin(self, byte: int) -> bool:
        """Return whether some character begins with this byte."""
        return bool(self._firsts[byte])

    def can_end(self, byte: int) -> bool:
        return bool(self._lasts[byte])

    def can_meet(self, left: int, right: int) -> bool:
        """Return whether two bytes can be neighbours, in one character or in two."""
        return bool(self._inside[left, right] or (self._lasts[left] and self._firsts[right]))

    def examples(self, raw: bytes, *, at_end: bool = False, most: int = MOST_EXAMPLES) -> Iterator[str]:
        """Yield some characters whose UTF-8 begins with the given bytes, or ends with them if `at_end` is true.

        Characters with large code points come first, because normalizers change few of them.
        """
        for rows in reversed(self._bytes):
            if rows.shape[1] >= len(raw):
                part = rows[:, -len(raw) :] if at_end else rows[:, : len(raw)]
                yield from _characters(rows[(part == list(raw)).all(axis=1)], most)

    def examples_with(self, raw: bytes) -> Iterator[str]:
        """Yield some characters whose UTF-8 contains the two given bytes side by side."""
        for rows in reversed(self._bytes):
            for place in range(rows.shape[1] - 1):
                held = (rows[:, place : place + 2] == list(raw)).all(axis=1)
                yield from _characters(rows[held], MOST_EXAMPLES)


def _characters(rows: Int64s, most: int) -> Iterator[str]:
    """Yield at most `most` of the characters in `rows`, evenly spaced, from the last row to the first.

    Each row holds the UTF-8 bytes of one character.
    """
    distance = max(1, -(-len(rows) // most))
    for row in rows[::-1][::distance].tolist():
        yield bytes(row).decode()


def first_and_last_character(part: bytes) -> tuple[int, int]:
    r"""Return the code points of the first and the last character whose UTF-8 begins with the bytes `part`.

    >>> [f"{code_point:X}" for code_point in first_and_last_character(b"\xe0\xb8")]
    ['E00', 'E3F']
    """
    lead = part[0]
    length = 2 + (lead >= 0xE0) + (lead >= 0xF0)
    code = lead & (0x7F >> length)
    for byte in part[1:]:
        code = code << 6 | byte & 0x3F
    missing = 6 * (length - len(part))
    last = (code + 1 << missing) - 1
    return min(code << missing, CODE_POINTS - 1), min(last, CODE_POINTS - 1)
