"""The kernels that apply the steps of a history to the tokens of a word.

A step joins two tokens, or it drops a token, which is then split into other tokens. Most steps change nothing in a
given word. To skip them, the kernels keep a heap of the steps that would change the word, sorted by step and offset.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bpe_core.kernels.jit import bundle, inlined, kernel
from bpe_core.kernels.join_by_priority import drop_lowest, push
from bpe_core.kernels.merge_word import LIMIT
from bpe_core.kernels.pair_slots import slot_of_pair
from bpe_core.support.arrays import Int32s

WHOLE = 1 << 30  # a flag for a token that is a whole word

_PLACE_BITS = 32  # an entry of the heap is a step, and in its lower bits an offset
_PLACES = (1 << _PLACE_BITS) - 1
_GONE = -1  # in the cell of a token that was joined to the token before it


@bundle
class StepTable(NamedTuple):
    """A table that lists for each pair the steps that join it, and for each token the steps that drop it.

    The first step that joins a pair is stored in a `MergeTable`, as the rank of the pair.
    """

    left: Int32s
    right: Int32s  # below 0 if the step drops the left token
    made: Int32s
    further: Int32s  # the next step that joins the same pair or drops the same token; NEVER after the last
    drops: Int32s  # for each token the first step that drops it; empty if no step drops a token
    parts: Int32s  # the parts of dropped tokens, step by step
    first_part: Int32s  # the index in `parts` at which the parts of each step begin, and the end
    lengths: Int32s  # the number of cells of each token


@inlined
def _first_after(further, row, last):
    while row <= last:
        row = further[row]
    return row


@kernel
def _queue_steps(table, steps, room, size, place, stop, last):
    """Find the steps after step `last` that would change the token at the offset `place`, and put them on the heap.

    If several steps join the same pair, only the first of them is put on the heap. Return the new size of the heap.
    """
    cells, limit, middle = room.cells, table.number[LIMIT], np.int64(room.next_place[place])
    if middle < stop:
        slot = slot_of_pair(table.keys, cells[place], cells[middle])
        if slot >= 0:
            row = _first_after(steps.further, table.ranks[slot], last)
            if row < limit:
                push(room.heap, size, np.int64(row) << _PLACE_BITS | place)
                size += 1
    if len(steps.drops) > 0:
        row = _first_after(steps.further, steps.drops[cells[place]], last)
        if row < limit:
            push(room.heap, size, np.int64(row) << _PLACE_BITS | place)
            size += 1
    return size


@kernel
def _queue_all_steps(table, steps, room, stop, last):
    size, place = np.int64(0), np.int64(0)
    while place < stop:
        size = _queue_steps(table, steps, room, size, place, stop, last)
        place = np.int64(room.next_place[place])
    return size


@kernel
def _join(steps, room, place, stop, row):
    """Join the token at the offset `place` to the next token, if the step `row` joins this pair of tokens.

    The caller must have checked the left token. Return whether the tokens were joined.
    """
    cells, following = room.cells, room.next_place
    middle = np.int64(following[place])
    if middle >= stop or cells[middle] != steps.right[row]:
        return False
    end = following[middle]
    cells[place], cells[middle], following[place] = steps.made[row], np.int32(_GONE), end
    if end < stop:
        room.previous_place[end] = np.int32(place)
    return True


@kernel
def _split_dropped(steps, room, place, stop, row):
    for part in range(steps.first_part[row], steps.first_part[row + 1]):
        token = steps.parts[part]
        behind = place + np.int64(steps.lengths[token])
        room.cells[place], room.next_place[place] = token, np.int32(behind)
        if behind < stop:
            room.previous_place[behind] = np.int32(place)
        place = behind


@kernel
def follow(table, steps, room, symbols):
    """Apply the steps of a table to a word, up to the table's limit.

    `room.cells` holds the base symbols of the word before the call, and its tokens after it.
    """
    heap, place = room.heap, np.int64(0)
    size = _queue_all_steps(table, steps, room, symbols, np.int64(-1))
    while size > 0:
        lowest = heap[0]
        drop_lowest(heap, size)
        size -= 1
        row, place = lowest >> _PLACE_BITS, lowest & _PLACES
        if room.cells[place] != steps.left[row]:
            continue
        end = np.int64(room.next_place[place])
        if steps.right[row] < 0:
            _split_dropped(steps, room, place, symbols, row)
        elif _join(steps, room, place, symbols, row):
            end = np.int64(room.next_place[place])
        else:
            continue
        if size + 2 * (end - place + 1) > len(heap):  # many entries of the heap have no effect any more
            size = _queue_all_steps(table, steps, room, symbols, row - 1)
            continue
        if place > 0:
            size = _queue_steps(table, steps, room, size, np.int64(room.previous_place[place]), symbols, row)
        while place < end:
            size = _queue_steps(table, steps, room, size, place, symbols, row)
            place = np.int64(room.next_place[place])


@inlined
def link_cells(room, symbols):
    for place in range(symbols):
        room.next_place[place], room.previous_place[place] = np.int32(place + 1), np.int32(place - 1)


@inlined
def write_followed(room, symbols, results, free):
    """Write the tokens of a word into `results` from `free` on. Return the number of tokens.

    `follow` must have applied the steps to the word.
    """
    count, place = np.int64(0), np.int64(0)
    while place < symbols:
        results[free + count] = room.cells[place]
        count += 1
        place = np.int64(room.next_place[place])
    return count


@kernel
def follow_word(table, steps, room, symbols, results, free):
    """Apply the steps to a word and write its tokens. Return their number.

    If the word becomes a single token, the token gets the flag WHOLE.
    """
    link_cells(room, symbols)
    follow(table, steps, room, symbols)
    count = write_followed(room, symbols, results, free)
    if count == 1:
        results[free] |= np.int32(WHOLE)
    return count


@kernel
def follow_runs(table, steps, room, ids, borders):
    """Apply the steps to several rows of tokens. Each row reaches from one index in `borders` to the next index.

    Afterwards `borders` holds the indices of the new rows. If no token contains two neighbouring tokens side by side,
    no step can bring them into one token. So a row is divided between them, and each part is handled separately.
    """
    keys, free = table.keys, np.int64(0)
    for run in range(len(borders) - 1):
        start, end = borders[run], borders[run + 1]
        borders[run] = free
        while start < end:
            stop = start + 1
            while stop < end and slot_of_pair(keys, ids[stop - 1], ids[stop]) >= 0:
                stop += 1
            count = stop - start
            for i in range(count):
                room.cells[i] = ids[start + i]
            link_cells(room, count)
            if count > 1:
                follow(table, steps, room, count)
            free += write_followed(room, count, ids, free)
            start = stop
    borders[len(borders) - 1] = free
