"""Every way to put a text of a list together from two others of the list.

A text is found by a number that follows from its bytes, so that of every beginning and every end it is known at once:
of a longer text it is the one before times a factor and the byte. What is found so is compared byte by byte.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bpe_core.kernels.jit import bundle, inlined, kernel
from bpe_core.kernels.merge_word import AND_NOT, LIMIT, enter_heap, join_stretch, slot_of_pair
from bpe_core.support.arrays import Bools, Bytes, Int32s, Int64s, UInt64s

FACTOR = 0x9E3779B97F4A7C15
_NONE = -1


@bundle
class Texts(NamedTuple):
    data: Bytes  # of all texts, end to end
    starts: Int64s  # of each, and the end
    numbers: UInt64s  # that follow from the bytes of each
    firsts: Int32s  # which text is the first that is equal to it
    slots: Int32s  # which text is where; twice as many as texts, or more, a power of two
    powers: UInt64s  # of the factor, up to the longest
    beginnings: UInt64s  # of one text: the numbers of its beginnings


@inlined
def _slot_of(number, slots):
    mixed = (number ^ (number >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return (mixed ^ (mixed >> np.uint64(32))) & np.uint64(len(slots) - 1)


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
        known = text_at(texts, starts[text], starts[text + 1] - starts[text], number)
        texts.firsts[text] = np.int32(text if known == _NONE else known)
        if known == _NONE:
            slot = _slot_of(number, slots)
            while slots[slot] != _NONE:
                slot = (slot + np.uint64(1)) & np.uint64(len(slots) - 1)
            slots[slot] = np.int32(text)


@bundle
class Ways(NamedTuple):
    """All ways to put a text of the list together from two others, in the order of the wholes."""

    left: Int32s
    right: Int32s
    whole: Int32s


@kernel
def split_texts(texts, first, left, right, whole, progress):
    """Write the two parts of each text from the first on, until there may be no room; the next text, and the rows.

    Texts that are there twice are put together once.
    """
    starts, beginnings = texts.starts, texts.beginnings
    row = np.int64(0)
    for text in range(first, len(starts) - 1):
        start, length = starts[text], starts[text + 1] - starts[text]
        if texts.firsts[text] != text:
            continue
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


@bundle
class Halves(NamedTuple):
    """What each token falls into, below the first of them the symbols; -1 for what does not fall into two."""

    left: Int32s
    right: Int32s
    is_late: Bools  # made of a token behind it
    is_sound: Bools  # it, and all that it is made of, by tokens before them


@kernel
def _stay_apart(table, halves, left, right, limit):
    """Whether tokens before the limit leave two sound neighbours as they are: whether none is joined across.

    What a sound token is made of was joined in the order of ranks. So looking backwards, the younger of the two at
    the border was joined last, and before that its inner half stood there. Of equal ones the left one came first.
    """
    first = table.number[0]
    left_end = right_end = np.int64(limit)  # the tokens that took what stands at the border now
    while left >= first or right >= first:
        if right >= left:
            right_end = right - first
            right = np.int64(halves.left[right_end])
        else:
            left_end = left - first
            left = np.int64(halves.right[left_end])
        slot = slot_of_pair(table.keys, left, right)
        # Of equal ranks the leftmost pair is joined: the one at the border lies between the two others.
        if slot >= 0 and table.ranks[slot] < left_end and table.ranks[slot] <= right_end:
            return False
    return True


@inlined
def _is_sound(halves, first, text):
    return text < first or halves.is_sound[text - first]


@kernel
def _way_that_stays(table, ways, row, halves, token):
    """The first way to put a token together that is what it falls into; -1 where it must be joined to see."""
    first = table.number[0]
    whole = first + token
    while row < len(ways.whole) and np.int64(ways.whole[row]) == whole:
        left, right = np.int64(ways.left[row]), np.int64(ways.right[row])
        is_sound = left < whole and right < whole and _is_sound(halves, first, left) and _is_sound(halves, first, right)
        if is_sound and _stay_apart(table, halves, left, right, token):
            return row
        row += 1
    return np.int64(_NONE)


@kernel
def _join_symbols(table, room, symbols, start, stop, halves, token):
    """Join a token's symbols by the tokens before it, or, where that gives no two, by all others."""
    number, first, count = table.number, table.number[0], stop - start
    for late in range(2):
        number[LIMIT], number[AND_NOT] = (len(halves.left), first + token) if late else (token, -1)
        for place in range(count):
            room.cells[place] = symbols[start + place]
            room.next_place[place], room.previous_place[place] = np.int32(place + 1), np.int32(place - 1)
        size = enter_heap(table, room, np.int64(0), count)
        join_stretch(table, room, np.int64(0), count, size)
        middle = np.int64(room.next_place[0])
        if middle < count and np.int64(room.next_place[middle]) == count:
            left, right = room.cells[0], room.cells[middle]
            halves.left[token], halves.right[token], halves.is_late[token] = left, right, late == 1
            halves.is_sound[token] = late == 0 and _is_sound(halves, first, left) and _is_sound(halves, first, right)
            return


@kernel
def find_halves(table, room, symbols, starts, ways, halves):
    """Find what each token falls into; `ways` are all ways to put texts together, in the order of the wholes."""
    first, row = table.number[0], np.int64(0)
    for token in range(len(halves.left)):
        while row < len(ways.whole) and np.int64(ways.whole[row]) < first + token:
            row += 1
        way = _way_that_stays(table, ways, row, halves, token)
        if way == _NONE:
            _join_symbols(table, room, symbols, starts[token], starts[token + 1], halves, token)
        else:
            halves.left[token], halves.right[token] = ways.left[way], ways.right[way]
            halves.is_sound[token] = True


@kernel
def measure_texts(lengths, left, right, longest):
    """Write the length of each text that is put together, behind those known; what is longer is `longest`."""
    known = len(lengths) - len(left)
    for pair in range(len(left)):
        lengths[known + pair] = min(lengths[left[pair]] + lengths[right[pair]], longest)


@kernel
def lay_texts(data, starts, left, right):
    """Write the text of each pair behind the texts that are there."""
    known = len(starts) - 1 - len(left)
    for pair in range(len(left)):
        place = starts[known + pair]
        for half in range(2):
            part = right[pair] if half else left[pair]
            for other in range(starts[part], starts[part + 1]):
                data[place] = data[other]
                place += 1
