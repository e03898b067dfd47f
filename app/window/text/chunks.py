r"""The text in chunks, which are laid out one at a time, with conversions between kinds of positions.

A chunk is a line with its newline, or a part of a line that is too long. Only `"\n"` ends a line. Lone carriage
returns and Unicode separators are treated like all other characters. The last chunk never ends with a newline, so that
the text cursor can be at the end of the text.

A position is a number of characters, of UTF-8 bytes, or of units. Units are what Qt counts in a document that has a
block for each chunk: UTF-16 units, and one more unit after each block, even if the block has no newline.

    >>> chunks = TextChunks("one\ntwé")
    >>> list(chunks), len(chunks), chunks.length, chunks.byte_length
    (['one\n', 'twé'], 2, 7, 8)
    >>> chunks.byte_of(7), chunks.character_of(8), TextChunks("😀b").unit_of(1)
    (8, 7, 2)
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import regex

from bpe_core.support.arrays import Int64s

LONGEST_CHUNK = 2048  # characters; laying them out takes about a millisecond
SHORTEST_PART = 256  # a smaller rest of a long line is joined with the part after it
CUT_SEARCH = 96  # how far before the limit to look for a space

_DRAWN_AS_ONE = regex.compile(r"\X")


@dataclass(frozen=True)
class ChunksChange:
    """A change of a text in chunks: the `removed` chunks from `first` on were replaced by `added` new chunks."""

    first: int
    removed: int
    added: int


class TextChunks:
    def __init__(self, text: str = "") -> None:
        self._chunks = split_into_chunks(text)
        self._sizes = _sizes(self._chunks)  # three rows: characters, bytes, units
        self._starts = _running_totals(self._sizes)
        self._text: str | None = text

    def __len__(self) -> int:
        return len(self._chunks)

    def __getitem__(self, index: int) -> str:
        return self._chunks[index]

    def __iter__(self) -> Iterator[str]:
        return iter(self._chunks)

    @property
    def length(self) -> int:
        return int(self._starts[0, -1])

    @property
    def byte_length(self) -> int:
        return int(self._starts[1, -1])

    @property
    def unit_length(self) -> int:
        return int(self._starts[2, -1])

    def text(self) -> str:
        if self._text is None:
            self._text = "".join(self._chunks)
        return self._text

    def start_of(self, index: int) -> int:
        return int(self._starts[0, index])

    def starts_line(self, index: int) -> bool:
        return index == 0 or self._chunks[index - 1].endswith("\n")

    def chunk_at(self, character: int) -> int:
        return self._chunk_at(0, character)

    def byte_of(self, character: int) -> int:
        index = self._chunk_at(0, character)
        within = self._chunks[index][: character - self.start_of(index)]
        return int(self._starts[1, index]) + utf8_length(within)

    def character_of(self, byte: int) -> int:
        index = self._chunk_at(1, byte)
        chunk = self._chunks[index]
        within = byte - int(self._starts[1, index])
        if len(chunk) != int(self._sizes[1, index]):
            within = len(chunk.encode()[:within].decode(errors="ignore"))
        return self.start_of(index) + within

    def unit_of(self, character: int) -> int:
        index = self._chunk_at(0, character)
        within = self._chunks[index][: character - self.start_of(index)]
        return int(self._starts[2, index]) + utf16_length(within)

    def character_of_unit(self, unit: int) -> int:
        """Convert an offset in UTF-16 units to an offset in characters.

        The offset at the end of a chunk belongs to the next chunk.
        """
        index = self._chunk_at(2, unit)
        chunk = self._chunks[index]
        within = unit - int(self._starts[2, index])
        if utf16_length(chunk) != len(chunk):
            within = len(chunk.encode("utf-16-le")[: 2 * within].decode("utf-16-le", errors="ignore"))
        return self.start_of(index) + min(within, len(chunk))

    def chunk_at_unit(self, unit: int) -> int:
        return self._chunk_at(2, unit)

    def unit_start_of(self, index: int) -> int:
        return int(self._starts[2, index])

    def byte_start_of(self, index: int) -> int:
        return int(self._starts[1, index])

    def slice(self, start: int, stop: int) -> str:
        first = self.chunk_at(start)
        last = self.chunk_at(stop)
        offset = self.start_of(first)
        joined = self._chunks[first] if first == last else "".join(self._chunks[first : last + 1])
        return joined[start - offset : stop - offset]

    def replace(self, start: int, stop: int, added: str) -> ChunksChange:
        first = self.chunk_at(start)
        last = self.chunk_at(stop)
        head = self._chunks[first][: start - self.start_of(first)]
        tail = self._chunks[last][stop - self.start_of(last) :]
        new_text = head + added + tail
        end = last + 1
        if len(new_text) < SHORTEST_PART and not self.starts_line(first):
            first -= 1
            new_text = self._chunks[first] + new_text
        while end < len(self._chunks) and 0 <= len(new_text) - new_text.rfind("\n") - 1 < SHORTEST_PART:
            if new_text.endswith("\n"):
                break
            new_text += self._chunks[end]
            end += 1
        new = split_into_chunks(new_text)
        if end < len(self._chunks) and not new[-1]:
            new.pop()  # only the last chunk of all may be empty
        self._chunks[first:end] = new
        self._sizes = np.concatenate((self._sizes[:, :first], _sizes(new), self._sizes[:, end:]), axis=1)
        self._starts = _running_totals(self._sizes)
        self._text = None
        return ChunksChange(first, end - first, len(new))

    def _chunk_at(self, row: int, position: int) -> int:
        starts = self._starts[row, :-1]
        return int(np.searchsorted(starts, np.int64(position), side="right")) - 1


def split_into_chunks(text: str) -> list[str]:
    r"""Return the lines of a text with their newlines.

    A long line is split into several chunks. The last chunk may be empty.

    >>> split_into_chunks("a\n\nb\n")
    ['a\n', '\n', 'b\n', '']
    """
    *lines, last = text.split("\n")
    lines = [*[line + "\n" for line in lines], last]
    if max(map(len, lines)) <= LONGEST_CHUNK:
        return lines
    return [part for line in lines for part in _parts_of_long_line(line)]


def _parts_of_long_line(line: str) -> list[str]:
    parts: list[str] = []
    start = 0
    while len(line) - start > LONGEST_CHUNK + 1:  # never a part that is the newline alone
        stop = _line_break_before(line, start, start + LONGEST_CHUNK)
        parts.append(line[start:stop])
        start = stop
    parts.append(line[start:])
    return parts


def _line_break_before(line: str, start: int, limit: int) -> int:
    """Return the offset at which to break a line. It is at most `limit`.

    The break comes after a space if possible. Otherwise it is between two characters, but not before a combining mark.
    """
    blank = line.rfind(" ", limit - CUT_SEARCH, limit)
    if blank >= 0 and not unicodedata.combining(line[blank + 1]):
        return blank + 1
    if line[start : limit + 1].isascii():
        return limit
    boundaries = [match.end() for match in _DRAWN_AS_ONE.finditer(line, start, limit + 1)]
    return next((boundary for boundary in reversed(boundaries) if boundary <= limit), limit)


def utf8_length(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())


def utf16_length(text: str) -> int:
    """Return the length of a text in UTF-16 units, as Qt counts. Characters beyond U+FFFF count twice.

    >>> utf16_length("a😀")
    3
    """
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def _sizes(chunks: list[str]) -> Int64s:
    sizes = np.empty((3, len(chunks)), np.int64)
    sizes[0] = np.fromiter(map(len, chunks), np.int64, len(chunks))
    is_ascii = all(map(str.isascii, chunks))
    sizes[1] = sizes[0] if is_ascii else np.fromiter(map(utf8_length, chunks), np.int64, len(chunks))
    sizes[2] = sizes[0] if is_ascii else np.fromiter(map(utf16_length, chunks), np.int64, len(chunks))
    sizes[2] += np.fromiter((not chunk.endswith("\n") for chunk in chunks), np.int64, len(chunks))
    return sizes


def _running_totals(sizes: Int64s) -> Int64s:
    starts = np.zeros((3, sizes.shape[1] + 1), np.int64)
    np.cumsum(sizes, axis=1, out=starts[:, 1:])
    return starts
