"""A text as pieces small enough to lay out one at a time, with maps between its positions.

A piece is one line with its newline, or a part of a line too long to handle at once. Only
`"\\n"` ends a line: every other character, lone carriage returns and Unicode separators
among them, is kept as it is. The last piece is the one a caret at the end stands in, so it
never ends with a newline and may be empty.

    >>> pieces = TextPieces("one\\ntwé")
    >>> list(pieces), len(pieces), pieces.length, pieces.byte_length
    (['one\\n', 'twé'], 2, 7, 8)
    >>> pieces.byte_of(7), pieces.character_of(8)
    (8, 7)
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import regex

LONGEST_PIECE = 1024  # characters; laying out this much takes about a millisecond
SHORTEST_PART = 256  # a smaller rest of a long line is joined with the part after it
CUT_SEARCH = 96  # how far before the limit a blank is looked for, to cut a long line there

_DRAWN_AS_ONE = regex.compile(r"\X")

Int64s = npt.NDArray[np.int64]


@dataclass(frozen=True)
class PiecesChange:
    """Pieces `first` to `first + removed` gave way to `added` new ones."""

    first: int
    removed: int
    added: int


class TextPieces:
    """The pieces of one text, and how many characters and bytes stand before each."""

    def __init__(self, text: str = "") -> None:
        self._pieces = cut_into_pieces(text)
        self._sizes = _sizes(self._pieces)  # two rows: characters, bytes
        self._starts = _running_totals(self._sizes)
        self._text: str | None = text

    def __len__(self) -> int:
        return len(self._pieces)

    def __getitem__(self, index: int) -> str:
        return self._pieces[index]

    def __iter__(self) -> Iterator[str]:
        return iter(self._pieces)

    @property
    def length(self) -> int:
        return int(self._starts[0, -1])

    @property
    def byte_length(self) -> int:
        return int(self._starts[1, -1])

    @property
    def character_counts(self) -> Int64s:
        """Characters in each piece."""
        return self._sizes[0]

    def text(self) -> str:
        """The whole text, exactly as it was put in."""
        if self._text is None:
            self._text = "".join(self._pieces)
        return self._text

    def start_of(self, index: int) -> int:
        """The character a piece starts with."""
        return int(self._starts[0, index])

    def starts_line(self, index: int) -> bool:
        """Whether a piece is the first of its line."""
        return index == 0 or self._pieces[index - 1].endswith("\n")

    def piece_at(self, character: int) -> int:
        """The piece a caret before this character stands in."""
        return self._piece_at(0, character)

    def byte_of(self, character: int) -> int:
        """The byte a character starts at."""
        index = self._piece_at(0, character)
        within = self._pieces[index][: character - self.start_of(index)]
        return int(self._starts[1, index]) + utf8_length(within)

    def character_of(self, byte: int) -> int:
        """The character a byte belongs to: one inside a character counts as its start."""
        index = self._piece_at(1, byte)
        piece, within = self._pieces[index], byte - int(self._starts[1, index])
        if len(piece) != int(self._sizes[1, index]):
            within = len(piece.encode()[:within].decode(errors="ignore"))
        return self.start_of(index) + within

    def slice(self, start: int, stop: int) -> str:
        """The characters from `start` to `stop`."""
        first, last = self.piece_at(start), self.piece_at(stop)
        offset = self.start_of(first)
        joined = self._pieces[first] if first == last else "".join(self._pieces[first : last + 1])
        return joined[start - offset : stop - offset]

    def replace(self, start: int, stop: int, added: str) -> PiecesChange:
        """Put `added` in the place of the characters from `start` to `stop`."""
        first, last = self.piece_at(start), self.piece_at(stop)
        head = self._pieces[first][: start - self.start_of(first)]
        tail = self._pieces[last][stop - self.start_of(last) :]
        new_text, end = head + added + tail, last + 1
        if len(new_text) < SHORTEST_PART and not self.starts_line(first):
            first -= 1
            new_text = self._pieces[first] + new_text
        while end < len(self._pieces) and 0 <= len(new_text) - new_text.rfind("\n") - 1 < SHORTEST_PART:
            if new_text.endswith("\n"):
                break
            new_text += self._pieces[end]
            end += 1
        new = cut_into_pieces(new_text)
        if end < len(self._pieces) and not new[-1]:
            new.pop()  # only the last piece of all may be empty
        self._put(first, end, new)
        return PiecesChange(first, end - first, len(new))

    def _put(self, first: int, end: int, new: list[str]) -> None:
        self._pieces[first:end] = new
        self._sizes = np.concatenate((self._sizes[:, :first], _sizes(new), self._sizes[:, end:]), axis=1)
        self._starts = _running_totals(self._sizes)
        self._text = None

    def _piece_at(self, row: int, position: int) -> int:
        starts = self._starts[row, :-1]
        return int(np.searchsorted(starts, np.int64(position), side="right")) - 1


def cut_into_pieces(text: str) -> list[str]:
    """Lines with their newlines, the long ones in parts; at the end what may be an empty piece.

    >>> cut_into_pieces("a\\n\\nb\\n")
    ['a\\n', '\\n', 'b\\n', '']
    """
    lines = text.split("\n")
    if max(map(len, lines)) < LONGEST_PIECE:
        return [*[line + "\n" for line in lines[:-1]], lines[-1]]
    pieces: list[str] = []
    for line in lines[:-1]:
        if len(line) < LONGEST_PIECE:
            pieces.append(line + "\n")
        else:
            pieces += _parts_of_long_line(line + "\n")
    pieces += _parts_of_long_line(lines[-1])
    return pieces


def _parts_of_long_line(line: str) -> list[str]:
    parts: list[str] = []
    start = 0
    while len(line) - start > LONGEST_PIECE + 1:  # never a part that is the newline alone
        stop = _good_cut(line, start, start + LONGEST_PIECE)
        parts.append(line[start:stop])
        start = stop
    parts.append(line[start:])
    return parts


def _good_cut(line: str, start: int, limit: int) -> int:
    """A place at or before `limit` to cut a line: after a blank, else between whole characters with their marks."""
    blank = line.rfind(" ", limit - CUT_SEARCH, limit)
    if blank >= 0 and not unicodedata.combining(line[blank + 1]):
        return blank + 1
    if line[start : limit + 1].isascii():
        return limit
    boundaries = [match.end() for match in _DRAWN_AS_ONE.finditer(line, start, limit + 1)]
    return next((boundary for boundary in reversed(boundaries) if boundary <= limit), limit)


def utf8_length(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())


def _sizes(pieces: list[str]) -> Int64s:
    sizes = np.empty((2, len(pieces)), np.int64)
    sizes[0] = np.fromiter(map(len, pieces), np.int64, len(pieces))
    is_ascii = all(map(str.isascii, pieces))
    sizes[1] = sizes[0] if is_ascii else np.fromiter(map(utf8_length, pieces), np.int64, len(pieces))
    return sizes


def _running_totals(sizes: Int64s) -> Int64s:
    starts = np.zeros((2, sizes.shape[1] + 1), np.int64)
    np.cumsum(sizes, axis=1, out=starts[:, 1:])
    return starts
