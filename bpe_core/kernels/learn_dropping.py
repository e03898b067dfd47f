"""The merge loop for methods that drop tokens, so that counts may rise again.

In `learn.py`, the count of a pair never rises. Here it can rise, because a drop splits a token into other tokens, and
they form pairs with their neighbours. The array `cells` holds all distinct words, as in `learn.py`. But here the first
cell of a token holds the token itself, and not a pair. The last cell of a longer token holds minus its length. All
cells at which a token begins are in a linked list. To find a pair, the kernels search the list of its rarer token.

Each change is handled in a window of cells around the changed tokens. A run of equal tokens is never divided by the
ends of the window, because the pairs in such a run are counted together: `aaa` holds a+a once. Before the
change, all pairs in the window are subtracted from the counts. After the change, all pairs that are then in the window
are added. Pairs whose counts have risen enter the queue again. An entry with an outdated count is corrected when it
comes to the top of the queue.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bpe_core.kernels.jit import inlined, kernel
from bpe_core.kernels.learn import write_choice, write_text
from bpe_core.kernels.learn_join import start_of_token_before, weight_of
from bpe_core.kernels.learn_queue import any_pair_left, best_pair, compare_tokens, push
from bpe_core.kernels.learn_state import (
    GOING,
    NEEDS_PAIRS,
    NEEDS_TEXT,
    NO_PAIR,
    OUT_OF_PAIRS,
    SEPARATOR,
    TOO_RARE,
    add_pair,
    base_slot,
)
from bpe_core.kernels.word_tables import hash_of
from bpe_core.support.arrays import Int32s, Int64s

IS_FULL = 100  # the status of a run that has as many tokens as requested
NOWHERE = 0  # the end of a list of cells: the first cell is a separator
UNTOUCHED, LAST = 0, -1  # in `next` of a pair: the step has not changed the pair; the pair is the last changed pair
NOT_MADE = -1  # in place of the parts of a base symbol
BEYOND = 8  # bytes after a text that may be read
TOKENS, IN_USE, DUE, DUE_NEXT = range(4)  # entries of `number`; the last two are the tokens to drop next, or NOT_MADE


class Tokens(NamedTuple):
    """The arrays about tokens that only the merge loop with drops needs. All other arrays are in `State`."""

    held: Int64s  # how often each token occurs in the words
    places: Int32s  # the number of cells at which each token begins
    first: Int32s  # the first cell of each token's list
    left: Int32s  # the left and right part of which each token was first made
    right: Int32s
    in_use: Int32s  # 1 for each token that is in use, and otherwise 0
    by_text: Int32s  # a table of the tokens that were made; 0 is empty
    next_of: Int32s  # for each cell the next cell with the same token; below, the cell before
    before_of: Int32s
    parts: Int32s  # a buffer for the parts of the longest token
    made: Int32s  # the token that each step made or dropped
    number: Int64s


@kernel
def begin(state, tokens):
    """Count the base symbols and their pairs in all words, before the first step."""
    cells, stop = state.cells, np.int64(len(state.cells) - 1)
    for cell in range(len(cells) - 1, -1, -1):
        if cells[cell] != SEPARATOR:
            add_place(tokens, cell, np.int64(cells[cell]))
            tokens.held[cells[cell]] += weight_at(state, cell)
            continue
        if stop > cell + 1:
            count_pairs(state, np.int64(cell + 1), stop, weight_at(state, np.int64(cell + 1)))
        stop = np.int64(cell)
    queue_risen(state)


@inlined
def weight_at(state, cell):
    return weight_of(np.int64(0), cell, state.words, state.word_hints)


@kernel
def learn(state, tokens, columns, stop_at, work, wanted, tau, into_bytes):
    """Make steps until there are `stop_at` steps or `wanted` tokens, or about `work` units of work are done.

    A step is a merge or a drop.
    """
    run, number = state.run[0], tokens.number
    run.status = GOING
    while run.merges < stop_at and work > 0:
        row = run.merges
        if number[DUE] != NOT_MADE:
            token = number[DUE]
            parts = replace_dropped(tokens, token, run.base, into_bytes)
            run.status = missing_room(state, tokens, np.int64(tokens.places[token]), parts, np.int64(0))
            if run.status != GOING:
                return
            number[DUE], number[DUE_NEXT] = number[DUE_NEXT], NOT_MADE
            write_drop(columns, row, token, tokens.held[token])
            work -= drop(state, tokens, token, parts)
        elif number[IN_USE] >= wanted:
            run.status = IS_FULL
            return
        else:
            pair = best_pair(state)
            if pair == NO_PAIR:
                run.status = TOO_RARE if any_pair_left(state) else OUT_OF_PAIRS
                return
            left, right = np.int64(state.pairs[pair].left), np.int64(state.pairs[pair].right)
            starts = state.text_starts
            length = starts[left + 1] - starts[left] + starts[right + 1] - starts[right]
            places = np.int64(min(tokens.places[left], tokens.places[right]))
            run.status = missing_room(state, tokens, places, np.int64(1), length)
            if run.status != GOING:
                return
            write_choice(state, (), columns, (), pair, left, right)
            count = state.pairs[pair].count = columns.count[row]  # set again, because `merge` subtracts each occurrence
            number[DUE], number[DUE_NEXT] = halves_to_drop(tokens, left, right, count, tau, run.base)
            token = token_of(state, tokens, left, right)
            work -= merge(state, tokens, left, right, token)
        tokens.made[row] = token
        columns.tokens_left[row] = run.tokens_left
        run.merges += 1
        queue_risen(state)
        work -= 8


@kernel
def missing_room(state, tokens, places, parts, length):
    """Return GOING if there is room for a step and for a text of `length` bytes. Otherwise return the reason to stop.

    `places` is the number of cells at which the step changes the words. `parts` is the number of tokens that the step
    puts at each of these cells.
    """
    run = state.run[0]
    run.wanted = min(places * (parts + 1), 2 * tokens.number[TOKENS] + parts + 2)
    if run.pairs + run.wanted > len(state.pairs) or run.heap + run.wanted > len(state.heap):
        return NEEDS_PAIRS
    if run.text + length + BEYOND > len(state.text) or tokens.number[TOKENS] >= len(tokens.left):
        return NEEDS_TEXT
    return GOING


@kernel
def write_drop(columns, row, token, count):
    columns.left[row], columns.right[row], columns.count[row] = token, -1, count
    columns.runner_up_left[row] = columns.runner_up_right[row] = columns.runner_up_count[row] = -1


@kernel
def halves_to_drop(tokens, left, right, count, tau, base):
    """Return two values: the tokens that must be dropped after a merge.

    They are halves of the merged pair: its left or right token. A half is dropped if the merge used at least the share
    `tau` of the half's occurrences. If only one token is dropped, the second value is NOT_MADE. If none is dropped,
    both values are NOT_MADE.
    """
    drops_left = left >= base and np.float64(count) / np.float64(tokens.held[left]) >= tau
    drops_right = left != right and right >= base and np.float64(count) / np.float64(tokens.held[right]) >= tau
    if drops_left:
        return left, right if drops_right else np.int64(NOT_MADE)
    return right if drops_right else np.int64(NOT_MADE), np.int64(NOT_MADE)


@kernel
def token_of(state, tokens, left, right):
    """Return the token whose text is the joined text of two tokens. Several merges can make the same token."""
    token, run = tokens.number[TOKENS], state.run[0]
    write_text(state, token, left, right)
    state.token_lengths[token] = state.token_lengths[left] + state.token_lengths[right]
    slot = slot_of(state, tokens, token)
    if tokens.by_text[slot] == 0:
        tokens.by_text[slot] = token
        tokens.number[TOKENS] += 1
        tokens.left[token], tokens.right[token] = left, right
    else:
        run.text = state.text_starts[token]
        token = np.int64(tokens.by_text[slot])
    if tokens.in_use[token] == 0:
        tokens.in_use[token] = 1
        tokens.number[IN_USE] += 1
    return token


@kernel
def slot_of(state, tokens, token):
    start = state.text_starts[token]
    mask = np.uint64(len(tokens.by_text) - 1)
    slot = hash_of(state.text, start, state.text_starts[token + 1] - start) >> np.uint64(32) & mask
    while tokens.by_text[slot] != 0 and not are_alike(state, np.int64(tokens.by_text[slot]), token):
        slot = (slot + np.uint64(1)) & mask
    return slot


@kernel
def are_alike(state, token, other):
    """Return whether two tokens have the same text and the same length in cells.

    The text alone is not enough, because a word may contain the text of the marker as ordinary characters.
    """
    return state.token_lengths[token] == state.token_lengths[other] and compare_tokens(state, token, other) == 0


@kernel
def enter_texts(state, tokens):
    for token in range(state.run[0].base, tokens.number[TOKENS]):
        tokens.by_text[slot_of(state, tokens, np.int64(token))] = token


@kernel
def replace_dropped(tokens, token, base, into_bytes):
    """Write the tokens that replace a dropped token into `parts`. Return the number of these tokens."""
    parts, count, at = tokens.parts, np.int64(1), np.int64(0)
    parts[0] = token
    while at < count:
        part = parts[at]
        if part < base or (part != token and tokens.in_use[part] != 0 and not into_bytes):
            at += 1
            continue
        for i in range(count, at + 1, -1):
            parts[i] = parts[i - 1]
        parts[at], parts[at + 1] = tokens.left[part], tokens.right[part]
        count += 1
    return count


# --- Changing tokens at their places --------------------------------------------------


@kernel
def merge(state, tokens, left, right, token):
    """Join every occurrence of the pair. Return the amount of work."""
    cells, lengths, work = state.cells, state.token_lengths, np.int64(0)
    first_length, length = np.int64(lengths[left]), np.int64(lengths[token])
    by_right = tokens.places[right] < tokens.places[left]
    cell = np.int64(tokens.first[right if by_right else left])
    while cell != NOWHERE:
        following = np.int64(tokens.next_of[cell])
        start = start_of_token_before(cells, cell) if by_right else cell
        work += 2
        if is_pair(cells, start, left, right, first_length) and not pair_ends(cells, start, left, right):
            stop = row_after(state, start) if left == right else start + length
            while left != right and is_pair(cells, stop, left, right, first_length):
                stop += length
            while start <= following < stop:
                following = np.int64(tokens.next_of[following])
            begin, end, weight = row_before(cells, start), row_after(state, stop), weight_at(state, start)
            count_pairs(state, begin, end, -weight)
            while start + length <= stop:
                remove_place(state, tokens, start)
                remove_place(state, tokens, start + first_length)
                put_token(state, tokens, start, token)
                start += length
                tokens.held[left] -= weight
                tokens.held[right] -= weight
                tokens.held[token] += weight
                state.run[0].tokens_left -= weight
            count_pairs(state, begin, end, weight)
            work += 16
        cell = following
    return work


@inlined
def is_pair(cells, start, left, right, first_length):
    return cells[start] == left and cells[start + first_length] == right


@kernel
def pair_ends(cells, cell, left, right):
    """Return whether an occurrence of the pair ends just before this cell.

    If several occurrences follow one another, the merge must begin at the first of them.
    """
    before = start_of_token_before(cells, cell)
    return cells[before] == right and (left == right or comes_after(cells, before, left))


@inlined
def comes_after(cells, cell, token):
    return cells[start_of_token_before(cells, cell)] == token


@kernel
def drop(state, tokens, token, parts):
    """Replace every occurrence of a token by the tokens in `tokens.parts[:parts]`. Return the amount of work."""
    cells, work = state.cells, np.int64(0)
    tokens.in_use[token] = 0
    tokens.number[IN_USE] -= 1
    while tokens.first[token] != NOWHERE:
        cell = np.int64(tokens.first[token])
        while comes_after(cells, cell, token):  # all tokens in a row of equal tokens are replaced together
            cell = start_of_token_before(cells, cell)
        stop = row_after(state, cell)
        begin, end, weight = row_before(cells, cell), row_after(state, stop), weight_at(state, cell)
        count_pairs(state, begin, end, -weight)
        while cell < stop:
            remove_place(state, tokens, cell)
            for i in range(parts):
                put_token(state, tokens, cell, np.int64(tokens.parts[i]))
                tokens.held[tokens.parts[i]] += weight
                cell += state.token_lengths[tokens.parts[i]]
            state.run[0].tokens_left += weight * (parts - 1)
            work += 16 + 8 * parts
        count_pairs(state, begin, end, weight)
    tokens.held[token] = 0
    return work


@inlined
def put_token(state, tokens, cell, token):
    length = np.int64(state.token_lengths[token])
    if length > 1:
        state.cells[cell + length - 1] = -length
    state.cells[cell] = token
    add_place(tokens, cell, token)


@kernel
def add_place(tokens, cell, token):
    """Add a cell to the list of cells at which a token occurs."""
    following = np.int64(tokens.first[token])
    tokens.first[token] = cell
    tokens.next_of[cell], tokens.before_of[cell] = following, NOWHERE
    if following != NOWHERE:
        tokens.before_of[following] = cell
    tokens.places[token] += 1


@kernel
def remove_place(state, tokens, cell):
    before, following, token = tokens.before_of[cell], tokens.next_of[cell], state.cells[cell]
    if before == NOWHERE:
        tokens.first[token] = following
    else:
        tokens.next_of[before] = following
    if following != NOWHERE:
        tokens.before_of[following] = before
    tokens.places[token] -= 1


# --- Counting pairs --------------------------------------------------------------------


@kernel
def row_before(cells, cell):
    """Return the first cell of the run of equal tokens just before this cell.

    A single token counts as a run. Return the cell itself if the word begins there.
    """
    before = start_of_token_before(cells, cell)
    token = cells[before]
    while token != SEPARATOR and cells[before] == token:
        cell = before
        before = start_of_token_before(cells, cell)
    return cell


@kernel
def row_after(state, cell):
    """Return the end of the run of equal tokens that begins at this cell.

    A single token counts as a run. Return the cell itself if no token begins there.
    """
    token = state.cells[cell]
    while token != SEPARATOR and state.cells[cell] == token:
        cell += state.token_lengths[token]
    return cell


@kernel
def count_pairs(state, cell, stop, weight):
    """Add `weight` to the count of each pair in the cells from `cell` to `stop`. Count pairs without overlaps."""
    cells, lengths, is_twin = state.cells, state.token_lengths, False
    left = np.int64(cells[cell])
    cell += lengths[left]
    while cell < stop:
        right = np.int64(cells[cell])
        overlaps = is_twin and left == right
        is_twin = left == right and not overlaps
        if not overlaps:
            add_weight(state, left, right, weight)
        left = right
        cell += lengths[left]


@kernel
def add_weight(state, left, right, weight):
    pairs, slots = state.pairs, state.base_slots
    slot = base_slot(slots, pairs, 0, left, right)
    pair = np.int64(slots[slot])
    if pair == NO_PAIR:
        pair = slots[slot] = add_pair(pairs, state.run[0], left, right, 0, 0)
    if pairs[pair].next == UNTOUCHED:
        pairs[pair].first = pairs[pair].count  # the count before the step
        pairs[pair].next = pairs[NO_PAIR].next
        pairs[NO_PAIR].next = pair
    pairs[pair].count += weight


@kernel
def queue_risen(state):
    """Queue the pairs whose counts have risen in a step, unless they are too rare.

    Also clear the list of pairs that the step has changed.
    """
    pairs, pair = state.pairs, np.int64(state.pairs[NO_PAIR].next)
    while pair != LAST:
        following = np.int64(pairs[pair].next)
        pairs[pair].next = UNTOUCHED
        if pairs[pair].count > pairs[pair].first and pairs[pair].count >= state.run[0].min_frequency:
            push(state, pair)
        pair = following
    pairs[NO_PAIR].next = LAST


@kernel
def queue_all(state):
    """Enter all pairs into the empty table of pairs, and queue them."""
    state.run[0].heap = 0
    for pair in range(1, state.run[0].pairs):
        left, right = np.int64(state.pairs[pair].left), np.int64(state.pairs[pair].right)
        state.base_slots[base_slot(state.base_slots, state.pairs, 0, left, right)] = pair
        if state.pairs[pair].count >= state.run[0].min_frequency:
            push(state, np.int64(pair))
