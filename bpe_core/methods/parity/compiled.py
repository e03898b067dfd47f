"""The learners that repeat merges which other learners have chosen.

They run the compiled kernels of byte-pair encoding.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bpe_core.counting.words import WordTable
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import NOTHING, History
from bpe_core.kernels import learn as kernel
from bpe_core.methods.kit.compiled_pairs import CompiledLearner
from bpe_core.recipes.recipe import Recipe
from bpe_core.recipes.ties import Pair
from bpe_core.support.arrays import enlarge

MOST_PAIRS_AT_FIRST = 1 << 16


class CompiledFollower(CompiledLearner):
    """A learner that makes the merges of a given list. It keeps the counts of all pairs, even of rare pairs."""

    def __init__(self, words: WordTable, alphabet: Alphabet, recipe: Recipe) -> None:
        room = min(MOST_PAIRS_AT_FIRST, 64 + len(words.text))
        open_ended = History.from_pairs(recipe, alphabet, [(NOTHING, NOTHING)])
        super().__init__(words, alphabet, recipe, open_ended, room=room)

    @property
    def tokens_left(self) -> int:
        return int(self._state.run[0]["tokens_left"])

    def follow(self, pairs: Sequence[Pair]) -> None:
        """Set the list of merges to make. The list begins with the merges that the learner has already made.

        The pair of a merge may be rare, or may not occur in the text at all.
        """
        state = self._state
        known = self.learned
        if len(state.forced_left) <= len(pairs):
            left, right = (enlarge(column, 2 * len(pairs) + 1) for column in (state.forced_left, state.forced_right))
            left[known:] = NOTHING
            self._state = state = state._replace(forced_left=left, forced_right=right)
            state.run[0]["forced"] = len(left)
        if len(pairs) > known:
            state.forced_left[known : len(pairs)], state.forced_right[known : len(pairs)] = np.array(pairs[known:]).T

    def count_of(self, pair: Pair) -> int:
        """Return the count of a pair after the steps made so far."""
        number = kernel.find_pair(self._state, np.int64(pair[0]), np.int64(pair[1]))
        return int(self._state.pairs[number]["count"])
