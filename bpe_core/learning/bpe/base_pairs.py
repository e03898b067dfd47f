"""Before the first merge, on all cores: the pairs of base symbols are counted, and noted where they stand.

Each thread has a stretch of cells, which ends behind a word, and counts in a table of its own. What cells then call a
pair is put right when the places are noted, as each thread numbers the pairs in the order it meets them.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bpe_core.at_once import at_once, available_threads
from bpe_core.errors import TooLarge
from bpe_core.kernels import learn_start
from bpe_core.kernels import learn_state as names
from bpe_core.limits import check_room

CELLS_A_THREAD = 1 << 20  # fewer are done before a thread has begun
LEARNING = "Learning"
FEWER_CELLS = "Train on fewer texts, or choose a pattern that leaves fewer or shorter different words."
GROWTH = 4  # arrays that are known to grow slowly get a fourth more

_SMALL_ALPHABET = 1024  # so many symbols or fewer have a table with a place for each of their pairs


class _Stretch(NamedTuple):
    """Cells from one to another, what their pairs are called there, and how often each stands in them."""

    first: int
    stop: int
    numbers: npt.NDArray[np.int32]  # in the table of all
    times: npt.NDArray[np.int32]


class BasePairs:
    """Counts them at once; where they stand is noted when they have their slices of the arena."""

    def __init__(self, state: names.State, room: int, threads: int | None) -> None:
        borders = list(pairwise(_borders(state, threads)))
        tables = at_once(partial(_counted, state, room), borders)
        self.state = whole = _with_room(tables[0], sum(int(table.number[names.PAIRS]) for table in tables))
        self.are_divided = len(tables) > 1
        self._stretches = []
        for ends, table in zip(borders, tables, strict=True):
            pairs = table.pairs[: table.number[names.PAIRS]]
            numbers = np.arange(len(pairs), dtype=np.int32)
            times = pairs["times"].copy()
            if table is not tables[0]:
                learn_start.add_base_pairs(whole, pairs, numbers)
            self._stretches.append(_Stretch(*ends, numbers, times))

    def place(self, state: names.State) -> None:
        """Note in the slices of the pairs where they stand; those that have none are forgotten."""
        pairs = state.pairs[: state.number[names.PAIRS]]
        free = pairs["first"].copy()
        tasks = []
        for first, stop, numbers, times in self._stretches:
            fills = free[numbers]
            free[numbers] += times
            numbers[pairs["times"][numbers] == 0] = names.NO_PAIR
            tasks.append((state.cells, state.arena, numbers, fills, np.int64(first), np.int64(stop)))
        at_once(lambda task: learn_start.place_base_pairs(*task), tasks)


def _borders(state: names.State, threads: int | None) -> list[int]:
    """Cells that begin a stretch, and the end of the last: a separator, as is what stands before each other one."""
    end = len(state.cells) - 1
    threads = threads or max(1, min(available_threads(), end // CELLS_A_THREAD))
    starts = state.words["start"]
    inner = starts[np.searchsorted(starts, [end * i // threads for i in range(1, threads)])]
    return [0, *sorted({*inner[inner < end].tolist()} - {0}), end]


def _counted(state: names.State, room: int, ends: tuple[int, int]) -> names.State:
    """The same cells with the pairs of one stretch."""
    number = state.number.copy()
    number[names.COUNTED], number[names.PAIRS] = ends[0], 1
    pairs = np.empty(room, names.PAIR)
    pairs[names.NO_PAIR] = 0
    table = _with_slots(state._replace(pairs=pairs, base_slots=np.empty(0, np.int32), number=number))
    while not learn_start.count_base_pairs(table, np.int64(ends[1])):
        table = _with_room(table, room_after(len(table.pairs)))
    return table


def _with_room(table: names.State, pairs: int) -> names.State:
    """Room for so many pairs at least."""
    if len(table.pairs) < pairs:
        table.pairs.resize(pairs, refcheck=False)  # in place where the system can move pages; nobody keeps a view
    return _with_slots(table)


def _with_slots(table: names.State) -> names.State:
    """A table of slots twice as large as there are pairs, unless it already has a place for each."""
    base, pairs, slots = int(table.number[names.BASE]), len(table.pairs), len(table.base_slots)
    if slots >= 2 * pairs or slots == base**2:
        return table
    room = base**2 if base <= _SMALL_ALPHABET else 1 << (2 * pairs).bit_length()
    table = table._replace(base_slots=np.zeros(room, np.int32))
    learn_start.fill_slots(table)
    return table


def room_after(room: int) -> int:
    """For how many pairs there should be room when that is too little."""
    more = room + max(room // GROWTH, 64)
    if more > names.PAIR_BITS:
        raise TooLarge(f"The words hold more than {names.PAIR_BITS:,} different pairs. {FEWER_CELLS}")
    check_room((more - room) * (names.PAIR.itemsize + 2 * np.dtype(np.int32).itemsize), LEARNING, FEWER_CELLS)
    return more
