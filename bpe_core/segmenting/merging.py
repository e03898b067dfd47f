"""Apply merges to one word.

Each merge, in the order they were learned, joins its pair wherever it occurs, from left to right. A merge uses only
older tokens, so taking the lowest rank (then the leftmost place) that applies *now* gives the same; with a heap of
places that is nearly linear. The rank of a boundary is the index of the merge that dissolves it: the tokens after any
number of merges follow from the ranks by comparison, so a word is merged only once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np

from bpe_core.history.history import History
from bpe_core.kernels import NEVER as NEVER
from bpe_core.kernels import PATTERN_CUT as PATTERN_CUT
from bpe_core.kernels.readiness import Policy
from bpe_core.support.arrays import Int32s

KERNELS = Policy("bpe_core.kernels.merge_word", small=60_000)  # cells

_JOINED = -1  # a cell that belongs to the token before it
_PLACE_BITS = 40  # a heap entry is one number: the rank above, the place in the word below


class MergedWord(NamedTuple):
    """A word's base symbols, and the rank of the boundary before each of them but the first."""

    symbols: list[int]
    ranks: list[int]


class Merges:
    def __init__(self, history: History) -> None:
        self._base = len(history.alphabet)
        self._columns = history.columns

    @cached_property
    def left(self) -> list[int]:
        left: list[int] = self._columns.left.tolist()
        return left

    @cached_property
    def right(self) -> list[int]:
        right: list[int] = self._columns.right.tolist()
        return right

    @cached_property
    def _rank_of(self) -> dict[int, int]:
        """By pair. Where a pair is in the table twice, its first merge leaves the second nothing to join."""
        keys = [left << 32 | right for left, right in zip(self.left, self.right, strict=True)]
        ranks = range(len(keys))  # one by one, so that other threads have their turns
        return {key: rank for key, rank in zip(reversed(keys), reversed(ranks), strict=True)}  # noqa: C416

    def merged(self, symbols: Sequence[int]) -> MergedWord:
        """All merges applied to a word of base symbols.

        >>> from bpe_core.history.alphabet import Alphabet
        >>> from bpe_core.recipes.recipe import Recipe
        >>> pairs = [(97, 97), (256, 97), (257, 98)]  # a+a, aa+a, aaa+b
        >>> merges = Merges(History.from_pairs(Recipe.preset("raw-bytes"), Alphabet.of_bytes(), pairs))
        >>> merges.merged(b"aaabdaa").ranks
        [0, 1, 2, 2147483647, 2147483647, 0]
        """
        cells = len(symbols)
        ids = list(symbols)  # a token's id is in its first cell
        before, after = list(range(-1, cells - 1)), list(range(1, cells + 1))
        ranks = [NEVER] * cells
        heap = self._pairs_of(ids)
        while heap:
            rank, place = divmod(heappop(heap), 1 << _PLACE_BITS)
            other = after[place]
            if ids[place] != self.left[rank] or other >= cells or ids[other] != self.right[rank]:
                continue  # one of its tokens has been joined to another since
            ids[place], ids[other] = self._base + rank, _JOINED
            ranks[other] = rank
            behind = after[place] = after[other]
            if behind < cells:
                before[behind] = place
                self._push(heap, ids[place], ids[behind], place)
            if place > 0:
                self._push(heap, ids[before[place]], ids[place], before[place])
        return MergedWord(list(symbols), ranks[1:])

    def _pairs_of(self, ids: list[int]) -> list[int]:
        heap: list[int] = []
        for place in range(len(ids) - 1):
            rank = self._rank_of.get(ids[place] << 32 | ids[place + 1])
            if rank is not None:
                heap.append(rank << _PLACE_BITS | place)
        heapify(heap)
        return heap

    def _push(self, heap: list[int], left: int, right: int, place: int) -> None:
        rank = self._rank_of.get(left << 32 | right)
        if rank is not None:
            heappush(heap, rank << _PLACE_BITS | place)

    def tokens(self, word: MergedWord, at: int) -> list[int]:
        """The ids of a word's tokens after `at` merges; each is what the merge of the highest rank inside it made."""
        if not word.symbols:
            return []
        ids: list[int] = []
        first, last_merge = word.symbols[0], -1
        for symbol, rank in zip(word.symbols[1:], word.ranks, strict=True):
            if rank < at:
                last_merge = max(last_merge, rank)
            else:
                ids.append(first if last_merge < 0 else self._base + last_merge)
                first, last_merge = symbol, -1
        ids.append(first if last_merge < 0 else self._base + last_merge)
        return ids

    def steps(self, word: MergedWord) -> Iterator[tuple[int, list[int]]]:
        for rank in sorted(set(word.ranks) - {NEVER}):
            yield rank, self.tokens(word, rank + 1)


# Every boundary in a table of words laid out in cells


def ranks_of(symbols: Int32s, history: History) -> Int32s:
    """Which merge dissolves the boundary in front of each cell of a layout; by what is faster for that many."""
    return compiled_ranks(symbols, history) if KERNELS.chooses(len(symbols)) else plain_ranks(symbols, history)


def plain_ranks(symbols: Int32s, history: History) -> Int32s:
    is_known = symbols >= 0
    ranks = np.full(len(symbols), PATTERN_CUT, np.int32)
    ranks[1:][is_known[1:] & is_known[:-1]] = NEVER
    edges = np.flatnonzero(np.diff(is_known, prepend=False, append=False)).tolist()
    merges = Merges(history)
    for begin, end in zip(edges[::2], edges[1::2], strict=True) if len(history) else ():
        ranks[begin + 1 : end] = merges.merged(symbols[begin:end].tolist()).ranks
    return ranks


def compiled_ranks(symbols: Int32s, history: History) -> Int32s:
    from bpe_core.kernels import merge_word as kernel  # loads machine code
    from bpe_core.kernels.encode import IDS
    from bpe_core.segmenting.compiled_encoder import merge_table, room_for

    left, right = (np.array(column, np.int32) for column in history.columns[:2])
    table = merge_table(len(history.alphabet), left, right)
    kernel.enter_merges(table)
    longest = int(np.diff(np.flatnonzero(symbols < 0)).max(initial=1))
    room, _ = room_for(longest, len(history), IDS)
    ranks = np.empty(len(symbols), np.int32)
    kernel.rank_boundaries(table, room, symbols, ranks)
    return ranks
