"""The two passes of BoundlessBPE with the compiled kernels."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from bpe_core.counting.words import WordTable
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import NOTHING
from bpe_core.learning.boundless.passes import FirstPass, Runs, first_pass
from bpe_core.learning.bpe.compiled import CompiledLearner
from bpe_core.learning.layout import Layout
from bpe_core.learning.superbpe.compiled import inside_of as inside_of
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.arrays import Int64s


class CompiledWithin(CompiledLearner):
    _counts_apart = True

    @property
    def more_tokens(self) -> int:
        return self.learned

    def _begin(self, layout: Layout, words: WordTable, alphabet: Alphabet) -> None:
        self._words, self._starts = words, layout.starts

    def whole_words(self) -> Int64s:
        """Look a word that is one token up by its text: no two tokens have the same."""
        starts, state = self._starts, self._state
        lengths = np.diff(starts) - 1
        is_whole = (lengths == 1) | (state.cells[starts[1:] - 2] == -lengths)
        text = state.text.tobytes()
        edges = state.text_starts[: int(state.run[0]["base"]) + self.learned + 1].tolist()
        token_of = {text[start:stop]: token for token, (start, stop) in enumerate(pairwise(edges))}
        whole = np.full(len(lengths), NOTHING, np.int64)
        which = np.flatnonzero(is_whole)
        whole[which] = [token_of[self._words.word(row)] for row in which.tolist()]
        return whole


class CompiledAcross(CompiledLearner):
    _counts_apart = True

    def __init__(self, runs: Runs, recipe: Recipe) -> None:
        super().__init__(runs.words, runs.alphabet, recipe, None, layout=runs.layout)


def learn_within(words: WordTable, alphabet: Alphabet, recipe: Recipe, more: int) -> FirstPass:
    return (
        CompiledWithin(words, alphabet, recipe, None)
        if recipe.tau is None
        else first_pass(words, alphabet, recipe, more)
    )
