"""Held-out bits of every size of one run, by the compiled kernel: makes the arrays it works in, and larger ones."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from bpe_core.insight.ranked_words import RankedWords
from bpe_core.kernels import pair_model as kernel

Int64s = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.float64]

SLOTS = 1 << 16  # for pairs, at first
TOLD_AT_ONCE = 20_000_000  # pairs, between two questions whether anybody still wants to know: some 0.04 s


def follow_bits(
    ranked: RankedWords, ids: Int64s, learned: Int64s, held_out: Int64s, bits: Numbers, slots: int = SLOTS
) -> Iterator[int]:
    """Write the bits after 0, 1, 2 ... steps; tells again and again how many steps are done.

    `ids` are those of the tokens in the cells before the first step, less than none between words.
    """
    history = ranked.history
    symbols = np.where(ids < 0, history.id_count, ids).astype(np.int32)
    cells, joins = kernel.Cells(symbols, symbols.copy(), ranked.word_of_cell, learned, held_out), _joins(ranked)
    model, room = _model(history.id_count + 1, slots), _room()
    entered = 0
    while entered < len(cells.first) - 1:
        model = _with_room(model, 1)
        entered = kernel.enter_cells(cells, model, entered)
    steps = len(history)
    sizes = np.array([history.vocabulary_size_at(step) for step in range(steps + 1)], np.int64)
    step = 0
    bits[0] = kernel.tell(model, room, sizes[0] + 1)
    while step < steps:
        model = _with_room(model, 2 * int(joins.starts[step + 1] - joins.starts[step]))
        step = kernel.follow(cells, joins, model, room, np.int64(ranked.base), sizes, step, TOLD_AT_ONCE, bits)
        yield step


def _room() -> kernel.Room:
    told, exponents = np.zeros(kernel.AT_ONCE), np.zeros(kernel.AT_ONCE)
    return kernel.Room(told, told.view(np.int64), exponents, exponents.view(np.int64))


def _joins(ranked: RankedWords) -> kernel.Joins:
    columns = ranked.history.columns
    return kernel.Joins(columns.left, columns.right, ranked.token_lengths, *ranked.cells_by_rank)


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


def _with_room(model: kernel.Model, more: int) -> kernel.Model:
    """The same, in a table that is twice as large as often as so many more pairs need it."""
    needed, slots = 2 * (int(model.number[kernel.FILLED]) + more), len(model.keys)
    if needed <= slots:
        return model
    while slots < needed:
        slots *= 2
    table = _model(0, slots)
    kernel.move_pairs(model, table)
    for column in ("left", "right", "seen_of", "wanted"):
        old = getattr(model, column)
        getattr(table, column)[: len(old)] = old
    return kernel.Model(*table[:7], *model[7:])
