"""The merge loop, which learns the merges of byte-pair encoding one by one.

The array `cells` holds all distinct words. The array `arena` holds the indices of the cells at which pairs occur. See
`learn_state.py`.

Counts only fall: a pair that exists can only lose occurrences, and all pairs with the new token are created during the
merge that makes the token. Nearly all rules of this module follow from this fact:
 - the occurrences of a pair are one sorted slice of `arena`, which is written once when the pair is created;
 - a cell holds the number of the pair that begins at it, so the cell shows whether an occurrence in the slice is valid;
 - no table of pairs is searched, because each new pair replaces a known pair (see learn_join.py);
 - a pair that is too rare when it is created is never stored, because its count cannot rise later;
 - the best pair is found without sorting all pairs (see learn_queue.py).

A pair with very many occurrences is merged on two cores (see learn_in_halves.py).
"""

from __future__ import annotations

import numpy as np

from bpe_core.kernels.jit import kernel
from bpe_core.kernels.learn_join import join, place, replace_pairs
from bpe_core.kernels.learn_queue import BY_SMALLEST_TEXT, any_pair_left, best_pair, drop_top, enter, push
from bpe_core.kernels.learn_score import best_scored, enter_scored, put_in, take_top, use_up, write_reasons
from bpe_core.kernels.learn_state import (
    GOING,
    IS_WIDE,
    NEEDS_ARENA,
    NEEDS_PAIRS,
    NEEDS_TEXT,
    NO_PAIR,
    OUT_OF_PAIRS,
    TOO_RARE,
    base_slot,
    free_slice,
    joined_span,
    may_join,
)

AHEAD = 16  # occurrences whose memory is fetched while others are processed
NEAR = 4  # at this distance their cells have arrived
MANY_PAIRS = 100_000  # more than the nearer caches hold
FEW_JOINTS = 100  # up to here, cells are still in the cache when the pairs are numbered


@kernel
def learn(state, scores, columns, reasons, stop_at, work):
    """Merge until `stop_at` merges are learned, or until about `work` units of work are done.

    The field `status` of `state.run` gets the reason why the loop ended.
    """
    run = state.run[0]
    run.status = GOING
    while run.merges < stop_at and work > 0:
        pair, left, right = choose(state, scores)
        if left < 0:
            run.status = TOO_RARE if any_pair_left(state) else OUT_OF_PAIRS
            return
        run.status = missing_room(state, pair, left, right)
        if run.status != GOING:
            return
        if len(scores) == 0 and state.pairs[pair].times >= run.wide:
            run.status, run.work_left = IS_WIDE, work
            return
        token = name_token(state, left, right)
        write_choice(state, scores, columns, reasons, pair, left, right)
        if pair != NO_PAIR:
            work -= merge(state, scores, pair, token)
        end_step(state, columns)
        work -= 8


@kernel
def end_step(state, columns):
    run = state.run[0]
    columns.tokens_left[run.merges] = run.tokens_left
    run.merges += 1
    remove_forbidden(state)


@kernel
def remove_forbidden(state):
    """Set the count to 0 for each pair that is forbidden from this step on. Such pairs cannot be merged later."""
    run, forbidden = state.run[0], state.forbidden
    while 3 * run.forbidden < len(forbidden) and forbidden[3 * run.forbidden] <= run.merges:
        at = 3 * run.forbidden
        state.pairs[find_pair(state, forbidden[at + 1], forbidden[at + 2])].count = 0
        run.forbidden += 1


# --- The order of pairs: by count, or by score where `scores` is not empty ---


@kernel
def best(state, scores):
    if len(scores) == 0:
        return best_pair(state)
    return best_scored(state, scores)


@kernel
def queue_pair(state, scores, pair):
    if len(scores) == 0:
        enter(state, pair)
    else:
        enter_scored(state, scores, pair)


@kernel
def queue_base_pairs(state, scores):
    for pair in range(1, state.run[0].pairs):
        record = state.pairs[pair]
        if record.count >= state.run[0].min_frequency and may_join(state, record.left, record.right):
            queue_pair(state, scores, pair)


@kernel
def leading_pairs(state, scores, wanted, leading):
    """Write the best pairs in the order in which they would be merged now. Return the number of pairs."""
    total = 0
    while total < wanted:
        pair = best(state, scores)
        if pair == NO_PAIR:
            break
        leading[total] = pair
        total += 1
        if len(scores) == 0:
            drop_top(state)
        else:
            take_top(state, scores, np.int64(scores.entries[pair].owner))
    for i in range(total):
        if len(scores) == 0:
            push(state, leading[i])
        else:
            put_in(state, scores, leading[i])
    return total


@kernel
def choose(state, scores):
    """Return three values: the number of the pair to merge next, its left token and its right token.

    The left token is -1 if there is no pair.
    """
    step = state.run[0].merges
    if step < state.run[0].forced and state.forced_left[step] >= 0:
        left, right = np.int64(state.forced_left[step]), np.int64(state.forced_right[step])
        return find_pair(state, left, right), left, right
    pair = best(state, scores)
    if pair == NO_PAIR:
        return pair, np.int64(-1), np.int64(-1)
    return pair, np.int64(state.pairs[pair].left), np.int64(state.pairs[pair].right)


@kernel
def find_pair(state, left, right):
    """Return the number of a pair of tokens, or NO_PAIR if the pair is not stored.

    When a token is made, all pairs that appear with it are stored in a list of the token. The list of the newer
    of the two tokens is searched.
    """
    pairs, base = state.pairs, state.run[0].base
    younger = max(left, right)
    if younger < base:
        return np.int64(state.base_slots[base_slot(state.base_slots, pairs, base, left, right)])
    for pair in range(state.born_first[younger], state.born_first[younger + 1]):
        if pairs[pair].left == left and pairs[pair].right == right:
            return np.int64(pair)
    return np.int64(NO_PAIR)


@kernel
def missing_room(state, pair, left, right):
    """Return GOING if the arrays have room for everything that a merge creates.

    Otherwise return a status that names the array without room.
    """
    run = state.run[0]
    tokens = run.base + run.merges + 1
    born = min(2 * np.int64(state.pairs[pair].times), 2 * tokens) + 1 if pair != NO_PAIR else 0
    if run.pairs + born > len(state.pairs):
        return NEEDS_PAIRS
    run.wanted = 2 * np.int64(state.pairs[pair].times) if pair != NO_PAIR else 0
    if run.arena + run.wanted > len(state.arena):
        return NEEDS_ARENA
    if run.ties >= BY_SMALLEST_TEXT:
        length = state.text_starts[left + 1] - state.text_starts[left]
        length += state.text_starts[right + 1] - state.text_starts[right]
        if run.text + length > len(state.text):
            return NEEDS_TEXT
    return GOING


@kernel
def name_token(state, left, right):
    """Return the index of the new token, and store what later merges need of it, such as its length and its text."""
    token = state.run[0].base + state.run[0].merges
    state.token_lengths[token] = state.token_lengths[left] + state.token_lengths[right]
    if state.run[0].whole_characters:
        state.lacks[token] = state.lacks[left] + state.lacks[right]
    if state.run[0].most_words > 0:
        state.spans[token] = joined_span(np.int64(state.spans[left]), np.int64(state.spans[right]))
    state.born_first[token] = state.born_first[token + 1] = state.run[0].pairs
    if state.run[0].ties >= BY_SMALLEST_TEXT:
        write_text(state, token, left, right)
    return token


@kernel
def write_text(state, token, left, right):
    at, unwritten = state.run[0].text, np.int64(0)
    for part in (left, right):
        for i in range(state.text_starts[part] + unwritten, state.text_starts[part + 1]):
            state.text[at] = state.text[i]
            at += 1
        unwritten = state.run[0].unwritten
    state.run[0].text = at
    state.text_starts[token + 1] = at


@kernel
def write_choice(state, scores, columns, reasons, pair, left, right):
    """Write the chosen pair, its count and its reasons into the columns of the history.

    Also write the runner-up, or the pair that would have been chosen without an intervention.
    """
    row, pairs = state.run[0].merges, state.pairs
    count = pairs[pair].count if pair != NO_PAIR else np.int64(0)
    columns.left[row], columns.right[row], columns.count[row] = left, right, count
    pairs[pair].count = 0  # the pair is removed from the queue when it comes to the top
    other = best(state, scores)
    if other == NO_PAIR:
        columns.runner_up_left[row] = columns.runner_up_right[row] = columns.runner_up_count[row] = -1
    else:
        columns.runner_up_left[row], columns.runner_up_right[row] = pairs[other].left, pairs[other].right
        columns.runner_up_count[row] = pairs[other].count
    if len(scores) > 0:
        write_reasons(state, scores, reasons, left, right, count, other)


@kernel
def merge(state, scores, pair, token):
    """Replace every occurrence of the pair by the new token. Return the amount of work."""
    run, pairs = state.run[0], state.pairs
    first, times, first_born = pairs[pair].first, np.int64(pairs[pair].times), run.pairs
    work, before = times, run.tokens_left
    joined = join(state, pair, token, first, first + times)
    free_slice(pairs, run, pair)
    replace_pairs(state, pair, token, joined)
    place(state, joined, first_born)
    if len(scores) > 0:
        work += use_up(state, scores, pair, token, before - run.tokens_left)
    queue_new_pairs(state, scores, pair, token, first_born)
    return work + 8 * run.groups


@kernel
def queue_new_pairs(state, scores, pair, token, first_born):
    pairs, run = state.pairs, state.run[0]
    pairs[pair].count = pairs[pair].times = 0
    for born in range(first_born, run.pairs):
        if pairs[born].count >= run.min_frequency and may_join(state, pairs[born].left, pairs[born].right):
            queue_pair(state, scores, born)
    state.born_first[token + 1] = run.pairs
