"""The pieces that occur again, found with the compiled kernel."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from bpe_core.kernels import unigram_seeds as kernel
from bpe_core.learning.unigram.cells import VARIOUS, Int32s, Int64s, Stretches

assert kernel.VARIOUS == VARIOUS  # kernels know nothing of whom they serve


def repeated(
    stretches: Stretches, limits: Int32s, followers: npt.NDArray[np.uint8]
) -> Iterator[tuple[Int64s, Int64s, Int64s]]:
    """The pieces that are seeds: a place where each stands, its length, and how often it occurs."""
    signs = np.maximum(stretches.symbols, 0) | (followers.astype(np.int32) << kernel.FOLLOWER_SHIFT)
    text = kernel.Text(signs)
    cells = np.flatnonzero(limits > 1).astype(np.int32)
    room = len(cells)
    places = kernel.Places(cells, limits[cells], stretches.cell_counts[cells], np.empty(room + 2, np.int32))
    longer = kernel.Places(*map(np.empty_like, places))
    places.starts[:2] = 0, room
    parts = _parts(room, int(stretches.symbols.max(initial=0)) + 1)
    seeds = kernel.Seeds(np.empty(room, np.int32), np.empty(room, np.int64), np.zeros(len(limits), np.int32))
    groups = 1
    for length in range(1, int(limits.max(initial=0)) + 1):
        groups, found = kernel.part_groups(text, places, groups, longer, parts, seeds, np.int64(length))
        yield seeds.firsts[:found].astype(np.int64), np.full(found, length), seeds.weights[:found].copy()
        places, longer = longer, places
        if not groups:
            break
    yield _ends_that_vary(stretches, limits, followers, seeds.alone)


def _ends_that_vary(
    stretches: Stretches, limits: Int32s, followers: npt.NDArray[np.uint8], alone: Int32s
) -> tuple[Int64s, Int64s, Int64s]:
    """Ends of words that stand nowhere else, and yet are followed by different things."""
    cells = np.flatnonzero(alone)
    ends = (stretches.starts[1:] - 1)[np.searchsorted(stretches.starts, cells, side="right") - 1]
    lengths = ends - cells
    vary = (followers[ends] == VARIOUS) & (lengths > alone[cells]) & (limits[cells] >= lengths)
    return cells[vary], lengths[vary], stretches.cell_counts[cells[vary]]


def _parts(places: int, symbols: int) -> kernel.Parts:
    return kernel.Parts(
        of_place=np.empty(places, np.int32),
        of_symbol=np.full(symbols, -1, np.int32),
        symbol=np.empty(symbols, np.int32),
        times=np.empty(symbols, np.int32),
        weight=np.empty(symbols, np.int64),
        first=np.empty(symbols, np.int32),
        follower=np.empty(symbols, np.int32),
        differs=np.empty(symbols, np.bool_),
        free=np.empty(symbols, np.int32),
    )
