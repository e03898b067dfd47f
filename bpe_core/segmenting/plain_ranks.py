"""The rank of every boundary in a table of words, without machine code: all words are merged at once, round by round.

In a round each word makes the first of its merges that applies now, which is what merging it by itself does
(`merging.py`). Rounds are as many as the word with the most merges has, so long words are merged by themselves.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from bpe_core.history.history import History
from bpe_core.segmenting.merging import NEVER, PATTERN_CUT, Merges

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]

LONG = 32  # symbols
AT_ONCE = 50_000  # cells, which take some milliseconds a round


def plain_ranks(symbols: Int32s, history: History, *, long: int = LONG, at_once: int = AT_ONCE) -> Int32s:
    """Which merge dissolves the boundary in front of each cell of a layout."""
    is_known = symbols >= 0
    ranks = np.full(len(symbols), PATTERN_CUT, np.int32)
    ranks[1:][is_known[1:] & is_known[:-1]] = NEVER
    edges = np.flatnonzero(np.diff(is_known, prepend=False, append=False))
    begins, lengths = edges[::2], np.diff(edges)[::2]
    is_long = lengths > long
    if is_long.any():
        merges = Merges(history)
        for begin, length in zip(begins[is_long].tolist(), lengths[is_long].tolist(), strict=True):
            ranks[begin + 1 : begin + length] = merges.merged(symbols[begin : begin + length].tolist()).ranks
    if len(history):
        cells, lengths = np.flatnonzero(is_known)[np.repeat(~is_long, lengths)], lengths[~is_long]
        _merge_in_parts(symbols, cells, np.append(0, np.cumsum(lengths)), history, ranks, at_once)
    return ranks


def _merge_in_parts(
    symbols: Int32s, cells: Int64s, starts: Int64s, history: History, ranks: Int32s, at_once: int
) -> None:
    """Of many words only so many at once that other threads have their turns: NumPy lets none run meanwhile."""
    base, pairs = len(history.alphabet), _pairs_in_order(history)
    borders = np.searchsorted(starts, np.arange(0, len(cells), at_once)).tolist()
    for first, last in pairwise([*borders, len(starts) - 1]):
        words = np.repeat(np.arange(first, last), np.diff(starts[first : last + 1]))
        _merge_together(symbols, cells[starts[first] : starts[last]], words, base, *pairs, ranks)


def _merge_together(
    symbols: Int32s, cells: Int64s, words: Int64s, base: int, keys: Int64s, rank_of_key: Int64s, ranks: Int32s
) -> None:
    """Note the ranks of words, told for each cell, which stand one after the other; a token is in its first cell."""
    ids = symbols[cells].astype(np.int64)
    while len(cells):
        pairs = ids[:-1] << 32 | ids[1:]
        found = np.minimum(np.searchsorted(keys, pairs), len(keys) - 1)
        is_pair = (keys[found] == pairs) & (words[:-1] == words[1:])
        pair_ranks = np.append(np.where(is_pair, rank_of_key[found], NEVER), NEVER)
        firsts = np.flatnonzero(np.diff(words, prepend=-1))
        lowest = np.repeat(np.minimum.reduceat(pair_ranks, firsts), np.diff(firsts, append=len(words)))
        places = _from_the_left(np.flatnonzero((pair_ranks == lowest) & (lowest != NEVER)))
        ids[places] = base + pair_ranks[places]
        ranks[cells[places + 1]] = pair_ranks[places]
        stays = lowest != NEVER
        stays[places + 1] = False
        cells, ids, words = cells[stays], ids[stays], words[stays]


def _pairs_in_order(history: History) -> tuple[Int64s, Int64s]:
    """All pairs as numbers, ascending, and their ranks. Of a pair that stands there twice the first is found first."""
    keys = history.columns.left.astype(np.int64) << 32 | history.columns.right
    order = np.argsort(keys, kind="stable")
    return keys[order], order


def _from_the_left(places: Int64s) -> Int64s:
    """Of places side by side, where one pair overlaps itself, every second one.

    >>> _from_the_left(np.array([1, 2, 3, 7, 9, 10])).tolist()
    [1, 3, 7, 9]
    """
    numbers = np.arange(len(places))
    begins = np.where(np.diff(places, prepend=-2) != 1, numbers, 0)
    chosen: Int64s = places[(numbers - np.maximum.accumulate(begins)) % 2 == 0]
    return chosen
