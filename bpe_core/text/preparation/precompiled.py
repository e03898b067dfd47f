"""A file's own table of what characters become, as SentencePiece compiles it: a trie of UTF-8 bytes, and texts.

The table is a number of four bytes (the length of the trie), the trie as a double array of such numbers, and the texts,
each with a zero behind it.
"""

from __future__ import annotations

import base64
import binascii
import struct
from collections.abc import Iterator
from functools import cached_property, lru_cache

import regex

from bpe_core.errors import RecipeError
from bpe_core.records import dataclass
from bpe_core.text.preparation.pieces import Piece

LARGEST = 8_000_000  # bytes; those of SentencePiece have some 300,000

_CLUSTERS = regex.compile(r"\X")
_JOINS = regex.compile(  # with what stands beside it
    r"\r\n|[\p{GCB=Extend}\p{GCB=SpacingMark}\p{GCB=Prepend}\p{GCB=ZWJ}\p{GCB=L}\p{GCB=V}\p{GCB=T}"
    r"\p{GCB=Regional_Indicator}]"
)
_SHORT = 6  # bytes: a cluster of fewer is looked up as a whole


class CharacterTable:
    """What texts become."""

    def __init__(self, data: bytes) -> None:
        size = int.from_bytes(data[:4], "little") if len(data) >= 4 else 1
        if size % 4 or size > len(data) - 4:
            raise RecipeError("The table of characters is damaged: its beginning does not tell where its parts are.")
        self._units = struct.unpack(f"<{size // 4}I", data[4 : 4 + size])
        self._texts = data[4 + size :]

    def _prefixes(self, key: bytes) -> Iterator[tuple[int, int]]:
        """The beginnings of a text that are in the table, the shortest first: their lengths, and where it goes on."""
        units, place = self._units, 0
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

    def shortest(self, text: str) -> str | None:
        """What the shortest beginning of a text becomes that is in the table."""
        found = next(self._prefixes(text.encode()), None)
        return None if found is None else self._text(found[1])

    def longest(self, text: bytes) -> tuple[int, str] | None:
        """The length of the longest beginning that is in the table, in bytes, and what it becomes."""
        found = list(self._prefixes(text))
        return (found[-1][0], self._text(found[-1][1])) if found else None

    def _text(self, start: int) -> str:
        end = self._texts.find(b"\0", start)
        return self._texts[start : end if end >= 0 else len(self._texts)].decode(errors="replace")


def _offset(unit: int) -> int:
    return (unit >> 10) << ((unit & 0x200) >> 6)


class _Alone(dict[int, str]):
    """What each character becomes, as `str.translate` asks for it."""

    def __init__(self, table: CharacterTable) -> None:
        super().__init__()
        self._table = table

    def __missing__(self, code: int) -> str:
        new = self._table.shortest(chr(code))
        self[code] = found = chr(code) if new is None else new
        return found


@lru_cache(maxsize=4)
def _table(charsmap: str) -> CharacterTable:
    try:
        return CharacterTable(base64.b64decode(charsmap, validate=True))
    except (binascii.Error, ValueError) as error:
        raise RecipeError("The table of characters is not base64, as files write it.") from error


@dataclass(frozen=True)
class Precompiled:
    """Characters become what a table says.

    Hugging Face looks up what a reader sees as one character, and then its parts; SentencePiece takes the longest
    match at each place.
    """

    precompiled_charsmap: str  # base64
    longest: bool = False

    @property
    def words(self) -> str:
        return f"Characters become what the file's own table of {len(self.precompiled_charsmap) * 3 // 4:,} bytes says."

    @cached_property
    def table(self) -> CharacterTable:
        return _table(self.precompiled_charsmap)

    def changed(self, piece: Piece) -> Piece:
        if piece.is_bare and not self.longest:
            return piece.written("".join(self._stretches(piece.text)))
        parts = self._longest(piece.text) if self.longest else self._by_clusters(piece.text)
        if piece.is_bare:
            return piece.written("".join(new for _, _, new in parts))
        texts: list[str] = []
        sources: list[int] = []
        for start, stop, new in parts:
            texts.append(new)
            same = len(new) == stop - start
            sources += piece.sources[start:stop] if same else [piece.sources[start]] * len(new)
        return Piece("".join(texts), sources, piece.stop)

    def _stretches(self, text: str) -> Iterator[str]:
        """What becomes of a text: of lines all at once, but for those where not each character is one to a reader."""
        done = 0
        while joins := _JOINS.search(text, done):
            start = text.rfind("\n", done, joins.start()) + 1 or done
            yield text[done:start].translate(self._alone)
            done = text.find("\n", joins.end() - 1) + 1 or len(text)
            yield self._line(text[start:done])
        yield text[done:].translate(self._alone)

    def _line(self, line: str) -> str:
        """What becomes of a line, cluster by cluster."""
        known, found = self._known, []
        for cluster in _CLUSTERS.findall(line):
            new = known.get(cluster)
            if new is None:
                new = known[cluster] = "".join(became for _, _, became in self._by_clusters(cluster))
            found.append(new)
        return "".join(found)

    @cached_property
    def _known(self) -> dict[str, str]:
        return {}

    @cached_property
    def _alone(self) -> dict[int, str]:
        return _Alone(self.table)

    def _by_clusters(self, text: str) -> Iterator[tuple[int, int, str]]:
        table, place = self.table, 0
        for cluster in _CLUSTERS.findall(text):
            new = table.shortest(cluster) if len(cluster.encode()) < _SHORT else None
            if new is not None:
                yield place, place + len(cluster), new
            else:
                for i, character in enumerate(cluster, start=place):
                    became = table.shortest(character)
                    yield i, i + 1, character if became is None else became
            place += len(cluster)

    def _longest(self, text: str) -> Iterator[tuple[int, int, str]]:
        place = 0
        while place < len(text):
            found = self.table.longest(text[place : place + 16].encode())
            length = 1 if found is None else len(text[place : place + 16].encode()[: found[0]].decode(errors="ignore"))
            yield place, place + max(1, length), text[place] if found is None else found[1]
            place += max(1, length)
