"""The rank of every boundary in a table of words, by the compiled kernel: makes the arrays it works in."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bpe_core.history.history import History
from bpe_core.kernels import replay as kernel

Int32s = npt.NDArray[np.int32]


def compiled_ranks(symbols: Int32s, history: History) -> Int32s:
    """Which merge dissolves the boundary in front of each cell of a layout."""
    keys, pair_ranks = _pair_table(history)
    separators = np.flatnonzero(symbols < 0)
    longest = int(np.diff(separators).max(initial=1))
    tokens, before, after, ranks = (np.empty(len(symbols), np.int32) for _ in range(4))
    heap = np.empty(2 * longest + 8, np.uint64)
    base = np.int64(len(history.alphabet))
    kernel.rank_boundaries(symbols, tokens, before, after, heap, keys, pair_ranks, base, ranks)
    return ranks


def _pair_table(history: History) -> tuple[npt.NDArray[np.uint64], Int32s]:
    slots = 1 << max(4, (2 * len(history)).bit_length())
    keys, pair_ranks = np.zeros(slots, np.uint64), np.zeros(slots, np.int32)
    kernel.enter_pairs(keys, pair_ranks, *history.columns[:2])
    return keys, pair_ranks
