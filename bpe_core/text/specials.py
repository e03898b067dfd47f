"""Special tokens in a text: never split, never changed, never merged across."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache, partial

Find = Callable[[str], Iterator[tuple[int, int]]]  # yields the start and the stop of each match in a text

FEW = 500  # so few alternatives that an expression takes only some microseconds an offset


def parts_of(text: str, specials: tuple[str, ...]) -> Iterator[tuple[str, bool]]:
    """Cut the text at its special tokens, which are marked by True. If several match, the longest counts.

    >>> list(parts_of("one<end>two<end>", ("<end>",)))
    [('one', False), ('<end>', True), ('two', False), ('<end>', True)]
    """
    if not specials:
        if text:
            yield text, False
        return
    end = 0
    for start, stop in finder(specials)(text):
        if start > end:
            yield text[end:start], False
        yield text[start:stop], True
        end = stop
    if end < len(text):
        yield text[end:], False


@lru_cache(maxsize=16)
def finder(specials: tuple[str, ...]) -> Find:
    """Return a function that finds special tokens in texts; make it once for many texts."""
    if not specials:
        return lambda _: iter(())
    if len(specials) > FEW:
        return partial(_places_of_many, *_by_length(specials))
    longest_first = sorted(specials, key=len, reverse=True)
    expression = re.compile("|".join(map(re.escape, longest_first)))
    return lambda text: (found.span() for found in expression.finditer(text))


def _places_of_many(
    known: frozenset[str], lengths: list[int], beginning: re.Pattern[str], text: str
) -> Iterator[tuple[int, int]]:
    """Search for tokens of each length, as an expression would try one token after the other, with the GIL held."""
    place = 0
    while found := beginning.search(text, place):
        start = place = found.start()
        pieces = (text[start : start + length] for length in lengths)
        place += len(next((piece for piece in pieces if piece in known), ""))
        if place > start:
            yield start, place
        else:
            place += 1


def _by_length(specials: tuple[str, ...]) -> tuple[frozenset[str], list[int], re.Pattern[str]]:
    """Return all tokens, their lengths in descending order, and an expression of their beginnings."""
    first = min(specials)
    last = max(specials)
    shared = next((first[:end] for end in range(len(first), 0, -1) if last.startswith(first[:end])), "")
    beginning = re.escape(shared) if shared else f"[{re.escape(''.join({token[0] for token in specials}))}]"
    return frozenset(specials), sorted({len(token) for token in specials}, reverse=True), re.compile(beginning)
