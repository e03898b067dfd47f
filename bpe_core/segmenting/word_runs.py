"""The splitting of runs of words by BoundlessBPE: merges within words first, then supermerges of whole words.

Both passes are byte-pair encoding; the second one has words in place of bytes. Each pass numbers its tokens itself:
`WordRuns` separates the two, and knows the step of each merge in the history. A supermerge is never learned before the
words that it joins, so one step removes each boundary, as usual.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import groupby

import numpy as np

from bpe_core.history.alphabet import Alphabet, Symbol
from bpe_core.history.history import History
from bpe_core.methods.registry import METHODS
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.merging import NEVER, MergedWord, Merges, ranks_of
from bpe_core.splitting.splitter import Splitter
from bpe_core.support.arrays import Bools, Int32s, Int64s

STAGE = "stage"  # the reason of a step: 1 within words, 2 across them
WITHIN = 1
NO_WORD = -1  # marks a word without a number in the second pass


def stages_of(history: History) -> Int64s:
    """Return the stage of each step; a history without stages joins only within words."""
    return history.reasons.get(STAGE, np.full(len(history), WITHIN)).astype(np.int64)


class WordRuns:
    def __init__(self, history: History) -> None:
        base = len(history.alphabet)
        columns = history.columns
        stages = stages_of(history)
        self.base = base
        self.inside = Recipe(pattern=METHODS[history.recipe.method].pattern_inside(history.recipe))
        self.rows_within = np.flatnonzero(stages == WITHIN)
        self.rows_across = np.flatnonzero(stages != WITHIN)
        number = np.arange(base + len(history))
        number[base + self.rows_within] = base + np.arange(len(self.rows_within))
        self.within = _history(self.inside, history.alphabet, number, columns.left, columns.right, self.rows_within)
        halves = np.concatenate([columns.left[self.rows_across], columns.right[self.rows_across]])
        made = base + self.rows_across
        words = np.setdiff1d(halves, made)
        symbols = tuple([Symbol(b"", b"", "character")] * len(words))
        number = np.full(base + len(history), NO_WORD)
        number[words], number[made] = np.arange(len(words)), len(words) + np.arange(len(made))
        self.across = _history(
            Recipe(pattern="none"), Alphabet(symbols), number, columns.left, columns.right, self.rows_across
        )
        self.symbol_of = number  # from a token of the history to its symbol in the second pass
        self.symbol_of[made] = NO_WORD

    @cached_property
    def _split(self) -> Splitter:
        return Splitter(self.inside)

    def words(self, run: bytes) -> list[bytes]:
        try:
            return [word.encode() for word in self._split.words(run.decode())]
        except UnicodeDecodeError:  # the bytes are a part of a character
            return [run]

    def with_supermerges(self, words: Int64s, begins: Bools) -> Int32s:
        """Return the step that joins each word to the one before it; `begins` marks the first words of runs."""
        places = np.arange(len(words)) + np.cumsum(begins)
        cells = np.full(int(places[-1]) + 2 if len(places) else 1, NO_WORD, np.int32)
        cells[places] = np.where(words == NO_WORD, NO_WORD, self.symbol_of[words])
        return as_steps(ranks_of(cells, self.across)[places], self.rows_across)


def _history(recipe: Recipe, alphabet: Alphabet, number: Int64s, left: Int32s, right: Int32s, rows: Int64s) -> History:
    return History.from_pairs(recipe, alphabet, np.stack((number[left[rows]], number[right[rows]]), axis=1))


def as_steps(ranks: Int32s, rows: Int64s) -> Int32s:
    steps = np.append(rows, NEVER).astype(np.int32)
    return steps[np.minimum(ranks, len(rows))]


class RunMerges(Merges):
    """The merges of runs in plain Python, for one run at a time."""

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._runs = runs = WordRuns(history)
        self._within = Merges(runs.within)
        self._across = Merges(runs.across)
        self._steps_within = runs.rows_within.tolist()
        self._steps_across = runs.rows_across.tolist()
        self._symbols: list[int] = runs.symbol_of.tolist()

    def merged(self, symbols: Sequence[int]) -> MergedWord:
        ranks: list[int] = []
        words: list[tuple[int, int]] = []  # the offset of each word, and its number in the second pass
        for word in self._runs.words(bytes(symbols)):
            own = _steps(self._within.merged(word).ranks, self._steps_within)
            last = max(own, default=-1)
            token = word[0] if last < 0 else self._base + last
            words.append((len(ranks), NO_WORD if last == NEVER else self._symbols[token]))
            ranks += [NEVER, *own]
        for is_whole, stretch in groupby(words, lambda word: word[1] != NO_WORD):
            places, numbers = zip(*stretch, strict=True)
            if is_whole:
                found = _steps(self._across.merged(numbers).ranks, self._steps_across)
                for place, rank in zip(places[1:], found, strict=True):
                    ranks[place] = rank
        return MergedWord(list(symbols), ranks[1:])

    def is_edge(self, symbols: Sequence[int], boundary: int) -> bool:
        """Return whether a word ends at this boundary, and this word or the next one is several tokens."""
        place = 0
        before = NO_WORD
        for word in self._runs.words(bytes(symbols)):
            own = _steps(self._within.merged(word).ranks, self._steps_within)
            last = max(own, default=-1)
            number = NO_WORD if last == NEVER else 0
            if place == boundary + 1:
                return NO_WORD in (before, number)
            place = place + len(word)
            before = number
        return False


def _steps(ranks: Sequence[int], rows: Sequence[int]) -> list[int]:
    return [rank if rank == NEVER else rows[rank] for rank in ranks]
