"""The arena: which entries a pair has for where it stands.

A merged pair needs its entries no more, and the pairs that are born instead have them. So the order of the pairs is not
that of their entries: each pair knows whose come next.
"""

from __future__ import annotations

import numpy as np

from bpe_core.kernels.jit import kernel
from bpe_core.kernels.learn_state import (
    ARENA,
    FORCED,
    FORCED_FREQUENCY,
    FREE,
    FREE_BEHIND,
    FREE_STOP,
    LAST,
    MERGES,
    MIN_FREQUENCY,
    NO_PAIR,
    PAIR_BITS,
)
from bpe_core.kernels.memory import prefetch

AHEAD = 32  # occurrences whose memory is fetched while others are worked on


@kernel
def give_slice(pairs, number, pair, times):
    """Entries of the arena for a pair, of those that the merged one left or behind all others; the first of them."""
    if number[FREE] + times <= number[FREE_STOP]:
        first, before = number[FREE], number[FREE_BEHIND]
        number[FREE] += times
        number[FREE_BEHIND] = pair
    else:
        first, before = number[ARENA], number[LAST]
        number[ARENA] += times
    pairs[pair].first = first
    pairs[pair].following = pairs[before].following
    pairs[before].following = pair
    if before == number[LAST]:
        number[LAST] = pair
    return first


@kernel
def free_slice(pairs, number, pair):
    """Let the pairs that are born next have the entries of the pair that is merged."""
    number[FREE] = pairs[pair].first
    number[FREE_STOP] = pairs[pair].first + pairs[pair].times
    number[FREE_BEHIND] = pair
    pairs[pair].times = 0


@kernel
def tidy_arena(state):
    """Keep only the occurrences that still stand, of pairs that may still be merged: never more than tokens."""
    cells, arena, pairs, number = state.cells, state.arena, state.pairs, state.number
    least = number[FORCED_FREQUENCY] if number[MERGES] < number[FORCED] else number[MIN_FREQUENCY]
    end, used = np.int64(0), number[ARENA]
    kept, pair = np.int64(NO_PAIR), np.int64(pairs[NO_PAIR].following)
    while pair != NO_PAIR:
        begin, stop = pairs[pair].first, pairs[pair].first + pairs[pair].times
        pairs[pair].first = end
        if pairs[pair].count >= least:
            for entry in range(begin, stop):
                if entry + AHEAD < used:
                    prefetch(cells, np.uint64(arena[entry + AHEAD]))
                cell = arena[entry]
                arena[end] = cell
                end += np.int64(np.int64(cells[cell]) & PAIR_BITS == pair)  # which nobody could guess
        pairs[pair].times = end - pairs[pair].first
        if pairs[pair].times > 0:
            pairs[kept].following = pair
            kept = pair
        pair = np.int64(pairs[pair].following)
    pairs[kept].following = NO_PAIR
    number[LAST], number[ARENA] = kept, end
