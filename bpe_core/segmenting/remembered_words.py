"""The words that an encoder has met, kept once for all its threads: each thread fills the parts it was given.

Threads look words up and enter them without waiting for each other (`kernels/word_memory.py` says how). This module
works under a lock, some dozens of times a text: it gives a thread whose part is full another one, or makes the memory
larger. Meanwhile other threads go on with the old memory, which may become fuller than usual; what they enter there
may be forgotten, and is then merged once more.
"""

from __future__ import annotations

import threading

import numpy as np
import numpy.typing as npt

from bpe_core.kernels import encode as kernel
from bpe_core.kernels.word_memory import (
    ENTRIES,
    LAST_ENTRY,
    LAST_RESULT,
    LAST_WORD,
    LONGEST_REMEMBERED,
    NUMBERS,
    RESULTS,
    SLOT,
    WORDS,
    Memory,
    grow_slots,
)
from bpe_core.support.arrays import Int64s, Number, grown

MOST_WORDS = 1 << 21  # a memory that would hold more begins anew
MOST_RESULTS = 1 << 26
WORDS_AT_FIRST = 1 << 13  # as many as a megabyte of prose or code has, where growing twice took a tenth of the time
_MEANWHILE = 8  # this part of all slots is given out beyond what is usual while a larger memory is made
_ROOM_A_WORD = 8, 4  # results, and numbers of long words: more than most need, as what is not used costs nothing
_LINE = 64  # bytes that the processor fetches at once
_LARGE_PAGE = 1 << 21  # bytes of which the system makes a page at once, where they lie so
# What is given out: its last one, and how much of it one word may take.
_GIVEN = {
    ENTRIES: (LAST_ENTRY, 1),
    RESULTS: (LAST_RESULT, kernel.NUMBERS_A_SYMBOL * (LONGEST_REMEMBERED + kernel.MARKERS) + 16),
    WORDS: (LAST_WORD, LONGEST_REMEMBERED >> 3),
}


class RememberedWords:
    def __init__(self, most_words: int) -> None:
        self.most_words = most_words  # words it may hold
        self.was_full = False
        self._changed = threading.Condition()  # and the lock
        self._is_growing = False
        self._threads = 0
        self._parts: list[Int64s] = []  # `number` of each thread that fills this memory
        results, words = (WORDS_AT_FIRST * room for room in _ROOM_A_WORD)
        self._all = _memory(2 * WORDS_AT_FIRST, results, words)  # its `number` holds what was given out

    def part(self) -> Memory:
        """Return the memory, with a part to fill for one more thread."""
        with self._changed:
            self._threads += 1
            for part in self._parts:
                self._take_back(part)
            return self._filled(_memory(0, 0, 0))

    def more(self, memory: Memory) -> Memory:
        """Return memory for a thread whose part is full, or belongs to a memory that was enlarged."""
        with self._changed:
            own, given = memory.number, self._all.number
            if memory.slots is self._all.slots:
                self._take_back(own)
                for what in (RESULTS, WORDS):  # the last part need not be copied
                    if own[_GIVEN[what][0]] == given[what]:
                        given[what] = own[_GIVEN[what][0]] = own[what]
            return self._filled(memory)

    def _filled(self, memory: Memory) -> Memory:
        own = memory.number
        while True:
            if memory.slots is not self._all.slots:  # of which it fills no part yet
                own[ENTRIES] = own[LAST_ENTRY] = 0
                if memory.results is not self._all.results:
                    own[RESULTS] = own[LAST_RESULT] = 0
                if memory.words is not self._all.words:
                    own[WORDS] = own[LAST_WORD] = 0
                self._parts.append(own)
                memory = self._all._replace(number=own)
            if self._give(own):
                return memory
            if self._is_growing:
                self._changed.wait()
            else:
                self._make_room()

    def _take_back(self, part: Int64s) -> None:
        """Take back the room that a thread has not used; one that it is just using is lost."""
        used = part[ENTRIES]
        self._all.number[ENTRIES] -= part[LAST_ENTRY] - used
        part[LAST_ENTRY] = used

    def _give(self, own: Int64s) -> bool:
        """Give a thread a part of whatever it has too little of, and return whether there was enough."""
        given = self._all.number
        lacking = [(what, last, least) for what, (last, least) in _GIVEN.items() if own[last] - own[what] < least]
        if any(given[last] - given[what] < least for what, last, least in lacking):
            return False
        for what, last, least in lacking:
            rest, all = int(given[last] - given[what]), int(given[last])
            is_only = what == ENTRIES and self._threads == 1
            part = rest if is_only else min(rest, max(least, rest // (2 * self._threads), all // 64))
            if what != ENTRIES and own[last] != given[what]:
                own[what] = own[last] = given[what]
            own[last] += part
            given[what] += part
        return True

    def _make_room(self) -> None:
        old, given = self._all, self._all.number
        slots, results, words = old.slots, old.results, old.words
        if given[ENTRIES] >= self.most_words or given[RESULTS] > MOST_RESULTS:
            self.was_full = True
            if self._threads == 1:  # nobody else reads them
                for numbers in (slots, given[:LAST_ENTRY], *self._parts):
                    numbers[:] = 0
                return
            self._all = _memory(len(slots) // SLOT, len(results), len(words))
        else:
            slots = self._larger_slots()
            # Only now, so that everything the slots refer to is copied.
            room_for_results, room_for_words = (room * len(slots) // (2 * SLOT) for room in _ROOM_A_WORD)
            results = _grown(results, given[RESULTS], room_for_results)
            words = _grown(words, given[WORDS], room_for_words)
            self._all = _with(slots, results, words)
            self._all.number[:LAST_ENTRY] = given[:LAST_ENTRY]
        for part in self._parts:
            part[LAST_ENTRY] = 0  # so that the thread asks for more at its next new word
        self._parts.clear()

    def _larger_slots(self) -> npt.NDArray[np.uint64]:
        """Make larger slots with everything entered so far, while other threads use the old ones."""
        old, given = self._all.slots, self._all.number
        times = 4 if 3 * SLOT * given[ENTRIES] > len(old) else 1
        given[LAST_ENTRY] = len(old) // (2 * SLOT) + len(old) // (_MEANWHILE * SLOT)
        self._is_growing = True
        self._changed.release()
        try:
            slots = _slots(times * len(old) // SLOT)
            grow_slots(old, slots)
            return slots
        finally:
            self._changed.acquire()
            self._is_growing = False
            self._changed.notify_all()


def _memory(slots: int, results: int, words: int) -> Memory:
    return _with(_slots(slots), np.empty(results, np.int32), np.empty(words, np.uint64))


def _with(slots: npt.NDArray[np.uint64], results: npt.NDArray[np.int32], words: npt.NDArray[np.uint64]) -> Memory:
    number = np.zeros(NUMBERS, np.int64)
    number[LAST_ENTRY : LAST_WORD + 1] = len(slots) // (2 * SLOT), len(results), len(words)
    return Memory(slots, results, words, number)


def _slots(count: int) -> npt.NDArray[np.uint64]:
    """Empty slots, none of which spans two cache lines, in large pages as far as possible."""
    size = SLOT * count
    width = _LARGE_PAGE if 8 * size >= 2 * _LARGE_PAGE else _LINE
    room = np.empty(size + width // 8, np.uint64)
    first = -room.ctypes.data % width // 8
    slots = room[first : first + size]
    slots[:] = 0  # at once, as all will be used soon
    return slots


def _grown(array: npt.NDArray[Number], used: int, least: int) -> npt.NDArray[Number]:
    """Return the array if it has room left; else a copy of the used part with room behind it."""
    wanted = max(least, 4 * used)
    if wanted <= len(array):
        return array
    return grown(array[:used], wanted)
