"""The functions for a merge with very many occurrences, on two cores. Each core joins the pair in half of the words.

The second core fills separate buffers. The final numbers of the new pairs are not fixed at that time, so this core
writes provisional numbers into the cells. They are corrected when the occurrences of the new pairs are written. All
words of the second half come after those of the first half. So pairs are created, and listed in their slices, in the
same order as on one thread.
"""

from __future__ import annotations

import numpy as np

from bpe_core.kernels.jit import kernel
from bpe_core.kernels.learn import choose, end_step, name_token, queue_new_pairs, write_choice
from bpe_core.kernels.learn_join import AHEAD, join, place_joint, replace_pairs
from bpe_core.kernels.learn_state import HINT_SHIFT, IS_BEFORE, IS_BEHIND, NO_PAIR, free_slice
from bpe_core.kernels.memory import prefetch


@kernel
def begin_wide(state, columns):
    """Choose the pair to merge. Divide its occurrences into two parts, so that no word has occurrences in both parts.

    Return the beginning of each part and the end of the second part.
    """
    pair, left, right = choose(state, ())
    state.run[0].chosen = pair
    name_token(state, left, right)
    write_choice(state, (), columns, (), pair, left, right)
    first = state.pairs[pair].first
    stop = first + state.pairs[pair].times
    # The words that were seen first are the frequent words, whose counts must be looked up.
    middle = np.int64(state.arena[first + 2 * (stop - first) // 5])
    word = np.int64(state.word_hints[middle >> HINT_SHIFT])
    while state.words[word + 1].start <= middle:
        word += 1
    return first, first_entry_after(state.arena, first, stop, state.words[word].start), stop


@kernel
def first_entry_after(arena, first, stop, cell):
    while first < stop:
        middle = (first + stop) // 2
        if arena[middle] < cell:
            first = middle + 1
        else:
            stop = middle
    return first


@kernel
def join_half(state, begin, stop):
    token = state.run[0].base + state.run[0].merges
    return join(state, state.run[0].chosen, token, begin, stop)


@kernel
def replace_pairs_in_halves(state, other, joined):
    run, pairs, sides, groups, more = state.run[0], state.pairs, state.sides, state.groups, other.groups
    pair, token = run.chosen, run.base + run.merges
    chained = np.int64(sides[2 * NO_PAIR + IS_BEFORE])
    chained_times = np.int64(groups[chained].times) if chained != 0 else np.int64(0)
    for i in range(1, other.run[0].groups):
        old, side = np.int64(more[i].old), np.int64(more[i].side)
        other.sides[2 * old + side] = 0
        group = np.int64(sides[2 * old + side])
        if group == 0:
            group = run.groups
            run.groups += 1
            sides[2 * old + side] = group
            groups[group].weight = groups[group].kept = groups[group].times = 0
            groups[group].old, groups[group].side = old, side
        # The occurrences of the first half in the slice, without those that became part of two neighbouring new tokens
        # (as in `replace_pairs`).
        is_chained = side == IS_BEHIND and pairs[old].right == pairs[pair].left
        more[i].fill = groups[group].times - (chained_times if is_chained else 0)
        more[i].new = group
        groups[group].weight += more[i].weight
        groups[group].kept += more[i].kept
        groups[group].times += more[i].times
    run.tokens_left += other.run[0].tokens_left
    free_slice(pairs, run, pair)
    replace_pairs(state, pair, token, joined)
    for i in range(1, other.run[0].groups):
        group = np.int64(more[i].new)
        more[i].fill += groups[group].fill
        more[i].new = groups[group].new


@kernel
def place_second(state, joined, first_born):
    """Write the occurrences of the new pairs in the second half of the words, as `place` does for the first half.

    Almost all cells in the second half have provisional numbers, which are corrected here.
    """
    cells, arena, groups, joints = state.cells, state.arena, state.groups, state.joints
    for i in range(joined):
        if i + AHEAD < joined:
            prefetch(cells, np.uint64(joints[i + AHEAD].cell))
        place_joint(cells, arena, groups, joints[i], first_born)


@kernel
def end_wide(state, columns, first_born):
    run = state.run[0]
    queue_new_pairs(state, (), run.chosen, run.base + run.merges, first_born)
    end_step(state, columns)
