"""The search for special tokens in a text. A special token is never split, never changed, and never merged."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache, partial

Find = Callable[[str], Iterator[tuple[int, int]]]  # yields the start and the stop of each match in a text

FEW = 500  # so few alternatives that an expression takes only some microseconds an offset


def parts_of(text: str, specials: tuple[str, ...]) -> Iterator[tuple[str, bool]]:
    """Split the text at its special tokens. Yield each part, and whether it is a special token.

    If several tokens match at the same offset, the longest of them is used.

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
    """Return a function that finds special tokens in texts.

    Use the same function for many texts, because making it is slow.
    """
    if not specials:
        return lambda _: iter(())
    if len(specials) > FEW:
        return partial(_places_of_many, *_by_length(specials))
    longest_first = sorted(specials, key=len, reverse=True)
    expression = re.compile("|".join(map(re.escape, longest_first)))
    return lambda text: (match.span() for match in expression.finditer(text))


def _places_of_many(
    known: frozenset[str], lengths: list[int], beginning: re.Pattern[str], text: str
) -> Iterator[tuple[int, int]]:
    """Yield the start and the stop of each special token in a text.

    At each offset where a token may begin, the function tries each length of tokens, the longest first. Meanwhile all
    other threads wait, because the function holds the GIL.
    """
    place = 0
    while match := beginning.search(text, place):
        start = place = match.start()
        pieces = (text[start : start + length] for length in lengths)
        place += len(next((piece for piece in pieces if piece in known), ""))
        if place > start:
            yield start, place
        else:
            place += 1


def _by_length(specials: tuple[str, ...]) -> tuple[frozenset[str], list[int], re.Pattern[str]]:
    """Return the special tokens, their lengths in descending order, and a pattern.

    The pattern matches wherever a special token may begin.
    """
    first = min(specials)
    last = max(specials)
    shared = next((first[:end] for end in range(len(first), 0, -1) if last.startswith(first[:end])), "")
    beginning = re.escape(shared) if shared else f"[{re.escape(''.join({token[0] for token in specials}))}]"
    return frozenset(specials), sorted({len(token) for token in specials}, reverse=True), re.compile(beginning)
