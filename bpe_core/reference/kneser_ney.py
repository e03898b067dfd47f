"""An interpolated Kneser-Ney model of pairs of neighbours, in plain Python.

It is the specification of `measures.bits_per_byte`. Words are taken one by one: what stands before the first token and
behind the last one is their edge, `None`.

>>> model = PairModel([((1, 2), 3), ((1, 3), 1)], 4)
>>> round(sum(model.probability(1, token) for token in (None, 1, 2, 3)), 12)
1.0
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

Words = Iterable[tuple[Sequence[int], int]]  # the tokens of each word, and how often it occurs
Event = int | None
USUAL_DISCOUNT = 0.75


class PairModel:
    """A model of pairs of events.

    Counts are lowered by a discount, and what that frees goes to the model of single tokens.
    """

    def __init__(self, words: Words, events: int) -> None:
        """Count the pairs of the words; `events` is how many different events can come: the vocabulary and the edge."""
        self._pairs: Counter[tuple[Event, Event]] = Counter()
        for tokens, count in words:
            if count:
                for pair in pairwise((None, *tokens, None)):
                    self._pairs[pair] += count
        self._events = events
        self._before: Counter[Event] = Counter()  # how often something came after it
        self._different: Counter[Event] = Counter()  # how many different ones did
        self._after: Counter[Event] = Counter()  # how many different ones it came after
        for (one, other), count in self._pairs.items():
            self._before[one] += count
            self._different[one] += 1
            self._after[other] += 1
        self._discount, self._lower = discount(self._pairs.values()), discount(self._after.values())

    def probability(self, one: Event, other: Event) -> float:
        seen = self._before[one]
        if not seen:
            return self._by_itself(other)
        own = max(0.0, self._pairs[one, other] - self._discount)
        return (own + self._discount * self._different[one] * self._by_itself(other)) / seen

    def _by_itself(self, event: Event) -> float:
        """Return the probability of an event by how many different ones it came after, with a part spread over all."""
        if not self._pairs:
            return 1 / self._events
        shared = self._lower * len(self._after) / self._events
        return (max(0.0, self._after[event] - self._lower) + shared) / len(self._pairs)

    def bits(self, words: Words) -> float:
        return math.fsum(
            -count * math.log2(self.probability(*pair))
            for tokens, count in words
            if count
            for pair in pairwise((None, *tokens, None))
        )


def discount(counts: Iterable[int]) -> float:
    """Return the discount, from how many were seen once and twice.

    >>> discount([1, 1, 2, 5])
    0.5
    """
    found = Counter(counts)
    return found[1] / (found[1] + 2 * found[2]) if found[1] and found[2] else USUAL_DISCOUNT
