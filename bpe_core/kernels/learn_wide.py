"""A merge on two cores: what stands at very many places is joined in two halves of the words at once.

The second half has neighbours, groups and joints of its own, and so its cells get other numbers than the pairs will
have; they are put right when the places are noted. As its words are all behind those of the first, pairs are born, and
stand in their slices, in the order in which one thread would have met them.
"""

from __future__ import annotations

import numpy as np

from bpe_core.kernels.jit import kernel
from bpe_core.kernels.learn import (
    AHEAD,
    choose,
    end_step,
    join,
    let_born_queue,
    name_token,
    place_joint,
    settle,
    write_choice,
)
from bpe_core.kernels.learn_arena import free_slice
from bpe_core.kernels.learn_state import (
    BASE,
    CHOSEN,
    GROUPS,
    HINT_SHIFT,
    IS_BEFORE,
    IS_BEHIND,
    MERGES,
    NO_PAIR,
    TOKENS_LEFT,
)
from bpe_core.kernels.memory import prefetch


@kernel
def begin_wide(state, columns):
    """Choose, and divide the occurrences between two words: the entries where each part begins, and the end."""
    pair, left, right = choose(state)
    state.number[CHOSEN] = pair
    name_token(state, left, right)
    write_choice(state, columns, pair, left, right)
    first = state.pairs[pair].first
    stop = first + state.pairs[pair].times
    # The words that were seen first are the frequent ones, whose counts must be looked up.
    middle = np.int64(state.arena[first + 2 * (stop - first) // 5])
    word = np.int64(state.word_hints[middle >> HINT_SHIFT])
    while state.words[word + 1].start <= middle:
        word += 1
    return first, first_behind(state.arena, first, stop, state.words[word].start), stop


@kernel
def first_behind(arena, first, stop, cell):
    """The first of some sorted entries that is this cell or behind it."""
    while first < stop:
        middle = (first + stop) // 2
        if arena[middle] < cell:
            first = middle + 1
        else:
            stop = middle
    return first


@kernel
def join_half(state, begin, stop):
    """Join what stands at these entries; how many that were."""
    token = state.number[BASE] + state.number[MERGES]
    return join(state, state.number[CHOSEN], token, begin, stop)


@kernel
def settle_halves(state, other, joined):
    """Let the new pairs be born of what both halves gathered."""
    number, pairs, sides, groups, more = state.number, state.pairs, state.sides, state.groups, other.groups
    pair, token = number[CHOSEN], number[BASE] + number[MERGES]
    chained = np.int64(sides[2 * NO_PAIR + IS_BEFORE])
    chained_times = np.int64(groups[chained].times) if chained != 0 else np.int64(0)
    for i in range(1, other.number[GROUPS]):
        old, side = np.int64(more[i].old), np.int64(more[i].side)
        other.sides[2 * old + side] = 0
        group = np.int64(sides[2 * old + side])
        if group == 0:
            group = number[GROUPS]
            number[GROUPS] += 1
            sides[2 * old + side] = group
            groups[group].weight = groups[group].times = 0
            groups[group].old, groups[group].side = old, side
        # What the first half has in the slice: not what became a part of two new tokens side by side, as in `settle`.
        is_chained = side == IS_BEHIND and pairs[old].right == pairs[pair].left
        more[i].fill = groups[group].times - (chained_times if is_chained else 0)
        more[i].new = group
        groups[group].weight += more[i].weight
        groups[group].times += more[i].times
    number[TOKENS_LEFT] += other.number[TOKENS_LEFT]
    free_slice(pairs, number, pair)
    settle(state, pair, token, joined)
    for i in range(1, other.number[GROUPS]):
        group = np.int64(more[i].new)
        more[i].fill += groups[group].fill
        more[i].new = groups[group].new


@kernel
def place_second(state, joined, first_born):
    """As `place` does, but almost all cells were told other numbers."""
    cells, arena, groups, joints = state.cells, state.arena, state.groups, state.joints
    for i in range(joined):
        if i + AHEAD < joined:
            prefetch(cells, np.uint64(joints[i + AHEAD].cell))
        place_joint(cells, arena, groups, joints[i], first_born)


@kernel
def end_wide(state, columns, first_born):
    """Let the new pairs queue."""
    let_born_queue(state, state.number[CHOSEN], state.number[BASE] + state.number[MERGES], first_born)
    end_step(state, columns)
