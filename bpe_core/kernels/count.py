"""The kernel that counts words. It scans a part of a text, then it looks up each word of the part in a table.

A part has about 32,000 bytes, so the scanner's output is still in the cache when the words are looked up. If a table
lacks room, `count_block` returns False, and the caller makes the table larger.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bpe_core.kernels.jit import kernel
from bpe_core.kernels.memory import load_eight, prefetch
from bpe_core.kernels.scan import POSITION, REGISTERS, begin_text, end_text, scan
from bpe_core.kernels.utf8 import kind_at
from bpe_core.kernels.word_tables import (
    AHEAD,
    COPIED,
    COPY,
    COUNT,
    LONG,
    LONG_ROW,
    LONGEST_SHORT,
    SHORT,
    SHORT_ROW,
    enter_long,
    find_long,
    find_short,
    hash_of,
    hold,
    shift_of,
)
from bpe_core.text.scanner.kinds import Kind

# Entries of `registers` after those of the scanner: the next segment, and the number of offsets that were found.
SEGMENT = REGISTERS
FOUND = REGISTERS + 1  # the words between these offsets are not counted yet
ALL_REGISTERS = REGISTERS + 2

STRETCH = 32 * 1024  # bytes scanned before their words are looked up

_FIRST_BLANK, _LAST_BLANK = int(Kind.NEWLINE), int(Kind.BLANK)


class Scratch(NamedTuple):
    cuts: npt.NDArray[np.int32]
    keys: npt.NDArray[np.uint64]
    places: npt.NDArray[np.int32]
    long_words: npt.NDArray[np.int32]


@kernel
def count_block(machine, drops_blanks, data, segment_ends, first, words, scratch, registers):
    """Count the words of a block. Each segment of the block is a text.

    Between two calls, `registers` holds the next offset, the scanner's state and counters. Return False if a table
    lacks room.
    """
    cuts = scratch.cuts
    count = registers[FOUND]
    while True:
        if count > 1:
            short, long = _sort_by_length(machine, drops_blanks, data, scratch, count - 1)
            if not _has_room(words, cuts, short, long, count):
                registers[FOUND] = count
                return False
            _count_short(words, scratch, short, first)
            _count_long(words, data, scratch, long, first)
            cuts[0] = cuts[count - 1]
            count = 1
        if registers[SEGMENT] == len(segment_ends):
            registers[FOUND] = count
            return True
        count = _scan_stretch(machine, data, segment_ends, cuts, registers, count)


@kernel
def _scan_stretch(machine, data, segment_ends, cuts, registers, count):
    pause = registers[POSITION] + STRETCH
    while registers[SEGMENT] < len(segment_ends) and registers[POSITION] < pause and count + 3 <= len(cuts):
        stop = segment_ends[registers[SEGMENT]]
        count = scan(machine, data, min(stop, pause), registers, cuts, count)
        if registers[POSITION] == stop and count + 3 <= len(cuts):
            count = end_text(machine, registers, cuts, count)
            begin_text(registers, stop)
            registers[SEGMENT] += 1
    return count


@kernel
def _sort_by_length(machine, drops_blanks, data, scratch, words):
    """Separate words into short and long words, and compute the keys of the short words.

    If `drops_blanks` is true, words of blanks are left out. Return the number of short words and of long words.
    """
    cuts, keys, places, long_words = scratch.cuts, scratch.keys, scratch.places, scratch.long_words
    short, long = np.uint64(0), np.uint64(0)
    for word in range(np.uint64(words)):
        start, stop = cuts[word], cuts[word + np.uint64(1)]
        length = int(stop - start)
        unused = np.uint64(64 - 8 * min(length, LONGEST_SHORT))  # unused bits of the key
        key = load_eight(data, np.uint64(start)) & (np.uint64(0xFFFFFFFFFFFFFFFF) >> unused)
        # A last byte of zero would be lost in the key.
        is_short = (length <= LONGEST_SHORT) & ((key >> (np.uint64(56) - unused)) != np.uint64(0))
        counts = np.uint64(1)
        if drops_blanks:
            kind = kind_at(machine.kinds, data, np.int64(start))
            counts = np.uint64((kind < _FIRST_BLANK) | (kind > _LAST_BLANK))
        keys[short] = key
        places[short] = start
        short += counts & np.uint64(is_short)
        long_words[long] = word
        long += counts & np.uint64(not is_short)
    return np.int64(short), np.int64(long)


@kernel
def _has_room(words, cuts, short, long, count):
    """Return whether the tables have room for all words of a part, even if each word is new."""
    copied = np.int64(cuts[count - 1] - cuts[0]) + 16 * long
    return (
        hold(words.short_firsts, words.used[SHORT] + short)
        and hold(words.long_firsts, words.used[LONG] + long)
        and words.used[COPIED] + copied <= len(words.copies)
    )


@kernel
def _count_short(words, scratch, number, first):
    table, keys, places = words.short, scratch.keys, scratch.places
    mask = np.uint64(len(words.short_firsts) - 1)
    shift = shift_of(mask)
    for i in range(np.uint64(number)):
        key = keys[i]
        row = find_short(table, key, mask, shift)
        if table[row] == np.uint64(0):
            table[row] = key
            words.short_firsts[row // np.uint64(SHORT_ROW)] = first + places[i]
            words.used[SHORT] += 1
        table[row + np.uint64(COUNT)] += np.uint64(1)


@kernel
def _count_long(words, data, scratch, number, first):
    table, copies = words.long, words.copies
    cuts, keys, long_words = scratch.cuts, scratch.keys, scratch.long_words
    mask = np.uint64(len(words.long_firsts) - 1)
    shift = shift_of(mask)
    for i in range(np.uint64(number)):
        word = np.uint64(long_words[i])
        start, stop = np.int64(cuts[word]), np.int64(cuts[word + np.uint64(1)])
        keys[i] = hash_of(data, start, stop - start)  # the keys of the short words are no longer needed
        prefetch(table, (keys[i] >> shift) * np.uint64(LONG_ROW))
    for i in range(np.uint64(number)):
        if i + np.uint64(AHEAD) < np.uint64(number):
            row = (keys[i + np.uint64(AHEAD)] >> shift) * np.uint64(LONG_ROW)
            prefetch(copies, table[row + np.uint64(COPY)])
        word = np.uint64(long_words[i])
        start, stop = np.int64(cuts[word]), np.int64(cuts[word + np.uint64(1)])
        row = find_long(table, copies, keys[i], data, start, stop - start, mask, shift)
        if table[row + np.uint64(COUNT)] == np.uint64(0):
            enter_long(words, row, keys[i], data, start, stop - start, first + start)
        table[row + np.uint64(COUNT)] += np.uint64(1)


@kernel
def last_safe_cut(machine, safe_pairs, data, start, stop):
    """Return the last offset inside data[start:stop] at which the text may be divided. Return -1 if there is none."""
    behind = -1  # the kind of the character that begins at `place`
    place = stop
    while place > start:
        here = place - 1
        while data[here] & 0xC0 == 0x80:
            here -= 1
        kind = kind_at(machine.kinds, data, here)
        if behind >= 0 and safe_pairs[kind, behind]:
            return place
        behind, place = kind, here
    return -1
