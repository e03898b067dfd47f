"""Merging what stands at very many places on two cores (see kernels/learn_wide.py)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from bpe_core.history.history import Columns
from bpe_core.kernels import learn, learn_wide
from bpe_core.kernels import learn_state as names

WIDE = 20_000  # places; fewer are merged before a thread has begun


class Halves:
    """What the second half has of its own, and the thread that merges it."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1)
        self._sides = np.empty(0, np.int32)
        self._groups = np.empty(0, names.GROUP)

    def merge(self, state: names.State, columns: Columns) -> int:
        """Merge the pair that is to be chosen; how much work it was."""
        first, middle, stop = map(np.int64, learn_wide.begin_wide(state, columns))
        first_born = state.number[names.PAIRS]
        other = self._second(state, int(middle - first))
        begun = self._pool.submit(learn_wide.join_half, other, middle, stop)
        joined = learn_wide.join_half(state, first, middle)
        joined_by_other = begun.result()
        learn_wide.settle_halves(state, other, np.int64(joined + joined_by_other))
        placing = self._pool.submit(learn_wide.place_second, other, np.int64(joined_by_other), first_born)
        learn.place(state, np.int64(joined), first_born)
        placing.result()
        learn_wide.end_wide(state, columns, first_born)
        return int(stop - first)

    def _second(self, state: names.State, first_joints: int) -> names.State:
        """The same, to be changed at once by another thread in other places."""
        if len(self._sides) < len(state.sides):
            self._sides = np.zeros(len(state.sides), np.int32)
        if len(self._groups) < len(state.groups):
            self._groups = np.empty(len(state.groups), names.GROUP)
        number = state.number.copy()
        number[names.TOKENS_LEFT] = 0
        joints = state.joints[first_joints:]
        return state._replace(sides=self._sides, groups=self._groups, joints=joints, number=number)
