"""The tables of distinct words. Functions find and count words, join the tables of several threads, and enlarge tables.

A table uses open addressing. The number of slots is a power of two, and the callers leave at least a quarter of the
slots empty. Words of at most eight bytes are their own keys, so one cache miss finds and counts such a word. Longer
words are found by a hash, and compared with the stored copy of each word.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bpe_core.kernels.jit import kernel
from bpe_core.kernels.memory import load_eight, prefetch

# Entries of `Words.used`.
SHORT, LONG, COPIED = range(3)

# A row of `Words.short` is a word and its count. A row of `Words.long` is hash, count, start of the copy, length.
SHORT_ROW, LONG_ROW = 2, 4
COUNT = 1  # zero in an empty row
COPY, LENGTH = 2, 3

LONGEST_SHORT = 8  # bytes
AHEAD = 8  # words whose memory is fetched while others are processed
MIXER = 0x9E3779B97F4A7C15


class Words(NamedTuple):
    short: npt.NDArray[np.uint64]  # rows of two
    short_firsts: npt.NDArray[np.int64]
    long: npt.NDArray[np.uint64]  # rows of four
    long_firsts: npt.NDArray[np.int64]
    copies: npt.NDArray[np.uint8]  # the bytes of the long words; each word takes a multiple of eight bytes
    used: npt.NDArray[np.int64]


@kernel
def hold(slots, words):
    return 4 * words <= 3 * len(slots)


@kernel
def shift_of(mask):
    """Return the shift that turns a 64-bit product into the number of a slot.

    The highest bits of the product remain.
    """
    shift = np.uint64(64)
    while mask:
        mask >>= np.uint64(1)
        shift -= np.uint64(1)
    return shift


@kernel
def find_short(table, key, mask, shift):
    """Return the row of a short word, or the empty row in which it would be entered."""
    slot = (key * np.uint64(MIXER)) >> shift
    while True:
        row = slot * np.uint64(SHORT_ROW)
        if table[row] == key or table[row] == np.uint64(0):
            return row
        slot = (slot + np.uint64(1)) & mask


@kernel
def hash_of(data, start, length):
    """Return a hash of some bytes, which is never zero.

    Up to seven bytes after them are read but do not change the hash.
    """
    mixed = np.uint64(length) * np.uint64(MIXER)
    end = np.uint64(start + length)
    i = np.uint64(start)
    while i + np.uint64(8) <= end:
        mixed = (mixed ^ load_eight(data, i)) * np.uint64(MIXER)
        mixed ^= mixed >> np.uint64(32)
        i += np.uint64(8)
    if i < end:
        rest = load_eight(data, i) & (np.uint64(0xFFFFFFFFFFFFFFFF) >> (np.uint64(64) - np.uint64(8) * (end - i)))
        mixed = (mixed ^ rest) * np.uint64(MIXER)
        mixed ^= mixed >> np.uint64(32)
    return mixed * np.uint64(MIXER) | np.uint64(1)


@kernel
def find_long(table, copies, key, data, start, length, mask, shift):
    """Return the row of a long word, or the empty row in which it would be entered."""
    slot = key >> shift
    while True:
        row = slot * np.uint64(LONG_ROW)
        if table[row + np.uint64(COUNT)] == np.uint64(0):
            return row
        alike = table[row] == key and table[row + np.uint64(LENGTH)] == np.uint64(length)
        if alike and are_equal(copies, table[row + np.uint64(COPY)], data, start, length):
            return row
        slot = (slot + np.uint64(1)) & mask


@kernel
def enter_long(words, row, key, data, start, length, first):
    """Enter a new long word and copy its bytes. The caller counts the word."""
    copy = words.used[COPIED]
    for i in range(length):
        words.copies[copy + i] = data[start + i]
    words.used[COPIED] = (copy + length + 15) & ~7
    words.used[LONG] += 1
    words.long[row] = key
    words.long[row + np.uint64(COPY)] = copy
    words.long[row + np.uint64(LENGTH)] = length
    words.long_firsts[row // np.uint64(LONG_ROW)] = first


@kernel
def are_equal(left, left_start, right, right_start, length):
    """Return whether the bytes at two offsets are equal. Up to seven bytes after them may be read."""
    i, j = np.uint64(left_start), np.uint64(right_start)
    todo = np.uint64(length)
    while todo >= np.uint64(8):
        if load_eight(left, i) != load_eight(right, j):
            return False
        i += np.uint64(8)
        j += np.uint64(8)
        todo -= np.uint64(8)
    if todo == np.uint64(0):
        return True
    return (load_eight(left, i) ^ load_eight(right, j)) << (np.uint64(64) - np.uint64(8) * todo) == np.uint64(0)


HANDED_OVER = -1  # in place of the first offset of a word: another table has its count


@kernel
def add_short(words, more, more_firsts):
    """Add a table of short words to another table, which must have room for all words.

    The rows are added in the order of their hashes, so they fill the other table from its beginning to its end. For
    this reason the other table must have its final size at the start: the beginning of a smaller table would become too
    full.
    """
    table, firsts = words.short, words.short_firsts
    mask = np.uint64(len(firsts) - 1)
    shift = shift_of(mask)
    for i in range(len(more_firsts)):
        key, count = more[SHORT_ROW * i], more[SHORT_ROW * i + COUNT]
        if count == np.uint64(0):
            continue
        row = find_short(table, key, mask, shift)
        slot = row // np.uint64(SHORT_ROW)
        if table[row] == np.uint64(0):
            table[row] = key
            firsts[slot] = more_firsts[i]
            words.used[SHORT] += 1
        table[row + np.uint64(COUNT)] += count
        firsts[slot] = min(firsts[slot], more_firsts[i])


@kernel
def spread_long(words, old, old_firsts):
    """Insert the rows of a table of long words into a larger, empty table.

    Only the rows are moved. The stored bytes of the words stay where they are.
    """
    table = words.long
    mask = np.uint64(len(words.long_firsts) - 1)
    shift = shift_of(mask)
    for i in range(len(old_firsts)):
        if old[LONG_ROW * i + COUNT] == np.uint64(0):
            continue
        slot = old[LONG_ROW * i] >> shift
        while table[slot * np.uint64(LONG_ROW) + np.uint64(COUNT)] != np.uint64(0):
            slot = (slot + np.uint64(1)) & mask
        for column in range(LONG_ROW):
            table[slot * np.uint64(LONG_ROW) + np.uint64(column)] = old[LONG_ROW * i + column]
        words.long_firsts[slot] = old_firsts[i]


@kernel
def add_long(words, more):
    """Add the counts of the long words of another table."""
    table, firsts, copies = words.long, words.long_firsts, words.copies
    mask = np.uint64(len(firsts) - 1)
    shift = shift_of(mask)
    for i in range(len(more.long_firsts)):
        if i + AHEAD < len(more.long_firsts):
            row = np.uint64(LONG_ROW * (i + AHEAD))
            prefetch(more.copies, more.long[row + np.uint64(COPY)])
            row = (more.long[row] >> shift) * np.uint64(LONG_ROW)
            prefetch(copies, table[row + np.uint64(COPY)])
        key, count = more.long[LONG_ROW * i], more.long[LONG_ROW * i + COUNT]
        if count == np.uint64(0):
            continue
        start, length = np.int64(more.long[LONG_ROW * i + COPY]), np.int64(more.long[LONG_ROW * i + LENGTH])
        row = find_long(table, copies, key, more.copies, start, length, mask, shift)
        if table[row + np.uint64(COUNT)] == np.uint64(0):
            enter_long(words, row, key, more.copies, start, length, more.long_firsts[i])
        table[row + np.uint64(COUNT)] += count
        slot = row // np.uint64(LONG_ROW)
        firsts[slot] = min(firsts[slot], more.long_firsts[i])


@kernel
def move_short_counts(words, more, begin, stop):
    """Move the counts of the short words that both tables hold.

    The counts move from the table `more` to the table `words`. Return the number of these words. Only words whose
    search begins in the slots from `begin` to `stop` are moved. A moved word is marked, but its row stays in the table.
    If the row were empty, a search for a word in a later row would end there.
    """
    table, firsts = words.short, words.short_firsts
    mask, more_mask = np.uint64(len(firsts) - 1), np.uint64(len(more.short_firsts) - 1)
    shift, more_shift = shift_of(mask), shift_of(more_mask)
    known = 0
    i = np.uint64(begin)
    while True:
        slot = i & more_mask
        key, count = more.short[np.uint64(SHORT_ROW) * slot], more.short[np.uint64(SHORT_ROW) * slot + np.uint64(COUNT)]
        if i >= np.uint64(stop) and count == np.uint64(0):  # no later row is searched
            return known
        home = (key * np.uint64(MIXER)) >> more_shift
        if count != np.uint64(0) and _is_between(home, begin, stop) and more.short_firsts[slot] != HANDED_OVER:
            row = find_short(table, key, mask, shift)
            if table[row] != np.uint64(0):
                table[row + np.uint64(COUNT)] += count
                known_slot = row // np.uint64(SHORT_ROW)
                firsts[known_slot] = min(firsts[known_slot], more.short_firsts[slot])
                more.short_firsts[slot] = HANDED_OVER
                known += 1
        i += np.uint64(1)


@kernel
def _is_between(slot, begin, stop):
    return np.uint64(begin) <= slot < np.uint64(stop)


@kernel
def move_long_counts(words, more, begin, stop):
    """Move the counts of the long words that both tables hold.

    The counts move from the table `more` to the table `words`. Return the number of these words. Only words whose
    search begins in the slots from `begin` to `stop` are moved.
    """
    table, firsts, copies = words.long, words.long_firsts, words.copies
    mask, more_mask = np.uint64(len(firsts) - 1), np.uint64(len(more.long_firsts) - 1)
    shift, more_shift = shift_of(mask), shift_of(more_mask)
    known = 0
    i = np.uint64(begin)
    while True:
        slot = i & more_mask
        ahead = np.uint64(LONG_ROW) * ((i + np.uint64(AHEAD)) & more_mask)
        prefetch(more.copies, more.long[ahead + np.uint64(COPY)])
        prefetch(copies, table[(more.long[ahead] >> shift) * np.uint64(LONG_ROW) + np.uint64(COPY)])
        here = np.uint64(LONG_ROW) * slot
        key, count = more.long[here], more.long[here + np.uint64(COUNT)]
        if i >= np.uint64(stop) and count == np.uint64(0):
            return known
        if (
            count != np.uint64(0)
            and _is_between(key >> more_shift, begin, stop)
            and more.long_firsts[slot] != HANDED_OVER
        ):
            start, length = np.int64(more.long[here + np.uint64(COPY)]), np.int64(more.long[here + np.uint64(LENGTH)])
            row = find_long(table, copies, key, more.copies, start, length, mask, shift)
            if table[row + np.uint64(COUNT)] != np.uint64(0):
                table[row + np.uint64(COUNT)] += count
                known_slot = row // np.uint64(LONG_ROW)
                firsts[known_slot] = min(firsts[known_slot], more.long_firsts[slot])
                more.long_firsts[slot] = HANDED_OVER
                known += 1
        i += np.uint64(1)


@kernel
def list_words(words, firsts, slots):
    """Write the offset at which each word was first seen, and the slot of the word.

    The slot of a long word is written as -1 - slot.
    """
    listed = 0
    for slot in range(len(words.short_firsts)):
        if words.short[SHORT_ROW * slot + COUNT] != np.uint64(0) and words.short_firsts[slot] != HANDED_OVER:
            firsts[listed] = words.short_firsts[slot]
            slots[listed] = slot
            listed += 1
    for slot in range(len(words.long_firsts)):
        if words.long[LONG_ROW * slot + COUNT] != np.uint64(0) and words.long_firsts[slot] != HANDED_OVER:
            firsts[listed] = words.long_firsts[slot]
            slots[listed] = -1 - slot
            listed += 1


@kernel
def write_counts(words, slots, ranks, counts, lengths):
    """Write the count and the length of each word in these slots.

    `ranks` holds for each word the index at which its numbers are written.
    """
    for i in range(len(slots)):
        _fetch_ahead(words, slots, i)
        slot = slots[i]
        if slot >= 0:
            counts[ranks[i]] = words.short[SHORT_ROW * slot + COUNT]
            lengths[ranks[i]] = _short_length(words.short[SHORT_ROW * slot])
        else:
            row = LONG_ROW * (-1 - slot)
            counts[ranks[i]] = words.long[row + COUNT]
            lengths[ranks[i]] = words.long[row + LENGTH]


@kernel
def _fetch_ahead(words, slots, i):
    if i + AHEAD < len(slots) and slots[i + AHEAD] < 0:
        prefetch(words.long, np.uint64(LONG_ROW * (-1 - slots[i + AHEAD])))


@kernel
def _short_length(key):
    length = np.int64(0)
    while key:
        key >>= np.uint64(8)
        length += 1
    return length


@kernel
def write_words(words, slots, ranks, starts, text):
    """Write the texts of the words in these slots.

    The text of the word in `slots[i]` is written to the offset `starts[ranks[i]]` of `text`. This is fastest if the
    slots are in the order in which the words were first seen.
    """
    for i in range(len(slots)):
        _fetch_ahead(words, slots, i)
        slot, at = slots[i], starts[ranks[i]]
        if slot >= 0:
            key = words.short[SHORT_ROW * slot]
            while key:
                text[at] = np.uint8(key & np.uint64(0xFF))
                key >>= np.uint64(8)
                at += 1
            continue
        row = LONG_ROW * (-1 - slot)
        copy = np.int64(words.long[row + COPY])
        for place in range(np.int64(words.long[row + LENGTH])):
            text[at + place] = words.copies[copy + place]


@kernel
def number_words(text, starts, begin, stop, keys, places, rows, firsts, count):
    """Give numbers to the distinct words from `begin` to `stop`, in the order in which they are first seen.

    `count` words already have numbers. Return the new number of distinct words.

    The table has at least a third more slots than words. `firsts` gets the first word with each number. Seven bytes
    must follow the text.
    """
    mask = np.uint64(len(keys) - 1)
    shift = shift_of(mask)
    for i in range(begin, stop):
        start = starts[i]
        length = starts[i + 1] - start
        key = hash_of(text, start, length)
        slot = key >> shift
        while True:
            if keys[slot] == np.uint64(0):
                keys[slot] = key
                places[slot] = count
                firsts[count] = i
                rows[i] = count
                count += 1
                break
            first = firsts[places[slot]] if keys[slot] == key else -1
            is_alike = first >= 0 and starts[first + 1] - starts[first] == length
            if is_alike and are_equal(text, starts[first], text, start, length):
                rows[i] = places[slot]
                break
            slot = (slot + np.uint64(1)) & mask
    return count


@kernel
def gather_words(text, starts, begin, stop, chosen, new_starts, gathered):
    """Write the words whose numbers are in `chosen`, one after another."""
    for i in range(begin, stop):
        source, target = starts[chosen[i]], new_starts[i]
        for place in range(new_starts[i + 1] - target):
            gathered[target + place] = text[source + place]


@kernel
def count_tokens(ids, starts, rows, times, counts):
    """Add `times[i]` to the counts of all tokens of the word in row `rows[i]`, for each `i`.

    `starts` has the offset at which the tokens of each word begin.
    """
    for i in range(len(rows)):
        for place in range(starts[rows[i]], starts[rows[i] + 1]):
            counts[ids[place]] += times[i]
