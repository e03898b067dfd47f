"""Counting with the compiled kernels: this thread reads, the others count, and their tables are joined.

Each counts in a table of its own, so nobody waits. But what is rare is found by each of them, and
a word of which each knows costs as often its memory; so whoever knows very many words hands them
over to one common table and begins anew.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from itertools import chain, pairwise
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from bpe_core.at_once import available_threads
from bpe_core.counting.words import WordTable
from bpe_core.errors import BpeError
from bpe_core.kernels import count, join_tables, word_tables
from bpe_core.kernels import utf8 as utf8  # loaded for `bpe_core.text.reading.utf8`, which finds it then
from bpe_core.kernels.scan import Machine, begin_text, machine_of
from bpe_core.limits import check_room
from bpe_core.text.blocks import Block, ByteArray, Stretch, in_blocks
from bpe_core.text.safe_cuts import between_kinds
from bpe_core.text.scanner import ScanTable

BLOCK_SIZE = 1024 * 1024
MOST_THREADS = 8  # more of them would wait for the one that reads

_FIRST_SLOTS = 1 << 15
_GROWN_SOON = 1 << 20  # slots: moving many words from table to table takes longer than zeroing a large one
_FEW_WORDS = 50_000  # they are joined before a thread has begun
_FIRST_COPIES = 1 << 18
_CUTS = 1 << 14  # of one stretch
MOST_OWN_WORDS = 1 << 20  # of a thread; handing them over takes a fraction of the time it took to find them

COUNTING = "The table of the different words"
T = TypeVar("T")
FEWER_WORDS = "Count fewer texts, or choose a pattern that leaves fewer or shorter different words."


def count_compiled(
    stretches: Iterable[Stretch], table: ScanTable, *, threads: int | None = None, block_size: int = BLOCK_SIZE
) -> WordTable:
    """The words of a stream of texts, in the order they are first seen."""
    return next(count_in_runs(stretches, table, threads=threads, block_size=block_size))


def count_in_runs(
    stretches: Iterable[Stretch],
    table: ScanTable,
    *,
    room: int | None = None,
    threads: int | None = None,
    block_size: int = BLOCK_SIZE,
) -> Iterator[WordTable]:
    """The same in several tables, one at least: whenever the words take more room, in bytes, a new one is begun."""
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
    blocks: Iterable[Block],
    counters: list[Counter],
    common_counter: Counter,
    free: queue.SimpleQueue[Block],
    room: int | None,
) -> WordTable:
    common = Common(common_counter)
    full: queue.SimpleQueue[Block | None] = queue.SimpleQueue()
    failures: list[BaseException] = []
    workers = _started(
        threading.Thread(target=_work, args=(counter, common, full, free, failures), daemon=True)
        for counter in counters
    )
    try:
        for block in blocks:
            if failures:
                break
            full.put(block)
            if room is not None and sum(one.size for one in [*counters, common.counter]) > room:
                break
    finally:
        for _ in workers:
            full.put(None)
        for worker in workers:
            worker.join()
    if failures:
        raise failures[0]
    return _joined([*counters, common.counter])


def _started(threads: Iterable[threading.Thread]) -> list[threading.Thread]:
    """As many of them as the system has left, which count what the others would have."""
    started: list[threading.Thread] = []
    with suppress(RuntimeError):
        for thread in threads:
            thread.start()
            started.append(thread)
    if not started:
        raise BpeError("This computer has no threads left to count with; close other programs, then try again.")
    return started


def _work(
    counter: Counter,
    common: Common,
    full: queue.SimpleQueue[Block | None],
    free: queue.SimpleQueue[Block],
    failures: list[BaseException],
) -> None:
    """Count block after block until there are no more; after a failure they are only passed back."""
    while (block := full.get()) is not None:
        try:
            if not failures:
                counter.count(block)
                if len(counter) > MOST_OWN_WORDS:
                    common.take(counter)
        except BaseException as error:
            failures.append(error)
        free.put(block)


def _joined(counters: list[Counter]) -> WordTable:
    """Where several know a word, one of them takes it over; what only one knows stays with it."""
    counters = sorted(counters, key=len, reverse=True)
    threads = len(counters) if len(counters[0]) > _FEW_WORDS else 1
    with ThreadPoolExecutor(threads) as pool:
        at_once = _AtOnce(pool, threads)
        for position, counter in enumerate(counters):
            for other in counters[position + 1 :]:
                counter.take_what_both_know(other, at_once)
        return _listed(counters, at_once)


def _listed(counters: list[Counter], at_once: _AtOnce) -> WordTable:
    """All words in the order they were first seen."""
    words = sum(map(len, counters))
    check_room(32 * words, COUNTING, FEWER_WORDS)
    listed = _listed_in_order(counters, at_once)
    counts, starts = np.empty(words, np.int64), np.zeros(words + 1, np.int64)
    at_once(partial(join_tables.write_counts, *rows, counts, starts[1:]) for rows in listed)
    np.cumsum(starts, out=starts)
    check_room(int(starts[-1]), COUNTING, FEWER_WORDS)
    text = np.empty(int(starts[-1]), np.uint8)
    at_once(partial(join_tables.write_words, *rows, starts, text) for rows in listed)
    return WordTable(text, starts, counts)


Listed = tuple[word_tables.Words, npt.NDArray[np.int64], npt.NDArray[np.int64]]


def _listed_in_order(counters: list[Counter], at_once: _AtOnce) -> list[Listed]:
    """Of each table the slots of its words as they were first seen, which is about the order of their copies, and
    which of all words stands there.
    """

    def in_order(counter: Counter) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        slots, firsts = np.empty(len(counter), np.int64), np.empty(len(counter), np.int64)
        join_tables.list_words(counter.table, firsts, slots)
        order = np.argsort(firsts)
        return slots[order], firsts[order]

    tables = at_once(partial(in_order, counter) for counter in counters)

    def ranked(counter: Counter, slots: npt.NDArray[np.int64], firsts: npt.NDArray[np.int64]) -> Listed:
        ranks = np.arange(len(firsts))
        for _, others in tables:
            if others is not firsts:
                ranks += np.searchsorted(others, firsts)
        return counter.table, slots, ranks

    return at_once(partial(ranked, counter, *table) for counter, table in zip(counters, tables, strict=True))


class _AtOnce:
    """Calls kernels in the threads of a pool; without one in this."""

    def __init__(self, pool: ThreadPoolExecutor | None = None, threads: int = 1) -> None:
        self.parts = threads
        self._map = map if pool is None or threads == 1 else pool.map

    def __call__(self, tasks: Iterable[Callable[[], T]]) -> list[T]:
        return list(self._map(lambda task: task(), tasks))


class Common:
    """The words that threads have handed over."""

    def __init__(self, counter: Counter) -> None:
        self.counter = counter
        self._lock = threading.Lock()

    def take(self, counter: Counter) -> None:
        with self._lock:
            self.counter.add(counter)
        counter.clear()


class Counter:
    """The words one thread has counted so far."""

    def __init__(self, table: ScanTable) -> None:
        self._machine: Machine = machine_of(table)
        self._safe_pairs = between_kinds(table)
        self._drops_blanks = table.drops_blanks
        self._words = word_tables.Words(
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

    @property
    def table(self) -> word_tables.Words:
        return self._words

    @property
    def size(self) -> int:
        """Bytes that its tables take."""
        words = self._words
        return (
            words.short.nbytes
            + words.short_firsts.nbytes
            + words.long.nbytes
            + words.long_firsts.nbytes
            + words.copies.nbytes
        )

    def __len__(self) -> int:
        return int(self._words.used[word_tables.SHORT] + self._words.used[word_tables.LONG])

    def count(self, block: Block) -> None:
        registers, scratch = self._registers, self._scratch
        begin_text(registers, np.int64(0))
        registers[count.SEGMENT] = 0
        registers[count.FOUND] = 1
        scratch.cuts[0] = 0
        ends = np.array(block.text_ends, np.int64)
        first = np.int64(block.first)
        while not count.count_block(
            self._machine, self._drops_blanks, block.data, ends, first, self._words, scratch, registers
        ):
            cuts = registers[count.FOUND]
            copied = int(scratch.cuts[cuts - 1] - scratch.cuts[0]) + 16 * int(cuts)
            self._make_room(int(cuts), int(cuts), copied)

    def last_safe_cut(self, data: ByteArray, start: int, stop: int) -> int:
        return int(count.last_safe_cut(self._machine, self._safe_pairs, data, np.int64(start), np.int64(stop)))

    def listed(self) -> WordTable:
        """All words, in the order they were first seen."""
        return _listed([self], _AtOnce())

    def add(self, other: Counter) -> None:
        """The words of another part of the text as well."""
        more = other._words
        self._make_room(*more.used.tolist())
        join_tables.add_short(self._words, more.short, more.short_firsts)
        join_tables.add_long(self._words, more)

    def take_what_both_know(self, other: Counter, at_once: _AtOnce) -> None:
        """Count what the other counted of the words that this one knows as well."""
        mine, its = self._words, other._words
        for kind, slots, hand_over in (
            (word_tables.SHORT, len(its.short_firsts), join_tables.hand_over_short),
            (word_tables.LONG, len(its.long_firsts), join_tables.hand_over_long),
        ):
            borders = np.linspace(0, slots, at_once.parts + 1).astype(np.int64)
            its.used[kind] -= sum(at_once(partial(hand_over, mine, its, *ends) for ends in pairwise(borders)))

    def clear(self) -> None:
        self._words.short.fill(0)
        self._words.long.fill(0)
        self._words.used.fill(0)

    def _make_room(self, short: int, long: int, copied: int) -> None:
        """So that as many new words, and bytes of long ones, fit."""
        words = self._words
        used_short, used_long, used_copies = words.used.tolist()
        if not word_tables.hold(words.short_firsts, used_short + short):
            self._grow_short(_more_slots(len(words.short_firsts), used_short + short))
        if not word_tables.hold(words.long_firsts, used_long + long):
            self._grow_long(_more_slots(len(words.long_firsts), used_long + long))
        if len(words.copies) < used_copies + copied:
            check_room(2 * used_copies + copied, COUNTING, FEWER_WORDS)
            copies = np.empty(2 * used_copies + copied, np.uint8)
            copies[:used_copies] = words.copies[:used_copies]
            self._words = self._words._replace(copies=copies)

    def _grow_short(self, slots: int) -> None:
        old = self._words
        self._words = old._replace(
            short=_empty_rows(word_tables.SHORT_ROW * slots), short_firsts=np.empty(slots, np.int64)
        )
        old.used[word_tables.SHORT] = 0  # adding counts them again
        join_tables.add_short(self._words, old.short, old.short_firsts)

    def _grow_long(self, slots: int) -> None:
        old = self._words
        self._words = old._replace(
            long=_empty_rows(word_tables.LONG_ROW * slots), long_firsts=np.empty(slots, np.int64)
        )
        join_tables.spread_long(self._words, old.long, old.long_firsts)


def _empty_rows(cells: int) -> npt.NDArray[np.uint64]:
    """Zeros. Unlike `np.zeros`, this gets large pages on Linux: random access to a large table is far faster then."""
    check_room(8 * cells, COUNTING, FEWER_WORDS)
    rows = np.empty(cells, np.uint64)
    rows.fill(0)
    return rows


def _more_slots(slots: int, words: int) -> int:
    """A power of two of which so many words are at most three quarters."""
    return max(1 << (4 * words // 3).bit_length(), min(4 * slots, _GROWN_SOON))
