"""The tables of different words.

Open addressing with a power of two of slots, never more than three quarters full; the callers
see to that. Words of at most eight bytes are their own keys: one cache miss finds and counts
them. Longer ones are found by a hash and compared with the copy that is kept of each.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bpe_core.kernels.jit import kernel
from bpe_core.kernels.memory import load_eight

# Entries of `Words.used`.
SHORT, LONG, COPIED = range(3)

# A row of `Words.short` is a word and its count; one of `Words.long`: hash, count, start of the copy, length.
SHORT_ROW, LONG_ROW = 2, 4
COUNT = 1  # zero in an empty row
COPY, LENGTH = 2, 3

LONGEST_SHORT = 8  # bytes
AHEAD = 8  # words whose memory is fetched while others are worked on
MIXER = 0x9E3779B97F4A7C15


class Words(NamedTuple):
    """Distinct words with their counts and where each was first seen."""

    short: npt.NDArray[np.uint64]  # rows of two
    short_firsts: npt.NDArray[np.int64]
    long: npt.NDArray[np.uint64]  # rows of four
    long_firsts: npt.NDArray[np.int64]
    copies: npt.NDArray[np.uint8]  # of the long words, each followed by room to the next multiple of eight
    used: npt.NDArray[np.int64]


@kernel
def hold(slots, words):
    """Whether so many words leave a quarter of the slots free."""
    return 4 * words <= 3 * len(slots)


@kernel
def shift_of(mask):
    """How far a 64-bit product is shifted so that its highest bits number a slot."""
    shift = np.uint64(64)
    while mask:
        mask >>= np.uint64(1)
        shift -= np.uint64(1)
    return shift


@kernel
def find_short(table, key, mask, shift):
    """The row of a short word, or the empty row that it would take."""
    slot = (key * np.uint64(MIXER)) >> shift
    while True:
        row = slot * np.uint64(SHORT_ROW)
        if table[row] == key or table[row] == np.uint64(0):
            return row
        slot = (slot + np.uint64(1)) & mask


@kernel
def hash_of(data, start, length):
    """A hash of some bytes, never zero; up to seven bytes behind them are read but do not count."""
    mixed = np.uint64(length) * np.uint64(MIXER)
    end = np.uint64(start + length)
    i = np.uint64(start)
    while i + np.uint64(8) <= end:
        mixed = (mixed ^ load_eight(data, i)) * np.uint64(MIXER)
        mixed ^= mixed >> np.uint64(32)
        i += np.uint64(8)
    if i < end:
        rest = load_eight(data, i) & (np.uint64(0xFFFFFFFFFFFFFFFF) >> (np.uint64(64) - np.uint64(8) * (end - i)))
        mixed = (mixed ^ rest) * np.uint64(MIXER)
        mixed ^= mixed >> np.uint64(32)
    return mixed * np.uint64(MIXER) | np.uint64(1)


@kernel
def find_long(table, copies, key, data, start, length, mask, shift):
    """The row of a long word, or the empty row that it would take."""
    slot = key >> shift
    while True:
        row = slot * np.uint64(LONG_ROW)
        if table[row + np.uint64(COUNT)] == np.uint64(0):
            return row
        alike = table[row] == key and table[row + np.uint64(LENGTH)] == np.uint64(length)
        if alike and same(copies, table[row + np.uint64(COPY)], data, start, length):
            return row
        slot = (slot + np.uint64(1)) & mask


@kernel
def enter_long(words, row, key, data, start, length, first):
    """A new long word, which is copied; its count is left to the caller."""
    copy = words.used[COPIED]
    for i in range(length):
        words.copies[copy + i] = data[start + i]
    words.used[COPIED] = (copy + length + 15) & ~7
    words.used[LONG] += 1
    words.long[row] = key
    words.long[row + np.uint64(COPY)] = copy
    words.long[row + np.uint64(LENGTH)] = length
    words.long_firsts[row // np.uint64(LONG_ROW)] = first


@kernel
def same(left, left_start, right, right_start, length):
    """Whether two places hold the same bytes; both may be read for seven bytes more."""
    i, j = np.uint64(left_start), np.uint64(right_start)
    todo = np.uint64(length)
    while todo >= np.uint64(8):
        if load_eight(left, i) != load_eight(right, j):
            return False
        i += np.uint64(8)
        j += np.uint64(8)
        todo -= np.uint64(8)
    if todo == np.uint64(0):
        return True
    return (load_eight(left, i) ^ load_eight(right, j)) << (np.uint64(64) - np.uint64(8) * todo) == np.uint64(0)
