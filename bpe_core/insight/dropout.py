"""Merges, some of which are left out by chance.

**Dropout** is that of Provilkov and others (2020): at each step, each place where a pair could be joined is left out by
itself, with the same probability; of the places that are kept, the one whose merge is first is joined, the leftmost of
equals; the word is done when none is kept. What was left out may be joined at the next step.

    >>> dropped = Dropout(lambda left, right: (0, 3) if (left, right) == (1, 2) else None, 0.25)
    >>> dropped.outcomes([1, 2])
    {(1, 2): 0.25, (3,): 0.75}
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from itertools import pairwise
from random import Random

from bpe_core.errors import BpeError
from bpe_core.history.history import History
from bpe_core.insight.word_lattice import Ids
from bpe_core.segmenting.by_priority import Found, JoinedWords

MOST_STATES = 2_000  # of a word on its ways through dropout; of more, chances are only drawn

Join = Callable[[int, int], Found | None]


class Dropout:
    def __init__(self, join: Join, probability: float) -> None:
        """`join` says of two neighbours which merge joins them, the first having the lowest number, and to what."""
        if not 0 <= probability <= 1:
            raise BpeError(f"A merge is left out with a probability from 0 to 1, not {probability:g}.")
        self._join, self._left_out = join, probability

    def drawn(self, symbols: Sequence[int], chance: Random) -> Ids:
        """Join by chance. A heap has the places that could be joined; what a step leaves out is put back behind it."""
        end, ids = len(symbols), list(symbols)
        after, before = list(range(1, end + 1)), list(range(-1, end - 1))
        heap: list[tuple[int, int, int, int]] = []  # which merge, where, the end of what it makes, and what

        def enter(start: int) -> None:
            middle = after[start]
            if middle < end and (found := self._join(ids[start], ids[middle])) is not None:
                heappush(heap, (found[0], start, after[middle], found[1]))

        for start in range(end - 1):
            enter(start)
        left_out: list[tuple[int, int, int, int]] = []
        while heap:
            place = heappop(heap)
            _, start, stop, token = place
            middle = after[start]
            if not start < middle < end or after[middle] != stop:
                continue  # one of the two has been joined to another since
            if chance.random() < self._left_out:
                left_out.append(place)
                continue
            for one in left_out:
                heappush(heap, one)
            left_out.clear()
            ids[start], after[start], after[middle] = token, stop, 0
            if stop < end:
                before[stop] = start
                enter(start)
            if start:
                enter(before[start])
        return tuple(ids[start] for start in range(end) if after[start])

    def outcomes(self, symbols: Sequence[int]) -> dict[Ids, float] | None:
        """The probability of each way that can come out; None where there are too many on the way to them.

        Of the places that could be joined, in their order, the one behind i others is joined if those are left out and
        it is not; the word is done if all are left out.
        """
        waiting: dict[Ids, float] = {tuple(symbols): 1.0}
        found: dict[Ids, float] = {}
        seen = 0
        while waiting:
            shorter: dict[Ids, float] = defaultdict(float)
            seen += len(waiting)
            if seen > MOST_STATES:
                return None
            for ids, probability in waiting.items():
                joins = ((self._join(*pair), place) for place, pair in enumerate(pairwise(ids)))
                for (_, token), place in sorted((join, place) for join, place in joins if join is not None):
                    kept = probability * (1 - self._left_out)
                    if kept:
                        shorter[(*ids[:place], token, *ids[place + 2 :])] += kept
                    probability *= self._left_out
                if probability:
                    found[ids] = found.get(ids, 0.0) + probability
            waiting = shorter
        return found


def joins_of(history: History) -> Join:
    if history.joining is not None:
        return JoinedWords(history).find
    ranks, base = history.ranks(), len(history.alphabet)

    def join(left: int, right: int) -> Found | None:
        rank = ranks.get((left, right))
        return None if rank is None else (rank, base + rank)

    return join
