"""Pieces in a table by their base symbols, one symbol after the other, and where they could stand in words.

Each beginning of a piece has a number, the empty one 0. The table holds, for a beginning and a symbol, the number of
the beginning that is longer by it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bpe_core.kernels.jit import inlined, kernel

SYMBOL_BITS = np.uint64(21)
SPREAD = np.uint64(0x9E3779B97F4A7C15)
BEGINNINGS = 0  # entry of `Pieces.number`
LONGEST = 1


class Pieces(NamedTuple):
    """The table."""

    keys: npt.NDArray[np.uint64]  # a power of two; 0 is empty
    next: npt.NDArray[np.int32]
    id: npt.NDArray[np.int32]  # of the piece that is a beginning itself, or -1
    number: npt.NDArray[np.int64]


@inlined
def _slot_of(pieces, beginning, symbol):
    """Where the longer beginning is, or where it would be."""
    key = ((np.uint64(beginning) + np.uint64(1)) << SYMBOL_BITS) | np.uint64(symbol)
    mask = np.uint64(len(pieces.keys) - 1)
    slot = ((key * SPREAD) >> np.uint64(20)) & mask
    while pieces.keys[slot] != 0 and pieces.keys[slot] != key:
        slot = (slot + np.uint64(1)) & mask
    return slot, key


@kernel
def enter_pieces(pieces, symbols, starts, first_id):
    """Enter pieces, whose symbols lie end to end; their ids follow each other."""
    for i in range(len(starts) - 1):
        beginning = np.int64(0)
        for cell in range(starts[i], starts[i + 1]):
            slot, key = _slot_of(pieces, beginning, symbols[cell])
            if pieces.keys[slot] == 0:
                number = pieces.number[BEGINNINGS]
                pieces.keys[slot] = key
                pieces.next[slot] = number
                pieces.id[number] = -1
                pieces.number[BEGINNINGS] = number + 1
            beginning = np.int64(pieces.next[slot])
        pieces.id[beginning] = first_id + i
        pieces.number[LONGEST] = max(pieces.number[LONGEST], starts[i + 1] - starts[i])


@kernel
def match_pieces(pieces, symbols, first_edge, edge_id, edge_length, cell):
    """Write the tokens that could begin at each cell, from this one on; the cell for which there is no room."""
    used = first_edge[cell]
    longest = pieces.number[LONGEST]
    while cell < len(symbols):
        if used + longest + 1 > len(edge_id):
            return cell
        if symbols[cell] >= 0:
            edge_id[used] = symbols[cell]
            edge_length[used] = 1
            used += 1
            beginning, place = np.int64(0), cell
            while place < len(symbols) and symbols[place] >= 0:
                slot, _ = _slot_of(pieces, beginning, symbols[place])
                if pieces.keys[slot] == 0:
                    break
                beginning = np.int64(pieces.next[slot])
                place += 1
                if pieces.id[beginning] >= 0:
                    edge_id[used] = pieces.id[beginning]
                    edge_length[used] = place - cell
                    used += 1
        cell += 1
        first_edge[cell] = used
    return cell


@kernel
def cover(starts, weights, first_edge, edge_id, edge_length, covered, place):
    """How many symbols each token could cover, and a cell where it could begin."""
    for stretch in range(len(starts) - 1):
        weight = weights[stretch]
        for cell in range(starts[stretch], starts[stretch + 1]):
            for edge in range(first_edge[cell], first_edge[cell + 1]):
                id = edge_id[edge]
                covered[id] += weight * edge_length[edge]
                if place[id] < 0:
                    place[id] = cell
