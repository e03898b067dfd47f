"""Pieces that occur again, found length by length: places where the same piece stands are one group.

A group of pieces of one length is parted by the symbol that follows. Places that are alone in their group are given up:
no longer piece that begins there occurs again. So little is left after a few symbols.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bpe_core.kernels.jit import kernel
from bpe_core.kernels.unigram_pieces import SPREAD, SYMBOL_BITS

# Entries of `Groups.number`.
PLACES, GROUPS = range(2)
NUMBERS = 2


class Places(NamedTuple):
    """Where pieces of one length stand, and the group of each."""

    cells: npt.NDArray[np.int64]
    groups: npt.NDArray[np.int32]


class Groups(NamedTuple):
    """The groups of the pieces that are longer by one symbol."""

    keys: npt.NDArray[np.uint64]  # of the shorter group and the symbol; a power of two, 0 is empty
    group: npt.NDArray[np.int32]
    times: npt.NDArray[np.int32]  # of each group: at how many places
    weight: npt.NDArray[np.int64]  # how often it occurs in the corpus
    first: npt.NDArray[np.int64]  # one of its places
    follower: npt.NDArray[np.uint8]  # the class of what follows there
    differs: npt.NDArray[np.bool_]  # whether something of another class follows elsewhere
    number: npt.NDArray[np.int64]


@kernel
def part_groups(symbols, limits, weights, classes, places, longer, groups, length):
    """Write the places of pieces of this length, of those of one symbol less; False where more room is needed."""
    number = groups.number
    number[GROUPS] = 0
    mask = np.uint64(len(groups.keys) - 1)
    for place in range(len(groups.keys)):
        groups.keys[place] = 0
    written = np.int64(0)
    for i in range(number[PLACES]):
        cell = places.cells[i]
        if limits[cell] < length:
            continue
        key = ((np.uint64(places.groups[i]) + np.uint64(1)) << SYMBOL_BITS) | np.uint64(symbols[cell + length - 1])
        slot = ((key * SPREAD) >> np.uint64(20)) & mask
        while groups.keys[slot] != 0 and groups.keys[slot] != key:
            slot = (slot + np.uint64(1)) & mask
        follower = classes[symbols[cell + length]]
        if groups.keys[slot] == 0:
            group = number[GROUPS]
            if 2 * group + 2 > len(groups.keys):
                return False
            groups.keys[slot] = key
            groups.group[slot] = group
            groups.times[group] = 0
            groups.weight[group] = 0
            groups.first[group] = cell
            groups.follower[group] = follower
            groups.differs[group] = False
            number[GROUPS] = group + 1
        group = np.int64(groups.group[slot])
        groups.times[group] += 1
        groups.weight[group] += weights[cell]
        if groups.follower[group] != follower:
            groups.differs[group] = True
        longer.cells[written] = cell
        longer.groups[written] = group
        written += 1
    kept = np.int64(0)
    for i in range(written):
        if groups.times[longer.groups[i]] > 1:
            longer.cells[kept] = longer.cells[i]
            longer.groups[kept] = longer.groups[i]
            kept += 1
    number[PLACES] = kept
    return True
