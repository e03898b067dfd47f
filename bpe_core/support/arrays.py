"""The types of NumPy arrays in the engine, and a function that repeats numbers without blocking other threads."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]
Bools = npt.NDArray[np.bool_]
Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]
Float64s = npt.NDArray[np.float64]
UInt32s = npt.NDArray[np.uint32]
UInt64s = npt.NDArray[np.uint64]
Records = npt.NDArray[np.void]


AT_ONCE = 1 << 15  # numbers; after some 0.1 ms other threads get a turn

Number = TypeVar("Number", bound=np.generic)


def repeat(numbers: npt.NDArray[Number], times: npt.NDArray[Any]) -> npt.NDArray[Number]:
    """Repeat each number `times` times, like `np.repeat`.

    The work is done in parts. Between two parts, other threads can work, such as the thread that draws a window.

    >>> repeat(np.array([7, 8, 9]), np.array([2, 0, 1])).tolist()
    [7, 7, 9]
    """
    starts = range(0, len(numbers), AT_ONCE)
    if len(starts) < 2:
        return np.repeat(numbers, times)
    return np.concatenate([np.repeat(numbers[i : i + AT_ONCE], times[i : i + AT_ONCE]) for i in starts])


def enlarge(array: npt.NDArray[Any], room: int) -> npt.NDArray[Any]:
    """Return a copy of the array with `room` items. The added items have no defined values."""
    enlarged = np.empty(room, array.dtype)
    enlarged[: len(array)] = array
    return enlarged
