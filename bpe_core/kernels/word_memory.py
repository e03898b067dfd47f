"""A cache of the words that an encoder has encoded, with their results.

Almost every word needs only one look-up.

A slot is half a line of the processor's cache: the word itself, if it is short, and up to three numbers of
its result. For a long word the slot holds a hash. The bytes and results of long words, and longer results,
are stored in other arrays.

Several threads read and fill the same slots without waiting for each other. To insert a word, a thread claims
an empty slot with a mark in its last number. Only one thread can claim a slot. The thread then writes the
other numbers. Finally it writes the last number, which publishes the slot. A published slot is never written
again, and a thread that has read the last number sees everything that was written before. Other threads treat
a claimed slot like the slot of another word, so at worst a word is inserted twice. Each thread writes long
words and results into its own part of the other arrays.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bpe_core.kernels.jit import bundle, inlined, kernel
from bpe_core.kernels.memory import chosen, claim, load_eight, look_at, look_up, prefetch, publish, set_down
from bpe_core.kernels.utf8 import kind_at
from bpe_core.support.arrays import Int32s, Int64s, UInt64s
from bpe_core.text.scanner.kinds import BLANKS
from bpe_core.text.scanner.machine import SEPARATOR

LONGEST_INSIDE = 15  # the most bytes of a word that is its own key; the sixteenth byte holds the length
LONGEST_REMEMBERED = 256  # the most bytes of a word that is stored; scripts without spaces have words of more than 128
RESULTS_INSIDE = 3

# Entries of `Memory.number`. Each thread has its own array.
ENTRIES, RESULTS, WORDS = range(3)  # how many words the thread entered, and the next free index of the other arrays
LAST_ENTRY, LAST_RESULT, LAST_WORD = range(3, 6)  # the limits of these three numbers
NUMBERS = 16  # so many that two threads never use the same line of the processor's cache

# The second half of the key of a separator. The first half is the byte itself.
SEPARATOR_KEY, NO_SEPARATOR = np.uint64(1 << 56), np.uint64(2**64 - 1)
LONG_KEY = np.uint64(0xFF << 56)  # with the word's length, the second half of a key whose first half is a hash
SLOT = 4  # numbers of a slot: two for the key, two for the results
_LENGTH_SHIFT, _HALF = np.uint64(56), np.uint64(32)
_PLACE_SHIFT = np.uint64(30)  # uses the upper half of the mixed number; the lowest bits are dropped
_ELSEWHERE = np.uint64(1 << 31)  # a flag in the count of results: the results are in `Memory.results`
_CLAIMED = np.uint64(1)  # the last number of a slot that a thread is about to fill
_LOW_HALF = np.uint64(0xFFFFFFFF)
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_OTHER_MULTIPLIER = np.uint64(0xD6E8FEB86659FD93)
_FIRST_BLANK, _LAST_BLANK = int(min(BLANKS)), int(max(BLANKS))
# Masks of the first and of the second eight bytes of a word, for each length up to LONGEST_INSIDE.
_FIRST_EIGHT = np.array([(1 << 8 * min(length, 8)) - 1 for length in range(16)], np.uint64)
_SECOND_EIGHT = np.array([(1 << 8 * max(length - 8, 0)) - 1 for length in range(16)], np.uint64)


@bundle
class Memory(NamedTuple):
    """The slots of remembered words, and the arrays for long words and for long results.

    A slot holds the key and the results of a word. Two results share one 64-bit number. The upper half of the last
    number is the count of the results. An empty slot holds zeros.

    If the word is long, or has no results or too many for a slot, its results are in `results`. Then the slot holds
    their offset in place of the first result. For a long word, `results` also holds the word's offset and length, just
    before its results.
    """

    slots: UInt64s
    results: Int32s
    words: UInt64s  # the bytes of long words, eight to a number
    number: Int64s


# The numbers of a word in `Keys.rows`: both halves of its key, its slot, and the cut of the block after which it
# begins. The second half is zero if the word is too long to be remembered. The last number is used only if words are
# left out.
FIRST, SECOND, PLACE, CUT = range(4)
KEY_ROW = 4
# A flag in PLACE: `find_slots` has not found the word, and the slot is the first slot of its search.
NOT_FOUND = np.uint64(1)


@bundle
class Keys(NamedTuple):
    """The keys of a block of words. Each word has a row of KEY_ROW numbers."""

    rows: UInt64s
    unknown: Int32s  # the words that `find_slots` has not found, by their index in the block


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
def _enter_key(memory, rows, i, key, second_key):
    """Write the key of a word, and begin to fetch the slot of the word."""
    row, place = i * np.uint64(KEY_ROW), first_slot(memory.slots, key, second_key)
    prefetch(memory.slots, place)
    rows[row + np.uint64(FIRST)] = key
    rows[row + np.uint64(SECOND)] = second_key
    rows[row + np.uint64(PLACE)] = place


@inlined
def _short_key(data, start, length):
    """Return the key of a word of at most LONGEST_INSIDE bytes.

    At least sixteen bytes must be readable from the start of the word.
    """
    key = load_eight(data, start) & _FIRST_EIGHT[length]
    second_key = load_eight(data, start + np.uint64(8)) & _SECOND_EIGHT[length]
    return key, second_key | length << _LENGTH_SHIFT


@kernel
def find_keys(memory, data, cuts, first, count, keys):
    """Write the keys of `count` words, beginning with the word `first`.

    The fast way reads beyond the end of a word. So the last few words of a text are read in a slower way.
    """
    rows, word, i, one = keys.rows, np.uint64(first), np.uint64(0), np.uint64(1)
    start, far = np.uint64(cuts[word]), count
    while far > 0 and np.int64(cuts[first + far - 1]) + 16 > len(data):
        far -= 1
    while i < np.uint64(far):
        word += one
        stop = np.uint64(cuts[word])
        length = stop - start
        if length <= np.uint64(LONGEST_INSIDE):
            key, second_key = _short_key(data, start, length)
        else:
            key, second_key = _rare_key(data, np.int64(start), np.int64(length))
        _enter_key(memory, rows, i, key, second_key)
        start = stop
        i += one
    for near in range(far, count):
        begun = np.int64(cuts[first + near])
        key, second_key = _rare_key(data, begun, np.int64(cuts[first + near + 1]) - begun)
        _enter_key(memory, rows, np.uint64(near), key, second_key)


@kernel
def find_keys_between_blanks(memory, data, words, first, count, keys):
    """Write the keys of the words that do not begin with a blank. Return the number of these words."""
    cuts, kinds, end = words.cuts, words.machine.kinds, np.uint64(max(len(data) - 15, 0))
    i, word, one = np.uint64(0), np.uint64(first), np.uint64(1)
    start = np.uint64(cuts[word])
    for cut in range(count):
        word += one
        stop = np.uint64(cuts[word])
        kind = kind_at(kinds, data, start)
        if kind < _FIRST_BLANK or kind > _LAST_BLANK:
            length = stop - start
            if length <= np.uint64(LONGEST_INSIDE) and start < end:
                key, second_key = _short_key(data, start, length)
            else:
                key, second_key = _rare_key(data, np.int64(start), np.int64(length))
            _enter_key(memory, keys.rows, i, key, second_key)
            keys.rows[i * np.uint64(KEY_ROW) + np.uint64(CUT)] = cut
            i += one
        start = stop
    return np.int64(i)


@kernel
def _rare_key(data, start, length):
    """Return the key of a word that is too long, or too close to the end of the text, for the fast functions."""
    if length <= LONGEST_INSIDE:
        second = load(data, start + 8, length - 8) if length > 8 else np.uint64(0)
        return load(data, start, length), second | np.uint64(length) << _LENGTH_SHIFT
    if length > LONGEST_REMEMBERED:
        return np.uint64(0), np.uint64(0)
    mixed, last = np.uint64(length), length - 8
    for place in range(0, last, 8):
        mixed = (mixed ^ load_eight(data, np.uint64(start + place))) * _OTHER_MULTIPLIER
        mixed ^= mixed >> np.uint64(29)
    mixed = (mixed ^ load_eight(data, np.uint64(start + last))) * _OTHER_MULTIPLIER
    mixed ^= mixed >> np.uint64(29)
    return mixed, LONG_KEY | np.uint64(length)


@inlined
def next_slot(slots, place, begun):
    """Return the slot that is searched after the slot `place`. The search began at the slot `begun`.

    A cache line has two slots. The other slot of the same cache line is searched first, because it is already
    loaded. After both slots, the search continues in the next cache line.
    """
    other = place ^ np.uint64(SLOT)
    step = np.uint64(2 * SLOT) if (other ^ begun) & np.uint64(SLOT) == np.uint64(0) else np.uint64(0)
    return (other + step) & np.uint64(len(slots) - SLOT)


@inlined
def slot_of(memory, data, start, length, first, second, begun):
    """Return the slot that stores a word, or the slot in which it would be entered.

    Also return whether the word is stored.
    """
    slots, place = memory.slots, begun
    last = look_up(slots, place + np.uint64(3))
    while last != np.uint64(0):
        is_other = (look_at(slots, place) ^ first) | (look_at(slots, place + np.uint64(1)) ^ second)
        if is_other == np.uint64(0):
            result = np.int64(look_at(slots, place + np.uint64(2)))
            if second < LONG_KEY or (last != _CLAIMED and is_same_word(memory, result, data, start, length)):
                break
        place = next_slot(slots, place, begun)
        last = look_up(slots, place + np.uint64(3))
    return place, last > _CLAIMED


@inlined
def is_at(slots, slot, first, second):
    """Return whether a slot has this key. For a long word, the key is only a hash.

    Another thread may be filling the slot. It writes the first half of a key before the second half.
    """
    second_there = look_up(slots, slot + np.uint64(1))
    return (look_at(slots, slot) ^ first) | (second_there ^ second) == np.uint64(0)


@kernel
def find_slots(memory, keys, word, stop):
    """Find the slots of the words of a block from the index `word` to `stop`, and list the words that are not found.

    Return the number of listed words. Each word is looked up in its first slot, and in the other half of the same cache
    line. The search has no branches, because the processor could not predict them.
    """
    slots, rows, unknown = memory.slots, keys.rows, keys.unknown
    i, listed, one, two = np.uint64(word), np.uint64(0), np.uint64(1), np.uint64(2)
    while i < np.uint64(stop):
        row = i * np.uint64(KEY_ROW)
        first, second, slot = rows[row], rows[row + one], rows[row + two]
        other = slot ^ np.uint64(SLOT)
        place = chosen(is_at(slots, other, first, second), other, slot | NOT_FOUND)
        place = chosen(is_at(slots, slot, first, second), slot, place)
        place = chosen(second == np.uint64(0), slot | NOT_FOUND, place)  # every empty slot has this key
        rows[row + two] = place
        unknown[listed] = np.int32(i)
        listed += place & NOT_FOUND
        i += one
    return np.int64(listed)


@kernel
def is_same_word(memory, result, data, start, length):
    if memory.results[result - 1] != length:
        return False
    kept, last = np.int64(memory.results[result - 2]), length - 8
    for place in range(0, last, 8):
        if memory.words[kept + (place >> 3)] != load_eight(data, np.uint64(start + place)):
            return False
    return memory.words[kept + (last + 7 >> 3)] == load_eight(data, np.uint64(start + last))


@kernel
def grow_slots(old, new):
    """Copy all slots into a new, empty table that only this thread uses.

    Words that other threads enter into the old table at the same time may be lost.
    """
    for entry in range(0, len(old), SLOT):
        last = look_up(old, np.uint64(entry + 3))
        if last <= _CLAIMED:
            continue
        place = begun = first_slot(new, old[entry], old[entry + 1])
        while new[place + np.uint64(3)] != np.uint64(0):
            place = next_slot(new, place, begun)
        for i in range(SLOT):
            new[place + np.uint64(i)] = old[entry + i]


@inlined
def lacks_memory(memory, most):
    """Return whether the memory may have too little room for another word that has at most `most` ids."""
    number = memory.number
    return (
        number[ENTRIES] >= look_at(number, np.uint64(LAST_ENTRY))  # the limit is 0 once a larger table exists
        or number[RESULTS] + 2 + most > number[LAST_RESULT]
        or number[WORDS] + (LONGEST_REMEMBERED >> 3) > number[LAST_WORD]
    )


@inlined
def remember(memory, data, start, length, first, second, slot, out, free, count):
    """Insert a word and its results into the cache `memory`. The results are in `out`, from the index `free` on.

    Return whether the word was inserted. Do nothing if another thread claims the slot first.
    """
    slots, number, results, about = memory.slots, memory.number, memory.results, np.uint64(count)
    if not claim(slots, slot + np.uint64(3), _CLAIMED):
        return False
    number[ENTRIES] += 1
    place = number[RESULTS]
    if count == 0:
        about = _ELSEWHERE
    if second >= LONG_KEY:
        about |= _ELSEWHERE
        results[place], results[place + 1] = np.int32(number[WORDS]), np.int32(length)
        place += 2
        for i in range(0, length, 8):  # the last eight bytes may begin before the end of the eight bytes before them
            memory.words[number[WORDS]] = load_eight(data, np.uint64(start + min(i, length - 8)))
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
    publish(slots, slot + np.uint64(1), second)
    set_down(slots, slot + np.uint64(2), value)
    publish(slots, slot + np.uint64(3), last | about << _HALF)
    return True


@inlined
def recall_run(memory, keys, done, count, is_found, out, free, separator_key, text, free_at):
    """Write the results of consecutive words.

    Stop at a long word, or at a word that is in neither of the two slots in which it is looked up. `is_found` says
    whether `find_slots` has looked up the words already. Return the number of words, and the end of the results. Also
    return `text`, the number of texts that have begun: a text begins after each word with `separator_key`, and
    `free_at` gets the end of the results before it. The key is NO_SEPARATOR if there are no such words.
    """
    slots, rows = memory.slots, keys.rows
    word, place, one, two = np.uint64(done), np.uint64(free), np.uint64(1), np.uint64(2)
    three, half, none = np.uint64(RESULTS_INSIDE), np.uint64(SLOT), np.uint64(0)
    while word < np.uint64(count):
        row = word * np.uint64(KEY_ROW)
        slot = rows[row + two]
        if not is_found or slot & NOT_FOUND != none:
            first, second = rows[row], rows[row + one]
            if (first ^ np.uint64(SEPARATOR)) | (second ^ separator_key) == none:
                text += 1
                free_at[min(text, len(free_at) - 1)] = np.int64(place)
                word += one
                continue
            if is_found:
                break
            last = look_up(slots, slot + three)
            is_other = (look_at(slots, slot) ^ first) | (look_at(slots, slot + one) ^ second)
            if is_other != none:
                slot ^= half
                last = look_up(slots, slot + three)
                if ((look_at(slots, slot) ^ first) | (look_at(slots, slot + one) ^ second)) != none:
                    break
        else:
            last = look_up(slots, slot + three)
        value = look_at(slots, slot + two)
        results = last >> _HALF  # 0 for an empty or claimed slot, and very many for a long word
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
    return np.int64(word), np.int64(place), text


@inlined
def recall(memory, slot, out, free):
    """Write the results of a stored word. Return the number of results. At least three numbers are written, even if
    there are fewer results.
    """
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
