"""Every way to put a text of a list together from two others of the list.

A text is found by a number that follows from its bytes, so that of every beginning and every end it is known at once:
of a longer text it is the one before times a factor and the byte. What is found so is compared byte by byte.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bpe_core.kernels.jit import bundle, inlined, kernel
from bpe_core.kernels.merge_word import AND_NOT, LIMIT, enter_heap, join_stretch
from bpe_core.support.arrays import Bytes, Int32s, Int64s, UInt64s

FACTOR = 0x9E3779B97F4A7C15
_NONE = -1


@bundle
class Texts(NamedTuple):
    data: Bytes  # of all texts, end to end
    starts: Int64s  # of each, and the end
    numbers: UInt64s  # that follow from the bytes of each
    slots: Int32s  # which text is where; twice as many as texts, or more, a power of two
    powers: UInt64s  # of the factor, up to the longest
    beginnings: UInt64s  # of one text: the numbers of its beginnings


@inlined
def _slot_of(number, slots):
    mixed = (number ^ (number >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return (mixed ^ (mixed >> np.uint64(32))) & np.uint64(len(slots) - 1)


@kernel
def enter_texts(texts):
    """Enter all texts; of equal ones the first is found."""
    starts, slots = texts.starts, texts.slots
    texts.powers[0] = np.uint64(1)
    for length in range(1, len(texts.powers)):
        texts.powers[length] = texts.powers[length - 1] * np.uint64(FACTOR)
    slots[:] = np.int32(_NONE)
    for text in range(len(starts) - 1):
        number = np.uint64(0)
        for place in range(starts[text], starts[text + 1]):
            number = number * np.uint64(FACTOR) + np.uint64(texts.data[place]) + np.uint64(1)
        texts.numbers[text] = number
        slot = _slot_of(number, slots)
        while slots[slot] != _NONE:
            slot = (slot + np.uint64(1)) & np.uint64(len(slots) - 1)
        slots[slot] = np.int32(text)


@kernel
def text_at(texts, start, length, number):
    """Which text has these bytes; -1 if there is none."""
    data, starts, slots = texts.data, texts.starts, texts.slots
    slot = _slot_of(number, slots)
    while slots[slot] != _NONE:
        text = np.int64(slots[slot])
        if texts.numbers[text] == number and starts[text + 1] - starts[text] == length:
            same, first = np.int64(0), starts[text]
            while same < length and data[first + same] == data[start + same]:
                same += 1
            if same == length:
                return text
        slot = (slot + np.uint64(1)) & np.uint64(len(slots) - 1)
    return np.int64(_NONE)


@kernel
def split_texts(texts, first, left, right, whole, progress):
    """Write the two parts of each text from the first on, until there may be no room; the next text, and the rows."""
    starts, beginnings = texts.starts, texts.beginnings
    row = np.int64(0)
    for text in range(first, len(starts) - 1):
        start, length = starts[text], starts[text + 1] - starts[text]
        if row + length > len(left):
            progress[0], progress[1] = text, row
            return
        number = np.uint64(0)
        for cut in range(length):
            beginnings[cut] = number
            number = number * np.uint64(FACTOR) + np.uint64(texts.data[start + cut]) + np.uint64(1)
        for cut in range(1, length):
            before = text_at(texts, start, cut, beginnings[cut])
            if before == _NONE:
                continue
            behind = number - beginnings[cut] * texts.powers[length - cut]
            after = text_at(texts, start + cut, length - cut, behind)
            if after != _NONE:
                left[row], right[row], whole[row] = np.int32(before), np.int32(after), np.int32(text)
                row += 1
    progress[0], progress[1] = len(starts) - 1, row


@kernel
def find_halves(table, room, symbols, starts, left, right, is_late):
    """Join each token's symbols by the tokens before it, or, where that gives no two, by all others; else -1."""
    number, first = table.number, table.number[0]
    tokens = np.int64(len(left))
    for token in range(tokens):
        for late in range(2):
            number[LIMIT], number[AND_NOT] = (tokens, first + token) if late else (token, -1)
            count = starts[token + 1] - starts[token]
            for place in range(count):
                room.cells[place] = symbols[starts[token] + place]
                room.next_place[place], room.previous_place[place] = np.int32(place + 1), np.int32(place - 1)
            size = enter_heap(table, room, np.int64(0), count)
            join_stretch(table, room, np.int64(0), count, size)
            middle = np.int64(room.next_place[0])
            left[token] = right[token] = np.int32(_NONE)
            if middle < count and np.int64(room.next_place[middle]) == count:
                left[token], right[token] = room.cells[0], room.cells[middle]
                is_late[token] = late
                break
