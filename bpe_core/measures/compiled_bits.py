"""The compiled code that computes how many bits held-out words need at every vocabulary size of a run.

One function serves methods that join pairs, and another function serves methods that look tokens up.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from bpe_core.counting.words import WordTable
from bpe_core.history.history import History
from bpe_core.kernels import pair_model as kernel
from bpe_core.kernels import pairs_of_split_words as cut_words
from bpe_core.kernels.encode import PATHS
from bpe_core.segmenting.compiled_encoder import piece_table, room_for
from bpe_core.segmenting.compiled_methods import PiecesOverTime
from bpe_core.segmenting.merging import NEVER
from bpe_core.segmenting.text_encoder import WordSegmenter
from bpe_core.support.arrays import Bools, Float64s, Int32s, Int64s

SLOTS = 1 << 16  # slots for pairs at first
PAIRS_AT_ONCE = 20_000_000  # pairs between two checks for cancellation, about 0.04 s


class MeasuredPairs(NamedTuple):
    learned: Int64s
    held_out: Int64s
    asked: Bools  # for each number of steps from 0 on
    bits: Float64s  # filled by the kernels


class Cells(NamedTuple):
    """The base symbols of all words in one array, and the step that removes each boundary."""

    ids: Int32s  # the symbol in each cell; cells between words hold a number that is no token
    words: Int32s  # the word of each cell
    first: Int64s  # the first index of each step in the next column, and the end
    by_rank: Int32s


def follow_joins(cells: Cells, wanted: MeasuredPairs, history: History, slots: int | None = None) -> Iterator[int]:
    """Compute how many bits the held-out words need after each step, and store the results in `wanted.bits`.

    This function is for methods that join pairs. Yield the number of steps that are done.
    """
    places = kernel.Cells(cells.ids, cells.ids.copy(), cells.words, wanted.learned, wanted.held_out)
    columns = history.columns
    joins = kernel.Joins(columns.left, columns.right, history.token_lengths(), cells.first, cells.by_rank)
    model = _model(history.index_count + 1, slots or SLOTS)
    room = buffers_of_model()
    sizes = history.vocabulary_sizes()
    base = np.int64(len(history.alphabet))
    entered = 0
    step = 0
    while entered < len(cells.ids) - 1:
        model = with_room(model, 1)
        entered = kernel.enter_cells(places, model, entered)
    wanted.bits[0] = kernel.total_bits(model, room, sizes[0] + 1)
    while step < len(history):
        model = with_room(model, 2 * int(joins.starts[step + 1] - joins.starts[step]))
        step = kernel.follow(
            places, joins, model, room, base, sizes, wanted.asked, step, PAIRS_AT_ONCE, wanted.bits
        )  # fmt: skip
        yield step


def buffers_of_model() -> kernel.FractionBuffer:
    values = np.zeros(kernel.AT_ONCE)
    exponents = np.zeros(kernel.AT_ONCE)
    return kernel.FractionBuffer(values, values.view(np.int64), exponents, exponents.view(np.int64))


def _model(tokens: int, slots: int) -> kernel.Model:
    """Return an empty model of token pairs. One additional token stands for the border between words.

    `slots` is the size of its hash table. At most half of the slots are filled.
    """
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
    needed = 2 * (int(model.number[kernel.FILLED]) + more)
    slots = len(model.keys)
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


LISTED_AT_ONCE = 1_000  # words between two checks for cancellation, about 0.1 s

_NO_PIECES = PiecesOverTime([0], lambda at: piece_table([], [], [], []), None)


def follow_words(
    words: WordTable, segmenter: WordSegmenter, wanted: MeasuredPairs, history: History, slots: int | None = None
) -> Iterator[int]:
    """Compute the bits that the held-out words need, and store them in `wanted.bits`.

    The bits are computed after each of the steps in `wanted.asked`. This function is for methods that split words
    by a search for tokens of the vocabulary. Yield the number of steps that are done.
    """
    steps = len(history)
    longest = int(np.diff(words.starts).max(initial=0))
    over_time = segmenter.pieces_over_time()
    listing = _CutList()
    if over_time is None:
        for number, (word, _) in enumerate(words):
            listing.enter(word, segmenter, steps)
            if number % LISTED_AT_ONCE == 0:
                yield 0
    kind = np.int64(_kind(over_time))
    moments = over_time or _NO_PIECES
    listed = listing.all()
    cut = _uncut(words, wanted)
    waiting = _waiting(words, history, moments)
    model = _model(history.index_count + 1, slots or SLOTS)
    buffers = buffers_of_model()
    sizes = history.vocabulary_sizes()
    room, _ = room_for(longest, 0, PATHS)
    since = [step for step in moments.since if step <= steps]
    for first, behind in pairwise([*since, steps + 1]):
        pieces = moments.pieces(first)
        waiting.first[first], waiting.following[:] = len(words) - 1, np.arange(-1, len(words) - 1)
        step = first
        while step < behind:
            model = with_room(model, longest + cut_words.BEYOND)
            step = cut_words.follow_words(
                kind, pieces, room, listed, cut, waiting, model, buffers, sizes, wanted.asked, wanted.bits, step,
                behind - 1, PAIRS_AT_ONCE,
            )  # fmt: skip
            yield min(step, steps)


class _CutList:
    def __init__(self) -> None:
        self._cuts = array("i")
        self._first = array("q")

    def enter(self, word: bytes, segmenter: WordSegmenter, steps: int) -> None:
        self._first.append(len(self._cuts))
        at = 0
        while at <= steps:
            split = segmenter.cut(word, at)
            at = split.until
            self._cuts.extend((min(at, NEVER), len(split.ids), *split.ids))

    def all(self) -> cut_words.WordSplits:
        return cut_words.WordSplits(np.array(self._cuts, np.int32), np.array(self._first, np.int64))


def _kind(over_time: PiecesOverTime | None) -> int:
    if over_time is None:
        return cut_words.AS_LISTED
    return cut_words.BY_LONGEST if over_time.gone is None else cut_words.BY_SCORES


def _waiting(words: WordTable, history: History, over_time: PiecesOverTime) -> cut_words.WordQueues:
    gone = np.zeros(0, np.int32) if over_time.gone is None else over_time.gone
    lists = np.full(len(history) + 1, -1, np.int32)
    return cut_words.WordQueues(lists, np.zeros(len(words), np.int32), history.columns.left, gone)


def _uncut(words: WordTable, wanted: MeasuredPairs) -> cut_words.Words:
    behind = np.zeros(4, np.uint8)  # words that are read as characters
    return cut_words.Words(
        data=np.concatenate([words.text, behind]),
        starts=words.starts,
        ids=np.zeros(len(words.text) + cut_words.BEYOND * len(words), np.int32),
        counts=np.zeros(len(words), np.int64),
        learned=wanted.learned,
        held_out=wanted.held_out,
    )
