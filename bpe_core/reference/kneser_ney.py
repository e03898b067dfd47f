"""The interpolated Kneser-Ney model of pairs of neighbouring tokens, in plain Python.

The model is the specification of `measures.bits_per_byte`. Each word is modelled separately. `None` represents the
edges of a word, before the first token and after the last token.

>>> model = PairModel([((1, 2), 3), ((1, 3), 1)], 4)
>>> round(sum(model.probability(1, token) for token in (None, 1, 2, 3)), 12)
1.0
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

Words = Iterable[tuple[Sequence[int], int]]  # the tokens of each word, and the count of the word
Event = int | None
USUAL_DISCOUNT = 0.75


class PairModel:
    """A model that gives each event a probability, which depends on the event before it.

    An event is a token, or the edge of a word. The probability of a pair of events depends on its count, from which a
    discount is subtracted. So some probability is left over. It is distributed by a model that does not look at the
    event before.
    """

    def __init__(self, words: Words, events: int) -> None:
        """Count the pairs of neighbouring tokens in the words.

        `events` is the number of tokens, plus one for the boundary of a word.
        """
        self._pairs: Counter[tuple[Event, Event]] = Counter()
        for tokens, count in words:
            if count:
                for pair in pairwise((None, *tokens, None)):
                    self._pairs[pair] += count
        self._events = events
        self._before: Counter[Event] = Counter()  # how often an event followed
        self._different: Counter[Event] = Counter()  # how many different events followed
        self._after: Counter[Event] = Counter()  # how many different events came before
        for (event, following), count in self._pairs.items():
            self._before[event] += count
            self._different[event] += 1
            self._after[following] += 1
        self._discount, self._lower = discount(self._pairs.values()), discount(self._after.values())

    def probability(self, event: Event, following: Event) -> float:
        seen = self._before[event]
        if not seen:
            return self._single_probability(following)
        own = max(0.0, self._pairs[event, following] - self._discount)
        return (own + self._discount * self._different[event] * self._single_probability(following)) / seen

    def _single_probability(self, event: Event) -> float:
        """Return the probability of an event without knowledge of the event before it.

        The more different events can come before an event, the more probable it is. In addition, all events get the
        same small share of the probability.
        """
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
    """Return the amount by which each count is lowered.

    The amount depends on the number of pairs with the count 1 and the number of pairs with the count 2.

    >>> discount([1, 1, 2, 5])
    0.5
    """
    times_seen = Counter(counts)
    return times_seen[1] / (times_seen[1] + 2 * times_seen[2]) if times_seen[1] and times_seen[2] else USUAL_DISCOUNT
