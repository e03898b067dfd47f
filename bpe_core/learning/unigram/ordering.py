"""The order of many pieces by their symbols, a few symbols at a time."""

from __future__ import annotations

import numpy as np

from bpe_core.learning.unigram.cells import Int32s, Int64s


def in_order(symbols: Int32s, firsts: Int64s, lengths: Int64s, groups: Int64s | None = None) -> Int64s:
    """The order of pieces of `symbols` by their symbols; those of an earlier group come first whatever they hold.

    As many symbols at a time as one number holds beside the group; then only those go on that are equal so far.

    >>> in_order(np.array([7, 8, 9, 7, 8, 7, 9], np.int32), np.array([0, 3, 5]), np.array([3, 2, 2])).tolist()
    [1, 0, 2]
    """
    order = np.arange(len(firsts)) if groups is None else np.argsort(groups)
    group = np.zeros(len(order), np.int64) if groups is None else groups[order]
    bits = (int(symbols.max(initial=0)) + 1).bit_length()
    places, done = np.arange(len(order)), 0  # where those stand that are not told apart yet
    while (lengths[order[places]] > done).any():
        group = np.cumsum(np.concatenate((np.zeros(1, np.bool_), group[1:] != group[:-1])))
        width = max(1, (63 - int(group[-1]).bit_length()) // bits)
        pieces, keys = order[places], group << (width * bits)
        for place in range(width):
            cells = firsts[pieces] + np.minimum(done + place, lengths[pieces] - 1)
            letters = np.where(done + place < lengths[pieces], symbols[cells].astype(np.int64) + 1, 0)
            keys |= letters << ((width - 1 - place) * bits)
        by_key = np.argsort(keys)
        order[places] = pieces[by_key]
        keys, done = keys[by_key], done + width
        same = np.concatenate((np.zeros(1, np.bool_), keys[1:] == keys[:-1], np.zeros(1, np.bool_)))
        alike = same[1:] | same[:-1]
        places, group = places[alike], keys[alike]
    return order
