"""The longest token that fits: the tokens of a vocabulary as two trees of characters, each with its birth."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bpe_core.kernels.jit import kernel
from bpe_core.kernels.merge_word import Float64s, Int32s, Int64s, UInt64s
from bpe_core.kernels.utf8 import character_at

NO_CHILD = -1
NO_TOKEN = -1
STARTING, CONTINUING = range(2)  # the roots: of tokens that begin words, and of those that continue them

# Entries of `PieceTable.number`.
NODES, AT, UNKNOWN, LONGEST_WORD = range(4)  # how many there are; after how many steps; an id; in characters
MARKER, FALLBACK = 4, 5  # ids, of the word marker and of the first byte; -1 where there are none
PIECE_NUMBERS = 6

_CODE_BITS = np.uint64(21)
_MIXER = np.uint64(0x9E3779B97F4A7C15)


class PieceTable(NamedTuple):
    """Open addressing, with at least twice as many slots as nodes: from a node and a character to a child."""

    keys: UInt64s  # the node plus one and the character; 0 in an empty slot
    children: Int32s
    tokens: Int32s  # that ends at each node
    births: Int32s  # after how many steps it is there
    scores: Float64s  # of each token by id, where the most probable way is sought
    number: Int64s


@kernel
def slot_of_child(pieces, node, code):
    key = (np.uint64(node + 1) << _CODE_BITS) | np.uint64(code)
    mask = np.uint64(len(pieces.keys) - 1)
    mixed = key * _MIXER
    slot = (mixed ^ (mixed >> np.uint64(32))) & mask
    while pieces.keys[slot] != key and pieces.keys[slot] != np.uint64(0):
        slot = (slot + np.uint64(1)) & mask
    return slot


@kernel
def enter_pieces(pieces, codes, starts, roots, ids, births):
    """Enter tokens by their characters; of several written alike the first one stays."""
    number = pieces.number
    number[NODES] = CONTINUING + 1
    for piece in range(len(ids)):
        node = np.int64(roots[piece])
        for place in range(starts[piece], starts[piece + 1]):
            code = np.int64(codes[place])
            slot = slot_of_child(pieces, node, code)
            if pieces.keys[slot] == np.uint64(0):
                pieces.keys[slot] = (np.uint64(node + 1) << _CODE_BITS) | np.uint64(code)
                pieces.children[slot] = number[NODES]
                number[NODES] += 1
            node = np.int64(pieces.children[slot])
        if pieces.tokens[node] == NO_TOKEN:
            pieces.tokens[node], pieces.births[node] = ids[piece], births[piece]


@kernel
def write_pieces(pieces, data, start, stop, out, free):
    """Cut a word, and write the ids of its tokens; how many there are."""
    number = pieces.number
    characters = np.int64(0)
    for byte in range(start, stop):
        characters += np.int64((data[byte] & 0xC0) != 0x80)
    count, here, root = np.int64(0), np.int64(start), np.int64(STARTING)
    while here < stop and characters <= number[LONGEST_WORD]:
        node, place, found, end = root, here, np.int64(NO_TOKEN), here
        while place < stop:
            code, width = character_at(data, place)
            slot = slot_of_child(pieces, node, code)
            if pieces.keys[slot] == np.uint64(0):
                break
            node = np.int64(pieces.children[slot])
            place += width
            if pieces.tokens[node] != NO_TOKEN and pieces.births[node] <= number[AT]:
                found, end = np.int64(pieces.tokens[node]), place
        if found == NO_TOKEN:
            break
        out[free + count] = found
        count += 1
        here, root = end, np.int64(CONTINUING)
    if here < stop:
        out[free] = number[UNKNOWN]
        return np.int64(1)
    return count
