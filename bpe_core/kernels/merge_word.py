"""Merging one word: from its base symbols to its tokens, and the rank of each boundary on the way.

A merge only uses tokens made before it, so while a word is merged the ranks ascend. A short
word looks for its lowest rank by walking along its pairs. A long one keeps the places of
each rank in a list of their own and goes through the ranks that have one, upwards and once;
which ones those are is told by a row of bits. That is linear, however long the word is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bpe_core.kernels.jit import inlined, kernel
from bpe_core.segmenting.merging import NEVER

Int32s = npt.NDArray[np.int32]
Float64s = npt.NDArray[np.float64]
Int64s = npt.NDArray[np.int64]
UInt64s = npt.NDArray[np.uint64]

SHORT = 48  # symbols; up to here walking along the pairs is faster

BASE, LIMIT = range(2)  # entries of `MergeTable.number`: size of the alphabet, merges in force
MERGE_NUMBERS = 2


class MergeTable(NamedTuple):
    """The merges, and where to find the one that joins a pair."""

    slots: UInt64s  # open addressing; two numbers a slot: the pair's key (0: empty), its rank
    byte_pairs: Int32s  # the rank of each pair of ids below 256, found directly
    left: Int32s
    right: Int32s
    lengths: Int32s  # of all tokens, in base symbols
    number: Int64s


class Workplace(NamedTuple):
    """Room for merging one word. Between words, `heads` is -1 throughout and `live` is 0."""

    cells: Int32s  # a token's id, in the first *and* the last of its cells: both neighbours are one look away
    ranks: Int32s  # where a token starts: the rank of its pair with the next; elsewhere: of the dissolved boundary
    next_place: Int32s  # of the same rank
    previous_place: Int32s
    heads: Int32s  # for each rank, a place where its pair stands
    live: UInt64s  # a bit for each rank that has one
    short: Int32s  # the tokens of a short word, side by side
    totals: Float64s  # of the best way to each place, where that is sought


@kernel
def pair_slot(slots, key):
    """The slot of a pair, or the empty one where it would be entered."""
    mask = np.uint64((len(slots) >> 1) - 1)
    mixed = key * np.uint64(0x9E3779B97F4A7C15)
    slot = (mixed ^ (mixed >> np.uint64(32))) & mask
    while True:
        found = slots[slot << np.uint64(1)]
        if found == key or found == np.uint64(0):
            return slot << np.uint64(1)
        slot = (slot + np.uint64(1)) & mask


@kernel
def pair_key(left, right):
    return ((np.uint64(left) << np.uint64(32)) | np.uint64(right)) + np.uint64(1)


@kernel
def enter_merges(table):
    """Fill an empty table. Of a pair that is listed twice, the first merge leaves the second nothing to join."""
    base = table.number[BASE]
    table.byte_pairs[:] = NEVER
    table.lengths[:base] = 1
    for rank in range(len(table.left)):
        left, right = table.left[rank], table.right[rank]
        length = np.int64(table.lengths[left]) + np.int64(table.lengths[right])
        table.lengths[base + rank] = np.int32(min(length, np.int64(NEVER)))
        if left < 256 and right < 256:
            place = np.int64(left) << np.int64(8) | np.int64(right)
            if table.byte_pairs[place] == NEVER:
                table.byte_pairs[place] = np.int32(rank)
            continue
        slot = pair_slot(table.slots, pair_key(left, right))
        if table.slots[slot] == np.uint64(0):
            table.slots[slot] = pair_key(left, right)
            table.slots[slot + np.uint64(1)] = np.uint64(rank)


@kernel
def rank_of(slots, byte_pairs, limit, left, right):
    """The index of the merge that joins this pair; NEVER if there is none in force.

    It takes the arrays themselves: handing a tuple of many on would cost more than looking.
    """
    if left < 256 and right < 256:
        rank = np.int64(byte_pairs[np.int64(left) << np.int64(8) | np.int64(right)])
    else:
        key = pair_key(left, right)
        slot = pair_slot(slots, key)
        if slots[slot] != key:
            return np.int32(NEVER)
        rank = np.int64(slots[slot + np.uint64(1)])
    return np.int32(rank) if rank < limit else np.int32(NEVER)


@inlined
def merge_word(table, room, symbols):
    """Merge the base symbols in `room.cells`.

    Afterwards the tokens stand there, each found from the one before by its length, and
    `room.ranks` holds the rank of the boundary before each symbol: NEVER where a token starts.
    """
    if symbols <= SHORT:
        _merge_short(table, room, symbols)
    else:
        _merge_long(table, room, symbols)


@inlined
def _merge_short(table, room, symbols):
    slots, byte_pairs, base, limit = table.slots, table.byte_pairs, table.number[BASE], table.number[LIMIT]
    cells, ranks = room.cells, room.ranks
    pairs, starts = room.next_place, room.previous_place  # token by token: rank of the pair, first cell
    ids = room.short
    tokens = np.int64(symbols)
    for i in range(symbols):
        ids[i] = cells[i]
        starts[i] = np.int32(i)
        ranks[i] = np.int32(NEVER)
    for i in range(symbols - 1):
        pairs[i] = rank_of(slots, byte_pairs, limit, ids[i], ids[i + 1])
    while tokens > 1:
        lowest, place = np.int32(NEVER), np.int64(0)
        for i in range(tokens - 1):
            lowest = min(lowest, pairs[i])
        if lowest == NEVER:
            break
        while pairs[place] != lowest:
            place += 1
        ranks[starts[place + 1]] = lowest
        ids[place] = np.int32(base + lowest)
        tokens -= 1
        for i in range(place + 1, tokens):
            ids[i] = ids[i + 1]
            starts[i] = starts[i + 1]
            pairs[i] = pairs[i + 1]
        if place > 0:
            pairs[place - 1] = rank_of(slots, byte_pairs, limit, ids[place - 1], ids[place])
        if place + 1 < tokens:
            pairs[place] = rank_of(slots, byte_pairs, limit, ids[place], ids[place + 1])
    for i in range(tokens):
        cells[starts[i]] = ids[i]


@kernel
def _put(room, place, rank):
    """Enter a pair that has come to stand at a place."""
    room.ranks[place] = rank
    if rank == NEVER:
        return
    head = room.heads[rank]
    room.next_place[place] = head
    room.previous_place[place] = np.int32(-1)
    if head >= 0:
        room.previous_place[head] = np.int32(place)
    else:
        room.live[rank >> 6] |= np.uint64(1) << np.uint64(rank & 63)
    room.heads[rank] = np.int32(place)


@kernel
def _take(room, place):
    """Remove the pair that stands at a place, if there is one."""
    rank = room.ranks[place]
    if rank == NEVER:
        return
    before, behind = room.previous_place[place], room.next_place[place]
    if before >= 0:
        room.next_place[before] = behind
    else:
        room.heads[rank] = behind
    if behind >= 0:
        room.previous_place[behind] = before


@kernel
def _join(table, room, symbols, place, rank):
    """Join the pair at a place; the place behind it."""
    slots, byte_pairs, limit = table.slots, table.byte_pairs, table.number[LIMIT]
    cells, lengths = room.cells, table.lengths
    middle = place + np.int64(lengths[table.left[rank]])
    end = middle + np.int64(lengths[table.right[rank]])
    token = np.int32(table.number[BASE] + rank)
    _take(room, place)
    if end < symbols:
        _take(room, middle)
    room.ranks[middle] = np.int32(rank)
    cells[place] = token
    cells[end - 1] = token
    if end < symbols:
        _put(room, place, rank_of(slots, byte_pairs, limit, token, cells[end]))
    else:
        room.ranks[place] = np.int32(NEVER)
    if place > 0:
        before = place - np.int64(lengths[cells[place - 1]])
        _take(room, before)
        _put(room, before, rank_of(slots, byte_pairs, limit, cells[before], token))
    return end


@kernel
def _merge_long(table, room, symbols):
    slots, byte_pairs, limit = table.slots, table.byte_pairs, table.number[LIMIT]
    cells, live = room.cells, room.live
    room.ranks[symbols - 1] = np.int32(NEVER)
    for cell in range(symbols - 2, -1, -1):
        _put(room, cell, rank_of(slots, byte_pairs, limit, cells[cell], cells[cell + 1]))
    for group in range(len(live)):
        while live[group] != np.uint64(0):
            lowest_bit = live[group] & (~live[group] + np.uint64(1))
            live[group] ^= lowest_bit
            rank = np.int64(group) * np.int64(64) + _bit_index(lowest_bit)
            left, right = table.left[rank], table.right[rank]
            length = np.int64(table.lengths[left])
            while room.heads[rank] >= 0:
                place = np.int64(room.heads[rank])
                if left != right:
                    _join(table, room, symbols, place, rank)
                    continue
                # Several of the same in a row are joined two by two from the first on.
                while place > 0 and cells[place - 1] == left:
                    place -= length
                while place < symbols and room.ranks[place] == rank:
                    place = _join(table, room, symbols, place, rank)
    place = np.int64(0)
    while place < symbols:
        room.ranks[place] = np.int32(NEVER)
        place += np.int64(table.lengths[cells[place]])


@kernel
def _bit_index(bit):
    """Which bit of 64 this one is."""
    index = np.int64(0)
    for step in (32, 16, 8, 4, 2, 1):
        if bit >> np.uint64(step):
            bit >>= np.uint64(step)
            index += np.int64(step)
    return index
