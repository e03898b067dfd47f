"""How often each token stands in a corpus."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bpe_core.counting.words import WordTable
from bpe_core.learning.layout import SEPARATOR, Layout
from bpe_core.repeating import repeated


def token_counts(layout: Layout, words: WordTable, tokens: int) -> npt.NDArray[np.int64]:
    """By id, each word as often as it occurs; before any step."""
    counts = np.zeros(tokens, np.int64)
    symbols = layout.symbols[1:]  # behind the separator in front, each word has its own
    weights = repeated(words.counts, np.diff(layout.starts))
    known = symbols != SEPARATOR
    np.add.at(counts, symbols[known], weights[known])
    return counts
