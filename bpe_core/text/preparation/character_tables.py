"""The compiled tables of character replacements in SentencePiece's files."""

from __future__ import annotations

import base64
import binascii
import struct
from collections.abc import Iterator
from functools import cached_property, lru_cache

from bpe_core.errors import RecipeError
from bpe_core.text.characters import raw_bytes


class CharacterTable:
    """A table of replacements from a file, in the form that SentencePiece compiles.

    The data is the length of the trie in four bytes, the trie of UTF-8 bytes as a double array of 32-bit numbers, and
    the replacement texts. Each replacement text ends with a zero byte.
    """

    def __init__(self, data: bytes) -> None:
        size = int.from_bytes(data[:4], "little") if len(data) >= 4 else 1
        if size % 4 or size > len(data) - 4:
            raise RecipeError("The table of characters is damaged: its header is not valid.")
        self._trie = data[4 : 4 + size]
        self._texts = data[4 + size :]

    @cached_property
    def _units(self) -> tuple[int, ...]:
        return struct.unpack(f"<{len(self._trie) // 4}I", self._trie)

    def _prefixes(self, key: bytes) -> Iterator[tuple[int, int]]:
        """Yield each prefix of `key` that is in the table, the shortest first.

        Each prefix is yielded as its length in bytes and the offset of its replacement text.
        """
        units = self._units
        place = 0
        if not units:
            return
        place ^= _offset(units[0])
        for length, byte in enumerate(key, start=1):
            place ^= byte
            if not byte or place >= len(units) or units[place] & 0x800000FF != byte:
                return
            has_leaf = units[place] >> 8 & 1
            place ^= _offset(units[place])
            if has_leaf and place < len(units):
                yield length, units[place] & 0x7FFFFFFF

    def __contains__(self, text: str) -> bool:
        """Return whether any replacement text of the table contains this text."""
        return text.encode() in self._texts

    @property
    def is_valid(self) -> bool:
        """Return whether all replacement texts of the table are valid UTF-8."""
        try:
            self._texts.decode()
        except UnicodeDecodeError:
            return False
        return True

    def shortest(self, text: str) -> str | None:
        prefix = next(self._prefixes(text.encode()), None)
        return None if prefix is None else self._text(prefix[1])

    def longest(self, text: bytes) -> tuple[int, str] | None:
        """Look up the longest prefix of `text` that is in the table and consists of whole characters.

        Return its length in bytes and its replacement. Return None if no such prefix is in the table.
        """
        prefixes = [
            (length, place)
            for length, place in self._prefixes(text)
            if text[length : length + 1] < b"\x80" or text[length] >= 0xC0
        ]
        return (prefixes[-1][0], self._text(prefixes[-1][1])) if prefixes else None

    def has_key_beginning_with(self, key: bytes) -> bool:
        """Return whether the table has this key, or a key that begins with it."""
        return self._place_after(key) is not None

    def is_alone(self, byte: int) -> bool:
        """Return whether no key consists of this ASCII byte, or begins with this byte and another ASCII byte."""
        place = self._place_after(bytes([byte]))
        if place is None:
            return True
        if self.longest(bytes([byte])) is not None:
            return False
        units = self._units
        return not any(
            place ^ other < len(units) and units[place ^ other] & 0x800000FF == other for other in range(1, 0x80)
        )

    def _place_after(self, key: bytes) -> int | None:
        units = self._units
        place = _offset(self._units[0]) if self._units else 0
        for byte in key:
            place ^= byte
            if not byte or place >= len(units) or units[place] & 0x800000FF != byte:
                return None
            place ^= _offset(units[place])
        return place

    def _text(self, start: int) -> str:
        end = self._texts.find(b"\0", start)
        return self._texts[start : end if end >= 0 else len(self._texts)].decode(errors="replace")


def _offset(unit: int) -> int:
    return (unit >> 10) << ((unit & 0x200) >> 6)


class CharacterReplacements(dict[int, str]):
    """A map from each character to its replacement in a table, for `str.translate`.

    The replacement of a character does not depend on its neighbours.
    """

    def __init__(self, table: CharacterTable, *, longest: bool = False) -> None:
        super().__init__()
        self._table = table
        self._longest = longest

    def __missing__(self, code: int) -> str:
        longest = self._table.longest(raw_bytes(chr(code))) if self._longest else None
        new = (longest and longest[1]) if self._longest else self._table.shortest(chr(code))
        self[code] = replacement = chr(code) if new is None else new
        return replacement


@lru_cache(maxsize=4)
def table_written(charsmap: str) -> CharacterTable:
    try:
        return CharacterTable(base64.b64decode(charsmap, validate=True))
    except (binascii.Error, ValueError) as error:
        raise RecipeError("The table of characters is not valid base64.") from error
