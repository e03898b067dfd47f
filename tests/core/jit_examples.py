"""Examples of functions that are compiled to machine code. Their arguments have many types.

Importing this module takes a while, because it loads Numba.
"""

from __future__ import annotations

import numpy as np

from bpe_core.kernels.compiling import inlined, kernel


@inlined
def _double(number):
    return number * 2


@kernel
def _sum_of(cells, size):
    total = np.int64(0)
    for i in range(size):
        total += cells[i]
    return total


@kernel
def many_kinds(room, cells, strided, factor, is_wanted, large, small):
    room.desk.items[0]["second"] = _double(_sum_of(cells, room.desk.size))
    room.desk.table[1, 2] = strided[1]
    room.shares[0] = factor * room.shares[1]
    return room.desk.table[0, 1], room.shares[0], is_wanted and cells[0] > 0, large + np.uint64(1), small - 1


@kernel
def nothing(cells):
    cells[0] = 7


@kernel
def whole(number):
    return number + 1


@kernel
def first_of(cells):
    return np.int64(cells[0]) if len(cells) else np.int64(-1)


@kernel
def fails(number):
    if number > 2:
        raise ValueError("too large")
    return number
