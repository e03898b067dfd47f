"""The words that an encoder has encoded, with their results. Almost every word of a text needs one look-up.

A slot is half a line of the processor's cache: the word itself, if it is short, and up to three numbers of its result.
For a long word the slot holds a hash. The bytes and results of long words, and longer results, are stored in other
arrays.

Several threads read and fill the same slots without waiting for each other. To enter a word, a thread claims an empty
slot by a mark in its last number, which only one thread can do. Then it writes the other numbers, and at last it
publishes the slot by writing the last number. A published slot is never written again, and a thread that has read the
last number sees everything that was written before. Other threads treat a claimed slot like the slot of another word,
so at worst a word is entered twice. Each thread writes long words and results into its own part of the other arrays.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bpe_core.kernels.jit import bundle, inlined, kernel
from bpe_core.kernels.memory import claim, load_eight, look_at, look_up, prefetch, publish, set_down
from bpe_core.kernels.utf8 import kind_at
from bpe_core.support.arrays import Int32s, Int64s, UInt64s
from bpe_core.text.scanner.kinds import BLANKS

LONGEST_INSIDE = 15  # bytes of a word that is its own key; the sixteenth byte holds its length
LONGEST_REMEMBERED = 128
RESULTS_INSIDE = 3

# Entries of `Memory.number`. Each thread has its own array.
ENTRIES, RESULTS, WORDS = range(3)  # how many words it entered, and the next free place in each of the other arrays
LAST_ENTRY, LAST_RESULT, LAST_WORD = range(3, 6)  # how far it may go
NUMBERS = 16  # so far apart that the numbers of two threads are never in one line of the processor's cache

LONG_KEY = np.uint64(0xFF << 56)  # the second half of a key, and the length, where the first half is a hash
SLOT = 4  # numbers of a slot: two for the key, two for the results
_LENGTH_SHIFT, _HALF = np.uint64(56), np.uint64(32)
_PLACE_SHIFT = np.uint64(30)  # uses the upper half of the mixed number; the lowest bits are dropped
_ELSEWHERE = np.uint64(1 << 31)  # in the count of results, however few they are
_CLAIMED = np.uint64(1)  # the last number of a slot that a thread is about to fill
_LOW_HALF = np.uint64(0xFFFFFFFF)
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_OTHER_MULTIPLIER = np.uint64(0xD6E8FEB86659FD93)
_FIRST_BLANK, _LAST_BLANK = int(min(BLANKS)), int(max(BLANKS))
# For each length up to LONGEST_INSIDE, masks of the bytes in two times eight that belong to a word.
_FIRST_EIGHT = np.array([(1 << 8 * min(length, 8)) - 1 for length in range(16)], np.uint64)
_SECOND_EIGHT = np.array([(1 << 8 * max(length - 8, 0)) - 1 for length in range(16)], np.uint64)


@bundle
class Memory(NamedTuple):
    """The slots of remembered words, and the arrays for long words and for long results.

    A slot holds a word's key and results, with two results in one 64-bit number. The upper half of the last number is
    the count of the results. An empty slot holds zeros. If a word has no results or too many, or is long, the first
    result is the offset in `results` at which the results begin. For a long word, its offset and its length come before
    the results.
    """

    slots: UInt64s
    results: Int32s
    words: UInt64s  # the bytes of long words, eight to a number
    number: Int64s


@bundle
class Keys(NamedTuple):
    first: UInt64s
    second: UInt64s  # zero where a word is too long to be remembered
    places: UInt64s  # their slots
    cuts: UInt64s  # the cut of the block after which each word begins


@kernel
def load(data, place, length):
    """Return up to eight bytes as one number. Missing bytes are zeros."""
    if place + 8 <= len(data):
        return load_eight(data, np.uint64(place)) & _FIRST_EIGHT[min(length, 8)]
    value = np.uint64(0)
    for i in range(min(length, 8)):
        value |= np.uint64(data[place + i]) << np.uint64(8 * i)
    return value


@inlined
def first_slot(slots, first, second):
    """Return the slot at which the search for a key begins. The number of slots is a power of two."""
    mixed = (first ^ (second * _OTHER_MULTIPLIER)) * _MULTIPLIER
    return (mixed >> _PLACE_SHIFT) & np.uint64(len(slots) - SLOT)


@inlined
def _enter_key(memory, data, end, start, length, keys, i):
    """Write the key of a word, and begin to fetch the slot of the word.

    A word that begins at the offset `end` or later is too near to the end of the text for a fast read.
    """
    slots = memory.slots
    if length <= np.uint64(LONGEST_INSIDE) and start < end:
        key = load_eight(data, start) & _FIRST_EIGHT[length]
        second_key = load_eight(data, start + np.uint64(8)) & _SECOND_EIGHT[length]
        second_key |= length << _LENGTH_SHIFT
    else:
        key, second_key = _rare_key(data, np.int64(start), np.int64(length))
    keys.first[i], keys.second[i] = key, second_key
    place = first_slot(slots, key, second_key)
    keys.places[i] = place
    prefetch(slots, place)


@kernel
def find_keys(memory, data, cuts, first, count, keys):
    """Write the keys of `count` words, beginning with the word `first`."""
    end = np.uint64(max(len(data) - 15, 0))
    word, i = np.uint64(first), np.uint64(0)
    start = np.uint64(cuts[word])
    while i < np.uint64(count):
        word += np.uint64(1)
        stop = np.uint64(cuts[word])
        _enter_key(memory, data, end, start, stop - start, keys, i)
        start = stop
        i += np.uint64(1)


@kernel
def find_keys_between_blanks(memory, data, words, first, count, keys):
    """Write the keys of the words that do not begin with a space. Return the number of these words."""
    cuts, kinds, end = words.cuts, words.kinds, np.uint64(max(len(data) - 15, 0))
    i, word, one = np.uint64(0), np.uint64(first), np.uint64(1)
    start = np.uint64(cuts[word])
    for cut in range(count):
        word += one
        stop = np.uint64(cuts[word])
        kind = kind_at(kinds, data, start)
        if kind < _FIRST_BLANK or kind > _LAST_BLANK:
            _enter_key(memory, data, end, start, stop - start, keys, i)
            keys.cuts[i] = cut
            i += one
        start = stop
    return np.int64(i)


@kernel
def _rare_key(data, start, length):
    """Return the key of a word that the fast functions cannot read: a long word, or a word at the end of the text."""
    if length <= LONGEST_INSIDE:
        second = load(data, start + 8, length - 8) if length > 8 else np.uint64(0)
        return load(data, start, length), second | np.uint64(length) << _LENGTH_SHIFT
    if length > LONGEST_REMEMBERED:
        return np.uint64(0), np.uint64(0)
    mixed = np.uint64(length)
    for place in range(0, length, 8):
        mixed = (mixed ^ load(data, start + place, length - place)) * _OTHER_MULTIPLIER
        mixed ^= mixed >> np.uint64(29)
    return mixed, LONG_KEY | np.uint64(length)


@inlined
def slot_of(memory, data, start, length, first, second, place):
    """Return the slot that stores a word, or the slot in which it would be entered.

    Also return whether the word is stored.
    """
    slots = memory.slots
    last = look_up(slots, place + np.uint64(3))
    while last != np.uint64(0):
        is_other = (look_at(slots, place) ^ first) | (look_at(slots, place + np.uint64(1)) ^ second)
        if is_other == np.uint64(0):
            result = np.int64(look_at(slots, place + np.uint64(2)))
            if second < LONG_KEY or (last != _CLAIMED and is_same_word(memory, result, data, start, length)):
                break
        place = (place + np.uint64(SLOT)) & np.uint64(len(slots) - SLOT)
        last = look_up(slots, place + np.uint64(3))
    return place, last > _CLAIMED


@kernel
def is_same_word(memory, result, data, start, length):
    if memory.results[result - 1] != length:
        return False
    kept = np.int64(memory.results[result - 2])
    for place in range(0, length, 8):
        if memory.words[kept + (place >> 3)] != load(data, start + place, length - place):
            return False
    return True


@kernel
def grow_slots(old, new):
    """Copy all slots into a new, empty table that only this thread uses.

    Words that other threads enter into the old table at the same time may be lost.
    """
    for entry in range(0, len(old), SLOT):
        last = look_up(old, np.uint64(entry + 3))
        if last <= _CLAIMED:
            continue
        place = first_slot(new, old[entry], old[entry + 1])
        while new[place + np.uint64(3)] != np.uint64(0):
            place = (place + np.uint64(SLOT)) & np.uint64(len(new) - SLOT)
        for i in range(SLOT):
            new[place + np.uint64(i)] = old[entry + i]


@inlined
def lacks_memory(memory, most):
    """Return whether the memory may have too little room for another word that has at most `most` ids."""
    number = memory.number
    return (
        number[ENTRIES] >= look_at(number, np.uint64(LAST_ENTRY))  # zero as soon as there is a larger table
        or number[RESULTS] + 2 + most > number[LAST_RESULT]
        or number[WORDS] + (LONGEST_REMEMBERED >> 3) > number[LAST_WORD]
    )


@inlined
def remember(memory, data, start, length, first, second, slot, out, free, count):
    """Enter a word with its results into the memory. The results are in `out`, from the index `free` on.

    Do nothing if another thread takes the slot of the word first.
    """
    slots, number, results, about = memory.slots, memory.number, memory.results, np.uint64(count)
    if not claim(slots, slot + np.uint64(3), _CLAIMED):
        return
    number[ENTRIES] += 1
    place = number[RESULTS]
    if count == 0:
        about = _ELSEWHERE
    if second >= LONG_KEY:
        about |= _ELSEWHERE
        results[place], results[place + 1] = np.int32(number[WORDS]), np.int32(length)
        place += 2
        for i in range(0, length, 8):
            memory.words[number[WORDS]] = load(data, start + i, length - i)
            number[WORDS] += 1
    value, last = np.uint64(place), np.uint64(0)
    if about > np.uint64(RESULTS_INSIDE):
        for i in range(count):
            results[place + i] = out[free + i]
        number[RESULTS] = place + count
    else:
        value = np.uint64(out[free]) & _LOW_HALF
        if count > 1:
            value |= np.uint64(out[free + 1]) << _HALF
        if count > 2:
            last = np.uint64(out[free + 2]) & _LOW_HALF
    set_down(slots, slot, first)
    set_down(slots, slot + np.uint64(1), second)
    set_down(slots, slot + np.uint64(2), value)
    publish(slots, slot + np.uint64(3), last | about << _HALF)


@inlined
def recall_run(memory, keys, done, count, out, free):
    """Write the results of several words in a row.

    Stop at a word that is long, or that is not stored near its first slot. Return the number of words, and the end of
    the results.
    """
    slots, firsts, seconds, places = memory.slots, keys.first, keys.second, keys.places
    word, place, one, two = np.uint64(done), np.uint64(free), np.uint64(1), np.uint64(2)
    three, last_slot = np.uint64(RESULTS_INSIDE), np.uint64(len(slots) - SLOT)
    while word < np.uint64(count):
        slot = places[word]
        last = look_up(slots, slot + three)
        if ((look_at(slots, slot) ^ firsts[word]) | (look_at(slots, slot + one) ^ seconds[word])) != np.uint64(0):
            if last == np.uint64(0):
                break
            slot = (slot + np.uint64(SLOT)) & last_slot
            last = look_up(slots, slot + three)
            if ((look_at(slots, slot) ^ firsts[word]) | (look_at(slots, slot + one) ^ seconds[word])) != np.uint64(0):
                break
        value = look_at(slots, slot + two)
        results = last >> _HALF  # none where a slot is empty or claimed, very many where a word is long
        if results - one >= three:
            if results - one >= _ELSEWHERE - one:
                break
            for i in range(results):
                out[place + np.uint64(i)] = memory.results[value + np.uint64(i)]
        else:
            out[place] = np.int32(value)
            out[place + one] = np.int32(value >> _HALF)
            out[place + two] = np.int32(last)
        place += results
        word += one
    return np.int64(word), np.int64(place)


@inlined
def recall(memory, slot, out, free):
    """Write the results of a stored word. Return the number of results. At least three numbers are written."""
    value, last = memory.slots[slot + np.uint64(2)], memory.slots[slot + np.uint64(3)]
    count = np.int64(last >> _HALF)
    if count <= RESULTS_INSIDE:
        out[free] = np.int32(value)
        out[free + 1] = np.int32(value >> _HALF)
        out[free + 2] = np.int32(last)
        return count
    count &= np.int64(0x7FFFFFFF)
    result = np.int64(value)
    for i in range(count):
        out[free + i] = memory.results[result + i]
    return count
