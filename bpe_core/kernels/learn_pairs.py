"""The pairs of a run and where they stand: counted before the first merge, each with its slice of the arena.

A merged pair needs its entries of the arena no more, and the pairs that are born instead get them. So the slices are
not in the order of the pairs: each pair knows whose slice is next.
"""

from __future__ import annotations

import numpy as np

from bpe_core.kernels.jit import kernel
from bpe_core.kernels.learn_state import MOST_WEIGHT, NO_PAIR, PAIR_BITS, SEPARATOR, WEIGHT_BITS, WEIGHT_SHIFT
from bpe_core.kernels.memory import prefetch

AHEAD = 16  # cells whose place in the arena is fetched while others are worked on
FAR_AHEAD = 32  # the same of occurrences, where little is done with each


@kernel
def give_slice(pairs, run, pair, times):
    """Give a pair entries of the arena: those that the merged pair left, or new ones at the end. The first of them."""
    if run.free + times <= run.free_stop:
        first, before = run.free, run.free_behind
        run.free += times
        run.free_behind = pair
    else:
        first, before = run.arena, run.last
        run.arena += times
    pairs[pair].first = first
    pairs[pair].following = pairs[before].following
    pairs[before].following = pair
    if before == run.last:
        run.last = pair
    return first


@kernel
def free_slice(pairs, run, pair):
    """Leave the entries of the merged pair to the pairs that are born next."""
    run.free = pairs[pair].first
    run.free_stop = pairs[pair].first + pairs[pair].times
    run.free_behind = pair
    pairs[pair].times = 0


@kernel
def tidy_arena(state):
    """Keep only the occurrences that still stand, of pairs that may still be merged: never more than tokens."""
    cells, arena, pairs, run = state.cells, state.arena, state.pairs, state.run[0]
    least = run.forced_frequency if run.merges < run.forced else run.min_frequency
    end, used = np.int64(0), run.arena
    kept, pair = np.int64(NO_PAIR), np.int64(pairs[NO_PAIR].following)
    while pair != NO_PAIR:
        begin, stop = pairs[pair].first, pairs[pair].first + pairs[pair].times
        pairs[pair].first = end
        if pairs[pair].count >= least:
            for entry in range(begin, stop):
                if entry + FAR_AHEAD < used:
                    prefetch(cells, np.uint64(arena[entry + FAR_AHEAD]))
                cell = arena[entry]
                arena[end] = cell
                end += np.int64(np.int64(cells[cell]) & PAIR_BITS == pair)  # a branch could not be predicted
        pairs[pair].times = end - pairs[pair].first
        if pairs[pair].times > 0:
            pairs[kept].following = pair
            kept = pair
        pair = np.int64(pairs[pair].following)
    pairs[kept].following = NO_PAIR
    run.last, run.arena = kept, end


@kernel
def base_slot(slots, pairs, base, left, right):
    """The slot of a pair of base symbols; it holds NO_PAIR if the pair was not met yet."""
    if len(slots) == base * base:  # a small alphabet: a place for each pair
        return left * base + right
    mask = np.uint64(len(slots) - 1)
    mixed = ((np.uint64(left) << np.uint64(32)) | np.uint64(right)) * np.uint64(0x9E3779B97F4A7C15)
    slot = np.int64((mixed ^ (mixed >> np.uint64(29))) & mask)
    while slots[slot] != NO_PAIR:
        pair = pairs[slots[slot]]
        if pair.left == left and pair.right == right:
            break
        slot = np.int64(np.uint64(slot + 1) & mask)
    return slot


@kernel
def add_pair(pairs, run, left, right, count, times):
    """Remember a new pair; its number."""
    pair = run.pairs
    run.pairs = pair + 1
    record = pairs[pair]
    record.count = count
    record.first = 0
    record.times = times
    record.left = left
    record.right = right
    record.next = NO_PAIR
    return pair


@kernel
def fill_slots(state):
    slots, pairs, base = state.base_slots, state.pairs, state.run[0].base
    for pair in range(1, state.run[0].pairs):
        slots[base_slot(slots, pairs, base, np.int64(pairs[pair].left), np.int64(pairs[pair].right))] = pair


@kernel
def count_base_pairs(state, stop):
    """Write in each cell before `stop` the pair that begins there; False when the table is too full to go on."""
    cells, words, pairs, slots, run = state.cells, state.words, state.pairs, state.base_slots, state.run[0]
    base, word = run.base, np.int64(-1)
    room = min(len(pairs), len(slots) if len(slots) == base * base else len(slots) // 2)
    for cell in range(run.counted, stop):
        left, right = np.int64(cells[cell]), np.int64(cells[cell + 1])
        if left == SEPARATOR or right == SEPARATOR:
            cells[cell] = NO_PAIR if left != SEPARATOR else SEPARATOR
            continue
        slot = base_slot(slots, pairs, base, left, right)
        pair = np.int64(slots[slot])
        if pair == NO_PAIR:
            if run.pairs >= room:
                run.counted = cell
                return False
            pair = add_pair(pairs, run, left, right, 0, 0)
            slots[slot] = pair
        while word < 0 or words[word + 1].start <= cell:
            word += 1
        weight = words[word].count
        cells[cell] = pair if weight > MOST_WEIGHT else pair | (weight << WEIGHT_SHIFT)
        pairs[pair].count += weight
        pairs[pair].times += 1
    run.counted = stop
    return True


@kernel
def add_base_pairs(state, more, numbers):
    """Add the pairs of another stretch of cells, for all of which there is room, and write their numbers here."""
    pairs, slots, run = state.pairs, state.base_slots, state.run[0]
    for pair in range(1, len(more)):
        left, right = np.int64(more[pair].left), np.int64(more[pair].right)
        slot = base_slot(slots, pairs, run.base, left, right)
        if slots[slot] == NO_PAIR:
            slots[slot] = add_pair(pairs, run, left, right, 0, 0)
        numbers[pair] = slots[slot]
        pairs[slots[slot]].count += more[pair].count
        pairs[slots[slot]].times += more[pair].times


@kernel
def number_slices(state):
    """Give each pair that is not too rare its slice of the arena. ARENA says how much room all need."""
    pairs, run = state.pairs, state.run[0]
    for pair in range(1, run.pairs):
        if pairs[pair].count < run.forced_frequency:
            pairs[pair].times = 0
        else:
            give_slice(pairs, run, pair, np.int64(pairs[pair].times))


@kernel
def place_base_pairs(cells, arena, numbers, fills, first, stop):
    """Write where the pairs of a stretch of cells stand into their slices, and their numbers into the cells."""
    for cell in range(first, stop):
        if cell + AHEAD < stop and cells[cell + AHEAD] > NO_PAIR:
            prefetch(arena, np.uint64(fills[np.int64(cells[cell + AHEAD]) & PAIR_BITS]))
        begun = np.int64(cells[cell])
        if begun <= NO_PAIR:
            continue
        known = begun & PAIR_BITS
        if numbers[known] != known:
            cells[cell] = (begun & WEIGHT_BITS) | numbers[known]
        if numbers[known] != NO_PAIR:
            arena[fills[known]] = cell
            fills[known] += 1
