"""Four trainers that make the same merges with less and less work. They count their work, for a lesson about speed.

>>> race = Race([(tuple("low"), 5), (tuple("lower"), 2)], ["naive", "index"])
>>> race.step(), race.work["naive"], race.work["index"]
(('o', 'w'), Effort(pairs=4, places=16), Effort(pairs=4, places=16))
>>> race.step(), race.work["naive"], race.work["index"]
(('l', 'ow'), Effort(pairs=7, places=28), Effort(pairs=7, places=22))
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from bpe_core.counting.count_words import count_unmixed
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.token_texts import TokenTexts
from bpe_core.insight.trainer_by_rules import join_from_left
from bpe_core.recipes.recipe import Recipe
from bpe_core.text.corpus import Corpus

Pair = tuple[str, str]
Word = list[str]
CountedWord = tuple[Sequence[str], int]


@dataclass
class Effort:
    """The work that a trainer has done so far."""

    pairs: int = 0  # entries of the table of counts, or of the heap, that were looked at
    places: int = 0  # symbols of words that were read

    @property
    def whole(self) -> int:
        return self.pairs + self.places


class NaiveTrainer:
    """A trainer that recounts all pairs for each merge.

    Among equally frequent pairs, all trainers of this file take the pair that comes last in alphabetical order.
    """

    def __init__(self, words: Sequence[CountedWord]) -> None:
        self.work = Effort()
        self.words = [list(symbols) for symbols, _ in words]
        self.weights = [weight for _, weight in words]
        self.counts: dict[Pair, int] = {}

    def step(self) -> Pair | None:
        """Make the next merge, and return its pair. Return None if no pair is left."""
        pair = self._best()
        if pair is not None:
            for number in self._words_to_read(pair):
                self.work.places += len(self.words[number])
                self._join(number, pair)
        return pair

    def _best(self) -> Pair | None:
        self.counts = {}
        for number, word in enumerate(self.words):
            self.work.places += len(word)
            for pair in pairwise(word):
                self.counts[pair] = self.counts.get(pair, 0) + self.weights[number]
        return self._first_of_table()

    def _first_of_table(self) -> Pair | None:
        self.work.pairs += len(self.counts)
        return max(self.counts, key=lambda pair: (self.counts[pair], pair), default=None)

    def _words_to_read(self, pair: Pair) -> Iterable[int]:
        return range(len(self.words))

    def _join(self, number: int, pair: Pair) -> None:
        self.words[number] = join_from_left(self.words[number], pair)


class TrainerWithCounts(NaiveTrainer):
    """A trainer that counts once. After a merge it changes only the counts of words with the merged pair."""

    def __init__(self, words: Sequence[CountedWord]) -> None:
        super().__init__(words)
        for number, word in enumerate(self.words):
            self.work.places += len(word)
            for pair in pairwise(word):
                self._change(pair, self.weights[number], number)

    def _best(self) -> Pair | None:
        return self._first_of_table()

    def _join(self, number: int, pair: Pair) -> None:
        before = self.words[number]
        after = join_from_left(before, pair)
        if len(after) == len(before):
            return
        self.words[number] = after
        times = Counter(pairwise(after))
        times.subtract(pairwise(before))
        for other, change in times.items():
            if change:
                self._change(other, change * self.weights[number], number)

    def _change(self, pair: Pair, change: int, number: int) -> None:
        self.counts[pair] = self.counts.get(pair, 0) + change
        if not self.counts[pair]:
            del self.counts[pair]


class TrainerWithIndex(TrainerWithCounts):
    """A trainer that also stores which words contain each pair. To join a pair, it reads only these words."""

    def __init__(self, words: Sequence[CountedWord]) -> None:
        self.words_with: dict[Pair, set[int]] = {}
        super().__init__(words)

    def _words_to_read(self, pair: Pair) -> Iterable[int]:
        return sorted(self.words_with.pop(pair))

    def _change(self, pair: Pair, change: int, number: int) -> None:
        super()._change(pair, change, number)
        if change > 0:
            self.words_with.setdefault(pair, set()).add(number)


class TrainerWithHeap(TrainerWithIndex):
    """A trainer whose best pair lies on top of a heap.

    A count that falls leaves an outdated entry in the heap. When the entry comes to the top, it is put back with the
    new count.
    """

    def __init__(self, words: Sequence[CountedWord]) -> None:
        self.heap: list[tuple[int, _LastFirst]] = []
        self._risen: set[Pair] = set()
        super().__init__(words)

    def _best(self) -> Pair | None:
        for pair in self._risen:
            if pair in self.counts:
                heapq.heappush(self.heap, (-self.counts[pair], _LastFirst(pair)))
        self._risen.clear()
        while self.heap:
            self.work.pairs += 1
            negative, entry = heapq.heappop(self.heap)
            pair = (entry[0], entry[1])
            count = self.counts.get(pair, 0)
            if count == -negative:
                return pair
            if 0 < count < -negative:
                heapq.heappush(self.heap, (-count, entry))
        return None

    def _change(self, pair: Pair, change: int, number: int) -> None:
        super()._change(pair, change, number)
        if change > 0:
            self._risen.add(pair)


class _LastFirst(tuple[str, ...]):
    """A pair that is compared in reverse order, because a heap has the smallest entry on top."""

    def __lt__(self, other: tuple[str, ...]) -> bool:
        return tuple.__gt__(self, other)

    def __gt__(self, other: tuple[str, ...]) -> bool:
        return tuple.__lt__(self, other)


TRAINERS: Mapping[str, type[NaiveTrainer]] = {
    "naive": NaiveTrainer,
    "counts": TrainerWithCounts,
    "index": TrainerWithIndex,
    "heap": TrainerWithHeap,
}
TITLES: Mapping[str, str] = {
    "naive": "Naive",
    "counts": "With counts kept",
    "index": "With an index",
    "heap": "With a heap",
}


LONGEST = 3_000  # characters of a text that trainers race on
RACED = 60  # merges of a race


def words_of_race(text: str, recipe: Recipe) -> tuple[CountedWord, ...]:
    """Return the distinct words at the beginning of a text. Each word is a pair: its symbols and its count."""
    words = count_unmixed(Corpus.from_texts([text[:LONGEST]]), recipe)
    alphabet = Alphabet.for_words(words, recipe)
    texts = TokenTexts(alphabet).text
    return tuple((tuple(texts[id] for id in alphabet.symbols_of(word, recipe)), count) for word, count in words)


class Race:
    """Several trainers that learn from the same words. At each step, every trainer makes one merge."""

    def __init__(self, words: Sequence[CountedWord], names: Sequence[str]) -> None:
        self._trainers = {name: TRAINERS[name](words) for name in names}
        self.merges = 0

    def step(self) -> Pair | None:
        """Let each trainer make its next merge.

        Return this merge, which is the same for all trainers, or None if no pair is left.
        """
        made = {name: trainer.step() for name, trainer in self._trainers.items()}
        pair = next(iter(made.values()))
        assert all(other == pair for other in made.values()), made
        self.merges += pair is not None
        return pair

    def run(self, merges: int) -> Race:
        while self.merges < merges and self.step() is not None:
            pass
        return self

    @property
    def work(self) -> dict[str, Effort]:
        return {name: trainer.work for name, trainer in self._trainers.items()}
