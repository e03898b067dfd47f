"""The table slots of pairs. A pair of two ids is a key of 64 bits, and a table of keys uses open addressing."""

from __future__ import annotations

import numpy as np

from bpe_core.kernels.jit import inlined, kernel


@inlined
def pair_key(left, right):
    return ((np.uint64(np.uint32(left)) << np.uint64(32)) | np.uint64(np.uint32(right))) + np.uint64(1)


@kernel
def place_of_pair(keys, key):
    """Return the slot of a pair in the table, or the empty slot for a new pair."""
    mixed = key * np.uint64(0x9E3779B97F4A7C15)
    place = (mixed ^ (mixed >> np.uint64(32))) & np.uint64(len(keys) - 1)
    while keys[place] != np.uint64(0) and keys[place] != key:
        place = (place + np.uint64(1)) & np.uint64(len(keys) - 1)
    return place


@kernel
def slot_of_pair(keys, left, right):
    """Return the slot of a pair in the table. Return -1 if the table lacks the pair."""
    key = pair_key(left, right)
    place = place_of_pair(keys, key)
    return np.int64(place) if keys[place] == key else np.int64(-1)
