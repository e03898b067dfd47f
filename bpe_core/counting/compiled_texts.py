"""Counting several texts one after the other in the same tables: what one text made known, the next finds there.

Words have numbers in the order they are first seen. Which of them are in a text, and how often, is what the tables
hold more of behind it than before.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import cycle
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from bpe_core.counting.compiled import BLOCK_SIZE, Counter
from bpe_core.counting.several_texts import Counted, Occurring
from bpe_core.kernels.word_tables import COUNT, LONG_ROW, SHORT_ROW, Words
from bpe_core.text.blocks import Block, Stretch, in_blocks
from bpe_core.text.scanner import ScanTable

Int64s = npt.NDArray[np.int64]


def count_texts_compiled(
    texts: Iterable[Iterable[Stretch]], table: ScanTable, *, block_size: int = BLOCK_SIZE
) -> Counted:
    """The words of all texts, and which of them each text has."""
    counter, numbers, found, first = Counter(table), _Numbers(), list[Occurring](), 0
    fresh = cycle([Block(2 * block_size), Block(2 * block_size)]).__next__
    for stretches in texts:
        for block in in_blocks(stretches, block_size, counter.last_safe_cut, fresh, first):
            counter.count(block)
            first = block.first + block.length
        found.append(numbers.met_since(counter.table))
    return Counted(counter.listed(), found)


class _Numbers:
    """Of each slot the number of its word, and how often that had been met when somebody last asked."""

    def __init__(self) -> None:
        self._firsts = np.zeros(0, np.int64)  # by number: where it was first seen, ascending
        self._counts = np.zeros(0, np.int64)
        self._sides = [_Side.of(0), _Side.of(0)]  # the short words, and the long ones

    def met_since(self, words: Words) -> Occurring:
        """Which words were met since the last time, and how often."""
        columns = (
            (words.short_firsts, words.short.view(np.int64)[COUNT::SHORT_ROW]),  # compared sooner than unsigned ones
            (words.long_firsts, words.long.view(np.int64)[COUNT::LONG_ROW]),
        )
        for place, (firsts, counts) in enumerate(columns):
            if len(counts) != len(self._sides[place].counts):  # the table has grown
                self._sides[place] = self._found_again(firsts, counts)
        slots = [np.flatnonzero(counts != side.counts) for side, (_, counts) in zip(self._sides, columns, strict=True)]
        places = list(zip(self._sides, columns, slots, strict=True))
        are_new = [side.numbers[met] < 0 for side, _, met in places]
        seen = [firsts[met[new]] for new, (_, (firsts, _), met) in zip(are_new, places, strict=True)]
        known, self._firsts = len(self._firsts), np.concatenate((self._firsts, np.sort(np.concatenate(seen))))
        times = []
        for new, here, (side, (_, counts), met) in zip(are_new, seen, places, strict=True):
            side.numbers[met[new]] = known + np.searchsorted(self._firsts[known:], here)
            times.append(counts[met] - side.counts[met])
            side.counts[met] += times[-1]
        found = Occurring(np.concatenate([side.numbers[met] for side, _, met in places]), np.concatenate(times))
        self._counts = np.append(self._counts, np.zeros(len(self._firsts) - known, np.int64))
        self._counts[found.rows] += found.counts
        return found

    def _found_again(self, firsts: Int64s, counts: Int64s) -> _Side:
        """What is known of the words of a table that stand elsewhere now."""
        side, taken = _Side.of(len(counts)), np.flatnonzero(counts)
        numbers = np.searchsorted(self._firsts, firsts[taken])
        is_old = numbers < len(self._firsts)  # a new word is first seen behind all that are known
        side.numbers[taken[is_old]] = numbers[is_old]
        side.counts[taken[is_old]] = self._counts[numbers[is_old]]
        return side


class _Side(NamedTuple):
    """By slot; -1 where a word has no number yet."""

    numbers: Int64s
    counts: Int64s

    @classmethod
    def of(cls, slots: int) -> Self:
        return cls(np.full(slots, -1, np.int64), np.zeros(slots, np.int64))
