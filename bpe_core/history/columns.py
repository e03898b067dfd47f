"""What is written down of each step, whatever the method: a column each."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]

NOTHING = -1  # no runner-up; no right half, as of a step that drops a token; a count that is not known


class Columns(NamedTuple):
    """One row a step; room for more rows than are filled."""

    left: Int32s
    right: Int32s
    count: Int64s  # type: ignore[assignment]  # of a tuple, which nobody asks of this one
    runner_up_left: Int32s
    runner_up_right: Int32s
    runner_up_count: Int64s
    tokens_left: Int64s

    @classmethod
    def with_room(cls, rows: int) -> Columns:
        wide = (np.empty(rows, np.int64) for _ in range(3))
        narrow = (np.empty(rows, np.int32) for _ in range(4))
        return cls(
            left=next(narrow),
            right=next(narrow),
            count=next(wide),
            runner_up_left=next(narrow),
            runner_up_right=next(narrow),
            runner_up_count=next(wide),
            tokens_left=next(wide),
        )

    def first(self, rows: int) -> Columns:
        """A read-only view of the first rows."""
        return Columns(**{name: frozen(column[:rows]) for name, column in self._asdict().items()})


def frozen(view: npt.NDArray[Any]) -> npt.NDArray[Any]:
    view.flags.writeable = False
    return view
