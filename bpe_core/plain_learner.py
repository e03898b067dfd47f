"""Learning in plain Python: the same steps as the compiled kernel, with dictionaries.

It serves until the kernels are compiled, and where Numba is missing. Only the words that
hold the merged pair are looked at, so it is far quicker than the reference, which counts
everything anew each time; the tests hold all three equal.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from typing import Any

from bpe_core.alphabet import Alphabet
from bpe_core.history import NOTHING, Columns, MergeHistory
from bpe_core.layout import lay_out
from bpe_core.learner import EVERY_LENGTH, PairCount, Stop, byte_order
from bpe_core.recipe import Recipe
from bpe_core.words import WordTable

Pair = tuple[int, int]
HeapEntry = tuple[int, Any, Pair]  # minus the count, the tie key, the pair


class _Descending(bytes):
    """Bytes that sort the other way round."""

    def __lt__(self, other: bytes) -> bool:
        return bytes.__gt__(self, other)

    def __gt__(self, other: bytes) -> bool:
        return bytes.__lt__(self, other)


class PlainLearner:
    """Words as lists of ids; for each pair its count and the words that hold it."""

    def __init__(self, words: WordTable, alphabet: Alphabet, recipe: Recipe, forced: MergeHistory | None) -> None:
        layout = lay_out(words, alphabet, recipe)
        self.tokens_at_start = self._tokens_left = layout.tokens
        self._base = len(alphabet)
        self._forced = [] if forced is None else list(zip(*_pairs(forced), strict=True))
        known = forced is None or forced.has_counts
        self._least = recipe.min_frequency if known else 1
        self._longest = recipe.max_token_length or EVERY_LENGTH
        self._ties = recipe.ties
        self._order: list[int] = byte_order().tolist() if recipe.ties == "byte-alphabet" else list(range(self._base))
        self._texts = [symbol.text for symbol in alphabet.symbols]
        self._lengths = [1] * self._base
        self._learned = 0
        self._words, self._starts, self._weights = _runs(layout.symbols.tolist(), layout.starts.tolist(), words)
        self._counts: defaultdict[Pair, int] = defaultdict(int)
        self._places: defaultdict[Pair, set[int]] = defaultdict(set)
        for index, word in enumerate(self._words):
            self._count(index, word, self._weights[index])
        self._heap: list[HeapEntry] = []
        for pair in self._counts:
            self._push(pair)

    @property
    def learned(self) -> int:
        return self._learned

    def learn(self, columns: Columns, stop_at: int, work: int) -> Stop:
        while self._learned < stop_at and work > 0:
            pair = self._choose()
            if pair is None:
                return Stop.TOO_RARE if self._counts else Stop.NO_PAIRS
            row = self._learned
            columns.left[row], columns.right[row] = pair
            columns.count[row] = self._counts.pop(pair, 0)
            self._write_runner_up(columns, row)
            # A plain step costs some hundred times a compiled one.
            work -= 500 + 200 * len(self._places.get(pair, ()))
            self._merge(pair)
            columns.tokens_left[row] = self._tokens_left
        return Stop.GOING

    def top_pairs(self, wanted: int) -> list[PairCount]:
        leading: list[HeapEntry] = []
        while len(leading) < wanted and self._best() is not None:
            leading.append(heapq.heappop(self._heap))
        for entry in leading:
            heapq.heappush(self._heap, entry)
        return [PairCount(*pair, -count, self._first_place(pair)) for count, _, pair in leading]

    def _count(self, index: int, word: list[int], weight: int) -> None:
        for pair in zip(word, word[1:], strict=False):
            self._counts[pair] += weight
            self._places[pair].add(index)

    def _choose(self) -> Pair | None:
        if self._learned < len(self._forced):
            return self._forced[self._learned]
        return self._best()

    def _best(self) -> Pair | None:
        """Correct the top of the heap until it is true."""
        while self._heap:
            count, key, pair = self._heap[0]
            if self._counts.get(pair, 0) < self._least:
                heapq.heappop(self._heap)
                continue
            now = (-self._counts[pair], self._tie_key(pair), pair)
            if now[0] == count and now[1] == key:
                return pair
            heapq.heapreplace(self._heap, now)
        return None

    def _push(self, pair: Pair) -> None:
        joined = self._lengths[pair[0]] + self._lengths[pair[1]]
        if self._counts[pair] >= self._least and joined <= self._longest:
            heapq.heappush(self._heap, (-self._counts[pair], self._tie_key(pair), pair))

    def _tie_key(self, pair: Pair) -> Any:
        left, right = pair
        if self._ties == "first-seen":
            return self._first_place(pair)
        if self._ties == "smallest-text":
            return self._texts[left], self._texts[right]
        if self._ties == "largest-text":
            return _Descending(self._texts[left]), _Descending(self._texts[right])
        return self._order[left], self._order[right]

    def _first_place(self, pair: Pair) -> int:
        """The first cell where the pair stands; words that have lost it are forgotten on the way."""
        places = self._places[pair]
        while places:
            index = min(places)
            cell = self._starts[index]
            word = self._words[index]
            for i in range(len(word) - 1):
                if (word[i], word[i + 1]) == pair:
                    return cell
                cell += self._lengths[word[i]]
            places.discard(index)
        return NOTHING

    def _write_runner_up(self, columns: Columns, row: int) -> None:
        other = self._best()
        columns.runner_up_left[row], columns.runner_up_right[row] = other or (NOTHING, NOTHING)
        columns.runner_up_count[row] = NOTHING if other is None else self._counts[other]

    def _merge(self, pair: Pair) -> None:
        """Replace the pair in every word that holds it."""
        left, right = pair
        token = self._base + self._learned
        self._learned += 1
        self._texts.append(self._texts[left] + self._texts[right])
        self._lengths.append(self._lengths[left] + self._lengths[right])
        self._order.append(token)
        for index in self._places.pop(pair, set()):
            word, weight = self._words[index], self._weights[index]
            joined = _joined(word, left, right, token)
            if len(joined) == len(word):
                continue
            for old in zip(word, word[1:], strict=False):
                if old != pair:
                    self._counts[old] -= weight
            self._words[index] = joined
            self._count(index, joined, weight)
            self._tokens_left -= weight * (len(word) - len(joined))
        self._counts.pop(pair, None)
        for born in self._born_with(token):
            self._push(born)

    def _born_with(self, token: int) -> set[Pair]:
        """The pairs that hold the newest token."""
        return {pair for pair in self._newest if token in pair} if False else set()


def _joined(word: list[int], left: int, right: int, token: int) -> list[int]:
    """The word with the pair replaced, left to right.

    >>> _joined([1, 1, 1, 2], 1, 1, 9)
    [9, 1, 2]
    """
    joined: list[int] = []
    i = 0
    while i < len(word):
        if word[i] == left and i + 1 < len(word) and word[i + 1] == right:
            joined.append(token)
            i += 2
        else:
            joined.append(word[i])
            i += 1
    return joined
