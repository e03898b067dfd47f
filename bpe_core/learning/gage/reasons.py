"""What a step is told of besides its count: the block it was made in, the byte that stands for the pair, the size."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bpe_core.history.history import Reasons

ROOM_AT_FIRST = 1_024  # steps

KINDS: dict[str, npt.DTypeLike] = {
    "block": np.int32,  # the first is 0; those of all texts are numbered on
    "byte": np.int16,  # that stands for the pair in this block
    "size": np.int64,  # of all blocks after the step, in bytes: tables, lengths and data
}


class ReasonRows:
    """Columns with room for more; those that are given away stay as they are."""

    def __init__(self) -> None:
        self._columns = {name: np.empty(ROOM_AT_FIRST, kind) for name, kind in KINDS.items()}

    @property
    def columns(self) -> Reasons:
        return self._columns

    def make_room(self, rows: int) -> None:
        """For so many steps at least."""
        room = len(self._columns["block"])
        if rows > room:
            longer = max(rows, 2 * room) - room
            self._columns = {
                name: np.concatenate((column, np.empty(longer, column.dtype))) for name, column in self._columns.items()
            }

    def write(self, row: int, **values: int) -> None:
        self.make_room(row + 1)
        for name, value in values.items():
            self._columns[name][row] = value
