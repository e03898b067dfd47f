"""Stretches of a text that know where each of their characters came from, and the ways to cut them.

>>> blank = [(3, 4, True)]
>>> [piece.text for piece in Piece.whole("low lower").cut(with_gaps(blank, 9), "MergedWithNext")]
['low', ' lower']
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple, get_args, overload

Behavior = Literal["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"]
BEHAVIORS: tuple[str, ...] = get_args(Behavior)

Match = tuple[int, int, bool]  # from where to where, and whether it is what was looked for


class Nowhere(Sequence[int]):
    """The sources of a text of which nobody wants to know any."""

    def __len__(self) -> int:
        return 0

    @overload
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> Nowhere: ...
    def __getitem__(self, index: int | slice) -> int | Nowhere:
        return self if isinstance(index, slice) else 0

    def __iter__(self) -> Iterator[int]:
        return iter(())


NOWHERE = Nowhere()


class Piece(NamedTuple):
    """A stretch of text."""

    text: str
    sources: Sequence[int]  # for each character the one of the text as it was given
    stop: int  # where in that text the piece ends
    is_in_bytes: bool = False  # its characters stand for bytes

    @classmethod
    def bare(cls, text: str) -> Piece:
        """A text that does not know where it came from, which takes less time."""
        return cls(text, NOWHERE, 0)

    @property
    def is_bare(self) -> bool:
        return self.sources is NOWHERE

    @classmethod
    def whole(cls, text: str, first: int = 0) -> Piece:
        """A text that nothing has happened to; it begins so many characters behind the beginning."""
        return cls(text, range(first, first + len(text)), first + len(text))

    def part(self, start: int, stop: int) -> Piece:
        """Its characters from here to there."""
        if start == 0 and stop == len(self.text):
            return self
        end = self.sources[stop] if stop < len(self.sources) else self.stop
        return Piece(self.text[start:stop], self.sources[start:stop], end, self.is_in_bytes)

    def begun_with(self, text: str) -> Piece:
        """The same behind a text that comes from where it begins."""
        if not self.text:
            return self
        if self.is_bare:
            return self.written(text + self.text)
        return Piece(text + self.text, [self.sources[0]] * len(text) + list(self.sources), self.stop, self.is_in_bytes)

    def in_bytes(self) -> Piece:
        """The same, said to stand for bytes."""
        return Piece(self.text, self.sources, self.stop, True)

    def written(self, text: str) -> Piece:
        """Other characters, one for each of its own."""
        return Piece(text, self.sources, self.stop, self.is_in_bytes)

    def cut(self, matches: Iterable[Match], behavior: Behavior, *, invert: bool = False) -> Iterator[Piece]:
        """What becomes of it when what was looked for is treated in this way; nothing empty."""
        for start, stop in ranges(matches, behavior, invert=invert):
            if stop > start:
                yield self.part(start, stop)


def ranges(matches: Iterable[Match], behavior: Behavior, *, invert: bool) -> Iterable[tuple[int, int]]:
    """From where to where the parts go that are left of a text."""
    return _RANGES[behavior]((start, stop, found != invert) for start, stop, found in matches)


def with_gaps(found: Iterable[Match], length: int) -> Iterator[Match]:
    """What was found with what stands between."""
    end = 0
    for start, stop, is_match in found:
        if start > end:
            yield end, start, False
        yield start, stop, is_match
        end = stop
    if end < length:
        yield end, length, False


def _removed(matches: Iterable[Match]) -> Iterator[tuple[int, int]]:
    return ((start, stop) for start, stop, found in matches if not found)


def _isolated(matches: Iterable[Match]) -> Iterator[tuple[int, int]]:
    return ((start, stop) for start, stop, _ in matches)


def _contiguous(matches: Iterable[Match]) -> Iterable[tuple[int, int]]:
    """Neighbours that are both matches, or both none, are one."""
    found: list[tuple[int, int]] = []
    before = False
    for start, stop, is_match in matches:
        if is_match == before and found:
            found[-1] = (found[-1][0], stop)
        else:
            found.append((start, stop))
        before = is_match
    return found


def _with_previous(matches: Iterable[Match]) -> Iterable[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    before = False
    for start, stop, is_match in matches:
        if is_match and not before and found:
            found[-1] = (found[-1][0], stop)
        else:
            found.append((start, stop))
        before = is_match
    return found


def _with_next(matches: Iterable[Match]) -> Iterable[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    behind = False
    for start, stop, is_match in reversed(list(matches)):
        if is_match and not behind and found:
            found[-1] = (start, found[-1][1])
        else:
            found.append((start, stop))
        behind = is_match
    return reversed(found)


_RANGES = {
    "Removed": _removed,
    "Isolated": _isolated,
    "Contiguous": _contiguous,
    "MergedWithPrevious": _with_previous,
    "MergedWithNext": _with_next,
}
