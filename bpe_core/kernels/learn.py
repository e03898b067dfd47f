"""The merge loop.

Counts only fall: a pair that exists can only lose occurrences, and pairs with the new token
are all born during the merge that makes it. From this follows nearly everything here:
 - the occurrences of a pair are one sorted slice of `arena`, written once at its birth;
 - whether it still stands at one of them is asked of the cell, which names the pair it begins;
 - what two new tokens stand between is told by the pairs that they replace, so no table of
   pairs is searched: joining `a b` in `p a b n`, the weight that (p, a) loses is the weight
   that (p, ab) is born with, and (b, n) gives its own to (ab, n);
 - a pair born too rare is forgotten at once, and so is everything that would descend from it;
 - the best pair is found without keeping all pairs in order (see learn_queue.py).
"""

from __future__ import annotations

import numpy as np

from bpe_core.kernels.jit import kernel
from bpe_core.kernels.learn_queue import BY_SMALLEST_TEXT, best_pair, enter
from bpe_core.kernels.learn_start import add_pair, base_slot
from bpe_core.kernels.learn_state import (
    ARENA,
    BASE,
    FIRST_GROUP,
    FORBIDDEN,
    FORCED,
    FORCED_FREQUENCY,
    FORCED_LENGTH,
    GOING,
    GROUPS,
    HINT_SHIFT,
    MAX_LENGTH,
    MERGES,
    MIN_FREQUENCY,
    NEEDS_ARENA,
    NEEDS_PAIRS,
    NEEDS_TEXT,
    NO_PAIR,
    OUT_OF_PAIRS,
    PAIRS,
    SEPARATOR,
    STATUS,
    TEXT,
    TIES,
    TOKENS_LEFT,
    TOO_RARE,
    UNWRITTEN,
    WANTED,
)
from bpe_core.kernels.memory import prefetch

AHEAD = 8  # occurrences whose memory is fetched while others are worked on
CHAINED = 0  # the group of new tokens that stand behind another


@kernel
def learn(state, columns, stop_at, work):
    """Merge until so many merges are learned or about that much work is done; why it returned is in STATUS."""
    number = state.number
    number[STATUS] = GOING
    while number[MERGES] < stop_at and work > 0:
        pair, left, right = choose(state)
        if left < 0:
            number[STATUS] = TOO_RARE if any_pair_left(state) else OUT_OF_PAIRS
            return
        number[STATUS] = missing_room(state, pair, left, right)
        if number[STATUS] != GOING:
            return
        token = name_token(state, left, right)
        write_choice(state, columns, pair, left, right)
        if pair != NO_PAIR:
            work -= merge(state, pair, token)
        columns.tokens_left[number[MERGES]] = number[TOKENS_LEFT]
        number[MERGES] += 1
        forbid_due(state)
        work -= 8


@kernel
def forbid_due(state):
    """Let no pair be chosen any more that is forbidden from here on. None can come to stand anywhere later."""
    number, forbidden = state.number, state.forbidden
    while 3 * number[FORBIDDEN] < len(forbidden) and forbidden[3 * number[FORBIDDEN]] <= number[MERGES]:
        at = 3 * number[FORBIDDEN]
        state.pairs[find_pair(state, forbidden[at + 1], forbidden[at + 2])].count = 0
        number[FORBIDDEN] += 1


@kernel
def choose(state):
    """The pair to merge next: (pair, left, right); left is -1 where there is none."""
    step = state.number[MERGES]
    if step < state.number[FORCED] and state.forced_left[step] >= 0:
        left, right = np.int64(state.forced_left[step]), np.int64(state.forced_right[step])
        return find_pair(state, left, right), left, right
    pair = best_pair(state)
    if pair == NO_PAIR:
        return pair, np.int64(-1), np.int64(-1)
    return pair, np.int64(state.pairs[pair].left), np.int64(state.pairs[pair].right)


@kernel
def find_pair(state, left, right):
    """The pair of these tokens if it is remembered: it was born with the younger of them."""
    pairs, base = state.pairs, state.number[BASE]
    younger = max(left, right)
    if younger < base:
        return np.int64(state.base_slots[base_slot(state.base_slots, pairs, base, left, right)])
    for pair in range(state.born_first[younger], state.born_first[younger + 1]):
        if pairs[pair].left == left and pairs[pair].right == right:
            return np.int64(pair)
    return np.int64(NO_PAIR)


@kernel
def missing_room(state, pair, left, right):
    """GOING if everything this merge can bring to life fits."""
    number = state.number
    tokens = number[BASE] + number[MERGES] + 1
    born = min(2 * np.int64(state.pairs[pair].times), 2 * tokens) + 1 if pair != NO_PAIR else 0
    if number[PAIRS] + born > len(state.pairs):
        return NEEDS_PAIRS
    number[WANTED] = 2 * np.int64(state.pairs[pair].times) if pair != NO_PAIR else 0
    if number[ARENA] + number[WANTED] > len(state.arena):
        return NEEDS_ARENA
    if number[TIES] >= BY_SMALLEST_TEXT:
        length = state.text_starts[left + 1] - state.text_starts[left]
        length += state.text_starts[right + 1] - state.text_starts[right]
        if number[TEXT] + length > len(state.text):
            return NEEDS_TEXT
    return GOING


@kernel
def name_token(state, left, right):
    """Write down the new token's length and text; its id."""
    token = state.number[BASE] + state.number[MERGES]
    state.token_lengths[token] = state.token_lengths[left] + state.token_lengths[right]
    state.born_first[token] = state.born_first[token + 1] = state.number[PAIRS]
    if state.number[TIES] < BY_SMALLEST_TEXT:
        return token
    at, unwritten = state.number[TEXT], np.int64(0)
    for part in (left, right):
        for i in range(state.text_starts[part] + unwritten, state.text_starts[part + 1]):
            state.text[at] = state.text[i]
            at += 1
        unwritten = state.number[UNWRITTEN]
    state.number[TEXT] = at
    state.text_starts[token + 1] = at
    return token


@kernel
def write_choice(state, columns, pair, left, right):
    """What was chosen, and what would have been chosen without it."""
    row, pairs = state.number[MERGES], state.pairs
    columns.left[row] = left
    columns.right[row] = right
    columns.count[row] = pairs[pair].count if pair != NO_PAIR else 0
    pairs[pair].count = 0  # it is dropped from the queue when it comes up
    other = best_pair(state)
    if other == NO_PAIR:
        columns.runner_up_left[row] = columns.runner_up_right[row] = -1
        columns.runner_up_count[row] = -1
    else:
        columns.runner_up_left[row] = pairs[other].left
        columns.runner_up_right[row] = pairs[other].right
        columns.runner_up_count[row] = pairs[other].count


@kernel
def merge(state, pair, token):
    """Put the new token in the place of every occurrence of the pair; how much work it was."""
    number, pairs = state.number, state.pairs
    begin, stop = pairs[pair].first, pairs[pair].first + pairs[pair].times
    joined = join(state, pair, token)
    settle(state, pair, token)
    place(state, begin, joined)
    for born in range(state.born_first[token], number[PAIRS]):
        if pairs[born].count >= number[MIN_FREQUENCY] and born_length(state, born) <= number[MAX_LENGTH]:
            enter(state, born)
    state.born_first[token + 1] = number[PAIRS]
    pairs[pair].count = 0
    pairs[pair].times = 0
    return (stop - begin) + 8 * number[GROUPS]


@kernel
def born_length(state, pair):
    return np.int64(state.token_lengths[state.pairs[pair].left]) + state.token_lengths[state.pairs[pair].right]


@kernel
def join(state, pair, token):
    """Join every occurrence, and gather the neighbours in groups, one for each pair that is broken up.

    Until `place` knows the new pairs, the cells where they begin hold the number of their
    group. The occurrences that were real (`aaa` holds a+a twice but gives one token) are
    moved to the front of the slice; returns where they end.

    Where two new tokens come to stand side by side (`abab`), the group of the first one's
    right neighbour was (ab, a) for a moment, and is CHAINED in the end.
    """
    cells, arena, pairs, groups = state.cells, state.arena, state.pairs, state.groups
    sides, words, hints = state.sides, state.words, state.word_hints
    left_length = np.int64(state.token_lengths[pairs[pair].left])
    length = np.int64(state.token_lengths[token])
    begin = pairs[pair].first
    joined, total, used = begin, np.int64(0), np.int64(1)
    groups[CHAINED].weight = 0
    groups[CHAINED].times = 0
    stop = begin + pairs[pair].times
    for entry in range(begin, stop):
        if entry + 2 * AHEAD < stop:
            prefetch(cells, np.uint64(arena[entry + 2 * AHEAD]))
            prefetch(words, np.uint64(hints[np.int64(arena[entry + AHEAD]) >> HINT_SHIFT]))
        cell = np.int64(arena[entry])
        if cells[cell] != pair:
            continue
        word = hints[cell >> HINT_SHIFT]
        while words[word + 1].start <= cell:
            word += 1
        weight = words[word].count
        total += weight
        arena[joined] = cell
        joined += 1

        start = start_of_token_before(cells, cell)
        middle = cell + left_length
        old_before, old_behind = cells[start], cells[middle]
        cells[middle] = NO_PAIR
        cells[cell + length - 1] = -length
        if old_before >= FIRST_GROUP:
            groups[CHAINED].weight += weight
            groups[CHAINED].times += 1
            cells[start] = FIRST_GROUP + CHAINED
        elif old_before > NO_PAIR:
            group = np.int64(sides[old_before].before)
            if group == 0:
                group = used
                used += 1
                sides[old_before].before = group
                begin_group(groups, group, old_before, 1)
            groups[group].weight += weight
            groups[group].times += 1
            cells[start] = FIRST_GROUP + group
        if old_behind > NO_PAIR:
            group = np.int64(sides[old_behind].behind)
            if group == 0:
                group = used
                used += 1
                sides[old_behind].behind = group
                begin_group(groups, group, old_behind, 0)
            groups[group].weight += weight
            groups[group].times += 1
            cells[cell] = FIRST_GROUP + group
        else:
            cells[cell] = NO_PAIR
    state.number[TOKENS_LEFT] -= total
    state.number[GROUPS] = used
    return joined


@kernel
def start_of_token_before(cells, cell):
    last = np.int64(cells[cell - 1])
    return cell - 1 if last >= SEPARATOR else cell + last


@kernel
def begin_group(groups, group, old, is_before):
    groups[group].weight = 0
    groups[group].times = 0
    groups[group].old = old
    groups[group].is_before = is_before


@kernel
def settle(state, pair, token):
    """Take from the old pairs, give birth to the new ones."""
    groups, pairs = state.groups, state.pairs
    left = pairs[pair].left
    chained = groups[CHAINED]
    give_birth(state, chained, token, token, chained.weight, chained.times)
    for i in range(1, state.number[GROUPS]):
        group = groups[i]
        old = pairs[group.old]
        old.count -= group.weight
        if group.is_before:
            state.sides[group.old].before = 0
            give_birth(state, group, old.left, token, group.weight, group.times)
            continue
        state.sides[group.old].behind = 0
        weight, times = group.weight, np.int64(group.times)
        if old.right == left:  # some of these neighbours became new tokens themselves
            weight -= chained.weight
            times -= chained.times
        give_birth(state, group, token, old.right, weight, times)


@kernel
def give_birth(state, group, left, right, weight, times):
    """Remember the pair that replaces a group's old one, if it can ever be merged."""
    number = state.number
    forced = number[MERGES] < number[FORCED]
    least = number[FORCED_FREQUENCY] if forced else number[MIN_FREQUENCY]
    longest = number[FORCED_LENGTH] if forced else number[MAX_LENGTH]
    length = np.int64(state.token_lengths[left]) + state.token_lengths[right]
    if times == 0 or weight < least or length > longest:
        group.new = NO_PAIR
        return
    group.new = add_pair(state.pairs, number, left, right, weight, times)
    group.fill = state.pairs[group.new].first


@kernel
def place(state, begin, stop):
    """Write the new pairs in their cells, and their occurrences, in ascending order, in the arena."""
    cells, arena, groups = state.cells, state.arena, state.groups
    for entry in range(begin, stop):
        if entry + 2 * AHEAD < stop:
            prefetch(cells, np.uint64(arena[entry + 2 * AHEAD]))
        cell = np.int64(arena[entry])
        start = start_of_token_before(cells, cell)
        if cells[start] >= FIRST_GROUP:
            place_one(cells, arena, groups, start)
        if cells[cell] >= FIRST_GROUP:
            place_one(cells, arena, groups, cell)


@kernel
def place_one(cells, arena, groups, cell):
    group = groups[cells[cell] - FIRST_GROUP]
    cells[cell] = group.new
    if group.new != NO_PAIR:
        arena[group.fill] = cell
        group.fill += 1


@kernel
def tidy_arena(state):
    """Keep only the occurrences that still stand, of pairs that may still be merged: never more than tokens."""
    cells, arena, pairs, number = state.cells, state.arena, state.pairs, state.number
    least = number[FORCED_FREQUENCY] if number[MERGES] < number[FORCED] else number[MIN_FREQUENCY]
    end = np.int64(0)
    for pair in range(1, number[PAIRS]):
        begin, stop = pairs[pair].first, pairs[pair].first + pairs[pair].times
        pairs[pair].first = end
        if pairs[pair].count >= least:
            for entry in range(begin, stop):
                cell = arena[entry]
                if cells[cell] == pair:
                    arena[end] = cell
                    end += 1
        pairs[pair].times = end - pairs[pair].first
    number[ARENA] = end


@kernel
def any_pair_left(state):
    """Whether any two neighbours could still be merged if they were more frequent."""
    cells, longest = state.cells, state.number[MAX_LENGTH]
    length_behind = np.int64(0)  # of the token behind, 0 for a separator
    cell = np.int64(len(cells) - 1)
    while cell >= 0:
        last = np.int64(cells[cell])
        length = np.int64(0) if last == SEPARATOR else np.int64(1) if last > SEPARATOR else -last
        if length > 0 and length_behind > 0 and length + length_behind <= longest:
            return True
        length_behind = length
        cell -= max(length, np.int64(1))
    return False
