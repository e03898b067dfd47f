"""Merges, some of which are left out by chance.

**Dropout** is that of Provilkov and others (2020): at each step, each place where a pair could be joined is left out by
itself, with the same probability; of the places that are kept, the one whose merge is first is joined, the leftmost of
equals; the word is done when none is kept. What was left out may be joined at the next step.

    >>> dropped = Dropout({1 << 32 | 2: (0, 3)}.get, 0.25)
    >>> dropped.outcomes([1, 2])
    {(1, 2): 0.25, (3,): 0.75}
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from random import Random

from bpe_core.errors import BpeError
from bpe_core.history.history import History
from bpe_core.insight.word_lattice import Ids
from bpe_core.segmenting.by_priority import JoinedWords
from bpe_core.segmenting.neighbours import Find, join_neighbours

MOST_STATES = 2_000  # of a word on its ways through dropout; of more, chances are only drawn


class Dropout:
    def __init__(self, find: Find, probability: float) -> None:
        """`find` says of two neighbours which merge joins them, the first having the lowest number, and to what."""
        if not 0 <= probability <= 1:
            raise BpeError(f"A merge is left out with a probability from 0 to 1, not {probability:g}.")
        self._find, self._left_out = find, probability

    def drawn(self, symbols: Sequence[int], chance: Random) -> Ids:
        return join_neighbours(symbols, self._find, chance=chance, dropout=self._left_out)[0]

    def outcomes(self, symbols: Sequence[int]) -> dict[Ids, float] | None:
        """Return the probability of each way that can come out; None where there are too many on the way to them.

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
                joins = ((self._find(left << 32 | right), place) for place, (left, right) in enumerate(pairwise(ids)))
                for (_, token), place in sorted((join, place) for join, place in joins if join is not None):
                    kept = probability * (1 - self._left_out)
                    if kept:
                        shorter[(*ids[:place], token, *ids[place + 2 :])] += kept
                    probability *= self._left_out
                if probability:
                    found[ids] = found.get(ids, 0.0) + probability
            waiting = shorter
        return found


def joins_of(history: History) -> Find:
    if history.joining is not None:
        return JoinedWords(history).find
    base = len(history.alphabet)
    return {left << 32 | right: (rank, base + rank) for (left, right), rank in history.ranks().items()}.get
