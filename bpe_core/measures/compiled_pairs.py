"""Held-out bits of every size of one run, by the compiled kernel: makes the arrays it works in, and larger ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bpe_core.history.history import History
from bpe_core.kernels import pair_model as kernel

Bools = npt.NDArray[np.bool_]
Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.float64]

SLOTS = 1 << 16  # for pairs, at first
TOLD_AT_ONCE = 20_000_000  # pairs, between two questions whether anybody still wants to know: some 0.04 s


class Wanted(NamedTuple):
    """How often words occur, and what shall be told of them."""

    learned: Int64s
    held_out: Int64s
    asked: Bools  # after how many steps, from none on
    bits: Numbers  # where that is written


class Cells(NamedTuple):
    """Words as base symbols, with the step that dissolves each boundary."""

    ids: Int32s  # of the symbol in each cell; between words what is no token
    words: Int32s  # the word of each cell
    first: Int64s  # where in the next column the cells are listed whose boundary each step dissolves; and the end
    by_rank: Int32s


def follow_joins(cells: Cells, wanted: Wanted, history: History, slots: int | None = None) -> Iterator[int]:
    """Write the bits where pairs are joined; tells again and again how many steps are done."""
    places = kernel.Cells(cells.ids, cells.ids.copy(), cells.words, wanted.learned, wanted.held_out)
    columns = history.columns
    joins = kernel.Joins(columns.left, columns.right, history.token_lengths(), cells.first, cells.by_rank)
    model, room, sizes = empty_model(history, slots), room_to_tell(), history.vocabulary_sizes()
    base, entered, step = np.int64(len(history.alphabet)), 0, 0
    while entered < len(cells.ids) - 1:
        model = with_room(model, 1)
        entered = kernel.enter_cells(places, model, entered)
    wanted.bits[0] = kernel.tell(model, room, sizes[0] + 1)
    while step < len(history):
        model = with_room(model, 2 * int(joins.starts[step + 1] - joins.starts[step]))
        step = kernel.follow(
            places, joins, model, room, base, sizes, wanted.asked, step, TOLD_AT_ONCE, wanted.bits
        )  # fmt: skip
        yield step


def room_to_tell() -> kernel.Room:
    """What is the same memory as numbers and as bits."""
    told, exponents = np.zeros(kernel.AT_ONCE), np.zeros(kernel.AT_ONCE)
    return kernel.Room(told, told.view(np.int64), exponents, exponents.view(np.int64))


def empty_model(history: History, slots: int | None) -> kernel.Model:
    """Of all tokens, and the edge of words."""
    return _model(history.id_count + 1, slots or SLOTS)


def _model(tokens: int, slots: int) -> kernel.Model:
    """A table of so many slots, half of them for pairs at most."""
    return kernel.Model(
        keys=np.zeros(slots, np.uint64),
        seen=np.zeros(slots, np.int64),
        place=np.zeros(slots, np.int32),
        left=np.zeros(slots // 2, np.int32),
        right=np.zeros(slots // 2, np.int32),
        seen_of=np.zeros(slots // 2),
        wanted=np.zeros(slots // 2),
        different=np.zeros(tokens),
        after=np.zeros(tokens),
        times=np.zeros(tokens, np.int64),
        asked=np.zeros(tokens, np.int64),
        number=np.zeros(kernel.NUMBERS, np.int64),
        heads=np.zeros(1),
    )


def with_room(model: kernel.Model, more: int) -> kernel.Model:
    """The same, in a table that is twice as large as often as so many more pairs need it."""
    needed, slots = 2 * (int(model.number[kernel.FILLED]) + more), len(model.keys)
    if needed <= slots:
        return model
    while slots < needed:
        slots *= 2
    table = _model(0, slots)
    model.number[kernel.FILLED] = kernel.move_pairs(model, table)
    for column in ("left", "right", "seen_of", "wanted"):
        old = getattr(model, column)
        getattr(table, column)[: len(old)] = old
    return kernel.Model(*table[:7], *model[7:])
