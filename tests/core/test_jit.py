"""Tests of functions that are compiled to machine code.

They must accept the same arguments and return the same results as before the compilation.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest

from bpe_core.kernels.calling import CHECKS, _packer, kinds_of
from bpe_core.kernels.jit import bundle

ITEM = np.dtype([("first", np.int32), ("second", np.int64)], align=True)


@bundle
class Desk(NamedTuple):
    items: Any
    table: Any
    size: Any


class Room(NamedTuple):
    desk: Desk
    shares: Any


@pytest.fixture(scope="module")
def examples() -> ModuleType:
    return import_module("tests.core.jit_examples")  # not while tests are collected


def desk() -> Room:
    items = np.zeros(3, ITEM)
    return Room(Desk(items, np.arange(6, dtype=np.int32).reshape(2, 3), 3), np.array([1.0, 2.5]))


def test_arguments_and_results_of_many_types_pass_through_machine_code(examples: ModuleType) -> None:
    room, cells = desk(), np.array([1, 2, 3, 99], np.int32)
    strided = np.arange(10)[::3]
    large = np.uint64(2**64 - 3)
    results = examples.many_kinds(room, cells, strided, 0.5, True, large, np.int32(-5))
    assert results == (1, 1.25, True, 2**64 - 2, -6)
    assert [type(result) for result in results] == [int, float, bool, int, int]
    assert room.desk.items[0]["second"] == 12
    assert room.desk.table[1, 2] == 3
    assert room.shares[0] == 1.25
    assert examples.nothing(cells) is None
    assert cells[0] == 7
    assert [examples.whole(2**62), examples.whole(np.int64(-2)), examples.whole(0.5)] == [2**62 + 1, -1, 1.5]
    with pytest.raises(NotImplementedError, match=r"jit_examples\.fails calls \w+, which only Numba provides"):
        examples.fails(3)


def test_machine_code_uses_the_new_arrays_after_a_named_tuple_of_arrays_is_replaced(
    examples: ModuleType,
) -> None:
    rooms, cells, large = [desk(), desk()], np.ones(4, np.int32), np.uint64(0)
    for number in (1, 2, 3):
        for room in rooms:
            room.desk.table[0, 1] = number
            assert examples.many_kinds(room, cells, np.arange(10)[::3], 0.5, True, large, np.int32(0))[0] == number
            assert examples.many_kinds(room, cells, np.arange(30)[::2], 0.5, True, large, np.int32(0))[3] == 1
            assert room.desk.table[1, 2] == 2
    rooms[0].desk.items.resize(600, refcheck=False)
    if CHECKS:
        with pytest.raises(RuntimeError, match="An array of Desk was moved in memory"):
            examples.many_kinds(rooms[0], cells, np.arange(10)[::3], 0.5, True, large, np.int32(0))
    read_only = np.arange(3, dtype=np.int32)
    read_only.flags.writeable = False
    assert examples.first_of(read_only) == 0
    assert examples.first_of(np.empty(0, np.int32)) == -1


def test_threads_that_use_the_same_named_tuple_of_arrays_share_the_stored_addresses_of_the_arrays() -> None:
    """If each thread stored its own addresses, one thread could replace addresses that machine code is reading."""
    places: list[tuple[int, ...]] = []

    class RepackingNumber(int):
        """A number that simulates a second thread: its conversion to `int` packs the same named tuple again."""

        def __int__(self) -> int:
            if not places:
                places.append(())
                places.append(tuple(pack(desk)))
            return 3

    pack = _packer(Desk(np.zeros(3, ITEM), np.zeros((2, 3)), 3))
    desk = Desk(np.zeros(3, ITEM), np.zeros((2, 3)), RepackingNumber(3))
    assert tuple(pack(desk)) == places[1]


def test_different_argument_types_get_different_machine_code() -> None:
    cells = np.zeros((4, 4), np.int32)
    different = [
        cells, cells[0], cells[:, 0], cells.astype(np.uint32), cells[0].astype(np.int64), np.zeros(2, ITEM),
        np.zeros(2, np.dtype([("first", np.int32), ("second", np.int64)])), 1, 1.0, True, np.uint64(1),
        (cells,), (1, 1),
    ]  # fmt: skip
    assert len({kinds_of(argument_types) for argument_types in different}) == len(different)
    assert kinds_of(desk()) == kinds_of(desk())
