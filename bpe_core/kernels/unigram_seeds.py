"""Pieces that occur again, found length by length: places where the same piece stands are one group.

Each group of pieces of one length is parted by the symbol that follows. Places that are alone in their group are given
up: no longer piece that begins there occurs elsewhere. So little is left after a few symbols.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bpe_core.kernels.jit import kernel

VARIOUS = 255  # a follower: different ones at different times, at one place already
FOLLOWER_SHIFT = 21  # there are fewer symbols than characters
SYMBOL_MASK = 2**FOLLOWER_SHIFT - 1
_NONE = -1


class Text(NamedTuple):
    """All words end to end: the symbol of each cell, and above its bits what it counts as where it follows a piece."""

    signs: npt.NDArray[np.int32]


class Places(NamedTuple):
    """Where the pieces of one length stand, group after group."""

    cells: npt.NDArray[np.int32]
    limits: npt.NDArray[np.int32]  # how long a piece may be that begins there
    weights: npt.NDArray[np.int64]  # how often it occurs in the corpus
    starts: npt.NDArray[np.int32]  # where each group begins, and the end of all


class Parts(NamedTuple):
    """Room for the parts of one group: for each place which, for each symbol which, and what is known of each."""

    of_place: npt.NDArray[np.int32]
    of_symbol: npt.NDArray[np.int32]  # or -1
    symbol: npt.NDArray[np.int32]
    times: npt.NDArray[np.int32]
    weight: npt.NDArray[np.int64]
    first: npt.NDArray[np.int32]
    follower: npt.NDArray[np.int32]
    differs: npt.NDArray[np.bool_]  # whether another follower stands elsewhere
    free: npt.NDArray[np.int32]  # where its next place is written


class Seeds(NamedTuple):
    """What is found: pieces of this length; and of each place of what length it was alone in its group."""

    firsts: npt.NDArray[np.int32]
    weights: npt.NDArray[np.int64]
    alone: npt.NDArray[np.int32]


@kernel
def part_groups(text, places, groups, longer, parts, seeds, length):
    """Part the groups of places by the last symbol of pieces of this length; how many groups, how many seeds."""
    written = found = new_groups = np.int64(0)
    for group in range(groups):
        start, stop = places.starts[group], places.starts[group + 1]
        count = _part_group(text, places, start, stop, parts, length)
        for part in range(count):
            parts.of_symbol[parts.symbol[part]] = _NONE
            if length > 1 and parts.differs[part] and parts.weight[part] > 1:
                seeds.firsts[found] = parts.first[part]
                seeds.weights[found] = parts.weight[part]
                found += 1
            if parts.times[part] > 1:
                parts.free[part] = written
                longer.starts[new_groups] = written
                written += parts.times[part]
                new_groups += 1
            else:
                parts.free[part] = _NONE
                seeds.alone[parts.first[part]] = length
        for i in range(start, stop):
            part = parts.of_place[i - start]
            if part != _NONE and parts.free[part] != _NONE:
                free = parts.free[part]
                longer.cells[free] = places.cells[i]
                longer.limits[free] = places.limits[i]
                longer.weights[free] = places.weights[i]
                parts.free[part] = free + 1
    longer.starts[new_groups] = written
    return new_groups, found


@kernel
def _part_group(text, places, start, stop, parts, length):
    """Which part each place belongs to; how many there are."""
    count = np.int64(0)
    for i in range(start, stop):
        cell = np.int64(places.cells[i])
        if places.limits[i] < length:
            parts.of_place[i - start] = _NONE
            continue
        symbol = text.signs[cell + length - 1] & SYMBOL_MASK
        follower = text.signs[cell + length] >> FOLLOWER_SHIFT
        part = np.int64(parts.of_symbol[symbol])
        if part == _NONE:
            part = count
            count += 1
            parts.of_symbol[symbol] = part
            parts.symbol[part] = symbol
            parts.times[part] = 0
            parts.weight[part] = 0
            parts.first[part] = cell
            parts.follower[part] = follower
            parts.differs[part] = follower == VARIOUS
        elif parts.follower[part] != follower:
            parts.differs[part] = True
        parts.times[part] += 1
        parts.weight[part] += places.weights[i]
        parts.of_place[i - start] = part
    return count
