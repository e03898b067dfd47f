"""The merge loop.

The distinct words lie end to end in `symbols`, a separator before, between and behind
them. A token covers a stretch of cells; its id stands in the first *and* the last of
them, so both neighbours of a token are one look away without a linked list.

Counts only fall: a pair that exists can only lose occurrences, and pairs with the new
token are all born during the merge that makes it, in ascending position. So
 - the occurrences of a pair are one sorted slice of `arena`, written once;
 - one heap that is corrected only at its top finds the best pair under every tie rule
   (the first occurrence of a pair, too, only moves later);
 - a pair born below the minimum frequency need not be remembered at all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bpe_core.compiled.jit import kernel
from bpe_core.history import Columns

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]
UInt64s = npt.NDArray[np.uint64]
Bytes = npt.NDArray[np.uint8]

SEPARATOR = -1
INSIDE = -2  # a cell that once began a token and now lies inside a larger one

# Entries of `State.number`: the scalars of a run.
MERGES = 0  # learned so far
PAIRS = 1  # remembered so far, dead ones included
ARENA = 2  # cells of the arena in use
HEAP = 3  # entries of the heap
TOKENS_LEFT = 4
BASE = 5  # size of the alphabet
MIN_FREQUENCY = 6
MAX_LENGTH = 7
TIES = 8  # one of the rules below
STATUS = 9  # why `learn` returned
FORCED = 10  # merges that are given rather than chosen
TEXT = 11  # bytes of token text in use
NUMBERS = 12

BY_FIRST_SEEN, BY_IDS, BY_SMALLEST_TEXT, BY_LARGEST_TEXT = range(4)
GOING, OUT_OF_PAIRS, TOO_RARE, NEEDS_ROOM = range(4)

# Columns of `State.near`: what happened beside the pair being merged, by neighbour.
LEFT_WEIGHT, LEFT_TIMES, LEFT_FILL, RIGHT_WEIGHT, RIGHT_TIMES, RIGHT_FILL = range(6)
NEAR_WIDTH = 8  # a whole cache line

_HINT_SHIFT = 4


class State(NamedTuple):
    """Everything a run knows, as arrays; grown by the caller when `learn` asks for room."""

    symbols: Int32s
    word_starts: Int64s  # of the cells; one more than there are words
    word_counts: Int64s
    word_hints: Int32s  # the word that covers every sixteenth cell
    token_lengths: Int32s  # in cells
    id_order: Int64s  # what an id counts as when the tie rule compares ids
    text: Bytes  # of the tokens, for rules that compare them
    text_starts: Int64s
    pair_slots: Int32s  # open addressing; 0 is empty, otherwise a pair's index + 1
    pair_keys: UInt64s
    pair_counts: Int64s
    pair_first: Int64s  # the slice of the arena that holds its occurrences
    pair_stop: Int64s
    arena: Int32s
    heap_counts: Int64s
    heap_keys: Int64s
    heap_pairs: Int32s
    near: Int64s
    touched_left: Int32s
    touched_right: Int32s
    forced_left: Int32s
    forced_right: Int32s
    number: Int64s


@kernel
def pair_key(left, right):  # type: ignore[no-untyped-def]
    return (np.uint64(left) << np.uint64(32)) | np.uint64(right)


@kernel
def find_pair(state, key):  # type: ignore[no-untyped-def]
    """The pair's index, or -1 - slot where it would be entered."""
    mask = np.uint64(len(state.pair_slots) - 1)
    mixed = key * np.uint64(0x9E3779B97F4A7C15)
    slot = (mixed ^ (mixed >> np.uint64(29))) & mask
    while True:
        pair = state.pair_slots[slot]
        if pair == 0:
            return np.int64(-1) - np.int64(slot)
        if state.pair_keys[pair - 1] == key:
            return np.int64(pair - 1)
        slot = (slot + np.uint64(1)) & mask


@kernel
def add_pair(state, slot, key, count):  # type: ignore[no-untyped-def]
    pair = state.number[PAIRS]
    state.number[PAIRS] = pair + 1
    state.pair_slots[slot] = np.int32(pair + 1)
    state.pair_keys[pair] = key
    state.pair_counts[pair] = count
    return pair


@kernel
def rehash(state):  # type: ignore[no-untyped-def]
    """Fill an empty table of slots from the pairs remembered."""
    for pair in range(state.number[PAIRS]):
        slot = -1 - find_pair(state, state.pair_keys[pair])
        state.pair_slots[slot] = np.int32(pair + 1)


@kernel
def word_weight(state, cell):  # type: ignore[no-untyped-def]
    """How often the word that covers this cell occurs."""
    word = state.word_hints[cell >> _HINT_SHIFT]
    while state.word_starts[word + 1] <= cell:
        word += 1
    return state.word_counts[word]


@kernel
def text_prefix(state, token):  # type: ignore[no-untyped-def]
    """The first eight bytes of a token's text as one number that sorts like the text."""
    start = state.text_starts[token]
    length = state.text_starts[token + 1] - start
    prefix = np.uint64(0)
    for i in range(8):
        byte = np.uint64(state.text[start + i]) if i < length else np.uint64(0)
        prefix = (prefix << np.uint64(8)) | byte
    return np.int64(prefix ^ np.uint64(0x8000000000000000))


@kernel
def compare_texts(state, one, other):  # type: ignore[no-untyped-def]
    """Negative, zero or positive as the first token's text sorts before, with or after the other's."""
    start, other_start = state.text_starts[one], state.text_starts[other]
    length = state.text_starts[one + 1] - start
    other_length = state.text_starts[other + 1] - other_start
    for i in range(min(length, other_length)):
        difference = np.int64(state.text[start + i]) - np.int64(state.text[other_start + i])
        if difference != 0:
            return difference
    return length - other_length


@kernel
def tie_key(state, pair):  # type: ignore[no-untyped-def]
    """A number that sorts pairs of equal count as the tie rule does (texts: by their beginning)."""
    rule = state.number[TIES]
    left = np.int64(state.pair_keys[pair] >> np.uint64(32))
    right = np.int64(state.pair_keys[pair] & np.uint64(0xFFFFFFFF))
    if rule == BY_FIRST_SEEN:
        return first_occurrence(state, pair)
    if rule == BY_IDS:
        return (state.id_order[left] << np.int64(32)) | state.id_order[right]
    prefix = text_prefix(state, left)
    return prefix if rule == BY_SMALLEST_TEXT else ~prefix


@kernel
def first_occurrence(state, pair):  # type: ignore[no-untyped-def]
    """The first cell where the pair still stands; occurrences before it are forgotten for good."""
    left = np.int32(state.pair_keys[pair] >> np.uint64(32))
    right = np.int32(state.pair_keys[pair] & np.uint64(0xFFFFFFFF))
    length = state.token_lengths[left]
    entry, stop = state.pair_first[pair], state.pair_stop[pair]
    while entry < stop:
        cell = state.arena[entry]
        if state.symbols[cell] == left and state.symbols[cell + length] == right:
            break
        entry += 1
    state.pair_first[pair] = entry
    return np.int64(state.arena[entry]) if entry < stop else np.int64(-1)


@kernel
def comes_before(state, count, key, pair, other_count, other_key, other_pair):  # type: ignore[no-untyped-def]
    """Whether the first heap entry is the better one."""
    if count != other_count:
        return count > other_count
    if key != other_key:
        return key < other_key
    if state.number[TIES] < BY_SMALLEST_TEXT:
        return False
    order = compare_texts(
        state,
        np.int64(state.pair_keys[pair] >> np.uint64(32)),
        np.int64(state.pair_keys[other_pair] >> np.uint64(32)),
    )
    if order == 0:
        order = compare_texts(
            state,
            np.int64(state.pair_keys[pair] & np.uint64(0xFFFFFFFF)),
            np.int64(state.pair_keys[other_pair] & np.uint64(0xFFFFFFFF)),
        )
    return order < 0 if state.number[TIES] == BY_SMALLEST_TEXT else order > 0


@kernel
def push(state, pair):  # type: ignore[no-untyped-def]
    count, key = state.pair_counts[pair], tie_key(state, pair)
    counts, keys, pairs = state.heap_counts, state.heap_keys, state.heap_pairs
    at = state.number[HEAP]
    state.number[HEAP] = at + 1
    while at > 0:
        parent = (at - 1) >> 1
        if not comes_before(state, count, key, pair, counts[parent], keys[parent], pairs[parent]):
            break
        counts[at], keys[at], pairs[at] = counts[parent], keys[parent], pairs[parent]
        at = parent
    counts[at], keys[at], pairs[at] = count, key, np.int32(pair)


@kernel
def drop_top(state):  # type: ignore[no-untyped-def]
    size = state.number[HEAP] - 1
    state.number[HEAP] = size
    counts, keys, pairs = state.heap_counts, state.heap_keys, state.heap_pairs
    sink(state, np.int64(0), counts[size], keys[size], pairs[size])


@kernel
def sink(state, at, count, key, pair):  # type: ignore[no-untyped-def]
    """Put an entry in at this place or below, where it belongs."""
    counts, keys, pairs = state.heap_counts, state.heap_keys, state.heap_pairs
    size = state.number[HEAP]
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        other = child + 1
        if other < size and comes_before(
            state, counts[other], keys[other], pairs[other], counts[child], keys[child], pairs[child]
        ):
            child = other
        if not comes_before(state, counts[child], keys[child], pairs[child], count, key, pair):
            break
        counts[at], keys[at], pairs[at] = counts[child], keys[child], pairs[child]
        at = child
    counts[at], keys[at], pairs[at] = count, key, pair


@kernel
def best_pair(state):  # type: ignore[no-untyped-def]
    """Correct the top of the heap until it is true; its pair, or -1 when none is frequent enough."""
    least = state.number[MIN_FREQUENCY]
    while state.number[HEAP] > 0:
        pair = np.int64(state.heap_pairs[0])
        count = state.pair_counts[pair]
        if count < least:
            drop_top(state)
            continue
        key = tie_key(state, pair) if state.number[TIES] == BY_FIRST_SEEN else state.heap_keys[0]
        if count == state.heap_counts[0] and key == state.heap_keys[0]:
            return pair
        sink(state, np.int64(0), count, key, np.int32(pair))
    return np.int64(-1)


@kernel
def build(state):  # type: ignore[no-untyped-def]
    """Count the pairs of base symbols; False when the table of pairs is too small."""
    symbols = state.symbols
    limit = len(state.pair_keys)
    for word in range(len(state.word_counts)):
        weight = state.word_counts[word]
        for cell in range(state.word_starts[word], state.word_starts[word + 1] - 1):
            if symbols[cell] < 0 or symbols[cell + 1] < 0:
                continue
            key = pair_key(symbols[cell], symbols[cell + 1])
            pair = find_pair(state, key)
            if pair < 0:
                if state.number[PAIRS] >= limit:
                    return False
                slot = -1 - pair
                pair = add_pair(state, slot, key, np.int64(0))
                state.pair_stop[pair] = 0
            state.pair_counts[pair] += weight
            state.pair_stop[pair] += 1  # occurrences for now
    place_occurrences(state)
    return True


@kernel
def place_occurrences(state):  # type: ignore[no-untyped-def]
    """Give each frequent pair its slice of the arena and its entry in the heap."""
    symbols, used = state.symbols, np.int64(0)
    for pair in range(state.number[PAIRS]):
        times = state.pair_stop[pair] if state.pair_counts[pair] >= state.number[MIN_FREQUENCY] else 0
        state.pair_first[pair] = used
        state.pair_stop[pair] = used if times > 0 else -1
        used += times
    state.number[ARENA] = used
    for word in range(len(state.word_counts)):
        for cell in range(state.word_starts[word], state.word_starts[word + 1] - 1):
            if symbols[cell] < 0 or symbols[cell + 1] < 0:
                continue
            pair = find_pair(state, pair_key(symbols[cell], symbols[cell + 1]))
            entry = state.pair_stop[pair]
            if entry >= 0:
                state.arena[entry] = np.int32(cell)
                state.pair_stop[pair] = entry + 1
    for pair in range(state.number[PAIRS]):
        if state.pair_stop[pair] < 0:
            state.pair_stop[pair] = state.pair_first[pair]
        else:
            push(state, pair)


@kernel
def has_room(state, pair, left, right):  # type: ignore[no-untyped-def]
    """Whether everything this merge can bring to life fits."""
    births = 2 * (state.pair_stop[pair] - state.pair_first[pair]) if pair >= 0 else np.int64(0)
    tokens = state.number[BASE] + state.number[MERGES] + 1
    new_pairs = min(births, 2 * tokens + 1)
    fits = state.number[PAIRS] + new_pairs <= len(state.pair_keys)
    fits = fits and state.number[HEAP] + new_pairs <= len(state.heap_counts)
    fits = fits and state.number[ARENA] + births <= len(state.arena)
    fits = fits and 2 * (state.number[PAIRS] + new_pairs) <= len(state.pair_slots)
    if state.number[TIES] >= BY_SMALLEST_TEXT:
        length = state.text_starts[left + 1] - state.text_starts[left]
        length += state.text_starts[right + 1] - state.text_starts[right]
        fits = fits and state.number[TEXT] + length <= len(state.text)
    return fits


@kernel
def name_token(state, token, left, right):  # type: ignore[no-untyped-def]
    """Write down the new token's length, order and text."""
    state.token_lengths[token] = state.token_lengths[left] + state.token_lengths[right]
    state.id_order[token] = token
    if state.number[TIES] < BY_SMALLEST_TEXT:
        return
    at = state.number[TEXT]
    for part in (left, right):
        for i in range(state.text_starts[part], state.text_starts[part + 1]):
            state.text[at] = state.text[i]
            at += 1
    state.number[TEXT] = at
    state.text_starts[token + 1] = at


@kernel
def join(state, pair, left, right, token):  # type: ignore[no-untyped-def]
    """Write the new token over every occurrence of the pair, and keep the books of all neighbours.

    Joining `a b` in `p a b n` takes one from (p, a) and (b, n) and gives one to (p, ab) and
    (ab, n): the same weight, so one entry per neighbour serves both. Only where two new
    tokens come to stand side by side (`abab`) does what is given differ: there the right
    neighbour of the first was `a` for a moment, and is the new token in the end.
    """
    symbols, near, arena = state.symbols, state.near, state.arena
    left_length = np.int64(state.token_lengths[left])
    length = left_length + np.int64(state.token_lengths[right])
    begin, stop = state.pair_first[pair], state.pair_stop[pair]
    kept = begin
    lefts = rights = 0
    chained = chained_times = np.int64(0)
    for entry in range(begin, stop):
        cell = np.int64(arena[entry])
        middle = cell + left_length
        if symbols[cell] != left or symbols[middle] != right:
            continue
        weight = word_weight(state, cell)
        before, after = symbols[cell - 1], symbols[cell + length]
        symbols[middle] = INSIDE
        symbols[cell] = token
        symbols[cell + length - 1] = token
        arena[kept] = np.int32(cell)
        kept += 1
        state.number[TOKENS_LEFT] -= weight
        if before == token:
            chained += weight
            chained_times += 1
        elif before >= 0:
            row = np.int64(before) * NEAR_WIDTH
            if near[row + LEFT_TIMES] == 0:
                state.touched_left[lefts] = before
                lefts += 1
            near[row + LEFT_WEIGHT] += weight
            near[row + LEFT_TIMES] += 1
        if after >= 0:
            row = np.int64(after) * NEAR_WIDTH
            if near[row + RIGHT_TIMES] == 0:
                state.touched_right[rights] = after
                rights += 1
            near[row + RIGHT_WEIGHT] += weight
            near[row + RIGHT_TIMES] += 1
    return kept, lefts, rights, chained, chained_times


@kernel
def take_from(state, key, weight):  # type: ignore[no-untyped-def]
    pair = find_pair(state, key)
    if pair >= 0:
        state.pair_counts[pair] -= weight


@kernel
def give_birth(state, left, right, weight, times, length):  # type: ignore[no-untyped-def]
    """Remember a new pair if it can ever be merged; where its occurrences go in the arena, or -1."""
    if weight < state.number[MIN_FREQUENCY] or times == 0 or length > state.number[MAX_LENGTH]:
        return np.int64(-1)
    key = pair_key(left, right)
    slot = -1 - find_pair(state, key)
    pair = add_pair(state, slot, key, weight)
    begin = state.number[ARENA]
    state.number[ARENA] = begin + times
    state.pair_first[pair] = begin
    state.pair_stop[pair] = begin + times
    return begin


@kernel
def settle(state, left, right, token, lefts, rights, chained, chained_times):  # type: ignore[no-untyped-def]
    """Take from the old pairs, give birth to the new ones."""
    near = state.near
    length = np.int64(state.token_lengths[token])
    for i in range(lefts):
        neighbour = np.int64(state.touched_left[i])
        row = neighbour * NEAR_WIDTH
        weight = near[row + LEFT_WEIGHT]
        take_from(state, pair_key(neighbour, left), weight)
        joined = length + np.int64(state.token_lengths[neighbour])
        near[row + LEFT_FILL] = give_birth(state, neighbour, token, weight, near[row + LEFT_TIMES], joined)
    for i in range(rights):
        neighbour = np.int64(state.touched_right[i])
        row = neighbour * NEAR_WIDTH
        weight, times = near[row + RIGHT_WEIGHT], near[row + RIGHT_TIMES]
        take_from(state, pair_key(right, neighbour), weight)
        if neighbour == left:
            weight -= chained
            times -= chained_times
        joined = length + np.int64(state.token_lengths[neighbour])
        near[row + RIGHT_FILL] = give_birth(state, token, neighbour, weight, times, joined)
    near[token * NEAR_WIDTH + RIGHT_FILL] = give_birth(state, token, token, chained, chained_times, 2 * length)


@kernel
def fill_occurrences(state, begin, stop, token, first_new_pair):  # type: ignore[no-untyped-def]
    """Write the occurrences of the new pairs, in ascending order, and enter the pairs in the heap."""
    if state.number[PAIRS] == first_new_pair:
        return
    symbols, near, arena = state.symbols, state.near, state.arena
    length = np.int64(state.token_lengths[token])
    for entry in range(begin, stop):
        cell = np.int64(arena[entry])
        before, after = np.int64(symbols[cell - 1]), np.int64(symbols[cell + length])
        if before >= 0 and before != token:
            row = before * NEAR_WIDTH + LEFT_FILL
            place = near[row]
            if place >= 0:
                arena[place] = np.int32(cell - np.int64(state.token_lengths[before]))
                near[row] = place + 1
        if after >= 0:
            row = after * NEAR_WIDTH + RIGHT_FILL
            place = near[row]
            if place >= 0:
                arena[place] = np.int32(cell)
                near[row] = place + 1
    for pair in range(first_new_pair, state.number[PAIRS]):
        push(state, pair)


@kernel
def forget_neighbours(state, lefts, rights):  # type: ignore[no-untyped-def]
    near = state.near
    for i in range(lefts):
        row = np.int64(state.touched_left[i]) * NEAR_WIDTH
        near[row + LEFT_WEIGHT] = near[row + LEFT_TIMES] = 0
    for i in range(rights):
        row = np.int64(state.touched_right[i]) * NEAR_WIDTH
        near[row + RIGHT_WEIGHT] = near[row + RIGHT_TIMES] = 0


@kernel
def write_row(state, columns, left, right, count):  # type: ignore[no-untyped-def]
    """What was chosen, and what would have been chosen without it."""
    row = state.number[MERGES]
    columns.left[row] = left
    columns.right[row] = right
    columns.count[row] = count
    other = best_pair(state)
    if other < 0:
        columns.runner_up_left[row] = columns.runner_up_right[row] = -1
        columns.runner_up_count[row] = -1
    else:
        columns.runner_up_left[row] = np.int32(state.pair_keys[other] >> np.uint64(32))
        columns.runner_up_right[row] = np.int32(state.pair_keys[other] & np.uint64(0xFFFFFFFF))
        columns.runner_up_count[row] = state.pair_counts[other]


@kernel
def choose(state):  # type: ignore[no-untyped-def]
    """The pair to merge next: (pair, left, right); pair is -1 where there is none."""
    step = state.number[MERGES]
    if step < state.number[FORCED]:
        left, right = np.int64(state.forced_left[step]), np.int64(state.forced_right[step])
        pair = find_pair(state, pair_key(left, right))
        return max(pair, np.int64(-1)), left, right
    pair = best_pair(state)
    if pair < 0:
        return pair, np.int64(-1), np.int64(-1)
    key = state.pair_keys[pair]
    return pair, np.int64(key >> np.uint64(32)), np.int64(key & np.uint64(0xFFFFFFFF))


@kernel
def learn(state, columns, stop_at, work):  # type: ignore[no-untyped-def]
    """Merge until so many merges are learned or about that much work is done; why it returned is in STATUS."""
    number = state.number
    number[STATUS] = GOING
    while number[MERGES] < stop_at and work > 0:
        step = number[MERGES]
        pair, left, right = choose(state)
        if left < 0:
            number[STATUS] = OUT_OF_PAIRS if number[PAIRS] == 0 else TOO_RARE
            return
        if not has_room(state, pair, left, right):
            number[STATUS] = NEEDS_ROOM
            return
        token = number[BASE] + step
        name_token(state, token, left, right)
        count = np.int64(0)
        if pair >= 0:
            count = max(state.pair_counts[pair], np.int64(0))
            state.pair_counts[pair] = 0  # its entry in the heap is dropped when it surfaces
        write_row(state, columns, np.int32(left), np.int32(right), count)
        if pair >= 0:
            begin, stop = state.pair_first[pair], state.pair_stop[pair]
            first_new_pair = number[PAIRS]
            kept, lefts, rights, chained, chained_times = join(
                state, pair, np.int32(left), np.int32(right), np.int32(token)
            )
            settle(state, left, right, token, lefts, rights, chained, chained_times)
            fill_occurrences(state, begin, kept, token, first_new_pair)
            forget_neighbours(state, lefts, rights)
            state.pair_counts[pair] = 0
            state.pair_first[pair] = stop
            work -= (stop - begin) + 8 * (lefts + rights)
        columns.tokens_left[step] = number[TOKENS_LEFT]
        number[MERGES] = step + 1
        work -= 8


@kernel
def leading_pairs(state, wanted, pairs, counts, cells):  # type: ignore[no-untyped-def]
    """The best pairs in the order they would be merged now; how many there are."""
    found = 0
    while found < wanted:
        pair = best_pair(state)
        if pair < 0:
            break
        pairs[found] = pair
        counts[found] = state.pair_counts[pair]
        cells[found] = first_occurrence(state, pair)
        drop_top(state)
        found += 1
    for i in range(found):
        push(state, pairs[i])
    return found
