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


class Edges(NamedTuple):
    """The tokens that could end at each node, the longest first: where those of each begin, their ids and lengths."""

    first: npt.NDArray[np.int64]  # and the end of all
    id: npt.NDArray[np.int32]
    length: npt.NDArray[np.int16]


class Active(NamedTuple):
    """What could become a piece, for each beginning of one word, one behind the other, by its length."""

    ends: npt.NDArray[np.int64]  # for each length
    beginning: npt.NDArray[np.uint64]  # of a piece
    start: npt.NDArray[np.int32]  # where in the word it begins


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
def match_pieces(pieces, trie, edges, active, word):
    """Write the tokens that could end at each node of words, from this one on; the word for which there is no room."""
    used = edges.first[trie.firsts[word]]
    while word < len(trie.shared):
        node = trie.firsts[word]
        for place in range(trie.shared[word] + 1, trie.lengths[word] + 1):
            first, stop = np.int64(0), active.ends[place - 1]
            if place > 1:
                first = active.ends[place - 2]
            if used + stop - first + 2 > len(edges.id) or 2 * stop - first + 1 > len(active.start):
                return word
            free, symbol = stop, trie.symbol[node]
            for i in range(first, stop + 1):
                beginning, start = np.uint64(0), np.int64(place - 1)
                if i < stop:
                    beginning, start = active.beginning[i], np.int64(active.start[i])
                else:
                    edges.id[used] = symbol
                    edges.length[used] = 1
                    used += 1
                slot = _place_of(pieces.slots, _key_of(beginning, symbol))
                if pieces.slots[slot] == 0:
                    continue
                found = pieces.slots[slot + _ONE]
                active.beginning[free] = found & NUMBER_MASK
                active.start[free] = start
                free += 1
                if found >> ID_SHIFT != 0:
                    edges.id[used] = np.int64(found >> ID_SHIFT) - 1
                    edges.length[used] = place - start
                    used += 1
            active.ends[place] = free
            node += 1
            edges.first[node] = used
        word += 1
    return word


@kernel
def cover(weight, edges, covered, ends):
    """How many symbols each token could cover, and a node where it could end."""
    for node in range(len(edges.first) - 1):
        for edge in range(edges.first[node], edges.first[node + 1]):
            id = edges.id[edge]
            covered[id] += weight[node] * edges.length[edge]
            if ends[id] < 0:
                ends[id] = node
