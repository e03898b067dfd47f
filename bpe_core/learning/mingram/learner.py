"""The course of MinGram: cut by the fewest tokens, count them, do so again; then drop what is used least.

How few tokens a word takes hangs on the pieces alone; the log-probabilities only choose among ways that have as many.
At first these follow from how much of the corpus each piece could cover, then from how often it is used.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bpe_core.history.scores import Float32s
from bpe_core.learning.mingram.fewest import fewest_first
from bpe_core.learning.unigram.dropping import Batch, DroppingLearner
from bpe_core.learning.unigram.estimates import first_scores


class MinGramLearner(DroppingLearner):
    """By how often a piece is used."""

    def _first_scores(self) -> Float32s:
        return fewest_first(first_scores(self.coverage))

    def _rounds(self) -> Iterator[bool]:
        for _ in range(self._recipe.em_passes):
            self._scores = fewest_first(first_scores(self._lattices.counts))
            yield from self._set_scores()
        pieces = np.flatnonzero(self._alive)
        yield from self._leave(Batch.of(pieces[np.lexsort((-pieces, self._lattices.counts[pieces]))], {}))
