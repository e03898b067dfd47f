"""The lattices of all words with the compiled kernels: makes their arrays, and makes room when they ask."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt

from bpe_core.alphabet import Alphabet
from bpe_core.history.scores import DROPPED, Float32s
from bpe_core.kernels import unigram_lattices as kernel
from bpe_core.kernels import unigram_pieces as table
from bpe_core.learning.unigram.cells import Int32s, Int64s, Stretches, piece_cells
from bpe_core.learning.unigram.lattices import Float64s, OwnPaths
from bpe_core.recipe import Recipe

TIDY_BELOW = 0.98  # of the tokens there were

Number = TypeVar("Number", bound=np.generic)


class CompiledLattices:
    """Owns the arrays of one run."""

    def __init__(self, stretches: Stretches, alphabet: Alphabet, recipe: Recipe, *, room: int = 1 << 16) -> None:
        size = len(alphabet)
        symbols, starts = piece_cells(alphabet, recipe)
        pieces = table_of(symbols, starts, size - len(starts) + 1, room)
        self._lengths = np.ones(size, np.int64)
        self._lengths[size - len(starts) + 1 :] = np.diff(starts)
        first_edge, edge_id, edge_length = _edges(pieces, stretches.symbols, room)
        number = np.zeros(kernel.NUMBERS, np.int64)
        number[kernel.STRETCHES] = len(stretches)
        number[kernel.LONGEST] = max(1, int(pieces.number[table.LONGEST]))
        self._lattice = kernel.Lattice(
            symbols=stretches.symbols,
            starts=stretches.starts,
            weights=stretches.counts,
            first_edge=first_edge,
            edge_id=edge_id,
            edge_length=edge_length,
            path=np.full(len(stretches.symbols), kernel.NOBODY, np.int32),
            counts=np.zeros(size, np.int64),
            head=np.full(size, kernel.NOBODY, np.int32),
            link_stretch=np.empty(room, np.int32),
            link_next=np.empty(room, np.int32),
            number=number,
        )
        self._desk = _desk(int(np.diff(stretches.starts).max(initial=1)))
        self._covered, self._place = np.zeros(size, np.int64), np.full(size, -1, np.int64)
        table.cover(stretches.starts, stretches.counts, first_edge, edge_id, edge_length, self._covered, self._place)
        self._tidied_at = size  # tokens that had a score
        self._scores: Float64s = np.zeros(size)
        self._chances: Float64s = np.zeros(size)
        self._likelihood = np.zeros(1)
        self.expected: Float64s = np.zeros(size)

    def __len__(self) -> int:
        return len(self._lattice.weights)

    @property
    def tokens(self) -> int:
        return int(self._lattice.number[kernel.TOKENS])

    @property
    def counts(self) -> Int64s:
        return self._lattice.counts

    @property
    def log_likelihood(self) -> float:
        return float(self._likelihood[0])

    def coverage(self) -> Int64s:
        return self._covered

    def cut(self, start: int, work: int, scores: Float32s) -> tuple[int, int]:
        lattice = self._lattice
        if start == 0:
            self._scores = scores.astype(np.float64)
            lattice.path.fill(kernel.NOBODY)
            lattice.head.fill(kernel.NOBODY)
            lattice.number[[kernel.TOKENS, kernel.LINKS]] = 0
            self._lattice = lattice = lattice._replace(counts=np.zeros_like(lattice.counts))
        stop = int(kernel.cut_stretches(lattice, self._desk, self._scores, np.int64(start), np.int64(work)))
        if stop == start:
            self._grow_links()
        return stop, 2 * self._edges_between(start, stop)

    def drop(self, pieces: Int32s, work: int) -> tuple[Int64s, Int64s, int]:
        counts, tokens = np.empty(len(pieces), np.int64), np.empty(len(pieces), np.int64)
        number = self._lattice.number
        number[kernel.DROPPED], number[kernel.NEXT_LINK], number[kernel.WORK] = 0, kernel.NOBODY, 0
        while not kernel.drop_pieces(self._lattice, self._desk, self._scores, pieces, counts, tokens, np.int64(work)):
            self._grow_links()
        done = int(number[kernel.DROPPED])
        return counts[:done], tokens[:done], int(number[kernel.WORK])

    def own_paths(self, pieces: Int64s, scores: Float32s) -> OwnPaths:
        lengths = self._lengths[pieces]
        found, ends = np.empty(len(pieces)), np.zeros(len(pieces) + 1, np.int64)
        tokens = np.empty(int(lengths.sum()), np.int64)
        kernel.own_paths(
            self._lattice, self._desk, self._scores, pieces, self._place[pieces], lengths, found, ends[1:], tokens
        )
        return OwnPaths(found.astype(np.float32), ends, tokens[: ends[-1]])

    def tidy(self, scores: Float32s) -> None:
        """Where there is little to forget, what has no score does no harm: its probability is 0."""
        left = int(np.count_nonzero(scores != DROPPED))
        if left > TIDY_BELOW * self._tidied_at:
            return
        self._tidied_at = left
        kernel.tidy_edges(self._lattice, scores.astype(np.float64))

    def expect(self, start: int, work: int, scores: Float32s) -> tuple[int, int]:
        if start == 0:
            self._chances = np.exp(scores.astype(np.float64))
            self.expected = np.zeros(len(scores))
            self._likelihood = np.zeros(1)
        stop = int(
            kernel.expect_stretches(
                self._lattice, self._desk, self._chances, self.expected, self._likelihood,
                np.int64(start), np.int64(work),
            )
        )  # fmt: skip
        return stop, 3 * self._edges_between(start, stop)

    def _edges_between(self, start: int, stop: int) -> int:
        first, starts = self._lattice.first_edge, self._lattice.starts
        return int(first[starts[stop]] - first[starts[start]]) + stop - start

    def _grow_links(self) -> None:
        lattice = self._lattice
        room = 2 * len(lattice.link_next) + len(self._desk.token)
        self._lattice = lattice._replace(
            link_stretch=_grown(lattice.link_stretch, room), link_next=_grown(lattice.link_next, room)
        )


def table_of(symbols: Int32s, starts: Int64s, first_id: int, room: int) -> table.Pieces:
    """Pieces, whose symbols lie end to end, by what they begin with."""
    number = np.array([1, 1], np.int64)
    slots = np.zeros(table.ROW << room.bit_length(), np.uint64)
    piece, pieces = 0, len(starts) - 1
    while True:
        entered = table.Pieces(slots, number)
        piece = int(table.enter_pieces(entered, symbols, starts, np.int64(first_id), np.int64(piece)))
        if piece == pieces:
            return entered
        larger = np.zeros(4 * len(slots), np.uint64)
        table.spread_slots(slots, larger)
        slots = larger


def _edges(pieces: table.Pieces, symbols: Int32s, room: int) -> tuple[Int64s, Int32s, npt.NDArray[np.int16]]:
    """The tokens that could begin at each cell: the first of each, their ids, their lengths."""
    room += 4 * len(symbols)
    first: Int64s = np.zeros(len(symbols) + 1, np.int64)
    ids: Int32s = np.empty(room, np.int32)
    lengths: npt.NDArray[np.int16] = np.empty(room, np.int16)
    cell = 0
    while (cell := int(table.match_pieces(pieces, symbols, first, ids, lengths, np.int64(cell)))) < len(symbols):
        room += room // 2 + int(pieces.number[table.LONGEST]) + 1
        ids, lengths = _grown(ids, room), _grown(lengths, room)
    return first, ids, lengths


def _desk(cells: int) -> kernel.Desk:
    return kernel.Desk(
        score=np.empty(cells + 1),
        other=np.empty(cells + 1),
        before=np.empty(cells + 1, np.int64),
        token=np.empty(cells + 1, np.int32),
        lifts=np.empty(cells + 1, np.int64),
    )


def _grown(array: npt.NDArray[Number], room: int) -> npt.NDArray[Number]:
    """The same numbers with room behind them."""
    grown = np.empty(room, array.dtype)
    grown[: len(array)] = array
    return grown
