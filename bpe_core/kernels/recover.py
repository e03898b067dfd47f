"""Out of which two each token was made, where only the order of the tokens is known."""

from __future__ import annotations

import numpy as np

from bpe_core.kernels.jit import kernel
from bpe_core.kernels.merge_word import LIMIT, enter_merge, merge_word


@kernel
def recover_merges(table, room, data, starts, symbol_of, first, stop):
    """Merge each token with what was found of those before it, and enter the two that are left.

    Returns the first token that falls into more than two, or that is there already; else `stop`.
    """
    cells, lengths = room.cells, table.lengths
    for token in range(first, stop):
        start = starts[token]
        symbols = np.int64(starts[token + 1] - start)
        for i in range(symbols):
            cells[i] = symbol_of[data[start + i]]
        table.number[LIMIT] = token
        merge_word(table, room, symbols)
        left = cells[0]
        middle = np.int64(lengths[left])
        if middle >= symbols:
            return token
        right = cells[middle]
        if middle + np.int64(lengths[right]) != symbols:
            return token
        table.left[token], table.right[token] = left, right
        enter_merge(table, token)
    return stop
