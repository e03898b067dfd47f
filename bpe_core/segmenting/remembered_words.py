"""The cache of encoded words that all threads of an encoder share. Each thread fills its own parts of the cache.

Threads look up and enter words without waiting for each other (see `kernels/word_memory.py`). A lock is needed only a
few dozen times per text: when a thread whose part is full gets another part, and when the cache is enlarged. While the
cache is enlarged, other threads use the old cache, which may become fuller than usual. Words that these threads enter
in the old cache may be lost. A lost word is merged again when a text needs it.
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
from bpe_core.support.arrays import Int64s, Number, enlarge

MOST_WORDS = 1 << 21  # a memory that would hold more words starts again empty
MOST_RESULTS = 1 << 26
WORDS_AT_FIRST = 1 << 13  # the words of a megabyte of prose or code; growing twice took a tenth of the time
_MEANWHILE = 8  # threads may use one in eight further slots while a larger memory is made
_ROOM_A_WORD = 8, 4  # results, and numbers of long words: more than most words need, as unused memory costs nothing
_LINE = 64  # bytes of a cache line
_LARGE_PAGE = 1 << 21  # bytes of a large page of memory
# The resources that threads get: the index of their end, and how much one word may take.
_GIVEN = {
    ENTRIES: (LAST_ENTRY, 1),
    RESULTS: (LAST_RESULT, kernel.NUMBERS_A_SYMBOL * (LONGEST_REMEMBERED + kernel.MARKERS) + 16),
    WORDS: (LAST_WORD, LONGEST_REMEMBERED >> 3),
}


class RememberedWords:
    def __init__(self, most_words: int) -> None:
        self.most_words = most_words  # the most words of the memory
        self.was_full = False
        self._changed = threading.Condition()  # also serves as the lock
        self._is_growing = False
        self._threads = 0
        self._parts: list[Int64s] = []  # `number` of each thread that fills this memory
        results, words = (WORDS_AT_FIRST * room for room in _ROOM_A_WORD)
        self._all = _memory(2 * WORDS_AT_FIRST, results, words)  # its `number` holds how much threads have got

    def part(self) -> Memory:
        """Return the cache with an empty part for another thread."""
        with self._changed:
            self._threads += 1
            for part in self._parts:
                self._take_back(part)
            return self._filled(_memory(0, 0, 0))

    def more(self, memory: Memory) -> Memory:
        """Return a new part for a thread.

        The old part is full, or it belongs to a cache that was replaced by a larger cache.
        """
        with self._changed:
            own = memory.number
            given = self._all.number
            if memory.slots is self._all.slots:
                self._take_back(own)
                for what in (RESULTS, WORDS):  # the last part can grow in place
                    if own[_GIVEN[what][0]] == given[what]:
                        given[what] = own[_GIVEN[what][0]] = own[what]
            return self._filled(memory)

    def _filled(self, memory: Memory) -> Memory:
        own = memory.number
        while True:
            if memory.slots is not self._all.slots:  # the thread has no part of this memory yet
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
        """Return the unused slots of a thread's part to the cache.

        The slot that the thread is filling at this moment is lost.
        """
        used = part[ENTRIES]
        self._all.number[ENTRIES] -= part[LAST_ENTRY] - used
        part[LAST_ENTRY] = used

    def _give(self, own: Int64s) -> bool:
        """Give a thread more room of each kind that it lacks, such as entries or words.

        Return whether the cache had enough room.
        """
        given = self._all.number
        lacking = [(what, last, least) for what, (last, least) in _GIVEN.items() if own[last] - own[what] < least]
        if any(given[last] - given[what] < least for what, last, least in lacking):
            return False
        for what, last, least in lacking:
            rest = int(given[last] - given[what])
            all = int(given[last])
            is_only = what == ENTRIES and self._threads == 1
            part = rest if is_only else min(rest, max(least, rest // (2 * self._threads), all // 64))
            if what != ENTRIES and own[last] != given[what]:
                own[what] = own[last] = given[what]
            own[last] += part
            given[what] += part
        return True

    def _make_room(self) -> None:
        old = self._all
        given = self._all.number
        slots = old.slots
        results = old.results
        words = old.words
        if given[ENTRIES] >= self.most_words or given[RESULTS] > MOST_RESULTS:
            self.was_full = True
            if self._threads == 1:  # no other thread reads them
                for numbers in (slots, given[:LAST_ENTRY], *self._parts):
                    numbers[:] = 0
                return
            self._all = _memory(len(slots) // SLOT, len(results), len(words))
        else:
            slots = self._larger_slots()
            # Only now is everything copied that the slots refer to.
            room_for_results, room_for_words = (room * len(slots) // (2 * SLOT) for room in _ROOM_A_WORD)
            results = _grown(results, given[RESULTS], room_for_results)
            words = _grown(words, given[WORDS], room_for_words)
            self._all = _with(slots, results, words)
            self._all.number[:LAST_ENTRY] = given[:LAST_ENTRY]
        for part in self._parts:
            part[LAST_ENTRY] = 0  # so that the thread asks for more at its next new word
        self._parts.clear()

    def _larger_slots(self) -> npt.NDArray[np.uint64]:
        """Copy all entries into a larger array of slots and return this array.

        Meanwhile other threads use the old array.
        """
        old = self._all.slots
        given = self._all.number
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
    """Return empty slots. No slot spans two cache lines, and the slots are on large memory pages if possible."""
    size = SLOT * count
    width = _LARGE_PAGE if 8 * size >= 2 * _LARGE_PAGE else _LINE
    room = np.empty(size + width // 8, np.uint64)
    first = -room.ctypes.data % width // 8
    slots = room[first : first + size]
    slots[:] = 0  # touch all memory now, as it will be used soon
    return slots


def _grown(array: npt.NDArray[Number], used: int, least: int) -> npt.NDArray[Number]:
    """Return the array if it has enough free room. Otherwise return a larger copy of its used part."""
    wanted = max(least, 4 * used)
    if wanted <= len(array):
        return array
    return enlarge(array[:used], wanted)
