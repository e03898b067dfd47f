"""Which words of several tables are the same: each gets the number of the place where it was met first."""

from __future__ import annotations

import numpy as np

from bpe_core.kernels.jit import kernel
from bpe_core.kernels.word_tables import hash_of, same, shift_of


@kernel
def number_words(text, starts, begin, stop, keys, places, rows, firsts, found):
    """Number the words from `begin` to `stop`, of which so many different ones were `found` before; how many are now.

    `keys` and `places` are a table with at least a third more slots than there are words. Of each number, `firsts`
    tells the word that got it. Behind the text are seven bytes more.
    """
    mask = np.uint64(len(keys) - 1)
    shift = shift_of(mask)
    for i in range(begin, stop):
        start = starts[i]
        length = starts[i + 1] - start
        key = hash_of(text, start, length)
        slot = key >> shift
        while True:
            if keys[slot] == np.uint64(0):
                keys[slot] = key
                places[slot] = found
                firsts[found] = i
                rows[i] = found
                found += 1
                break
            first = firsts[places[slot]] if keys[slot] == key else -1
            is_alike = first >= 0 and starts[first + 1] - starts[first] == length
            if is_alike and same(text, starts[first], text, start, length):
                rows[i] = places[slot]
                break
            slot = (slot + np.uint64(1)) & mask
    return found


@kernel
def gather_words(text, starts, begin, stop, chosen, new_starts, gathered):
    """Write the words of those numbers one after the other."""
    for i in range(begin, stop):
        source, target = starts[chosen[i]], new_starts[i]
        for place in range(new_starts[i + 1] - target):
            gathered[target + place] = text[source + place]


@kernel
def count_tokens(ids, starts, rows, times, counts):
    """Count the tokens of some words, those of each so many times; `starts` tells where those of all words begin."""
    for i in range(len(rows)):
        for place in range(starts[rows[i]], starts[rows[i] + 1]):
            counts[ids[place]] += times[i]
