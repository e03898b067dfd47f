"""The rank of every boundary in a table of words laid out in cells: by the kernel, or word by word in plain Python."""

from __future__ import annotations

import numpy as np

from bpe_core.history.history import History
from bpe_core.kernels.readiness import Policy
from bpe_core.segmenting.merging import NEVER, PATTERN_CUT, Merges
from bpe_core.support.arrays import Int32s

KERNELS = Policy("bpe_core.kernels.merge_word", small=60_000)  # cells


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
