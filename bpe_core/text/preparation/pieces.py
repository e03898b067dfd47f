"""Parts of a text that know where each character came from, the ways to cut them, and added tokens.

>>> mask = AddedToken("<mask>", lstrip=True)
>>> [(start, stop) for start, stop, token in found_in("a <mask> b", finder(("<mask>",)), {"<mask>": mask}) if token]
[(1, 8)]
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from bpe_core.text.older_unicode import without_later
from bpe_core.text.specials import Find
from bpe_core.text.specials import finder as finder

if TYPE_CHECKING:  # takes a while to load
    import regex

Behavior = Literal["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"]
BEHAVIORS: tuple[str, ...] = get_args(Behavior)

Match = tuple[int, int, bool]  # start, stop, and whether it is a match or a gap between matches


class TracedPiece(NamedTuple):
    text: str
    sources: Sequence[int]  # for each character, the index it came from in the original text, or nothing
    stop: int  # the end of the piece in that text
    is_in_bytes: bool = False  # its characters represent bytes

    @classmethod
    def bare(cls, text: str) -> TracedPiece:
        """Return a text without sources, which takes less time."""
        return cls(text, range(0), 0)

    @property
    def is_bare(self) -> bool:
        return not self.sources

    @classmethod
    def whole(cls, text: str, first: int = 0) -> TracedPiece:
        """Return an unchanged text that begins at the character `first` of the original."""
        return cls(text, range(first, first + len(text)), first + len(text))

    def part(self, start: int, stop: int) -> TracedPiece:
        if start == 0 and stop == len(self.text):
            return self
        end = self.sources[stop] if stop < len(self.sources) else self.stop
        return TracedPiece(self.text[start:stop], self.sources[start:stop], end, self.is_in_bytes)

    def begun_with(self, text: str) -> TracedPiece:
        """Return the piece with a text put before it, whose source is the first character."""
        if not self.text:
            return self
        if self.is_bare:
            return self.written(text + self.text)
        sources = [self.sources[0]] * len(text) + list(self.sources)
        return TracedPiece(text + self.text, sources, self.stop, self.is_in_bytes)

    def in_bytes(self) -> TracedPiece:
        return TracedPiece(self.text, self.sources, self.stop, True)

    def written(self, text: str) -> TracedPiece:
        """Return the piece with other characters, one for each of its characters."""
        return TracedPiece(text, self.sources, self.stop, self.is_in_bytes)

    def cut(self, matches: Iterable[Match], behavior: Behavior, *, invert: bool = False) -> Iterator[TracedPiece]:
        for start, stop in ranges(matches, behavior, invert=invert):
            if stop > start:
                yield self.part(start, stop)


def ranges(matches: Iterable[Match], behavior: Behavior, *, invert: bool) -> Iterable[tuple[int, int]]:
    """Return the start and stop of each part of a text that remains."""
    return _RANGES[behavior]((start, stop, found != invert) for start, stop, found in matches)


def with_gaps(found: Iterable[Match], length: int) -> Iterator[Match]:
    end = 0
    for start, stop, is_match in found:
        if start > end:
            yield end, start, False
        yield start, stop, is_match
        end = stop
    if end < length:
        yield end, length, False


def _joined(matches: Iterable[Match], joins: Callable[[bool, bool], bool]) -> list[tuple[int, int]]:
    """Join a part to the part before it if `joins` says so; it gets whether each of the two is a match."""
    found: list[tuple[int, int]] = []
    before = False
    for start, stop, is_match in matches:
        if found and joins(before, is_match):
            found[-1] = (min(found[-1][0], start), max(found[-1][1], stop))
        else:
            found.append((start, stop))
        before = is_match
    return found


def _is_first_match(before: bool, is_match: bool) -> bool:
    return is_match and not before


_RANGES: dict[str, Callable[[Iterable[Match]], Iterable[tuple[int, int]]]] = {
    "Removed": lambda matches: ((start, stop) for start, stop, is_match in matches if not is_match),
    "Isolated": lambda matches: ((start, stop) for start, stop, _ in matches),
    "Contiguous": lambda matches: _joined(matches, operator.eq),
    "MergedWithPrevious": lambda matches: _joined(matches, _is_first_match),
    "MergedWithNext": lambda matches: reversed(_joined(reversed(list(matches)), _is_first_match)),
}


_STARTS_WITH_WORD = r"[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]"
_BLANKS_BEHIND = r"\s*"
_BLANKS_BEFORE = r"(?r)\s*"


@cache
def _compiled(expression: str) -> regex.Pattern[str]:
    import regex

    return regex.compile(expression)


@dataclass(frozen=True)
class AddedToken:
    """A token of the recipe that is searched for by other rules than a plain special token."""

    content: str
    single_word: bool = False  # only if no word continues at either side
    lstrip: bool = False  # the blanks before it belong to it
    rstrip: bool = False
    normalized: bool = False  # it is searched for after the text was changed
    special: bool = True  # otherwise it is found in every text

    @property
    def words(self) -> str:
        said = [] if self.special else ["is found in every text"]
        said += ["is found only between words"] if self.single_word else []
        sides = [side for side, taken in (("before", self.lstrip), ("behind", self.rstrip)) if taken]
        said += [f"takes the spaces {' and '.join(sides)} it, too"] if sides else []
        said += ["is found only after the normalizers"] if self.normalized else []
        return f"The token “{self.content}” " + (", ".join(said) or "is special") + "."


def found_in(text: str, find: Find, known: Mapping[str, AddedToken]) -> Iterator[tuple[int, int, str]]:
    """Yield the tokens of a text and the gaps between them: (start, stop, token or "").

    A token that takes spaces can reach over the tokens after it. These are found all the same, and the search goes on
    after the last of them, as in Hugging Face's library.
    """
    end = 0
    for start, stop in find(text):
        token = text[start:stop]
        how = known.get(token)
        if how is not None:
            if how.single_word and _is_inside_word(text, start, stop):
                continue
            if how.lstrip:
                found = _compiled(_BLANKS_BEFORE).match(text, min(start, end), start)
                start = max(found.start() if found else start, end)
            if how.rstrip:
                found = _compiled(_BLANKS_BEHIND).match(text, stop)
                stop = found.end() if found else stop
        if start > end:
            yield end, start, ""
        if stop > start:
            yield start, stop, token
        end = stop
    if end < len(text):
        yield end, len(text), ""


def _is_inside_word(text: str, start: int, stop: int) -> bool:
    around = without_later(text[start - 1 : start] if start else ""), without_later(text[stop : stop + 1])
    return any(_compiled(_STARTS_WITH_WORD).match(one) for one in around)
