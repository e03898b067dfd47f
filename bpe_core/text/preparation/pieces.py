"""The pieces into which a text is split, and the search for added tokens. A piece stores the original offset of each of
its characters.

>>> mask = AddedToken("<mask>", lstrip=True)
>>> parts = find_added_tokens("a <mask> b", finder(("<mask>",)), {"<mask>": mask})
>>> [(start, stop) for start, stop, token in parts if token]
[(1, 8)]
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from bpe_core.text.older_unicode import replace_newer
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
        """Return a piece that does not store where its characters come from, which saves time."""
        return cls(text, range(0), 0)

    @property
    def is_bare(self) -> bool:
        return not self.sources

    @classmethod
    def whole(cls, text: str, first: int = 0) -> TracedPiece:
        """Return an unchanged text as a piece. Its first character is character number `first` of the original text."""
        return cls(text, range(first, first + len(text)), first + len(text))

    def part(self, start: int, stop: int) -> TracedPiece:
        if start == 0 and stop == len(self.text):
            return self
        end = self.sources[stop] if stop < len(self.sources) else self.stop
        return TracedPiece(self.text[start:stop], self.sources[start:stop], end, self.is_in_bytes)

    def with_prefix(self, text: str) -> TracedPiece:
        """Put `text` before the piece. The new characters get the offset of the piece's first character.

        An empty piece stays unchanged.
        """
        if not self.text:
            return self
        if self.is_bare:
            return self.written(text + self.text)
        sources = [self.sources[0]] * len(text) + list(self.sources)
        return TracedPiece(text + self.text, sources, self.stop, self.is_in_bytes)

    def in_bytes(self) -> TracedPiece:
        return TracedPiece(self.text, self.sources, self.stop, True)

    def written(self, text: str) -> TracedPiece:
        """Return a copy of this piece with the characters of `text`, at the same offsets.

        `text` must be as long as this piece.
        """
        return TracedPiece(text, self.sources, self.stop, self.is_in_bytes)

    def cut(self, matches: Iterable[Match], behavior: Behavior, *, invert: bool = False) -> Iterator[TracedPiece]:
        for start, stop in ranges(matches, behavior, invert=invert):
            if stop > start:
                yield self.part(start, stop)


def ranges(matches: Iterable[Match], behavior: Behavior, *, invert: bool) -> Iterable[tuple[int, int]]:
    """Split a text at these matches. Return the start and the stop of each piece.

    `behavior` says whether a match is removed, becomes a separate piece, or joins a neighbour. With `invert`, the gaps
    between the matches are treated like matches, and the matches like gaps.
    """
    return _RANGES[behavior]((start, stop, is_match != invert) for start, stop, is_match in matches)


def with_gaps(matches: Iterable[Match], length: int) -> Iterator[Match]:
    end = 0
    for start, stop, is_match in matches:
        if start > end:
            yield end, start, False
        yield start, stop, is_match
        end = stop
    if end < length:
        yield end, length, False


def _joined(matches: Iterable[Match], joins: Callable[[bool, bool], bool]) -> list[tuple[int, int]]:
    """Join each part of a text to the part before it if the function `joins` returns true. Return the ranges.

    `joins` receives two flags: whether the part before is a match, and whether this part is a match.
    """
    spans: list[tuple[int, int]] = []
    before = False
    for start, stop, is_match in matches:
        if spans and joins(before, is_match):
            spans[-1] = (min(spans[-1][0], start), max(spans[-1][1], stop))
        else:
            spans.append((start, stop))
        before = is_match
    return spans


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
    """A token of the recipe, with options that say where in a text it matches.

    For example, it may match only as a whole word, or include the spaces next to it.
    """

    content: str
    single_word: bool = False  # only if no word continues at either side
    lstrip: bool = False  # the blanks before it belong to it
    rstrip: bool = False
    normalized: bool = False  # it is searched for after the text was changed
    special: bool = True  # otherwise it is found in every text

    @property
    def words(self) -> str:
        said = [] if self.special else ["is matched in every text"]
        said += ["is matched only between words"] if self.single_word else []
        sides = [side for side, taken in (("before", self.lstrip), ("behind", self.rstrip)) if taken]
        said += [f"includes the spaces {' and '.join(sides)} it"] if sides else []
        said += ["is matched only after the normalizers"] if self.normalized else []
        return f"The token “{self.content}” " + (", ".join(said) or "is special") + "."


def find_added_tokens(text: str, find: Find, known: Mapping[str, AddedToken]) -> Iterator[tuple[int, int, str]]:
    """Yield the tokens of a text and the gaps between them as (start, stop, token). The token of a gap is empty.

    If a token includes the spaces after it, it can overlap the next tokens. These tokens are yielded, too, and the
    search continues after the last of them, as in Hugging Face's library.
    """
    end = 0
    for start, stop in find(text):
        token = text[start:stop]
        how = known.get(token)
        if how is not None:
            if how.single_word and _is_inside_word(text, start, stop):
                continue
            if how.lstrip:
                blanks = _compiled(_BLANKS_BEFORE).match(text, min(start, end), start)
                start = max(blanks.start() if blanks else start, end)
            if how.rstrip:
                blanks = _compiled(_BLANKS_BEHIND).match(text, stop)
                stop = blanks.end() if blanks else stop
        if start > end:
            yield end, start, ""
        if stop > start:
            yield start, stop, token
        end = stop
    if end < len(text):
        yield end, len(text), ""


def _is_inside_word(text: str, start: int, stop: int) -> bool:
    around = replace_newer(text[start - 1 : start] if start else ""), replace_newer(text[stop : stop + 1])
    return any(_compiled(_STARTS_WITH_WORD).match(character) for character in around)
