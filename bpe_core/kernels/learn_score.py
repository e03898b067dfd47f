"""The merge loop by score: pairs are counted, joined and born as in learn.py, and chosen by score_order.py."""

from __future__ import annotations

import numpy as np

from bpe_core.kernels.jit import kernel
from bpe_core.kernels.learn import (
    born_length,
    find_pair,
    forbid_due,
    join,
    missing_room,
    name_token,
    place,
    settle,
)
from bpe_core.kernels.learn_pairs import free_slice
from bpe_core.kernels.learn_queue import any_pair_left, first_occurrence
from bpe_core.kernels.learn_state import (
    FORCED,
    GOING,
    GROUPS,
    MAX_LENGTH,
    MERGES,
    MIN_FREQUENCY,
    NO_PAIR,
    OUT_OF_PAIRS,
    PAIRS,
    STATUS,
    TOKENS_LEFT,
    TOO_RARE,
)
from bpe_core.kernels.score_order import (
    best_scored,
    compare_scores,
    enter_scored,
    put_in,
    raise_pairs,
    settle_owner,
    take_top,
)


@kernel
def begin_scores(state, scores):
    """Let the pairs of base symbols queue."""
    for pair in range(1, state.number[PAIRS]):
        if state.pairs[pair].count >= state.number[MIN_FREQUENCY]:
            enter_scored(state, scores, pair)


@kernel
def learn_by_score(state, scores, columns, reasons, stop_at, work):
    """Merge until so many merges are learned or about that much work is done; why it returned is in STATUS."""
    number = state.number
    number[STATUS] = GOING
    while number[MERGES] < stop_at and work > 0:
        pair, left, right = choose_by_score(state, scores)
        if left < 0:
            number[STATUS] = TOO_RARE if any_pair_left(state) else OUT_OF_PAIRS
            return
        number[STATUS] = missing_room(state, pair, left, right)
        if number[STATUS] != GOING:
            return
        token = name_token(state, left, right)
        write_scored_choice(state, scores, columns, reasons, pair, left, right)
        scores.token_counts[token] = 0
        if pair != NO_PAIR:
            work -= merge_scored(state, scores, pair, token)
        columns.tokens_left[number[MERGES]] = number[TOKENS_LEFT]
        number[MERGES] += 1
        forbid_due(state)
        work -= 16


@kernel
def choose_by_score(state, scores):
    """The pair to merge next: (pair, left, right); left is -1 where there is none."""
    step = state.number[MERGES]
    if step < state.number[FORCED] and state.forced_left[step] >= 0:
        left, right = np.int64(state.forced_left[step]), np.int64(state.forced_right[step])
        return find_pair(state, left, right), left, right
    pair = best_scored(state, scores)
    if pair == NO_PAIR:
        return pair, np.int64(-1), np.int64(-1)
    return pair, np.int64(state.pairs[pair].left), np.int64(state.pairs[pair].right)


@kernel
def write_scored_choice(state, scores, columns, reasons, pair, left, right):
    """What was chosen and for what score, and what would have been chosen without it."""
    row, pairs, counts = state.number[MERGES], state.pairs, scores.token_counts
    count = pairs[pair].count if pair != NO_PAIR else np.int64(0)
    columns.left[row], columns.right[row], columns.count[row] = left, right, count
    reasons.left_count[row], reasons.right_count[row] = counts[left], counts[right]
    pairs[pair].count = 0  # it is left out when it comes up
    other = best_scored(state, scores)
    if other == NO_PAIR:
        columns.runner_up_left[row] = columns.runner_up_right[row] = columns.runner_up_count[row] = -1
        reasons.tied[row] = False
        return
    record = pairs[other]
    columns.runner_up_left[row], columns.runner_up_right[row] = record.left, record.right
    columns.runner_up_count[row] = record.count
    reasons.tied[row] = count > 0 and (
        compare_scores(count, counts[left], counts[right], record.count, counts[record.left], counts[record.right]) == 0
    )


@kernel
def merge_scored(state, scores, pair, token):
    """Put the new token in the place of every occurrence of the pair; how much work it was."""
    number, pairs = state.number, state.pairs
    left, right = np.int64(pairs[pair].left), np.int64(pairs[pair].right)
    before, first_born = number[TOKENS_LEFT], number[PAIRS]
    first, times = pairs[pair].first, np.int64(pairs[pair].times)
    joined = join(state, pair, token, first, first + times)
    free_slice(pairs, number, pair)
    settle(state, pair, token, joined)
    place(state, joined, first_born)
    used = before - number[TOKENS_LEFT]
    scores.token_counts[left] -= used
    scores.token_counts[right] -= used
    scores.token_counts[token] = used
    settle_owner(state, scores, left)
    settle_owner(state, scores, right)
    risen = raise_pairs(state, scores, left)
    if right != left:
        risen += raise_pairs(state, scores, right)
    for born in range(first_born, number[PAIRS]):
        if pairs[born].count >= number[MIN_FREQUENCY] and born_length(state, born) <= number[MAX_LENGTH]:
            enter_scored(state, scores, born)
    state.born_first[token + 1] = number[PAIRS]
    pairs[pair].count = 0
    pairs[pair].times = 0
    return times + 16 * number[GROUPS] + risen


@kernel
def leading_by_score(state, scores, wanted, found, cells):
    """The best pairs in the order they would be merged now, and where each stands first; how many there are."""
    total = 0
    while total < wanted:
        pair = best_scored(state, scores)
        if pair == NO_PAIR:
            break
        found[total] = pair
        cells[total] = first_occurrence(state.cells, state.arena, state.pairs, pair)
        take_top(state, scores, np.int64(scores.entries[pair].owner))
        total += 1
    for i in range(total):
        put_in(state, scores, found[i])
    return total
