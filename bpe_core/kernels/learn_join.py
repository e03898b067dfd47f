"""The functions of one merge. They join each occurrence of a pair, and replace the neighbouring pairs that this breaks.

If `a b` is joined in `p a b n`, the pairs (p, a) and (b, n) are broken. The pair (p, ab) gets the count that (p, a)
loses, and the pair (ab, n) gets the count that (b, n) loses. So the neighbours are collected in groups, one group for
each broken pair. Then each group becomes a new pair. Finally the occurrences of the new pairs are written.
"""

from __future__ import annotations

import numpy as np

from bpe_core.kernels.jit import inlined, kernel
from bpe_core.kernels.learn_state import (
    HINT_SHIFT,
    IS_BEFORE,
    IS_BEHIND,
    NO_PAIR,
    PAIR_BITS,
    SEPARATOR,
    WEIGHT_BITS,
    WEIGHT_SHIFT,
    add_pair,
    give_slice,
    may_ever_join,
)
from bpe_core.kernels.memory import prefetch

AHEAD = 16  # occurrences whose memory is fetched while others are processed
NEAR = 4  # at this distance their cells have arrived
MANY_PAIRS = 100_000  # more than the nearer caches hold
FEW_JOINTS = 100  # up to here, cells are still in the cache when the pairs are numbered


@kernel
def join(state, pair, token, begin, stop):
    """Join the pair at the occurrences that the arena lists from `begin` to `stop`. Return how many were joined.

    If two occurrences overlap, only the first is joined: `aaa` holds a+a twice but gives one token. `joints` gets an
    item for each joined occurrence, which `place` reads later.

    The neighbours are collected in a group for each broken pair. Each group becomes a pair later, if the pair is
    frequent enough to be stored. The cells already get the numbers that the pairs have if all of them are stored. So
    each cell is fetched from memory only once.

    In `abab`, two new tokens become neighbours. When the first `ab` is joined, the token after it is still `a`, so this
    neighbour is collected in the group of the broken pair (b, a). When the second `ab` is joined, the two new tokens
    are counted in a separate group, the group of NO_PAIR. Later, `replace_pairs` subtracts this group from the other.

    If the method counts pairs without overlaps, `bbb` holds b+b once. So the count of b+b does not change if the first
    b of `bbb` is joined to an a. Three new tokens side by side hold only one pair of new tokens.
    """
    cells, arena, pairs, joints = state.cells, state.arena, state.pairs, state.joints
    groups, sides, words, hints = state.groups, state.sides, state.words, state.word_hints
    left_length, length = np.int64(state.token_lengths[pairs[pair].left]), np.int64(state.token_lengths[token])
    first_born = state.run[0].pairs
    joined, total, used, twin = np.int64(0), np.int64(0), np.int64(1), np.int64(-1)
    no_overlaps = state.run[0].without_overlaps != 0
    asks_beside = no_overlaps and pairs[pair].left != pairs[pair].right
    for entry in range(begin, stop):
        fetch_ahead(cells, arena, sides, entry, stop, left_length, first_born)
        cell = np.int64(arena[entry])
        here = np.int64(cells[cell])
        if here & PAIR_BITS != pair:
            continue
        weight, kept = weight_of(here, cell, words, hints), here & WEIGHT_BITS
        total += weight
        start, middle = start_of_token_before(cells, cell), cell + left_length
        before, behind, follower = pair_at(cells, start), np.int64(0), pair_at(cells, middle)
        cells[middle] = NO_PAIR
        cells[cell + length - 1] = -length
        if before >= first_born:
            group, used = add_to_group(groups, sides, np.int64(NO_PAIR), IS_BEFORE, weight, used)
            joints[joined - 1].behind = group
            cells[start] = kept | (first_born + group - 1)
            before = np.int64(0)
            if no_overlaps and twin == start:
                groups[group].kept += weight
                twin = np.int64(-1)
            else:
                twin = cell
        elif before != NO_PAIR:
            stays = asks_beside and keeps_count_without_last(cells, start, before)
            before, used = add_to_group(groups, sides, before, IS_BEFORE, weight, used)
            groups[before].kept += weight if stays else 0
            cells[start] = kept | (first_born + before - 1)
        if follower != NO_PAIR:
            stays = asks_beside and keeps_count_without_first(cells, cell + length, length - left_length, follower)
            behind, used = add_to_group(groups, sides, follower, IS_BEHIND, weight, used)
            groups[behind].kept += weight if stays else 0
            cells[cell] = kept | (first_born + behind - 1)
        else:
            cells[cell] = kept
        write_joint(joints, joined, cell, start, before, behind)
        joined += 1
    state.run[0].tokens_left -= total
    state.run[0].groups = used
    return joined


@inlined
def keeps_count_without_first(cells, cell, length, pair):
    """Return whether a run of equal tokens has the same number of pairs if its first token is removed.

    Pairs are counted without overlaps. The second token of the run begins at `cell`.
    """
    count = np.int64(2)
    while pair_at(cells, cell) == pair:
        cell += length
        count += 1
    return count & 1 == 1


@inlined
def keeps_count_without_last(cells, cell, pair):
    """Return whether a run of equal tokens has the same number of pairs if its last token is removed.

    Pairs are counted without overlaps. The last token of the run begins at `cell`.
    """
    count = np.int64(2)
    cell = start_of_token_before(cells, cell)
    while pair_at(cells, cell) == pair:
        cell = start_of_token_before(cells, cell)
        count += 1
    return count & 1 == 1


@inlined
def fetch_ahead(cells, arena, sides, entry, stop, left_length, first_born):
    """Begin to load the cells of an occurrence into the cache, because the occurrence will be joined soon.

    If there are many pairs, also load the group numbers of the pairs before and after an occurrence.
    """
    if entry + AHEAD < stop:
        prefetch(cells, np.uint64(arena[entry + AHEAD]))
    if first_born > MANY_PAIRS and entry + NEAR < stop:
        near = np.int64(arena[entry + NEAR])
        prefetch(sides, np.uint64(2 * pair_at(cells, near + left_length)))
        prefetch(sides, np.uint64(2 * pair_at(cells, start_of_token_before(cells, near))))


@inlined
def pair_at(cells, cell):
    """Return the pair that begins at a cell. Return NO_PAIR if no pair or no token begins there."""
    return max(np.int64(NO_PAIR), np.int64(cells[cell])) & PAIR_BITS


@inlined
def weight_of(here, cell, words, hints):
    """Return how often a word occurs in the corpus. A token of this word begins at `cell`.

    The number is in the first cell of the token, or in the table of words.
    """
    weight = here >> WEIGHT_SHIFT
    if weight == 0:
        word = hints[cell >> HINT_SHIFT]
        while words[word + 1].start <= cell:
            word += 1
        weight = words[word].count
    return weight


@kernel
def start_of_token_before(cells, cell):
    last = np.int64(cells[cell - 1])
    return cell - 1 if last >= SEPARATOR else cell + last


@inlined
def add_to_group(groups, sides, old, side, weight, used):
    """Add an occurrence of a broken pair to the group of this pair. If there is no group yet, make one.

    Return the group, and the number of groups in use.
    """
    group = np.int64(sides[2 * old + side])
    if group == 0:
        group = used
        used += 1
        sides[2 * old + side] = group
        groups[group].weight = groups[group].kept = 0
        groups[group].times = 0
        groups[group].old = old
        groups[group].side = side
    groups[group].weight += weight
    groups[group].times += 1
    return group, used


@inlined
def write_joint(joints, at, cell, start, before, behind):
    joints[at].cell = cell
    joints[at].start = start
    joints[at].before = before
    joints[at].behind = behind


@kernel
def replace_pairs(state, pair, token, joined):
    """Lower the counts of the pairs that the merge has broken, and create the pairs that replace them."""
    groups, pairs, sides = state.groups, state.pairs, state.sides
    left, chained = pairs[pair].left, np.int64(sides[2 * NO_PAIR + IS_BEFORE])
    keeps_places = joined > FEW_JOINTS
    for i in range(1, state.run[0].groups):
        if i + AHEAD < state.run[0].groups:
            prefetch(pairs, np.uint64(groups[i + AHEAD].old))
        group = groups[i]
        old, weight, times = pairs[group.old], group.weight, np.int64(group.times)
        sides[2 * group.old + group.side] = 0
        if i == chained:
            store_new_pair(state, group, token, token, weight - group.kept, times, keeps_places)
            continue
        old.count -= weight - group.kept
        if group.side == IS_BEFORE:
            store_new_pair(state, group, old.left, token, weight, times, keeps_places)
            continue
        if chained != 0 and old.right == left:  # some of these neighbours have become new tokens
            weight -= groups[chained].weight
            times -= groups[chained].times
        store_new_pair(state, group, token, old.right, weight, times, keeps_places)


@kernel
def store_new_pair(state, group, left, right, weight, times, keeps_places):
    """Store the new pair that replaces the broken pair of a group.

    If the new pair can never be merged, it is not stored. If `keeps_places` is true, a pair without occurrences is
    stored instead, so that the numbers of later pairs do not change.
    """
    run = state.run[0]
    forced = run.merges < run.forced
    least = run.forced_frequency if forced else run.min_frequency
    if times == 0 or weight < least or not (forced or may_ever_join(state, left, right)):
        group.new = NO_PAIR
        if keeps_places:
            add_pair(state.pairs, run, left, right, 0, 0)
        return
    group.new = add_pair(state.pairs, run, left, right, weight, times)
    group.fill = give_slice(state.pairs, run, group.new, times)


@kernel
def place(state, joined, first_born):
    """Write the occurrences of the new pairs into the arena, in ascending order."""
    cells, arena, groups, joints = state.cells, state.arena, state.groups, state.joints
    for i in range(joined):
        place_joint(cells, arena, groups, joints[i], first_born)


@inlined
def place_joint(cells, arena, groups, joint, first_born):
    if joint.before != 0:
        place_occurrence(cells, arena, groups, np.int64(joint.before), np.int64(joint.start), first_born)
    if joint.behind != 0:
        place_occurrence(cells, arena, groups, np.int64(joint.behind), np.int64(joint.cell), first_born)


@inlined
def place_occurrence(cells, arena, groups, number, cell, first_born):
    new = np.int64(groups[number].new)
    if new != first_born + number - 1:  # the cell has another number
        cells[cell] = (np.int64(cells[cell]) & WEIGHT_BITS) | new
    if new != NO_PAIR:
        arena[groups[number].fill] = cell
        groups[number].fill += 1
