"""Counting by machine code on several threads. One thread reads, the other threads count, and their tables are joined.

Each thread counts in a table that no other thread uses, so threads do not wait for each other. But a rare word is then
stored in the tables of several threads, which needs memory. So a thread with very many words adds them to one common
table and starts an empty table.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain, cycle, pairwise
from typing import NamedTuple, Self, TypeVar

import numpy as np
import numpy.typing as npt

from bpe_core.counting.blocks import Block, in_blocks
from bpe_core.counting.words import CountedWords, PartCounts, WordTable
from bpe_core.errors import BpeError
from bpe_core.kernels import count, word_tables
from bpe_core.kernels import json_rows as json_rows  # once it is loaded, the reader reads rows of JSON by it
from bpe_core.kernels import utf8 as utf8  # once it is loaded, the reader checks texts by it
from bpe_core.kernels.scan import Machine, begin_text, machine_of
from bpe_core.kernels.word_tables import COUNT, LONG_ROW, SHORT_ROW
from bpe_core.splitting.safe_cuts import safe_pairs_of_kinds
from bpe_core.support.arrays import Bytes, Int64s
from bpe_core.support.limits import check_room
from bpe_core.support.threads import available_threads, run_in_threads
from bpe_core.text.reading.source import Chunk
from bpe_core.text.scanner import ScanTable

BLOCK_SIZE = 1024 * 1024
MOST_THREADS = 8  # more threads would wait for the one that reads

_FIRST_SLOTS = 1 << 15
# slots of a new table: moving many words from table to table takes longer than zeroing a large one
_GROWN_SOON = 1 << 20
_FEW_WORDS = 50_000  # they are joined before a thread starts
_FIRST_COPIES = 1 << 18
_CUTS = 1 << 14  # places to cut in one part of a text
# words of a thread; adding them to the common table takes a fraction of the time that finding them took
MOST_OWN_WORDS = 1 << 20

COUNTING = "The table of the different words"
T = TypeVar("T")
FEWER_WORDS = "Count fewer texts, or choose a pattern that makes fewer or shorter different words."


def count_compiled(
    stretches: Iterable[Chunk], table: ScanTable, *, threads: int | None = None, block_size: int = BLOCK_SIZE
) -> WordTable:
    """Return the words of a stream of texts with their counts, in first-seen order."""
    return next(count_in_runs(stretches, table, threads=threads, block_size=block_size))


def count_in_runs(
    stretches: Iterable[Chunk],
    table: ScanTable,
    *,
    room: int | None = None,
    threads: int | None = None,
    block_size: int = BLOCK_SIZE,
) -> Iterator[WordTable]:
    """Count the words of a stream, and yield one or more tables.

    A new table is started when the words need more than `room` bytes.
    """
    threads = threads or min(MOST_THREADS, available_threads())
    free: queue.SimpleQueue[Block] = queue.SimpleQueue()
    for _ in range(threads + 2):
        free.put(Block(2 * block_size))
    finder = Counter(table)
    blocks = in_blocks(stretches, block_size, finder.last_safe_cut, free.get)
    is_first = True
    while (block := next(blocks, None)) is not None or is_first:
        is_first = False
        again = [] if block is None else [block]
        yield _counted_until_full(chain(again, blocks), [Counter(table) for _ in range(threads)], finder, free, room)
        finder = Counter(table)


def _counted_until_full(
    blocks: Iterable[Block], counters: list[Counter], common: Counter, free: queue.SimpleQueue[Block], room: int | None
) -> WordTable:
    full: queue.SimpleQueue[Block | None] = queue.SimpleQueue()
    failures: list[BaseException] = []
    workers = _start(
        threading.Thread(target=_work, args=(counter, common, full, free, failures), daemon=True)
        for counter in counters
    )
    try:
        for block in blocks:
            if failures:
                break
            full.put(block)
            if room is not None and sum(each.size for each in [*counters, common]) > room:
                break
    finally:
        for _ in workers:
            full.put(None)
        for worker in workers:
            worker.join()
    if failures:
        raise failures[0]
    return _joined([*counters, common])


def _start(threads: Iterable[threading.Thread]) -> list[threading.Thread]:
    """Start as many of the given threads as the system allows. These threads then do all the work.

    Raise BpeError if the system allows no thread.
    """
    started: list[threading.Thread] = []
    with suppress(RuntimeError):
        for thread in threads:
            thread.start()
            started.append(thread)
    if not started:
        raise BpeError("The system allows no further threads for counting; close other programs, then try again.")
    return started


def _work(
    counter: Counter,
    common: Counter,
    full: queue.SimpleQueue[Block | None],
    free: queue.SimpleQueue[Block],
    failures: list[BaseException],
) -> None:
    """Take blocks from the queue `full` and count their words, until the next item is None.

    Put each block into the queue `free` afterwards. After a failure in any thread, blocks are put into `free` without
    being counted.
    """
    while (block := full.get()) is not None:
        try:
            if not failures:
                counter.count(block)
                if len(counter) > MOST_OWN_WORDS:
                    common.take_all(counter)
        except BaseException as error:
            failures.append(error)
        free.put(block)


def _joined(counters: list[Counter]) -> WordTable:
    """Return one table of the words in all counters.

    If several counters hold the same word, one of them gets the sum of its counts. All other words stay in their
    counters.
    """
    counters = sorted(counters, key=len, reverse=True)
    threads = len(counters) if len(counters[0]) > _FEW_WORDS else 1
    for position, counter in enumerate(counters):
        for other in counters[position + 1 :]:
            counter.take_common(other, threads)
    return _listed(counters, threads)


def _listed(counters: list[Counter], threads: int) -> WordTable:
    words = sum(map(len, counters))
    check_room(32 * words, COUNTING, FEWER_WORDS)
    listed = _listed_in_order(counters, threads)
    counts = np.empty(words, np.int64)
    starts = np.zeros(words + 1, np.int64)
    _each([partial(word_tables.write_counts, *rows, counts, starts[1:]) for rows in listed], threads)
    np.cumsum(starts, out=starts)
    check_room(int(starts[-1]), COUNTING, FEWER_WORDS)
    text = np.empty(int(starts[-1]), np.uint8)
    _each([partial(word_tables.write_words, *rows, starts, text) for rows in listed], threads)
    return WordTable(text, starts, counts)


def _each(tasks: Sequence[Callable[[], T]], threads: int) -> list[T]:
    return [task() for task in tasks] if threads == 1 else run_in_threads(lambda task: task(), tasks)


Listed = tuple[word_tables.Words, npt.NDArray[np.int64], npt.NDArray[np.int64]]


def _listed_in_order(counters: list[Counter], threads: int) -> list[Listed]:
    """List the words of each counter in first-seen order.

    The result has three values for each counter: its table, the slot of each word in this table, and the rank of each
    word. The rank is the place of the word in the first-seen order of the words in all tables.

    Reading the words in this order is fast, because a table stores its words in nearly the same order.
    """

    def in_order(counter: Counter) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        slots = np.empty(len(counter), np.int64)
        firsts = np.empty(len(counter), np.int64)
        word_tables.list_words(counter.table, firsts, slots)
        order = np.argsort(firsts)
        return slots[order], firsts[order]

    tables = _each([partial(in_order, counter) for counter in counters], threads)

    def ranked(counter: Counter, slots: npt.NDArray[np.int64], firsts: npt.NDArray[np.int64]) -> Listed:
        ranks = np.arange(len(firsts))
        for _, others in tables:
            if others is not firsts:
                ranks += np.searchsorted(others, firsts)
        return counter.table, slots, ranks

    every = zip(counters, tables, strict=True)
    return _each([partial(ranked, counter, *table) for counter, table in every], threads)


class Counter:
    def __init__(self, table: ScanTable) -> None:
        self._machine: Machine = machine_of(table)
        self._safe_pairs = safe_pairs_of_kinds(table)
        self._drops_blanks = table.drops_blanks
        self.table = word_tables.Words(
            short=_empty_rows(word_tables.SHORT_ROW * _FIRST_SLOTS),
            short_firsts=np.empty(_FIRST_SLOTS, np.int64),
            long=_empty_rows(word_tables.LONG_ROW * _FIRST_SLOTS),
            long_firsts=np.empty(_FIRST_SLOTS, np.int64),
            copies=np.empty(_FIRST_COPIES, np.uint8),
            used=np.zeros(3, np.int64),
        )
        self._scratch = count.Scratch(
            cuts=np.empty(_CUTS, np.int32),
            keys=np.empty(_CUTS, np.uint64),
            places=np.empty(_CUTS, np.int32),
            long_words=np.empty(_CUTS, np.int32),
        )
        self._registers = np.zeros(count.ALL_REGISTERS, np.int64)
        self._lock = threading.Lock()

    @property
    def size(self) -> int:
        return sum(column.nbytes for column in self.table)

    def __len__(self) -> int:
        return int(self.table.used[word_tables.SHORT] + self.table.used[word_tables.LONG])

    def count(self, block: Block) -> None:
        registers = self._registers
        scratch = self._scratch
        begin_text(registers, np.int64(0))
        registers[count.SEGMENT] = 0
        registers[count.FOUND] = 1
        scratch.cuts[0] = 0
        ends = np.array(block.text_ends, np.int64)
        first = np.int64(block.first)
        while not count.count_block(
            self._machine, self._drops_blanks, block.data, ends, first, self.table, scratch, registers
        ):
            cuts = registers[count.FOUND]
            copied = int(scratch.cuts[cuts - 1] - scratch.cuts[0]) + 16 * int(cuts)
            self._make_room(int(cuts), int(cuts), copied)

    def last_safe_cut(self, data: Bytes, start: int, stop: int) -> int:
        return int(count.last_safe_cut(self._machine, self._safe_pairs, data, np.int64(start), np.int64(stop)))

    def listed(self) -> WordTable:
        return _listed([self], 1)

    def add(self, other: Counter) -> None:
        more = other.table
        self._make_room(*more.used.tolist())
        word_tables.add_short(self.table, more.short, more.short_firsts)
        word_tables.add_long(self.table, more)

    def take_all(self, other: Counter) -> None:
        """Add the words of another thread's counter to this counter, and empty the other counter."""
        with self._lock:
            self.add(other)
        other.clear()

    def take_common(self, other: Counter, threads: int) -> None:
        mine = self.table
        its = other.table
        for kind, slots, hand_over in (
            (word_tables.SHORT, len(its.short_firsts), word_tables.move_short_counts),
            (word_tables.LONG, len(its.long_firsts), word_tables.move_long_counts),
        ):
            borders = np.linspace(0, slots, threads + 1).astype(np.int64)
            parts = [partial(hand_over, mine, its, *ends) for ends in pairwise(borders)]
            its.used[kind] -= sum(_each(parts, threads))

    def clear(self) -> None:
        self.table.short.fill(0)
        self.table.long.fill(0)
        self.table.used.fill(0)

    def _make_room(self, short: int, long: int, copied: int) -> None:
        words = self.table
        used_short, used_long, used_copies = words.used.tolist()
        if not word_tables.hold(words.short_firsts, used_short + short):
            self._grow_short(_more_slots(len(words.short_firsts), used_short + short))
        if not word_tables.hold(words.long_firsts, used_long + long):
            self._grow_long(_more_slots(len(words.long_firsts), used_long + long))
        if len(words.copies) < used_copies + copied:
            check_room(2 * used_copies + copied, COUNTING, FEWER_WORDS)
            copies = np.empty(2 * used_copies + copied, np.uint8)
            copies[:used_copies] = words.copies[:used_copies]
            self.table = self.table._replace(copies=copies)

    def _grow_short(self, slots: int) -> None:
        old = self.table
        self.table = old._replace(
            short=_empty_rows(word_tables.SHORT_ROW * slots), short_firsts=np.empty(slots, np.int64)
        )
        old.used[word_tables.SHORT] = 0  # adding counts them again
        word_tables.add_short(self.table, old.short, old.short_firsts)

    def _grow_long(self, slots: int) -> None:
        old = self.table
        self.table = old._replace(long=_empty_rows(word_tables.LONG_ROW * slots), long_firsts=np.empty(slots, np.int64))
        word_tables.spread_long(self.table, old.long, old.long_firsts)


def _empty_rows(cells: int) -> npt.NDArray[np.uint64]:
    """Return an array of zeros for the rows of a table.

    Unlike an array from `np.zeros`, it uses large memory pages on Linux. This makes random access far faster.
    """
    check_room(8 * cells, COUNTING, FEWER_WORDS)
    rows = np.empty(cells, np.uint64)
    rows.fill(0)
    return rows


def _more_slots(slots: int, words: int) -> int:
    return max(1 << (4 * words // 3).bit_length(), min(4 * slots, _GROWN_SOON))


def count_texts_compiled(
    texts: Iterable[Iterable[Chunk]], table: ScanTable, *, block_size: int = BLOCK_SIZE
) -> CountedWords:
    """Count the words of several texts with the same hash tables.

    Return the words of all texts, and the counts of each text.
    """
    counter = Counter(table)
    numbers = _Numbers()
    counts_of_texts = list[PartCounts]()
    first = 0
    fresh = cycle([Block(2 * block_size), Block(2 * block_size)]).__next__
    for stretches in texts:
        for block in in_blocks(stretches, block_size, counter.last_safe_cut, fresh, first):
            counter.count(block)
            first = block.first + block.length
        counts_of_texts.append(numbers.counted_since(counter.table))
    return CountedWords(counter.listed(), counts_of_texts)


class _Numbers:
    def __init__(self) -> None:
        self._firsts = np.zeros(0, np.int64)  # the first position of each word by its number, ascending
        self._counts = np.zeros(0, np.int64)
        self._sides = [_Side.of(0), _Side.of(0)]  # the short words, and the long words

    def counted_since(self, words: word_tables.Words) -> PartCounts:
        """Return the words that occurred since the last call, and how often each of them occurred since then."""
        columns = (
            (words.short_firsts, words.short.view(np.int64)[COUNT::SHORT_ROW]),  # signed ones are compared faster
            (words.long_firsts, words.long.view(np.int64)[COUNT::LONG_ROW]),
        )
        for place, (firsts, counts) in enumerate(columns):
            if len(counts) != len(self._sides[place].counts):  # the table has grown
                self._sides[place] = self._found_again(firsts, counts)
        slots = [np.flatnonzero(counts != side.counts) for side, (_, counts) in zip(self._sides, columns, strict=True)]
        places = list(zip(self._sides, columns, slots, strict=True))
        are_new = [side.numbers[met] < 0 for side, _, met in places]
        seen = [firsts[met[new]] for new, (_, (firsts, _), met) in zip(are_new, places, strict=True)]
        known = len(self._firsts)
        self._firsts = np.concatenate((self._firsts, np.sort(np.concatenate(seen))))
        times = []
        for new, here, (side, (_, counts), met) in zip(are_new, seen, places, strict=True):
            side.numbers[met[new]] = known + np.searchsorted(self._firsts[known:], here)
            times.append(counts[met] - side.counts[met])
            side.counts[met] += times[-1]
        counted = PartCounts(np.concatenate([side.numbers[met] for side, _, met in places]), np.concatenate(times))
        self._counts = np.append(self._counts, np.zeros(len(self._firsts) - known, np.int64))
        self._counts[counted.rows] += counted.counts
        return counted

    def _found_again(self, firsts: Int64s, counts: Int64s) -> _Side:
        side = _Side.of(len(counts))
        taken = np.flatnonzero(counts)
        numbers = np.searchsorted(self._firsts, firsts[taken])
        is_old = numbers < len(self._firsts)  # a new word is first seen after all known ones
        side.numbers[taken[is_old]] = numbers[is_old]
        side.counts[taken[is_old]] = self._counts[numbers[is_old]]
        return side


class _Side(NamedTuple):
    numbers: Int64s
    counts: Int64s

    @classmethod
    def of(cls, slots: int) -> Self:
        return cls(np.full(slots, -1, np.int64), np.zeros(slots, np.int64))
