"""The queue of pairs: a heap of the frequent pairs, and lists of all other pairs, by frequency.

Counts only fall, and a new pair is never more frequent than the pair whose merge created it. So the pairs below some
level of frequency wait in plain lists, one list for each level. When the heap is empty, the pairs of the next level
enter the heap. Neither the heap nor the lists are kept up to date: a pair whose count has fallen is corrected when it
comes to the top of the heap, or when its list enters the heap. The tie rule compares only pairs that come to the top.
"""

from __future__ import annotations

import numpy as np

from bpe_core.kernels.jit import kernel
from bpe_core.kernels.learn_state import NO_PAIR, PAIR_BITS, SEPARATOR

# The values that tie rules compare; from BY_SMALLEST_TEXT on, the tokens' texts.
BY_FIRST_SEEN, BY_IDS, BY_SMALLEST_TEXT, BY_LARGEST_TEXT = range(4)


@kernel
def level_of(count):
    """Return the level of a count.

    Each count up to 128 has a level of its own. Above 128, there are 64 levels for each doubling.
    """
    bits = np.float64(count).view(np.int64)
    return (bits >> np.int64(46)) - np.int64(1023 << 6)


@kernel
def text_prefix(text, text_starts, token):
    """Return the first eight bytes of a token's text as a number that sorts as the text does."""
    start, stop = text_starts[token], text_starts[token + 1]
    prefix = np.uint64(0)
    for i in range(start, start + 8):
        byte = np.uint64(text[i]) if i < stop else np.uint64(0)
        prefix = (prefix << np.uint64(8)) | byte
    return np.int64(prefix ^ np.uint64(0x8000000000000000))


@kernel
def compare_texts(text, start, length, other_start, other_length):
    """Return a negative, zero or positive number if the first text sorts before, with or after the second text."""
    for i in range(min(length, other_length)):
        difference = np.int64(text[start + i]) - np.int64(text[other_start + i])
        if difference != 0:
            return difference
    return length - other_length


@kernel
def compare_tokens(state, token, other):
    if token == other:
        return np.int64(0)
    starts = state.text_starts
    length, other_length = starts[token + 1] - starts[token], starts[other + 1] - starts[other]
    return compare_texts(state.text, starts[token], length, starts[other], other_length)


@kernel
def first_occurrence(cells, arena, pairs, pair):
    """Return the first cell at which a pair occurs now, or -1.

    Earlier places, at which the pair no longer occurs, are removed from the pair's slice of the arena.
    """
    entry = pairs[pair].first
    stop = entry + pairs[pair].times
    while entry < stop and cells[arena[entry]] & PAIR_BITS != pair:
        entry += 1
    pairs[pair].first = entry
    pairs[pair].times = stop - entry
    return np.int64(arena[entry]) if entry < stop else np.int64(-1)


@kernel
def tie_key(state, pair):
    """Return a number that sorts pairs with equal counts as the tie rule does.

    If the rule compares texts, the number holds only the first bytes of a text.
    """
    rule = state.run[0].ties
    if rule == BY_FIRST_SEEN:
        return first_occurrence(state.cells, state.arena, state.pairs, pair)
    left, right = np.int64(state.pairs[pair].left), np.int64(state.pairs[pair].right)
    if rule == BY_IDS:
        base = state.run[0].base
        left = state.base_order[left] if left < base else left
        right = state.base_order[right] if right < base else right
        return (left << np.int64(32)) | right
    prefix = text_prefix(state.text, state.text_starts, left)
    return prefix if rule == BY_SMALLEST_TEXT else ~prefix


@kernel
def text_decides(state, pair, other):
    pairs = state.pairs
    order = compare_tokens(state, pairs[pair].left, pairs[other].left)
    if order == 0:
        order = compare_tokens(state, pairs[pair].right, pairs[other].right)
    if order != 0:
        return order < 0 if state.run[0].ties == BY_SMALLEST_TEXT else order > 0
    # Texts can be equal: a word may spell a marker's own text.
    if pairs[pair].left != pairs[other].left:
        return pairs[pair].left < pairs[other].left
    return pairs[pair].right < pairs[other].right


@kernel
def comes_before(state, count, key, pair, other_count, other_key, other):
    if count != other_count:
        return count > other_count
    if key != other_key:
        return key < other_key
    if state.run[0].ties < BY_SMALLEST_TEXT:
        return False
    return text_decides(state, pair, other)


@kernel
def add_to_list(pairs, waiting, pair, level):
    pairs[pair].next = waiting[level]
    waiting[level] = pair


@kernel
def enter(state, pair):
    """Put a pair that may be merged into the heap, or into the list of its level."""
    level = level_of(state.pairs[pair].count)
    if level < state.run[0].level:
        add_to_list(state.pairs, state.waiting, pair, level)
    else:
        push(state, pair)


@kernel
def push(state, pair):
    count, key = state.pairs[pair].count, tie_key(state, pair)
    heap = state.heap
    at = state.run[0].heap
    state.run[0].heap = at + 1
    while at > 0:
        parent = (at - 1) >> 1
        above = heap[parent]
        if not comes_before(state, count, key, pair, above.count, above.key, above.pair):
            break
        copy_entry(heap, at, parent)
        at = parent
    set_entry(heap, at, count, key, pair)


@kernel
def set_entry(heap, at, count, key, pair):
    heap[at].count = count
    heap[at].key = key
    heap[at].pair = pair


@kernel
def copy_entry(heap, at, source):
    set_entry(heap, at, heap[source].count, heap[source].key, heap[source].pair)


@kernel
def drop_top(state):
    size = state.run[0].heap - 1
    state.run[0].heap = size
    last = state.heap[size]
    sink(state, last.count, last.key, last.pair)


@kernel
def sink(state, count, key, pair):
    """Insert an entry at the top of the heap, and move it down to its place."""
    heap, size = state.heap, state.run[0].heap
    at = np.int64(0)
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        below, other = heap[child], heap[child + 1]
        if child + 1 < size and comes_before(
            state, other.count, other.key, other.pair, below.count, below.key, below.pair
        ):
            child, below = child + 1, other
        if not comes_before(state, below.count, below.key, below.pair, count, key, pair):
            break
        copy_entry(heap, at, child)
        at = child
    set_entry(heap, at, count, key, pair)


@kernel
def best_pair(state):
    """Return the pair to merge next, which is on top of the heap. Return NO_PAIR if no pair is frequent enough."""
    run, heap, pairs, cells = state.run[0], state.heap, state.pairs, state.cells
    least, moves = run.min_frequency, run.ties == BY_FIRST_SEEN
    while run.heap > 0 or next_level(state):
        pair, key = heap[0].pair, heap[0].key
        count = pairs[pair].count
        if count == heap[0].count and (not moves or cells[key] & PAIR_BITS == pair):
            return pair
        if count >= least and level_of(count) >= run.level:
            sink(state, count, tie_key(state, pair) if moves else key, pair)
            continue
        drop_top(state)
        if count >= least:
            add_to_list(pairs, state.waiting, pair, level_of(count))
    return np.int64(NO_PAIR)


@kernel
def next_level(state):
    """Move the waiting pairs of the highest level into the heap. Return False if no pair waits."""
    run, pairs, waiting = state.run[0], state.pairs, state.waiting
    least = run.min_frequency
    while run.level > 0:
        level = run.level - 1
        pair = np.int64(waiting[level])
        waiting[level] = NO_PAIR
        run.level = level
        while pair != NO_PAIR:
            following = np.int64(pairs[pair].next)
            if pairs[pair].count >= least:
                enter(state, pair)
            pair = following
        if run.heap > 0:
            return True
    return False


@kernel
def any_pair_left(state):
    """Return whether any two neighbours could still be merged if no minimum frequency were required."""
    cells, longest = state.cells, state.run[0].max_length
    length_behind = np.int64(0)  # the token after it, 0 for a separator
    cell = np.int64(len(cells) - 1)
    while cell >= 0:
        last = np.int64(cells[cell])
        length = np.int64(0) if last == SEPARATOR else np.int64(1) if last > SEPARATOR else -last
        if length > 0 and length_behind > 0 and length + length_behind <= longest:
            return True
        length_behind = length
        cell -= max(length, np.int64(1))
    return False
