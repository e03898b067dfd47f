"""The rank of every boundary in a table of words: the whole past of a corpus in one array.

The words lie end to end with separators between them, as for learning. A word is cut at its
separators into runs; in each run the pair with the lowest rank is joined first, leftmost
first among equals, which is what applying the merges one after the other comes to.
"""

from __future__ import annotations

import numpy as np

from bpe_core.kernels.jit import kernel

NEVER = 2**31 - 1
CUT = 2**31 - 2

_POSITION = np.uint64(0xFFFFFFFF)


@kernel
def pair_slot(keys, left, right):
    """Where the pair stands in the table, or the empty slot where it would."""
    mask = np.uint64(len(keys) - 1)
    key = (np.uint64(left + 1) << np.uint64(32)) | np.uint64(right + 1)
    mixed = key * np.uint64(0x9E3779B97F4A7C15)
    slot = (mixed ^ (mixed >> np.uint64(29))) & mask
    while keys[slot] != 0 and keys[slot] != key:
        slot = (slot + np.uint64(1)) & mask
    return np.int64(slot)


@kernel
def enter_pairs(keys, ranks, left, right):
    """Fill an empty table; of a pair that is listed twice the first counts."""
    for rank in range(len(left)):
        slot = pair_slot(keys, left[rank], right[rank])
        if keys[slot] == 0:
            keys[slot] = (np.uint64(left[rank] + 1) << np.uint64(32)) | np.uint64(right[rank] + 1)
            ranks[slot] = rank


@kernel
def push(heap, size, entry):
    at = size
    while at > 0:
        parent = (at - 1) >> 1
        if heap[parent] <= entry:
            break
        heap[at] = heap[parent]
        at = parent
    heap[at] = entry
    return size + 1


@kernel
def pop(heap, size):
    """Take the top away; the size after it."""
    size -= 1
    entry = heap[size]
    at = 0
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= entry:
            break
        heap[at] = heap[child]
        at = child
    heap[at] = entry
    return size


@kernel
def rank_boundaries(symbols, tokens, before, after, heap, keys, pair_ranks, base, ranks):
    """Write into `ranks` which merge dissolves the boundary in front of each cell.

    `tokens`, `before` and `after` (as long as `symbols`) and `heap` (twice as long as the
    longest run) are room to work in.
    """
    cells = len(symbols)
    begin = 0
    while begin < cells:
        if symbols[begin] < 0:
            ranks[begin] = CUT
            begin += 1
            continue
        end = begin
        while end < cells and symbols[end] >= 0:
            tokens[end] = symbols[end]
            before[end] = end - 1
            after[end] = end + 1
            ranks[end] = NEVER
            end += 1
        ranks[begin] = CUT
        rank_run(begin, end, tokens, before, after, heap, keys, pair_ranks, base, ranks)
        begin = end


@kernel
def rank_run(begin, end, tokens, before, after, heap, keys, pair_ranks, base, ranks):
    """One run: `tokens` holds at a token's first cell its id, `before` and `after` link those cells."""
    size = 0
    for first in range(begin, end - 1):
        size = propose(first, first + 1, tokens, heap, size, keys, pair_ranks)
    while size > 0:
        entry = heap[0]
        size = pop(heap, size)
        rank = np.int64(entry >> np.uint64(32))
        cell = np.int64(entry & _POSITION)
        if tokens[cell] < 0:
            continue  # it lies inside a token now
        following = np.int64(after[cell])
        if following >= end:
            continue
        slot = pair_slot(keys, tokens[cell], tokens[following])
        if keys[slot] == 0 or pair_ranks[slot] != rank:
            continue  # one of the two has been taken since
        ranks[following] = rank
        tokens[cell] = base + rank
        tokens[following] = -1
        behind = np.int64(after[following])
        after[cell] = behind
        if behind < end:
            before[behind] = cell
            size = propose(cell, behind, tokens, heap, size, keys, pair_ranks)
        if cell > begin:
            size = propose(np.int64(before[cell]), cell, tokens, heap, size, keys, pair_ranks)


@kernel
def propose(cell, following, tokens, heap, size, keys, pair_ranks):
    """Enter the pair that begins at the cell, if it is one that is ever merged."""
    slot = pair_slot(keys, tokens[cell], tokens[following])
    if keys[slot] == 0:
        return size
    return push(heap, size, (np.uint64(pair_ranks[slot]) << np.uint64(32)) | np.uint64(cell))
