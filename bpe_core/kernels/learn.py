"""The merge loop.

Counts only fall: a pair that exists can only lose occurrences, and pairs with the new token
are all born during the merge that makes it. From this follows nearly everything here:
 - the occurrences of a pair are one sorted slice of `arena`, written once at its birth;
 - whether it still stands at one of them is asked of the cell, which names the pair it begins;
 - no table of pairs is searched, as each new pair replaces one that is known: joining `a b` in
   `p a b n`, (p, ab) is born with the weight that (p, a) loses, and (ab, n) with that of (b, n);
 - a pair born too rare is forgotten at once, and so is everything that would descend from it;
 - the best pair is found without keeping all pairs in order (see learn_queue.py).

What stands at very many places is merged on two cores, each of which joins half of the words. The second half has
neighbours, groups and joints of its own, so its cells get other numbers than the pairs will have; they are put right
when the places are noted. As its words are all behind those of the first half, pairs are born, and listed in their
slices, in the order in which one thread would have met them.
"""

from __future__ import annotations

import numpy as np

from bpe_core.kernels.jit import inlined, kernel
from bpe_core.kernels.learn_queue import BY_SMALLEST_TEXT, any_pair_left, best_pair, drop_top, enter, push
from bpe_core.kernels.learn_score import best_scored, enter_scored, put_in, take_top, use_up, write_reasons
from bpe_core.kernels.learn_state import (
    GOING,
    HINT_SHIFT,
    IS_BEFORE,
    IS_BEHIND,
    IS_WIDE,
    NEEDS_ARENA,
    NEEDS_PAIRS,
    NEEDS_TEXT,
    NO_PAIR,
    OUT_OF_PAIRS,
    PAIR_BITS,
    SEPARATOR,
    TOO_RARE,
    WEIGHT_BITS,
    WEIGHT_SHIFT,
    add_pair,
    base_slot,
    free_slice,
    give_slice,
    joined_span,
    may_ever_join,
    may_join,
)
from bpe_core.kernels.memory import prefetch

AHEAD = 16  # occurrences whose memory is fetched while others are worked on
NEAR = 4  # where their cells are here already
MANY_PAIRS = 100_000  # more than the nearer caches hold
FEW_JOINTS = 100  # up to here, cells are still in the cache when the pairs are numbered


@kernel
def learn(state, scores, columns, reasons, stop_at, work):
    """Merge until `stop_at` merges are learned or about that much work is done; `status` says why it returned."""
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
    forbid_due(state)


@kernel
def forbid_due(state):
    """Drop the pairs that are forbidden from this step on; they cannot occur anywhere later."""
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
def let_queue(state, scores, pair):
    if len(scores) == 0:
        enter(state, pair)
    else:
        enter_scored(state, scores, pair)


@kernel
def queue_base_pairs(state, scores):
    for pair in range(1, state.run[0].pairs):
        one = state.pairs[pair]
        if one.count >= state.run[0].min_frequency and may_join(state, one.left, one.right):
            let_queue(state, scores, pair)


@kernel
def leading_pairs(state, scores, wanted, found):
    """Write the best pairs in the order they would be merged now; how many there are."""
    total = 0
    while total < wanted:
        pair = best(state, scores)
        if pair == NO_PAIR:
            break
        found[total] = pair
        total += 1
        if len(scores) == 0:
            drop_top(state)
        else:
            take_top(state, scores, np.int64(scores.entries[pair].owner))
    for i in range(total):
        if len(scores) == 0:
            push(state, found[i])
        else:
            put_in(state, scores, found[i])
    return total


@kernel
def choose(state, scores):
    """The pair to merge next: (pair, left, right); left is -1 if there is none."""
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
    """The number of a pair of tokens if it is remembered: it was born with the younger of the two."""
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
    """GOING if there is room for everything that this merge can create."""
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
    """Write the new token's length and text; its id."""
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
    """Write what was chosen and why, and what would have been chosen without it."""
    row, pairs = state.run[0].merges, state.pairs
    count = pairs[pair].count if pair != NO_PAIR else np.int64(0)
    columns.left[row], columns.right[row], columns.count[row] = left, right, count
    pairs[pair].count = 0  # it is dropped from the queue when it comes up
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
    """Replace every occurrence of the pair by the new token; how much work it was."""
    run, pairs = state.run[0], state.pairs
    first, times, first_born = pairs[pair].first, np.int64(pairs[pair].times), run.pairs
    work, before = times, run.tokens_left
    joined = join(state, pair, token, first, first + times)
    free_slice(pairs, run, pair)
    settle(state, pair, token, joined)
    place(state, joined, first_born)
    if len(scores) > 0:
        work += use_up(state, scores, pair, token, before - run.tokens_left)
    let_born_queue(state, scores, pair, token, first_born)
    return work + 8 * run.groups


@kernel
def let_born_queue(state, scores, pair, token, first_born):
    pairs, run = state.pairs, state.run[0]
    pairs[pair].count = pairs[pair].times = 0
    for born in range(first_born, run.pairs):
        if pairs[born].count >= run.min_frequency and may_join(state, pairs[born].left, pairs[born].right):
            let_queue(state, scores, born)
    state.born_first[token + 1] = run.pairs


@kernel
def join(state, pair, token, begin, stop):
    """Join the occurrences at some entries, and gather neighbours in groups, one for each broken pair; how many joined.

    To wait for memory only once, cells get the numbers of new pairs if all are remembered, and `joints` what `place`
    must know of real occurrences (`aaa` holds a+a twice but gives one token). Where two new tokens become neighbours
    (`abab`), the first one's right neighbour was (ab, a) for a moment; their group is that of NO_PAIR before the pair.

    Where counts are apart, `bbb` holds b+b once: if its first b is joined to an a, b+b stays as frequent as it was. Of
    three new tokens side by side two are a pair.
    """
    cells, arena, pairs, joints = state.cells, state.arena, state.pairs, state.joints
    groups, sides, words, hints = state.groups, state.sides, state.words, state.word_hints
    left_length, length = np.int64(state.token_lengths[pairs[pair].left]), np.int64(state.token_lengths[token])
    first_born = state.run[0].pairs
    joined, total, used, twin = np.int64(0), np.int64(0), np.int64(1), np.int64(-1)
    apart = state.run[0].apart != 0
    asks_beside = apart and pairs[pair].left != pairs[pair].right
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
            group, used = gathered(groups, sides, np.int64(NO_PAIR), IS_BEFORE, weight, used)
            joints[joined - 1].behind = group
            cells[start] = kept | (first_born + group - 1)
            before = np.int64(0)
            if apart and twin == start:
                groups[group].kept += weight
                twin = np.int64(-1)
            else:
                twin = cell
        elif before != NO_PAIR:
            stays = asks_beside and stays_behind(cells, start, before)
            before, used = gathered(groups, sides, before, IS_BEFORE, weight, used)
            groups[before].kept += weight if stays else 0
            cells[start] = kept | (first_born + before - 1)
        if follower != NO_PAIR:
            stays = asks_beside and stays_before(cells, cell + length, length - left_length, follower)
            behind, used = gathered(groups, sides, follower, IS_BEHIND, weight, used)
            groups[behind].kept += weight if stays else 0
            cells[cell] = kept | (first_born + behind - 1)
        else:
            cells[cell] = kept
        note_joint(joints, joined, cell, start, before, behind)
        joined += 1
    state.run[0].tokens_left -= total
    state.run[0].groups = used
    return joined


@inlined
def stays_before(cells, cell, length, pair):
    """Whether as many pairs of equal tokens stay without the first one; the second, of that length, begins there."""
    count = np.int64(2)
    while pair_at(cells, cell) == pair:
        cell += length
        count += 1
    return count & 1 == 1


@inlined
def stays_behind(cells, cell, pair):
    """The same without the last one; the one before it begins there."""
    count = np.int64(2)
    cell = start_of_token_before(cells, cell)
    while pair_at(cells, cell) == pair:
        cell = start_of_token_before(cells, cell)
        count += 1
    return count & 1 == 1


@inlined
def fetch_ahead(cells, arena, sides, entry, stop, left_length, first_born):
    """Begin to fetch what the next occurrences need: cells and, if there are many pairs, the sides of neighbours."""
    if entry + AHEAD < stop:
        prefetch(cells, np.uint64(arena[entry + AHEAD]))
    if first_born > MANY_PAIRS and entry + NEAR < stop:
        near = np.int64(arena[entry + NEAR])
        prefetch(sides, np.uint64(2 * pair_at(cells, near + left_length)))
        prefetch(sides, np.uint64(2 * pair_at(cells, start_of_token_before(cells, near))))


@inlined
def pair_at(cells, cell):
    """The pair that begins there; NO_PAIR where there is none, or no token begins."""
    return max(np.int64(NO_PAIR), np.int64(cells[cell])) & PAIR_BITS


@inlined
def weight_of(here, cell, words, hints):
    """How often the word of a token occurs: as its first cell says, or else the word."""
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
def gathered(groups, sides, old, side, weight, used):
    """The group of the neighbours that began or ended this pair, one more in it; and how many groups are in use."""
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
def note_joint(joints, at, cell, start, before, behind):
    joints[at].cell = cell
    joints[at].start = start
    joints[at].before = before
    joints[at].behind = behind


@kernel
def settle(state, pair, token, joined):
    """Lower the counts of the old pairs, and let the new ones be born."""
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
            give_birth(state, group, token, token, weight - group.kept, times, keeps_places)
            continue
        old.count -= weight - group.kept
        if group.side == IS_BEFORE:
            give_birth(state, group, old.left, token, weight, times, keeps_places)
            continue
        if chained != 0 and old.right == left:  # some of these neighbours became new tokens themselves
            weight -= groups[chained].weight
            times -= groups[chained].times
        give_birth(state, group, token, old.right, weight, times, keeps_places)


@kernel
def give_birth(state, group, left, right, weight, times, keeps_places):
    """Remember the pair that replaces a group's old one, if it can ever be merged; else perhaps an empty place."""
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
    """Write the occurrences of the new pairs, in ascending order, in the arena."""
    cells, arena, groups, joints = state.cells, state.arena, state.groups, state.joints
    for i in range(joined):
        place_joint(cells, arena, groups, joints[i], first_born)


@inlined
def place_joint(cells, arena, groups, joint, first_born):
    if joint.before != 0:
        place_one(cells, arena, groups, np.int64(joint.before), np.int64(joint.start), first_born)
    if joint.behind != 0:
        place_one(cells, arena, groups, np.int64(joint.behind), np.int64(joint.cell), first_born)


@inlined
def place_one(cells, arena, groups, number, cell, first_born):
    new = np.int64(groups[number].new)
    if new != first_born + number - 1:  # than the number in the cell
        cells[cell] = (np.int64(cells[cell]) & WEIGHT_BITS) | new
    if new != NO_PAIR:
        arena[groups[number].fill] = cell
        groups[number].fill += 1


@kernel
def begin_wide(state, columns):
    """Choose a pair, and divide its occurrences between two words: the entries where each part begins, and the end."""
    pair, left, right = choose(state, ())
    state.run[0].chosen = pair
    name_token(state, left, right)
    write_choice(state, (), columns, (), pair, left, right)
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
def settle_halves(state, other, joined):
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
        # What the first half has in the slice: not what became a part of two new tokens side by side, as in `settle`.
        is_chained = side == IS_BEHIND and pairs[old].right == pairs[pair].left
        more[i].fill = groups[group].times - (chained_times if is_chained else 0)
        more[i].new = group
        groups[group].weight += more[i].weight
        groups[group].kept += more[i].kept
        groups[group].times += more[i].times
    run.tokens_left += other.run[0].tokens_left
    free_slice(pairs, run, pair)
    settle(state, pair, token, joined)
    for i in range(1, other.run[0].groups):
        group = np.int64(more[i].new)
        more[i].fill += groups[group].fill
        more[i].new = groups[group].new


@kernel
def place_second(state, joined, first_born):
    """As `place` does, but almost all cells have other numbers."""
    cells, arena, groups, joints = state.cells, state.arena, state.groups, state.joints
    for i in range(joined):
        if i + AHEAD < joined:
            prefetch(cells, np.uint64(joints[i + AHEAD].cell))
        place_joint(cells, arena, groups, joints[i], first_born)


@kernel
def end_wide(state, columns, first_born):
    run = state.run[0]
    let_born_queue(state, (), run.chosen, run.base + run.merges, first_born)
    end_step(state, columns)
