"""Gage's compressor. In each block, an unused byte replaces the most frequent pair, again and again.

A block is short and its pairs are pairs of bytes, so each pair has its own counter. A list holds the pairs that are
worth replacing. After a step, the counts of old pairs only fall, so pairs only leave the list. Only new pairs are
added.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bpe_core.kernels import MOST_AT_ONCE
from bpe_core.kernels.jit import kernel
from bpe_core.kernels.learn_queue import BY_FIRST_SEEN, BY_IDS, BY_SMALLEST_TEXT, compare_texts
from bpe_core.support.arrays import Bytes, Int32s, Int64s

# Entries of `State.number`.
STEPS, BLOCK, START, SIZE, FREE, PAYING, TABLE, TOKENS_LEFT, TOTAL, AT_END = range(10)  # the state of the compression
MIN_FREQUENCY, MAX_LENGTH, TIES, BASE = range(10, 14)  # choices of the recipe
NUMBERS = 14

PAIRS = 1 << 16
NO_PAIR = -1
WORK_A_BLOCK = 2_000
WORK_A_STEP = 100

Int16s = npt.NDArray[np.int16]


class Blocks(NamedTuple):
    data: Bytes  # the given texts
    # the texts while they are compressed; the first `sizes` bytes of a finished block are its result
    cells: Bytes
    ends: Int64s  # the end of each block
    times: Int64s  # how often the text of each block occurs
    sizes: Int32s  # sizes of the finished blocks


class State(NamedTuple):
    """The state of the block that is being compressed.

    A pair of bytes is stored as one number. The left byte is the higher half of this number.
    """

    blocks: Blocks
    counts: Int32s  # the count of each pair
    is_listed: Bytes
    paying: Int32s  # the listed pairs, some of which may no longer be worth replacing
    taken: Bytes  # whether a byte occurs or represents a pair
    stands: Bytes  # whether a byte represents a pair
    ids: Int32s  # the token that each byte represents
    order: Int64s  # the rank of each byte's token in ties by ids; after these, the ranks of the bytes themselves
    lengths: Int64s  # the length of the text that each byte represents
    places: Int64s  # the offset in the data of the text that each byte represents
    number: Int64s


class Reasons(NamedTuple):
    block: Int32s
    byte: Int16s
    size: Int64s


@kernel
def cut_blocks(data, starts, size, most, ends, times_of, times):
    """Divide texts into blocks, and return the number of blocks.

    The end of each block and its count are written while the arrays have room. The result counts all blocks, even
    those for which there is no room.
    """
    count = 0
    for word in range(len(starts) - 1):
        start = starts[word]
        while start < starts[word + 1]:
            stop = _end_of_block(data, start, min(start + size, starts[word + 1]), most)
            if count < len(ends):
                ends[count], times[count] = stop, times_of[word]
            count += 1
            start = stop
    return count


@kernel
def _end_of_block(data, start, stop, most):
    """Return the end of a block that has at most `most` different bytes. The end is not after `stop`.

    Four 64-bit numbers record which bytes occurred.
    """
    first = second = third = fourth = np.uint64(0)
    different = 0
    for place in range(start, stop):
        byte = data[place]
        bit = np.uint64(1) << np.uint64(byte & 63)
        quarter = byte >> 6
        if quarter == 0:
            is_new, first = first & bit == 0, first | bit
        elif quarter == 1:
            is_new, second = second & bit == 0, second | bit
        elif quarter == 2:
            is_new, third = third & bit == 0, third | bit
        else:
            is_new, fourth = fourth & bit == 0, fourth | bit
        if is_new:
            different += 1
            if different > most:
                return place
    return stop


@kernel
def begin_block(state, block):
    number, blocks = state.number, state.blocks
    start = blocks.ends[block - 1] if block > 0 else np.int64(0)
    number[BLOCK], number[START], number[SIZE] = block, start, blocks.ends[block] - start
    number[FREE], number[PAYING] = 256, 0
    state.counts[:] = 0
    state.is_listed[:] = 0
    state.taken[:] = 0
    state.stands[:] = 0
    number[TABLE] = table_size(state.stands)
    for byte in range(256):
        state.ids[byte] = byte
        state.order[byte] = state.order[256 + byte]
        state.lengths[byte] = 1
    for place in range(start, blocks.ends[block]):
        cell = np.int64(blocks.cells[place])
        state.places[cell] = place
        state.taken[cell] = 1
        if place > start:
            add(state, np.int64(blocks.cells[place - 1]), cell)


@kernel
def add(state, left, right):
    """Add one to the count of a pair. If the pair is now worth replacing, put it on the list of such pairs."""
    pair, number = left << 8 | right, state.number
    state.counts[pair] += 1
    if state.counts[pair] >= number[MIN_FREQUENCY] and not state.is_listed[pair] and may_join(state, left, right):
        state.is_listed[pair] = 1
        state.paying[number[PAYING]] = pair
        number[PAYING] += 1


@kernel
def may_join(state, left, right):
    return state.lengths[left] + state.lengths[right] <= state.number[MAX_LENGTH]


@kernel
def table_size(stands):
    """Return the size in bytes of the table that says which bytes represent pairs.

    The file methods/gage/block_form.py describes this table.
    """
    size = byte = 0
    while byte < 256:
        end = byte
        while end < 256 and end < byte + MOST_AT_ONCE and not stands[end]:
            end += 1
        stop = min(end + 1, 256)
        if end == byte:
            last = byte + MOST_AT_ONCE
            while stop < min(last, 256) and (stands[stop] or (stop + 1 < min(last, 256) and stands[stop + 1])):
                stop += 1
        size += 1 + stop - end
        for listed in range(end, stop):
            size += 1 if stands[listed] else 0
        byte = stop
    return size


@kernel
def free_byte(state):
    """Return the highest byte that does not occur in the block and represents no pair. Return -1 if there is none."""
    free = state.number[FREE] - 1
    while free >= 0 and state.taken[free]:
        free -= 1
    state.number[FREE] = free + 1
    return free


@kernel
def best_pair(state, but):
    """Return the pair that the next step replaces. The pair `but` is not considered."""
    counts, number = state.counts, state.number
    kept, best, most, tied = 0, np.int64(NO_PAIR), np.int32(0), False
    for i in range(number[PAYING]):
        pair = state.paying[i]
        count = counts[pair]
        if count < number[MIN_FREQUENCY]:
            state.is_listed[pair] = 0
            continue
        state.paying[kept] = pair
        kept += 1
        if pair == but or count < most:
            continue
        if count > most:
            best, most, tied = np.int64(pair), count, False
        elif number[TIES] == BY_FIRST_SEEN:
            tied = True
        elif comes_before(state, np.int64(pair), best):
            best = np.int64(pair)
    number[PAYING] = kept
    return first_with_count(state, most, but) if tied else best


@kernel
def first_with_count(state, count, but):
    """Return the pair with this count that occurs first in the block. The pair `but` is not considered."""
    cells, place = state.blocks.cells, state.number[START]
    while True:
        pair = np.int64(cells[place]) << 8 | np.int64(cells[place + 1])
        if state.counts[pair] == count and state.is_listed[pair] and pair != but:
            return pair
        place += 1


@kernel
def comes_before(state, pair, other):
    """Return whether the tie rule prefers `pair` to `other`, a pair with the same count.

    The tie rule must compare texts or ids. If it compares offsets in the block, call `first_with_count` instead.
    """
    ties = state.number[TIES]
    if ties != BY_IDS:
        order = compare_texts_of(state, pair >> 8, other >> 8)
        if order == 0:
            order = compare_texts_of(state, pair & 255, other & 255)
        if order != 0:
            return order < 0 if ties == BY_SMALLEST_TEXT else order > 0
        return compare_ids(state.ids, pair, other) < 0  # two tokens may have the same text
    return compare_ids(state.order, pair, other) < 0


@kernel
def compare_texts_of(state, token, other):
    places, lengths = state.places, state.lengths
    return compare_texts(state.blocks.data, places[token], lengths[token], places[other], lengths[other])


@kernel
def compare_ids(order, pair, other):
    difference = np.int64(order[pair >> 8]) - np.int64(order[other >> 8])
    if difference != 0:
        return difference
    return np.int64(order[pair & 255]) - np.int64(order[other & 255])


@kernel
def replace(state, pair, code):
    """Replace each occurrence of a pair by a byte, from left to right. Update the counts of the neighbouring pairs."""
    cells, counts, number = state.blocks.cells, state.counts, state.number
    left, right = np.int64(pair >> 8), np.int64(pair & 255)
    learn_byte(state, left, right, code)
    start, last = number[START], number[START] + number[SIZE] - 1
    read = write = np.uint64(start)
    first, second = np.uint8(left), np.uint8(right)
    while read < np.uint64(last):
        # Both are compared at once: the first byte alone occurs too often for the processor to predict.
        if (cells[read] != first) | (cells[read + np.uint64(1)] != second):
            cells[write] = cells[read]
            read += np.uint64(1)
            write += np.uint64(1)
            continue
        if write > np.uint64(start):
            before = np.int64(cells[write - np.uint64(1)])
            counts[before << 8 | left] -= 1
            add(state, before, code)
        read += np.uint64(2)
        if read <= np.uint64(last):
            behind = np.int64(cells[read])
            counts[right << 8 | behind] -= 1
            add(state, code, behind)
        cells[write] = code
        write += np.uint64(1)
    if read == np.uint64(last):
        cells[write] = cells[read]
        write += np.uint64(1)
    counts[pair] = 0
    number[SIZE] = np.int64(write) - start


@kernel
def learn_byte(state, left, right, code):
    number = state.number
    state.taken[code] = state.stands[code] = 1
    state.ids[code] = number[BASE] + number[STEPS]
    state.order[code] = state.ids[code]
    state.lengths[code] = state.lengths[left] + state.lengths[right]
    if number[TIES] >= BY_SMALLEST_TEXT:
        state.places[code] = first_place(state, left, right)


@kernel
def first_place(state, left, right):
    """Return the first offset in the data at which the text of a pair begins."""
    cells, at = state.blocks.cells, state.number[START]
    place = at
    while np.int64(cells[at]) != left or np.int64(cells[at + 1]) != right:
        place += state.lengths[cells[at]]
        at += 1
    return place


@kernel
def make_step(state, columns, reasons, pair, code):
    number, counts = state.number, state.counts
    row, times = number[STEPS], state.blocks.times[number[BLOCK]]
    columns.left[row], columns.right[row] = state.ids[pair >> 8], state.ids[pair & 255]
    columns.count[row] = counts[pair] * times
    other = best_pair(state, pair)
    if other == NO_PAIR:
        columns.runner_up_left[row] = columns.runner_up_right[row] = columns.runner_up_count[row] = -1
    else:
        columns.runner_up_left[row], columns.runner_up_right[row] = state.ids[other >> 8], state.ids[other & 255]
        columns.runner_up_count[row] = counts[other] * times
    size, table = number[SIZE], number[TABLE]
    replace(state, pair, code)
    number[TABLE] = table_size(state.stands)
    number[TOKENS_LEFT] -= (size - number[SIZE]) * times
    number[TOTAL] += (number[TABLE] - table + number[SIZE] - size) * times
    columns.tokens_left[row] = number[TOKENS_LEFT]
    reasons.block[row], reasons.byte[row], reasons.size[row] = number[BLOCK], code, number[TOTAL]
    number[STEPS] = row + 1


@kernel
def learn(state, columns, reasons, stop_at, work):
    """Take steps until row `stop_at` of the columns is reached, or until about `work` units of work are done."""
    number = state.number
    while number[STEPS] < stop_at and work > 0 and not number[AT_END]:
        code = free_byte(state)
        pair = best_pair(state, NO_PAIR) if code >= 0 else NO_PAIR
        if pair != NO_PAIR:
            work -= WORK_A_STEP + number[SIZE]
            make_step(state, columns, reasons, pair, code)
        else:
            work -= WORK_A_BLOCK
            end_block(state)


@kernel
def end_block(state):
    number = state.number
    if number[BLOCK] >= 0:
        state.blocks.sizes[number[BLOCK]] = number[SIZE]
    if number[BLOCK] + 1 == len(state.blocks.ends):
        number[AT_END] = 1
    else:
        begin_block(state, number[BLOCK] + 1)
