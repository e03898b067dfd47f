"""The model that predicts each token from the token before it. It is learned from some words.

The kernels compute how many bits the model needs to encode other words, the held-out words, after every step
of a history. `measures.bits_per_byte` uses this number for all sizes of a vocabulary.

A step changes only the pairs around the tokens that it joins, so only these pairs are counted again. But the
bits of each held-out pair depend on numbers that every step changes, so all bits are computed after each
step. This computation takes most of the time. Only sums and products are used for it, even for logarithms,
because a processor can compute several sums or products at once.

The words are stored one after another, with a separator between them. The separator counts as a token that
represents the beginning and the end of words.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bpe_core.kernels.jit import kernel
from bpe_core.kernels.pair_slots import pair_key, place_of_pair
from bpe_core.support.arrays import Float64s, Int32s, Int64s, UInt64s

# Entries of `Model.number`
SEEN_ONCE, SEEN_TWICE, SEEN = range(3)  # pairs in the words that were learned from
AFTER_ONE, AFTER_TWO, AFTER = range(3, 6)  # tokens that come after one different token, after two, after any number
WANTED = 6  # pairs in the words held out
FILLED = 7  # slots of the table of pairs
NUMBERS = 8

AT_ONCE = 1024  # the pairs that are computed together, so that their data stays in the cache

_DISCOUNT = 0.75
_PER_LOG = 1 / math.log(2)
_ROOT = math.sqrt(2)
_HIGH = 0x4330000000000000  # the bits of 2.0**52, to which the bits of a whole number can be added
_TWO_52 = 2.0**52
_LOW_BITS, _ONE = (1 << 52) - 1, 0x3FF0000000000000
_MIDDLE = 1022.5  # the bias of exponents, less one half


class Cells(NamedTuple):
    first: Int32s
    last: Int32s
    words: Int32s  # the word of each cell
    learned: Int64s  # how often each word occurs in the words learned from
    held_out: Int64s


class Model(NamedTuple):
    keys: UInt64s  # a table of pairs
    seen: Int64s  # the count of each pair in the words that were learned from
    place: Int32s  # the index of each slot in the columns below, counted from 1; 0 for a slot without an index
    left: Int32s  # the pairs that occur in the held-out words, in any order
    right: Int32s
    seen_of: Float64s
    wanted: Float64s
    different: Float64s  # for each token, how many different tokens come after it in the words learned from
    after: Float64s  # after how many different tokens each token comes in these words
    times: Int64s  # how often each token is the first of a pair in these words
    asked: Int64s  # how often each token is the first of a pair in the held-out words
    number: Int64s
    heads: Float64s  # a single number: the sum of `asked` times the logarithm of `times`


class FractionBuffer(NamedTuple):
    """A buffer for floating-point numbers. The same memory can also be read as integers, to access their bits."""

    numbers: Float64s
    number_bits: Int64s
    exponents: Float64s
    exponent_bits: Int64s


class Joins(NamedTuple):
    """The steps with their pairs, and the places at which each step joins its pair.

    A place is the cell at which the right token of the pair begins.
    """

    left: Int32s
    right: Int32s
    lengths: Int64s  # the number of cells of each token
    starts: Int64s
    cells: Int32s


@kernel
def change_counts(model, left, right, learned, held_out):
    """Add `learned` to the count of a pair in the learned words, and `held_out` to its count in the held-out words.

    Both numbers may be negative.
    """
    number = model.number
    key = pair_key(left, right)
    slot = np.int64(place_of_pair(model.keys, key))
    if model.keys[slot] == 0:
        model.keys[slot] = key
        number[FILLED] += 1
    before = model.seen[slot]
    now = before + learned
    if learned != 0:
        model.seen[slot] = now
        number[SEEN_ONCE] += np.int64(now == 1) - np.int64(before == 1)
        number[SEEN_TWICE] += np.int64(now == 2) - np.int64(before == 2)
        if before == 0 or now == 0:
            known = np.int64(1) if before == 0 else np.int64(-1)
            number[SEEN] += known
            model.different[left] += known
            ones = np.int64(model.after[right])
            model.after[right] = ones + known
            number[AFTER_ONE] += np.int64(ones + known == 1) - np.int64(ones == 1)
            number[AFTER_TWO] += np.int64(ones + known == 2) - np.int64(ones == 2)
            number[AFTER] += np.int64(ones + known > 0) - np.int64(ones > 0)
    change_held_out(model, slot, left, right, now, held_out)


@kernel
def change_held_out(model, slot, left, right, seen, held_out):
    """Add `held_out` to the count of a pair in the held-out words. `seen` is the pair's count in the learned words.

    If the new count is 0, remove the pair from the list of pairs that occur in the held-out words.
    """
    at = np.int64(model.place[slot]) - 1
    if at < 0:
        if held_out == 0:
            return
        at = model.number[WANTED]
        model.number[WANTED] = at + 1
        model.place[slot] = at + 1
        model.left[at] = left
        model.right[at] = right
        model.wanted[at] = 0
    model.wanted[at] += held_out
    model.seen_of[at] = seen
    if model.wanted[at] == 0:
        last = model.number[WANTED] - 1
        model.number[WANTED] = last
        if last != at:
            model.left[at] = model.left[last]
            model.right[at] = model.right[last]
            model.wanted[at] = model.wanted[last]
            model.seen_of[at] = model.seen_of[last]
            model.place[place_of_pair(model.keys, pair_key(model.left[at], model.right[at]))] = at + 1
        model.place[slot] = 0


@kernel
def move_pairs(old, new):
    """Move the pairs that still occur into a larger table. Return the number of pairs."""
    moved = np.int64(0)
    for slot in range(len(old.keys)):
        key = old.keys[slot]
        if key != 0 and (old.seen[slot] != 0 or old.place[slot] != 0):
            to = place_of_pair(new.keys, key)
            new.keys[to] = key
            new.seen[to] = old.seen[slot]
            new.place[to] = old.place[slot]
            moved += 1
    return moved


@kernel
def enter_cells(cells, model, begin):
    """Count the pairs from cell `begin` on, before the first step.

    Return the cell at which the table became full. If all pairs were counted, return the last cell.
    """
    last = len(cells.first) - 1
    edge = cells.first[last]
    for cell in range(begin, last):
        if 2 * (model.number[FILLED] + 1) > len(model.keys):
            return cell
        left, right = cells.first[cell], cells.first[cell + 1]
        word = cells.words[cell] if right == edge else cells.words[cell + 1]
        learned, held_out = cells.learned[word], cells.held_out[word]
        change_counts(model, left, right, learned, held_out)
        model.times[left] += learned
        model.asked[left] += held_out
    total = 0.0
    for token in range(len(model.times)):
        total += bits_of_first(model, token)
    model.heads[0] = total
    return last


@kernel
def bits_of_first(model, token):
    """Return the part of the bits that depends only on the first token of a pair.

    The result is the sum of this part over all held-out pairs whose first token is `token`.
    """
    return model.asked[token] * math.log(model.times[token]) if model.times[token] > 0 else 0.0


@kernel
def follow(cells, joins, model, room, base, sizes, asked, step, most, bits):
    """Apply steps until about `most` units of work are done, or until the table of pairs is too small.

    Return the next step. `asked` says after which numbers of steps the number of bits is written into `bits`.
    `sizes`, `asked` and `bits` have an entry for each number of steps, from 0 on.
    """
    work = 0
    stop = len(joins.left)
    while step < stop and work < most:
        places = joins.starts[step + 1] - joins.starts[step]
        if 2 * (model.number[FILLED] + 2 * places) > len(model.keys):
            break
        join(cells, joins, model, base, step)
        step += 1
        work += places
        if asked[step]:
            bits[step] = total_bits(model, room, sizes[step] + 1)
            work += model.number[WANTED]
    return step


@kernel
def join(cells, joins, model, base, step):
    """Make one step: join its pair wherever the pair occurs, from left to right, and change the counts of pairs."""
    left, right, made = joins.left[step], joins.right[step], base + step
    total = model.heads[0] - bits_of_first(model, left)
    if right != left:
        total -= bits_of_first(model, right)
    for entry in range(joins.starts[step], joins.starts[step + 1]):
        middle = joins.cells[entry]
        first, end = middle - joins.lengths[left], middle + joins.lengths[right]
        before, behind = cells.last[first - 1], cells.first[end]
        word = cells.words[middle]
        learned, held_out = cells.learned[word], cells.held_out[word]
        change_counts(model, before, left, -learned, -held_out)
        change_counts(model, left, right, -learned, -held_out)
        change_counts(model, right, behind, -learned, -held_out)
        change_counts(model, before, made, learned, held_out)
        change_counts(model, made, behind, learned, held_out)
        model.times[left] -= learned
        model.times[right] -= learned
        model.times[made] += learned
        model.asked[left] -= held_out
        model.asked[right] -= held_out
        model.asked[made] += held_out
        cells.first[first] = made
        cells.last[end - 1] = made
    total += bits_of_first(model, left) + bits_of_first(model, made)
    if right != left:
        total += bits_of_first(model, right)
    model.heads[0] = total


@kernel
def discount(once, twice):
    return once / (once + 2 * twice) if once > 0 and twice > 0 else _DISCOUNT


@kernel
def total_bits(model, room, events):
    """Return the total number of bits that the model needs for all pairs in the held-out words.

    `events` is the number of different tokens that can come next. The separator of words is one of them.
    """
    number = model.number
    total = 0.0
    if number[SEEN] == 0:
        for place in range(number[WANTED]):
            total += model.wanted[place]
        return total * math.log(events) * _PER_LOG
    own = discount(number[SEEN_ONCE], number[SEEN_TWICE])
    lower = discount(number[AFTER_ONE], number[AFTER_TWO])
    shared = lower * number[AFTER] / events
    # a token that never came before another token leaves its whole share
    whole = 1 / np.float64(number[SEEN])
    part, beyond = own * whole, shared - lower
    for begin in range(0, number[WANTED], AT_ONCE):
        size = min(AT_ONCE, number[WANTED] - begin)
        for place in range(size):
            at = np.uint64(begin + place)
            different = model.different[np.uint64(model.left[at])]
            rest = different * part if different > 0 else whole
            alone = max(model.after[np.uint64(model.right[at])] + beyond, shared)  # a discount is never above one
            room.numbers[place] = max(0.0, model.seen_of[at] - own) + rest * alone
        take_logarithms(room, size)
        total += weighted_sum(model.wanted, room.numbers, begin, size)
    return model.heads[0] * _PER_LOG - total


@kernel
def take_logarithms(room, size):
    """Replace positive numbers by their logarithms to base two.

    Each logarithm is the sum of the exponent and of a series for the mantissa.
    """
    for place in range(size):
        bits = room.number_bits[place]
        room.exponent_bits[place] = (bits >> 52) | _HIGH
        room.number_bits[place] = (bits & _LOW_BITS) | _ONE
    for place in range(size):
        rest = room.numbers[place]
        part = (rest - _ROOT) / (rest + _ROOT)
        square = part * part
        series = 1 / 15 + square / 17
        series = 1 / 11 + square * (1 / 13 + square * series)
        series = 1 / 7 + square * (1 / 9 + square * series)
        series = 1 / 3 + square * (1 / 5 + square * series)
        series = 1.0 + square * series
        room.numbers[place] = ((room.exponents[place] - _TWO_52) - _MIDDLE) + 2 * _PER_LOG * part * series


@kernel
def weighted_sum(weights, numbers, begin, size):
    """Return the sum of the products of weights and numbers.

    Four sums are computed at the same time, because each addition waits for the addition before it.
    """
    one = two = three = four = 0.0
    fours = size & ~3
    for place in range(0, fours, 4):
        one += weights[begin + place] * numbers[place]
        two += weights[begin + place + 1] * numbers[place + 1]
        three += weights[begin + place + 2] * numbers[place + 2]
        four += weights[begin + place + 3] * numbers[place + 3]
    for place in range(fours, size):
        one += weights[begin + place] * numbers[place]
    return (one + two) + (three + four)
