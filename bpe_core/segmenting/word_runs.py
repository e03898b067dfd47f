"""The splitting of runs of words in two passes: merges within words first, then supermerges of whole words.

Both passes are byte-pair encoding. The base symbols of the second pass are words instead of bytes. Each pass numbers
its tokens separately. `WordRuns` separates the two passes, and maps each merge to its step in the history. A supermerge
is always learned later than the words that it joins. So each boundary is removed by at most one step, and this step is
the rank of the boundary.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from bpe_core.history.alphabet import Alphabet, Symbol
from bpe_core.history.history import History
from bpe_core.kernels import NEVER
from bpe_core.methods.registry import METHODS
from bpe_core.recipes.recipe import Recipe
from bpe_core.splitting.splitter import Splitter
from bpe_core.support.arrays import Bools, Int32s, Int64s

STAGE = "stage"  # the reason of a step: 1 within words, 2 across words
WITHIN = 1
NO_WORD = -1  # marks a word without a number in the second pass


def stages_of(history: History) -> Int64s:
    """Return the stage of each step: 1 within words, 2 across words.

    All steps of a history without stages are within words.
    """
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

    def is_edge(self, symbols: Sequence[int], ranks: Sequence[int], boundary: int) -> bool:
        """Return whether a word of a run ends at this boundary and no supermerge can join it to the next word.

        A supermerge joins only words that consist of one token. So the result is true if the word before or after the
        boundary has several tokens.
        """
        place = 0
        is_several_before = False
        for word in self.words(bytes(symbols)):
            is_several = NEVER in ranks[place : place + len(word) - 1]
            if place == boundary + 1:
                return is_several_before or is_several
            place += len(word)
            is_several_before = is_several
        return False

    def with_supermerges(self, words: Int64s, begins: Bools, ranks_across: Callable[[Int32s], Int32s]) -> Int32s:
        """Return an array with the step that joins each word to the word before it.

        `begins` marks the first words of runs.
        """
        places = np.arange(len(words)) + np.cumsum(begins)
        cells = np.full(int(places[-1]) + 2 if len(places) else 1, NO_WORD, np.int32)
        cells[places] = np.where(words == NO_WORD, NO_WORD, self.symbol_of[words])
        return as_steps(ranks_across(cells)[places], self.rows_across)


def _history(recipe: Recipe, alphabet: Alphabet, number: Int64s, left: Int32s, right: Int32s, rows: Int64s) -> History:
    return History.from_pairs(recipe, alphabet, np.stack((number[left[rows]], number[right[rows]]), axis=1))


def as_steps(ranks: Int32s, rows: Int64s) -> Int32s:
    steps = np.append(rows, NEVER).astype(np.int32)
    return steps[np.minimum(ranks, len(rows))]
