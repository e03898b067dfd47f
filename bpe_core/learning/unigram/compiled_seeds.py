"""The pieces that occur again, found with the compiled kernel."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from bpe_core.kernels import unigram_seeds as kernel
from bpe_core.learning.unigram.cells import Int32s, Int64s, Stretches


def repeated(
    stretches: Stretches, limits: Int32s, classes: npt.NDArray[np.uint8], *, room: int = 1 << 16
) -> Iterator[tuple[Int64s, int, Int64s]]:
    """For each length the pieces that are seeds: a place where each stands, and how often it occurs."""
    symbols, weights = stretches.symbols, stretches.cell_counts
    cells = np.flatnonzero(limits > 1)
    places = kernel.Places(cells, symbols[cells])
    longer = kernel.Places(np.empty_like(cells), np.empty(len(cells), np.int32))
    groups = _groups(room)
    left = len(cells)
    for length in range(2, int(limits.max(initial=0)) + 1):
        groups.number[kernel.PLACES] = left
        while not kernel.part_groups(symbols, limits, weights, classes, places, longer, groups, np.int64(length)):
            groups = _groups(4 * len(groups.times))
            groups.number[kernel.PLACES] = left
        left, found = (int(number) for number in groups.number)
        chosen = np.flatnonzero(groups.differs[:found] & (groups.weight[:found] > 1))
        yield groups.first[chosen], length, groups.weight[chosen]
        places, longer = longer, places
        if not left:
            break


def _groups(room: int) -> kernel.Groups:
    return kernel.Groups(
        keys=np.empty(2 * room, np.uint64),
        group=np.empty(2 * room, np.int32),
        times=np.empty(room, np.int32),
        weight=np.empty(room, np.int64),
        first=np.empty(room, np.int64),
        follower=np.empty(room, np.uint8),
        differs=np.empty(room, np.bool_),
        number=np.zeros(kernel.NUMBERS, np.int64),
    )
