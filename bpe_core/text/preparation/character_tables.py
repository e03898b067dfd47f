"""The tables of characters that SentencePiece compiles into its files."""

from __future__ import annotations

import base64
import binascii
import struct
from collections.abc import Iterator
from functools import lru_cache

from bpe_core.errors import RecipeError
from bpe_core.text.characters import raw_bytes


class CharacterTable:
    """A file's table of replacements, in the form that SentencePiece compiles.

    The data is the length of the trie in four bytes, the trie of UTF-8 bytes as a double array of 32-bit numbers, and
    the replacement texts, each with a zero byte after it.
    """

    def __init__(self, data: bytes) -> None:
        size = int.from_bytes(data[:4], "little") if len(data) >= 4 else 1
        if size % 4 or size > len(data) - 4:
            raise RecipeError("The table of characters is damaged: its header is not valid.")
        self._units = struct.unpack(f"<{size // 4}I", data[4 : 4 + size])
        self._texts = data[4 + size :]

    def _prefixes(self, key: bytes) -> Iterator[tuple[int, int]]:
        """Yield the prefixes of a key in the table, the shortest first: their lengths, and where their texts are."""
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
        """Return whether a text is part of something that the table replaces."""
        return text.encode() in self._texts

    @property
    def is_sound(self) -> bool:
        """Return whether all its texts are valid UTF-8."""
        try:
            self._texts.decode()
        except UnicodeDecodeError:
            return False
        return True

    def shortest(self, text: str) -> str | None:
        found = next(self._prefixes(text.encode()), None)
        return None if found is None else self._text(found[1])

    def longest(self, text: bytes) -> tuple[int, str] | None:
        """Return the length in bytes of the longest prefix of whole characters in the table, and its replacement."""
        found = [one for one in self._prefixes(text) if text[one[0] : one[0] + 1] < b"\x80" or text[one[0]] >= 0xC0]
        return (found[-1][0], self._text(found[-1][1])) if found else None

    def continues(self, key: bytes) -> bool:
        """Return whether the table has this key, or a key that begins with it."""
        units = self._units
        place = _offset(self._units[0]) if self._units else 0
        for byte in key:
            place ^= byte
            if not byte or place >= len(units) or units[place] & 0x800000FF != byte:
                return False
            place ^= _offset(units[place])
        return True

    def _text(self, start: int) -> str:
        end = self._texts.find(b"\0", start)
        return self._texts[start : end if end >= 0 else len(self._texts)].decode(errors="replace")


def _offset(unit: int) -> int:
    return (unit >> 10) << ((unit & 0x200) >> 6)


class EachAlone(dict[int, str]):
    """A map of the replacement of each single character, for `str.translate`."""

    def __init__(self, table: CharacterTable, *, longest: bool = False) -> None:
        super().__init__()
        self._table = table
        self._longest = longest

    def __missing__(self, code: int) -> str:
        longest = self._table.longest(raw_bytes(chr(code))) if self._longest else None
        new = (longest and longest[1]) if self._longest else self._table.shortest(chr(code))
        self[code] = found = chr(code) if new is None else new
        return found


@lru_cache(maxsize=4)
def table_written(charsmap: str) -> CharacterTable:
    try:
        return CharacterTable(base64.b64decode(charsmap, validate=True))
    except (binascii.Error, ValueError) as error:
        raise RecipeError("The table of characters is not valid base64.") from error
