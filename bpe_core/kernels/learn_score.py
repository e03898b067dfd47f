"""The queue of pairs for methods that merge the pair with the best score, when scores can rise and fall.

The score of a pair is its count divided by the counts of both its tokens. Each merge lowers the counts of the tokens
that it joins. So a score may fall, and it may *rise*: when the count of `a` falls, the scores of all other pairs with
`a` rise. A frequent token has thousands of pairs, and its count falls at many merges. Moving all these pairs each time
would take hours.

So each pair belongs to an owner, the token that was more frequent when the pair was created. The pairs of one owner are
sorted by their count divided by the count of the *other* token. This order does not change when the owner's count
falls. The owners are sorted by the scores of their best pairs, so then only the owner moves. When the count of the
other token falls, the pair is moved; but a rare token has few pairs.

If a score has fallen, its entry is corrected when it comes to the top, as in learn_queue.py. So the score in an entry
is never lower than the true score. Scores are compared as floating-point numbers if these are far enough apart.
Otherwise they are compared as exact fractions, by products of 128 and 192 bits.

The pairs of an owner are a pairing heap: a tree in which no child is better than its parent, and from which any pair
can be removed and inserted again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bpe_core.kernels.jit import kernel
from bpe_core.kernels.learn_queue import BY_FIRST_SEEN, BY_SMALLEST_TEXT, text_decides, tie_key
from bpe_core.kernels.learn_state import NO_PAIR, PAIR_BITS
from bpe_core.support.arrays import Int32s, Int64s, Records

# Ten roundings of 2**-53 lie between two quotients and the exact values; a larger difference is certain.
SURE = 1.0 + 1e-14

NOWHERE = -1  # the position of an owner without pairs
OWNERS = 0  # the only entry of `Scores.number`: the number of owners in the heap

# Values that are stored for a pair besides its record in `State.pairs`.
ENTRY = np.dtype(
    [
        ("count", np.int64),  # the counts of the pair and of the other token when the pair was put in its place
        ("other", np.int64),
        ("key", np.int64),  # the key of the tie rule
        ("owner", np.int32),
        ("rarer", np.int32),  # the other token
        ("next", np.int32),  # the next pair with the same rarer token
        ("child", np.int32),  # the first pair below this pair in the heap of its owner
        ("sibling", np.int32),  # the next pair below the same pair
        ("before", np.int32),  # the pair that has this pair as its next sibling or first child
    ],
    align=True,
)


class Scores(NamedTuple):
    """The arrays of the queue that is ordered by score. All other arrays are in `State`."""

    entries: Records  # an item for each pair
    token_counts: Int64s  # how often each token occurs in the corpus now
    owner_counts: Int64s  # the count that each token had when it was put in its place among the owners
    best: Int32s  # for each token the best pair that it owns
    rarer_first: Int32s  # for each token the first pair whose rarer token it is
    owners: Int32s  # a heap of tokens
    places: Int32s  # the position of each token in the heap of owners
    number: npt.NDArray[np.int64]


@kernel
def high_half(a, b):
    """Return the upper 64 bits of a product."""
    low, shift = np.uint64(0xFFFFFFFF), np.uint64(32)
    a_low, a_high, b_low, b_high = a & low, a >> shift, b & low, b >> shift
    middle = a_high * b_low + (a_low * b_low >> shift)
    other = a_low * b_high + (middle & low)
    return a_high * b_high + (middle >> shift) + (other >> shift)


@kernel
def compare_products(a, b, c, d):
    """Return a negative, zero or positive number if a*b is less than, equal to or greater than c*d."""
    product, other_product = high_half(np.uint64(a), np.uint64(b)), high_half(np.uint64(c), np.uint64(d))
    if product == other_product:
        product, other_product = np.uint64(a) * np.uint64(b), np.uint64(c) * np.uint64(d)
    return np.int64(product > other_product) - np.int64(product < other_product)


@kernel
def triple_product(a, b, c):
    """Return the product of three numbers as three numbers of 64 bits, the highest bits first."""
    x, y, z = np.uint64(a), np.uint64(b), np.uint64(c)
    high, low = high_half(x, y), x * y
    carried = high_half(low, z)
    middle = high * z + carried
    return high_half(high, z) + np.uint64(middle < carried), middle, low * z


@kernel
def compare_scores(count, left, right, other_count, other_left, other_right):
    """Compare two scores. Each score is given by the count of a pair, and the counts of its left and right token.

    Return a negative, zero or positive number if the first score is worse than, equal to or better than the second
    score.
    """
    score = np.float64(count) / np.float64(left) / np.float64(right)
    other_score = np.float64(other_count) / np.float64(other_left) / np.float64(other_right)
    if score > other_score * SURE:
        return np.int64(1)
    if other_score > score * SURE:
        return np.int64(-1)
    a, b, c = triple_product(count, other_left, other_right)
    d, e, f = triple_product(other_count, left, right)
    if a != d:
        return np.int64(1) if a > d else np.int64(-1)
    if b != e:
        return np.int64(1) if b > e else np.int64(-1)
    return np.int64(c > f) - np.int64(c < f)


@kernel
def wins_tie(state, scores, pair, other):
    key, other_key = scores.entries[pair].key, scores.entries[other].key
    if key != other_key:
        return key < other_key
    return state.run[0].ties >= BY_SMALLEST_TEXT and text_decides(state, pair, other)


# --- The pairs of one owner ---------------------------------------------------------------


@kernel
def is_better(state, scores, pair, other):
    entry, other_entry = scores.entries[pair], scores.entries[other]
    value, other_value = (
        np.float64(entry.count) * np.float64(other_entry.other),
        np.float64(other_entry.count) * np.float64(entry.other),
    )
    if value > other_value * SURE:
        return True
    if other_value > value * SURE:
        return False
    order = compare_products(entry.count, other_entry.other, other_entry.count, entry.other)
    return order > 0 if order != 0 else wins_tie(state, scores, pair, other)


@kernel
def meld(state, scores, pair, other):
    """Join two heaps of pairs into one heap. Return the pair on top of the new heap.

    `pair` and `other` are the pairs on top of the two heaps.
    """
    entries = scores.entries
    if pair == NO_PAIR or other == NO_PAIR:
        return max(pair, other)
    if is_better(state, scores, other, pair):
        pair, other = other, pair
    first = entries[pair].child
    entries[other].sibling = first
    entries[other].before = pair
    if first != NO_PAIR:
        entries[first].before = other
    entries[pair].child = other
    return pair


@kernel
def cut_out(entries, pair):
    """Remove a pair, and the pairs below it, from the heap."""
    before, sibling = entries[pair].before, entries[pair].sibling
    if entries[before].child == pair:
        entries[before].child = sibling
    else:
        entries[before].sibling = sibling
    if sibling != NO_PAIR:
        entries[sibling].before = before
    entries[pair].sibling = entries[pair].before = NO_PAIR


@kernel
def without_top(state, scores, top):
    """Remove the pair on top of a heap. Return the pair that is then on top.

    The heaps below the removed pair are joined two by two, and then all together.
    """
    entries = scores.entries
    waiting = np.int64(entries[top].child)
    entries[top].child = NO_PAIR
    joined = np.int64(NO_PAIR)
    while waiting != NO_PAIR:
        first, second = waiting, np.int64(entries[waiting].sibling)
        waiting = np.int64(entries[second].sibling) if second != NO_PAIR else np.int64(NO_PAIR)
        entries[first].sibling = entries[first].before = NO_PAIR
        if second != NO_PAIR:
            entries[second].sibling = entries[second].before = NO_PAIR
        top_of_both = meld(state, scores, first, second)
        entries[top_of_both].sibling = joined
        joined = top_of_both
    new_top = np.int64(NO_PAIR)
    while joined != NO_PAIR:
        following = np.int64(entries[joined].sibling)
        entries[joined].sibling = NO_PAIR
        new_top = meld(state, scores, new_top, joined)
        joined = following
    return new_top


@kernel
def write_entry(state, scores, pair):
    entry = scores.entries[pair]
    entry.count = state.pairs[pair].count
    entry.other = scores.token_counts[entry.rarer]
    entry.key = tie_key(state, pair)


@kernel
def enter_scored(state, scores, pair):
    """Store the owner of a pair that may be merged, and put the pair into the owner's heap."""
    left, right = np.int64(state.pairs[pair].left), np.int64(state.pairs[pair].right)
    entry, counts = scores.entries[pair], scores.token_counts
    owner, rarer = (left, right) if counts[left] >= counts[right] else (right, left)
    entry.owner, entry.rarer = owner, rarer
    entry.next = scores.rarer_first[rarer]
    scores.rarer_first[rarer] = pair
    entry.child = entry.sibling = entry.before = NO_PAIR
    write_entry(state, scores, pair)
    put_in(state, scores, pair)


@kernel
def put_in(state, scores, pair):
    owner = np.int64(scores.entries[pair].owner)
    best = np.int64(scores.best[owner])
    top = meld(state, scores, best, np.int64(pair))
    if top != best:
        scores.best[owner] = top
        move_owner(state, scores, owner)


@kernel
def take_top(state, scores, owner):
    scores.best[owner] = without_top(state, scores, np.int64(scores.best[owner]))
    move_owner(state, scores, owner)


@kernel
def raise_pairs(state, scores, token):
    """Move up the pairs whose scores have risen because a merge has used some occurrences of a token.

    Only pairs in which the token is the rarer token are examined. Return the number of examined pairs.
    """
    entries, least, total = scores.entries, state.run[0].min_frequency, np.int64(0)
    now = scores.token_counts[token]
    last, pair = np.int64(NO_PAIR), np.int64(scores.rarer_first[token])
    while pair != NO_PAIR:
        entry = entries[pair]
        following, count = np.int64(entry.next), state.pairs[pair].count
        if count < least:  # the pair can never be merged, so it leaves the list
            if last == NO_PAIR:
                scores.rarer_first[token] = following
            else:
                entries[last].next = following
        else:
            last = pair
            if compare_products(count, entry.other, entry.count, now) > 0:
                rise(state, scores, pair, count, now)
        pair = following
        total += 1
    return total


@kernel
def rise(state, scores, pair, count, other):
    entry = scores.entries[pair]
    owner = np.int64(entry.owner)
    entry.count, entry.other = count, other
    if scores.best[owner] == pair:
        move_owner(state, scores, owner)
    else:
        cut_out(scores.entries, pair)
        put_in(state, scores, pair)


# --- The owners ---------------------------------------------------------------------------


@kernel
def owner_goes_before(state, scores, owner, other):
    pair, rival = np.int64(scores.best[owner]), np.int64(scores.best[other])
    mine, theirs = scores.entries[pair], scores.entries[rival]
    order = compare_scores(
        mine.count, scores.owner_counts[owner], mine.other, theirs.count, scores.owner_counts[other], theirs.other
    )
    return order > 0 if order != 0 else wins_tie(state, scores, pair, rival)


@kernel
def move_owner(state, scores, owner):
    """Move a token to its new place in the heap of owners, after its count or its best pair has changed."""
    owners, places, number = scores.owners, scores.places, scores.number
    place = np.int64(places[owner])
    scores.owner_counts[owner] = scores.token_counts[owner]
    if scores.best[owner] == NO_PAIR:
        if place == NOWHERE:
            return
        places[owner] = NOWHERE
        number[OWNERS] -= 1
        if place == number[OWNERS]:
            return
        owner = np.int64(owners[number[OWNERS]])  # the last owner takes the place of the removed owner
    elif place == NOWHERE:
        place = number[OWNERS]
        number[OWNERS] += 1
    risen = move_up(state, scores, owner, place)
    if risen == place:
        move_down(state, scores, owner, place)


@kernel
def move_up(state, scores, owner, place):
    owners, places = scores.owners, scores.places
    while place > 0:
        above = (place - 1) >> 1
        if not owner_goes_before(state, scores, owner, np.int64(owners[above])):
            break
        owners[place] = owners[above]
        places[owners[place]] = place
        place = above
    owners[place] = owner
    places[owner] = place
    return place


@kernel
def move_down(state, scores, owner, place):
    owners, places, size = scores.owners, scores.places, scores.number[OWNERS]
    while True:
        below = 2 * place + 1
        if below >= size:
            break
        if below + 1 < size and owner_goes_before(state, scores, np.int64(owners[below + 1]), np.int64(owners[below])):
            below += 1
        if not owner_goes_before(state, scores, np.int64(owners[below]), owner):
            break
        owners[place] = owners[below]
        places[owners[place]] = place
        place = below
    owners[place] = owner
    places[owner] = place


@kernel
def best_scored(state, scores):
    """Return the pair to merge next. Return NO_PAIR if no pair is frequent enough."""
    least, moves = state.run[0].min_frequency, state.run[0].ties == BY_FIRST_SEEN
    while scores.number[OWNERS] > 0:
        owner = np.int64(scores.owners[0])
        pair = np.int64(scores.best[owner])
        entry, count = scores.entries[pair], state.pairs[pair].count
        if count < least:
            take_top(state, scores, owner)
            continue
        is_true = compare_products(count, entry.other, entry.count, scores.token_counts[entry.rarer]) == 0
        if is_true and (not moves or state.cells[entry.key] & PAIR_BITS == pair):
            return pair
        scores.best[owner] = without_top(state, scores, pair)
        write_entry(state, scores, pair)
        scores.best[owner] = meld(state, scores, np.int64(scores.best[owner]), pair)
        move_owner(state, scores, owner)
    return np.int64(NO_PAIR)


@kernel
def write_reasons(state, scores, reasons, left, right, count, other):
    """Store the counts of the two chosen tokens. Also store whether the next best pair has the same score."""
    row, counts, record = state.run[0].merges, scores.token_counts, state.pairs[other]
    reasons.left_count[row], reasons.right_count[row] = counts[left], counts[right]
    reasons.tied[row] = (
        count > 0
        and other != NO_PAIR
        and compare_scores(count, counts[left], counts[right], record.count, counts[record.left], counts[record.right])
        == 0
    )


@kernel
def use_up(state, scores, pair, token, used):
    """Lower the counts of the tokens that a merge has joined, and reorder the pairs with these tokens.

    `used` is how many new tokens the merge has made in the corpus. Return the number of pairs that were examined.
    """
    left, right = np.int64(state.pairs[pair].left), np.int64(state.pairs[pair].right)
    scores.token_counts[left] -= used
    scores.token_counts[right] -= used
    scores.token_counts[token] = used
    move_owner(state, scores, left)
    move_owner(state, scores, right)
    risen = raise_pairs(state, scores, left)
    if right != left:
        risen += raise_pairs(state, scores, right)
    return risen
