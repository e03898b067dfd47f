"""The small inputs on which methods run their kernels once, so that the kernels are compiled."""

from __future__ import annotations

import numpy as np

from bpe_core.counting.words import WordTable
from bpe_core.history.history import History
from bpe_core.measures.compiled_bits import MeasuredPairs

TEXT = "low lower lowest newest widest "
WORDS = WordTable.from_counts(dict.fromkeys(TEXT.split(), 3))
PAIRS = [(108, 111), (256, 119)]  # l+o, lo+w
LONG_WORD = "low" * 300


def small_inputs(words: WordTable, history: History) -> MeasuredPairs:
    """Return small inputs for the kernels that count the tokens of words after each step."""
    steps = len(history) + 1
    return MeasuredPairs(words.counts, words.counts, np.ones(steps, np.bool_), np.zeros(steps))
