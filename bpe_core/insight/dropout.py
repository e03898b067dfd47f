"""The ways in which a word can be split when merges are left out at random.

**Dropout** follows Provilkov and others (2020). At each step, some of the boundaries at which a pair could be joined
are left out. Each of them is left out with the same probability, independently of the others. Of the remaining
boundaries, the boundary whose merge has the lowest number is joined. If several have this merge, the leftmost of them
is joined. The word is done when all boundaries are left out. A boundary that was left out may be joined at the next
step.

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

MOST_STATES = 2_000  # states of a word for which probabilities are computed; with more, ways are only drawn


class Dropout:
    def __init__(self, find: Find, probability: float) -> None:
        """Store the merges, and the probability with which each merge is left out.

        `find` returns the number of the merge that joins two neighbours, and the token that it makes. It returns None
        if no merge joins the neighbours. The merge with the lowest number happens first.
        """
        if not 0 <= probability <= 1:
            raise BpeError(f"The probability of leaving out a merge must be from 0 to 1, not {probability:g}.")
        self._find = find
        self._left_out = probability

    def drawn(self, symbols: Sequence[int], chance: Random) -> Ids:
        return join_neighbours(symbols, self._find, chance=chance, dropout=self._left_out)[0]

    def outcomes(self, symbols: Sequence[int]) -> dict[Ids, float] | None:
        """Return each possible split of the word with its probability. Return None if there are too many states.

        At each step, the pairs that a merge can join are tried in the order of the merges. Each pair may be left out at
        random. The first pair that is not left out is joined. The word is done if all its pairs are left out.
        """
        waiting: dict[Ids, float] = {tuple(symbols): 1.0}
        chances: dict[Ids, float] = {}
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
                    chances[ids] = chances.get(ids, 0.0) + probability
            waiting = shorter
        return chances


def joins_of(history: History) -> Find:
    if history.joining is not None:
        return JoinedWords(history).find
    base = len(history.alphabet)
    return {left << 32 | right: (rank, base + rank) for (left, right), rank in history.ranks().items()}.get
