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
ID_SHIFT = np.uint64(32)
NUMBER_MASK = np.uint64(2**32 - 1)
_ONE = np.uint64(1)
ROW = 2  # entries of a slot: its key, 0 where it is empty; the number of the longer beginning, and an id above it

# Entries of `Pieces.number`.
BEGINNINGS, LONGEST = range(2)


class Pieces(NamedTuple):
    """The table. With each beginning stands, one too large, the id of the piece that it is; 0 if it is none."""

    slots: npt.NDArray[np.uint64]
    number: npt.NDArray[np.int64]


@inlined
def _place_of(slots, key):
    """Where a key is, or where it would be."""
    mask = np.uint64(len(slots) // ROW - 1)
    slot = ((key * SPREAD) >> np.uint64(20)) & mask
    while slots[slot << _ONE] != 0 and slots[slot << _ONE] != key:
        slot = (slot + _ONE) & mask
    return slot << _ONE


@inlined
def _key_of(beginning, symbol):
    return ((np.uint64(beginning) + _ONE) << SYMBOL_BITS) | np.uint64(symbol)


@kernel
def enter_pieces(pieces, symbols, starts, first_id, piece):
    """Enter pieces, whose symbols lie end to end, from this one on; the one for which there is no room."""
    slots, number = pieces.slots, pieces.number
    while piece < len(starts) - 1:
        start, stop = starts[piece], starts[piece + 1]
        if 2 * ROW * (number[BEGINNINGS] + stop - start) > len(slots):
            break
        beginning, place = np.uint64(0), np.uint64(0)
        for cell in range(start, stop):
            key = _key_of(beginning, symbols[cell])
            place = _place_of(slots, key)
            if slots[place] == 0:
                slots[place] = key
                slots[place + _ONE] = np.uint64(number[BEGINNINGS])
                number[BEGINNINGS] += 1
            beginning = slots[place + _ONE] & NUMBER_MASK
        slots[place + _ONE] = beginning | (np.uint64(first_id + piece + 1) << ID_SHIFT)
        number[LONGEST] = max(number[LONGEST], stop - start)
        piece += 1
    return piece


@kernel
def spread_slots(slots, larger):
    """Enter all that is in a table in a larger one."""
    for slot in range(0, len(slots), ROW):
        if slots[slot] != 0:
            place = _place_of(larger, slots[slot])
            larger[place] = slots[slot]
            larger[place + _ONE] = slots[slot + 1]


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
            beginning, end = np.uint64(0), cell
            while end < len(symbols) and symbols[end] >= 0:
                place = _place_of(pieces.slots, _key_of(beginning, symbols[end]))
                if pieces.slots[place] == 0:
                    break
                found = pieces.slots[place + _ONE]
                beginning = found & NUMBER_MASK
                end += 1
                if found >> ID_SHIFT != 0:
                    edge_id[used] = np.int64(found >> ID_SHIFT) - 1
                    edge_length[used] = end - cell
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
