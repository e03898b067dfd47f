"""Counting words: scan a stretch of text, then find each of its words in a table.

A stretch is a few ten kilobytes, so what the scan wrote is still in the cache when the words
are looked up. Words of at most eight bytes are their own keys: one cache miss finds and
counts them. Longer ones are found by a hash and compared with the copy that is kept of each.

The tables are open addressing with a power of two of slots, never more than three quarters
full; the caller makes them larger when `count_block` asks for room.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bpe_core.compiled.jit import kernel
from bpe_core.compiled.memory import load_eight, prefetch
from bpe_core.compiled.scan import POSITION, REGISTERS, begin_text, end_text, kind_at, scan
from bpe_core.scanner.kinds import Kind

# Entries of the registers, behind those of the scanner: where counting a block stands.
SEGMENT = REGISTERS
FOUND = REGISTERS + 1  # cuts that wait to be counted
ALL_REGISTERS = REGISTERS + 2

# Entries of `Words.used`.
SHORT, LONG, COPIED = range(3)

# A row of `Words.short` is a word and its count; one of `Words.long`: hash, count, start of the copy, length.
SHORT_ROW, LONG_ROW = 2, 4
COUNT = 1  # zero in an empty row
COPY, LENGTH = 2, 3

HANDED_OVER = -1  # instead of the place where a word was first seen: another table counts it
LONGEST_SHORT = 8  # bytes
AHEAD = 8  # words whose memory is fetched while others are worked on
STRETCH = 32 * 1024  # bytes scanned before their words are looked up

_FIRST_BLANK, _LAST_BLANK = int(Kind.NEWLINE), int(Kind.BLANK)
_MIXER = 0x9E3779B97F4A7C15


class Words(NamedTuple):
    """Distinct words with their counts and where each was first seen."""

    short: npt.NDArray[np.uint64]  # rows of two
    short_firsts: npt.NDArray[np.int64]
    long: npt.NDArray[np.uint64]  # rows of four
    long_firsts: npt.NDArray[np.int64]
    copies: npt.NDArray[np.uint8]  # of the long words, each followed by room to the next multiple of eight
    used: npt.NDArray[np.int64]


class Scratch(NamedTuple):
    """Room for the words of one stretch."""

    cuts: npt.NDArray[np.int32]
    keys: npt.NDArray[np.uint64]
    places: npt.NDArray[np.int32]
    long_words: npt.NDArray[np.int32]


@kernel
def count_block(machine, drops_blanks, data, segment_ends, first, words, scratch, registers):  # type: ignore[no-untyped-def]
    """Count the words of a block whose segments are texts of their own; False where more room is needed.

    The registers must stand at the start of the block, or where the last call left them.
    """
    cuts = scratch.cuts
    found = registers[FOUND]
    while True:
        if found > 1:
            short, long = _sort_by_length(machine, drops_blanks, data, scratch, found - 1)
            if not _has_room(words, cuts, short, long, found):
                registers[FOUND] = found
                return False
            _count_short(words, scratch, short, first)
            _count_long(words, data, scratch, long, first)
            cuts[0] = cuts[found - 1]
            found = 1
        if registers[SEGMENT] == len(segment_ends):
            registers[FOUND] = found
            return True
        found = _scan_stretch(machine, data, segment_ends, cuts, registers, found)


@kernel
def _scan_stretch(machine, data, segment_ends, cuts, registers, found):  # type: ignore[no-untyped-def]
    pause = registers[POSITION] + STRETCH
    while registers[SEGMENT] < len(segment_ends) and registers[POSITION] < pause and found + 3 <= len(cuts):
        stop = segment_ends[registers[SEGMENT]]
        found = scan(machine, data, min(stop, pause), registers, cuts, found)
        if registers[POSITION] == stop and found + 3 <= len(cuts):
            found = end_text(machine, registers, cuts, found)
            begin_text(registers, stop)
            registers[SEGMENT] += 1
    return found


@kernel
def _sort_by_length(machine, drops_blanks, data, scratch, words):  # type: ignore[no-untyped-def]
    """Sort out short and long words; the short ones get their keys. Returns how many there are of each."""
    cuts, keys, places, long_words = scratch.cuts, scratch.keys, scratch.places, scratch.long_words
    short, long = np.uint64(0), np.uint64(0)
    for word in range(np.uint64(words)):
        start, stop = cuts[word], cuts[word + np.uint64(1)]
        length = int(stop - start)
        unused = np.uint64(64 - 8 * min(length, LONGEST_SHORT))  # bits
        key = load_eight(data, np.uint64(start)) & (np.uint64(0xFFFFFFFFFFFFFFFF) >> unused)
        # A last byte of zero would be lost in the key.
        is_short = (length <= LONGEST_SHORT) & ((key >> (np.uint64(56) - unused)) != np.uint64(0))
        counts = np.uint64(1)
        if drops_blanks:
            kind = kind_at(machine, data, np.int64(start))
            counts = np.uint64((kind < _FIRST_BLANK) | (kind > _LAST_BLANK))
        keys[short] = key
        places[short] = start
        short += counts & np.uint64(is_short)
        long_words[long] = word
        long += counts & np.uint64(not is_short)
    return np.int64(short), np.int64(long)


@kernel
def _has_room(words, cuts, short, long, found):  # type: ignore[no-untyped-def]
    """Whether the words of a stretch would fit even if all of them were new."""
    copied = np.int64(cuts[found - 1] - cuts[0]) + 16 * long
    return (
        hold(words.short_firsts, words.used[SHORT] + short)
        and hold(words.long_firsts, words.used[LONG] + long)
        and words.used[COPIED] + copied <= len(words.copies)
    )


@kernel
def hold(slots, words):  # type: ignore[no-untyped-def]
    """Whether so many words leave a quarter of the slots free."""
    return 4 * words <= 3 * len(slots)


@kernel
def _count_short(words, scratch, number, first):  # type: ignore[no-untyped-def]
    table, keys, places = words.short, scratch.keys, scratch.places
    mask = np.uint64(len(words.short_firsts) - 1)
    shift = _shift(mask)
    for i in range(np.uint64(number)):
        key = keys[i]
        row = _find_short(table, key, mask, shift)
        if table[row] == np.uint64(0):
            table[row] = key
            words.short_firsts[row // np.uint64(SHORT_ROW)] = first + places[i]
            words.used[SHORT] += 1
        table[row + np.uint64(COUNT)] += np.uint64(1)


@kernel
def _find_short(table, key, mask, shift):  # type: ignore[no-untyped-def]
    """The row of a short word, or the empty row that it would take."""
    slot = (key * np.uint64(_MIXER)) >> shift
    while True:
        row = slot * np.uint64(SHORT_ROW)
        if table[row] == key or table[row] == np.uint64(0):
            return row
        slot = (slot + np.uint64(1)) & mask


@kernel
def _shift(mask):  # type: ignore[no-untyped-def]
    """How far a 64-bit product is shifted so that its highest bits number a slot."""
    shift = np.uint64(64)
    while mask:
        mask >>= np.uint64(1)
        shift -= np.uint64(1)
    return shift


@kernel
def _hash(data, start, length):  # type: ignore[no-untyped-def]
    """A hash of some bytes, never zero; up to seven bytes behind them are read but do not count."""
    mixed = np.uint64(length) * np.uint64(_MIXER)
    end = np.uint64(start + length)
    i = np.uint64(start)
    while i + np.uint64(8) <= end:
        mixed = (mixed ^ load_eight(data, i)) * np.uint64(_MIXER)
        mixed ^= mixed >> np.uint64(32)
        i += np.uint64(8)
    if i < end:
        rest = load_eight(data, i) & (np.uint64(0xFFFFFFFFFFFFFFFF) >> (np.uint64(64) - np.uint64(8) * (end - i)))
        mixed = (mixed ^ rest) * np.uint64(_MIXER)
        mixed ^= mixed >> np.uint64(32)
    return mixed * np.uint64(_MIXER) | np.uint64(1)


@kernel
def _count_long(words, data, scratch, number, first):  # type: ignore[no-untyped-def]
    table, copies = words.long, words.copies
    cuts, keys, long_words = scratch.cuts, scratch.keys, scratch.long_words
    mask = np.uint64(len(words.long_firsts) - 1)
    shift = _shift(mask)
    for i in range(np.uint64(number)):
        word = np.uint64(long_words[i])
        start, stop = np.int64(cuts[word]), np.int64(cuts[word + np.uint64(1)])
        keys[i] = _hash(data, start, stop - start)  # the keys of the short words are no longer needed
        prefetch(table, (keys[i] >> shift) * np.uint64(LONG_ROW))
    for i in range(np.uint64(number)):
        if i + np.uint64(AHEAD) < np.uint64(number):
            row = (keys[i + np.uint64(AHEAD)] >> shift) * np.uint64(LONG_ROW)
            prefetch(copies, table[row + np.uint64(COPY)])
        word = np.uint64(long_words[i])
        start, stop = np.int64(cuts[word]), np.int64(cuts[word + np.uint64(1)])
        row = _find_long(table, copies, keys[i], data, start, stop - start, mask, shift)
        if table[row + np.uint64(COUNT)] == np.uint64(0):
            _enter_long(words, row, keys[i], data, start, stop - start, first + start)
        table[row + np.uint64(COUNT)] += np.uint64(1)


@kernel
def _find_long(table, copies, key, data, start, length, mask, shift):  # type: ignore[no-untyped-def]
    """The row of a long word, or the empty row that it would take."""
    slot = key >> shift
    while True:
        row = slot * np.uint64(LONG_ROW)
        if table[row + np.uint64(COUNT)] == np.uint64(0):
            return row
        alike = table[row] == key and table[row + np.uint64(LENGTH)] == np.uint64(length)
        if alike and _same(copies, table[row + np.uint64(COPY)], data, start, length):
            return row
        slot = (slot + np.uint64(1)) & mask


@kernel
def _enter_long(words, row, key, data, start, length, first):  # type: ignore[no-untyped-def]
    """A new long word, which is copied; its count is left to the caller."""
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
def _same(left, left_start, right, right_start, length):  # type: ignore[no-untyped-def]
    """Whether two places hold the same bytes; both may be read for seven bytes more."""
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


@kernel
def add_short(words, more, more_firsts):  # type: ignore[no-untyped-def]
    """Add a table of short words to another, which must have room for all of them from the start.

    They come in the order of their slots, which is that of their hashes: a table that only grew
    on the way would be overfull in the part that they have reached.
    """
    table, firsts = words.short, words.short_firsts
    mask = np.uint64(len(firsts) - 1)
    shift = _shift(mask)
    for i in range(len(more_firsts)):
        key, count = more[SHORT_ROW * i], more[SHORT_ROW * i + COUNT]
        if count == np.uint64(0):
            continue
        row = _find_short(table, key, mask, shift)
        slot = row // np.uint64(SHORT_ROW)
        if table[row] == np.uint64(0):
            table[row] = key
            firsts[slot] = more_firsts[i]
            words.used[SHORT] += 1
        table[row + np.uint64(COUNT)] += count
        firsts[slot] = min(firsts[slot], more_firsts[i])


@kernel
def spread_long(words, old, old_firsts):  # type: ignore[no-untyped-def]
    """Put the rows of a table of long words into a larger, empty one; their copies stay where they are."""
    table = words.long
    mask = np.uint64(len(words.long_firsts) - 1)
    shift = _shift(mask)
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
def add_long(words, more):  # type: ignore[no-untyped-def]
    """The same for long words."""
    table, firsts, copies = words.long, words.long_firsts, words.copies
    mask = np.uint64(len(firsts) - 1)
    shift = _shift(mask)
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
        row = _find_long(table, copies, key, more.copies, start, length, mask, shift)
        if table[row + np.uint64(COUNT)] == np.uint64(0):
            _enter_long(words, row, key, more.copies, start, length, more.long_firsts[i])
        table[row + np.uint64(COUNT)] += count
        slot = row // np.uint64(LONG_ROW)
        firsts[slot] = min(firsts[slot], more.long_firsts[i])


@kernel
def hand_over_short(words, more, begin, stop):  # type: ignore[no-untyped-def]
    """Let one table have the counts of the short words that both know; returns how many they are.

    Only words that belong in the slots from `begin` to `stop` of `more` are looked at, so that
    other threads may see to the rest. What is handed over is marked, and stays where it is:
    without it, words behind it would not be found.
    """
    table, firsts = words.short, words.short_firsts
    mask, more_mask = np.uint64(len(firsts) - 1), np.uint64(len(more.short_firsts) - 1)
    shift, more_shift = _shift(mask), _shift(more_mask)
    known = 0
    i = np.uint64(begin)
    while True:
        slot = i & more_mask
        key, count = more.short[np.uint64(SHORT_ROW) * slot], more.short[np.uint64(SHORT_ROW) * slot + np.uint64(COUNT)]
        if i >= np.uint64(stop) and count == np.uint64(0):  # until there, words stand that found their slots taken
            return known
        home = (key * np.uint64(_MIXER)) >> more_shift
        if count != np.uint64(0) and _is_between(home, begin, stop) and more.short_firsts[slot] != HANDED_OVER:
            row = _find_short(table, key, mask, shift)
            if table[row] != np.uint64(0):
                table[row + np.uint64(COUNT)] += count
                known_slot = row // np.uint64(SHORT_ROW)
                firsts[known_slot] = min(firsts[known_slot], more.short_firsts[slot])
                more.short_firsts[slot] = HANDED_OVER
                known += 1
        i += np.uint64(1)


@kernel
def _is_between(slot, begin, stop):  # type: ignore[no-untyped-def]
    return np.uint64(begin) <= slot < np.uint64(stop)


@kernel
def hand_over_long(words, more, begin, stop):  # type: ignore[no-untyped-def]
    """The same for long words."""
    table, firsts, copies = words.long, words.long_firsts, words.copies
    mask, more_mask = np.uint64(len(firsts) - 1), np.uint64(len(more.long_firsts) - 1)
    shift, more_shift = _shift(mask), _shift(more_mask)
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
            row = _find_long(table, copies, key, more.copies, start, length, mask, shift)
            if table[row + np.uint64(COUNT)] != np.uint64(0):
                table[row + np.uint64(COUNT)] += count
                known_slot = row // np.uint64(LONG_ROW)
                firsts[known_slot] = min(firsts[known_slot], more.long_firsts[slot])
                more.long_firsts[slot] = HANDED_OVER
                known += 1
        i += np.uint64(1)


@kernel
def list_words(words, firsts, slots):  # type: ignore[no-untyped-def]
    """Where each word was first seen, and its slot; that of a long word as -1 - slot."""
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
def write_counts(words, slots, ranks, counts, lengths):  # type: ignore[no-untyped-def]
    """How often the words in these slots occur and how long they are, each at its rank."""
    for i in range(len(slots)):
        slot = slots[i]
        if slot >= 0:
            counts[ranks[i]] = words.short[SHORT_ROW * slot + COUNT]
            lengths[ranks[i]] = _short_length(words.short[SHORT_ROW * slot])
        else:
            row = LONG_ROW * (-1 - slot)
            counts[ranks[i]] = words.long[row + COUNT]
            lengths[ranks[i]] = words.long[row + LENGTH]


@kernel
def _short_length(key):  # type: ignore[no-untyped-def]
    length = np.int64(0)
    while key:
        key >>= np.uint64(8)
        length += 1
    return length


@kernel
def write_words(words, slots, ranks, starts, text):  # type: ignore[no-untyped-def]
    """The words in these slots, each where the one of its rank starts."""
    for i in range(len(slots)):
        slot, at = slots[i], starts[ranks[i]]
        if slot >= 0:
            key = words.short[SHORT_ROW * slot]
            while key:
                text[at] = np.uint8(key & np.uint64(0xFF))
                key >>= np.uint64(8)
                at += 1
            continue
        if i + AHEAD < len(slots):  # long words, too: they are listed behind the short ones
            prefetch(words.copies, words.long[LONG_ROW * (-1 - slots[i + AHEAD]) + COPY])
        row = LONG_ROW * (-1 - slot)
        copy = np.int64(words.long[row + COPY])
        for place in range(np.int64(words.long[row + LENGTH])):
            text[at + place] = words.copies[copy + place]


@kernel
def last_safe_cut(machine, safe_pairs, data, start, stop):  # type: ignore[no-untyped-def]
    """The last place inside data[start:stop] where the text may be divided, or -1."""
    behind = -1  # the kind of the character from `place` on
    place = stop
    while place > start:
        here = place - 1
        while data[here] & 0xC0 == 0x80:
            here -= 1
        kind = kind_at(machine, data, here)
        if behind >= 0 and safe_pairs[kind, behind]:
            return place
        behind, place = kind, here
    return -1
