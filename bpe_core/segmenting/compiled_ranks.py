"""The ranks of the boundaries in many words, computed by kernels."""

from __future__ import annotations

import numpy as np

from bpe_core.history.history import History
from bpe_core.kernels import merge_word as kernel
from bpe_core.kernels.encode import IDS
from bpe_core.segmenting.compiled_encoder import merge_table, room_for
from bpe_core.support.arrays import Int32s


class CompiledRanks:
    def __init__(self, history: History) -> None:
        left, right = (np.array(column, np.int32) for column in history.columns[:2])
        self._merges = len(history)
        self._table = merge_table(len(history.alphabet), left, right)

    def of(self, symbols: Int32s) -> Int32s:
        """Return an array with an item for each element of `symbols`.

        The item is the index of the merge that removes the boundary before this element. `symbols` holds the symbols
        of many words, with a negative number between two words.
        """
        longest = int(np.diff(np.flatnonzero(symbols < 0)).max(initial=1))
        room, _ = room_for(longest, self._merges, IDS)
        ranks = np.empty(len(symbols), np.int32)
        kernel.rank_boundaries(self._table, room, symbols, ranks)
        return ranks
