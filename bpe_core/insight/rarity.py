"""How often each token stood in the corpus when it came to be: what its colour can tell at once of all.

>>> from bpe_core.counting.words import WordTable
>>> from bpe_core.recipe import Recipe
>>> from bpe_core.reference import train
>>> history = train(WordTable.from_counts({"low": 5, "lower": 2}), Recipe.preset("words", merges=2))
>>> counts_at_birth(history, np.array([7, 2, 2, 7, 7, 2])).tolist()
[7, 2, 2, 7, 7, 2, 7, 7]
"""

from __future__ import annotations

import numpy as np

from bpe_core.history.history import NOTHING, History, Int64s
from bpe_core.learning.methods import Method


def counts_at_birth(history: History, symbol_counts: Int64s) -> Int64s:
    """By id, 0 where nobody knows; `symbol_counts` is how often each base symbol stood there, if that is known.

    Where a method begins with pieces of words, as often as it last expected of them.
    """
    counts: Int64s = np.zeros(history.id_count, np.int64)
    counts[: len(symbol_counts)] = symbol_counts
    if not history.has_counts:
        return counts
    joins = history.columns.right != NOTHING
    counts[history.ids[joins]] = history.columns.count[joins]
    if history.scores is not None:
        cost = Method.of(history.recipe).cost_of_token
        for since in history.scores.since[1:]:
            scores = history.scores.at(since)
            known = np.isfinite(scores)
            expected = np.exp(scores[known].astype(np.float64) + cost) * history.tokens_after[since]
            counts[: len(scores)][known] = np.maximum(1, np.round(expected))
    return counts
