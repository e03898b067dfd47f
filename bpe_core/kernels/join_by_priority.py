"""The kernels that join the tokens of one word by a table of priorities.

Among all neighbours that may be joined, the pair with the best priority is joined first.

A join can create a pair with a better priority than the joined pair, so the pairs are kept in a heap. If no token
contains two neighbouring base symbols side by side, no join can bring them into one token. So a word is divided between
such symbols, and each part is joined separately. This keeps the heaps small.
"""

from __future__ import annotations

import numpy as np

from bpe_core.kernels import NEVER
from bpe_core.kernels.jit import inlined, kernel
from bpe_core.kernels.merge_word import AND_NOT, BASE, LIMIT
from bpe_core.kernels.pair_slots import pair_key, place_of_pair, slot_of_pair
from bpe_core.kernels.pieces import AT, BIRTH, FIRST, NO_TOKEN, PARENT, ROW, STARTING, TOKEN

MEETS = NEVER - 1  # in place of a priority: some token contains the two side by side, but they are not joined

_JOINT_BITS = 32  # an entry of the heap is a priority, and in its lower bits an offset
_JOINT_PLACES = (1 << _JOINT_BITS) - 1


@kernel
def enter_pairs(table, left, right, priorities, tokens):
    """Enter pairs into the table, with the tokens that the pairs make.

    If a pair is listed twice, the entry with the better priority stays.
    """
    keys = table.keys
    for row in range(len(left)):
        key = pair_key(left[row], right[row])
        place = place_of_pair(keys, key)
        keys[place] = key
        if priorities[row] < table.ranks[place]:
            table.ranks[place], table.joined[place] = priorities[row], tokens[row]


@kernel
def whole_word(pieces, data, start, stop):
    """Return the token whose text is the whole word, or NO_TOKEN if there is none.

    Such a token is returned even if no sequence of joins would make it.
    """
    rows, node = pieces.rows, np.int64(STARTING)
    for place in range(start, stop):
        child = np.int64(rows[node * ROW + FIRST]) + np.int64(data[place])
        if rows[child * ROW + PARENT] != node:
            return np.int64(NO_TOKEN)
        node = child
    is_there = rows[node * ROW + BIRTH] <= pieces.number[AT]
    return np.int64(rows[node * ROW + TOKEN]) if is_there else np.int64(NO_TOKEN)


@inlined
def push(heap, size, entry):
    hole = np.int64(size)
    while hole > 0 and heap[(hole - 1) >> 1] > entry:
        heap[hole] = heap[(hole - 1) >> 1]
        hole = (hole - 1) >> 1
    heap[hole] = entry


@kernel
def drop_lowest(heap, size):
    last, hole, child = heap[size - 1], np.int64(0), np.int64(1)
    while child < size - 1:
        if child + 1 < size - 1 and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= last:
            break
        heap[hole] = heap[child]
        hole, child = child, 2 * child + 1
    heap[hole] = last


@kernel
def _slot_that_joins(table, left, right):
    """Return the slot of a pair that may be joined. Return -1 for any other pair."""
    slot = slot_of_pair(table.keys, left, right)
    if slot >= 0 and table.ranks[slot] < MEETS and table.joined[slot] < table.number[BASE] + table.number[LIMIT]:
        return slot if table.joined[slot] != table.number[AND_NOT] else np.int64(-1)
    return np.int64(-1)


@kernel
def _enter_pair(table, room, size, place, stop):
    """Put the pair that begins at the offset `place` on the heap, if the pair may be joined.

    Return the new size of the heap.
    """
    middle = np.int64(room.next_place[place])
    if middle < stop:
        slot = _slot_that_joins(table, room.cells[place], room.cells[middle])
        if slot >= 0:
            push(room.heap, size, np.int64(table.ranks[slot]) << _JOINT_BITS | place)
            return size + 1
    return size


@kernel
def enter_heap(table, room, start, stop):
    """Find the pairs between two offsets that may be joined, and put them on the heap. Return the size of the heap."""
    size = np.int64(0)
    for place in range(start, stop - 1):
        size = _enter_pair(table, room, size, place, stop)
    return size


@kernel
def join_range(table, room, start, stop, size):
    """Join neighbours between two offsets, the best pair first.

    The pairs come from the heap. The pairs that a join creates are put on the heap as well.
    """
    cells, following, preceding, heap = room.cells, room.next_place, room.previous_place, room.heap
    while size > 0:
        lowest = heap[0]
        drop_lowest(heap, size)
        size -= 1
        place = lowest & _JOINT_PLACES
        middle = np.int64(following[place])
        if middle == 0 or middle >= stop:
            continue  # another join took a token of this pair
        slot = _slot_that_joins(table, cells[place], cells[middle])
        if slot < 0 or np.int64(table.ranks[slot]) != lowest >> _JOINT_BITS:
            continue
        end = np.int64(following[middle])
        cells[place], following[place], following[middle] = table.joined[slot], np.int32(end), np.int32(0)
        if end < stop:
            preceding[end] = np.int32(place)
        size = _enter_pair(table, room, size, place, stop)
        if place > start:
            size = _enter_pair(table, room, size, np.int64(preceding[place]), stop)


@kernel
def join_word(table, room, symbols, unknown, results, free):
    """Join the base symbols in `room.cells`, and write the tokens. Several `unknown` tokens in a row become one token.

    Return the number of tokens.
    """
    cells, following, preceding = room.cells, room.next_place, room.previous_place
    count, start = np.int64(0), np.int64(0)
    while start < symbols:
        stop = start + 1
        while stop < symbols and slot_of_pair(table.keys, cells[stop - 1], cells[stop]) >= 0:
            stop += 1
        for place in range(start, stop):
            following[place], preceding[place] = np.int32(place + 1), np.int32(place - 1)
        join_range(table, room, start, stop, enter_heap(table, room, start, stop))
        while start < stop:
            token = cells[start]
            if token != unknown or count == 0 or results[free + count - 1] != token:
                results[free + count] = token
                count += 1
            start = np.int64(following[start])
    return count
