"""The lattices of all words: the tokens that may end at each node, the best paths, and expected counts.

The words are stored as a trie (`unigram_trie.py`). The tokens that may end at a node are stored side by side,
the longest first. The words are visited in their order. Buffers hold the prefixes of the current word, sorted
by length. Results that depend on the symbols before a node are computed when the node is entered. Results
that depend on the symbols after the node, in all words with this prefix, are computed when the node is left.
So all results are computed only once for a prefix that many words share.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bpe_core.kernels import NEVER, SHIFT, SMALL, UNREACHED
from bpe_core.kernels.jit import inlined, kernel
from bpe_core.kernels.memory import prefetch

AHEAD = 24  # edges whose scores are loaded into the cache ahead of their use
LIFT = 2.0**SHIFT
MOST_LIFTS = 4  # after so many lifts, any number is infinite or 0, and more lifts change nothing
LN_2 = math.log(2)


class Lattice(NamedTuple):
    shared: npt.NDArray[np.int32]  # the arrays up to `parent` are those of `Trie`
    lengths: npt.NDArray[np.int32]
    weights: npt.NDArray[np.int64]
    firsts: npt.NDArray[np.int64]
    parent: npt.NDArray[np.int32]
    first_edge: npt.NDArray[np.int64]  # the first edge of each node, and the end of all edges
    edge_id: npt.NDArray[np.int32]
    edge_length: npt.NDArray[np.int16]
    best: npt.NDArray[np.int32]  # the last token of the best path to each node, at the last split
    best_length: npt.NDArray[np.int16]
    counts: npt.NDArray[np.int64]  # how often each token occurs on the best paths
    tokens: npt.NDArray[np.int64]  # a single number: the number of all tokens


class PathBuffer(NamedTuple):
    """The buffers for the current word, with an item for each beginning of the word, the shortest first.

    The first item is for the empty beginning.
    """

    size: npt.NDArray[np.int64]  # a single number: the length of the word in the buffers
    node: npt.NDArray[np.int64]
    score: npt.NDArray[np.float64]
    left: npt.NDArray[np.float64]
    token: npt.NDArray[np.int32]  # the last token of the best path
    before: npt.NDArray[np.int64]  # the offset at which this token begins
    passing: npt.NDArray[np.int64]  # how many best paths go through this node
    turn: npt.NDArray[np.int32]  # the step at which the first token of the best path is dropped, or NEVER
    other: npt.NDArray[np.float64]  # the buffers below are for one word at a time
    other_left: npt.NDArray[np.float64]
    other_token: npt.NDArray[np.int32]
    other_before: npt.NDArray[np.int64]
    other_node: npt.NDArray[np.int64]
    is_new: npt.NDArray[np.bool_]  # whether the best path to this offset has changed
    unfinished: npt.NDArray[np.int64]  # two numbers: the next step that drops a token of the best path, and its tokens
    lifts: npt.NDArray[np.int64]
    lifts_left: npt.NDArray[np.int64]


@inlined
def _enter_word(lattice, desk, word):
    """Write the nodes of a word into the buffers.

    Nodes that the word shares with the previous word are already there. Return the length of the shortest prefix
    that the previous word does not have.
    """
    shared = np.int64(lattice.shared[word])
    first = lattice.firsts[word]
    for node in range(first, lattice.firsts[word + 1]):
        desk.node[shared + 1 + node - first] = node
    desk.size[0] = lattice.lengths[word]
    return shared + 1


@inlined
def _edges_of(lattice, word):
    """Return the amount of work for a word: two units, plus one unit for each edge of its own nodes.

    Its own nodes are the nodes that are added to the lattice when the word is visited.
    """
    return 2 + lattice.first_edge[lattice.firsts[word + 1]] - lattice.first_edge[lattice.firsts[word]]


# -- Best paths --------------------------------------------------------------------------


@inlined
def _enter_best(lattice, desk, scores, start):
    """Find the best path to each prefix of a word. The first prefix has the length `start`.

    If paths are equally good, the path with the longest last token is taken.
    """
    best, last = desk.score, len(lattice.edge_id) - 1
    for place in range(start, desk.size[0] + 1):
        node, most, token, before = desk.node[place], -np.inf, np.int32(0), np.int64(place)
        for edge in range(lattice.first_edge[node], lattice.first_edge[node + 1]):
            prefetch(scores, np.uint64(lattice.edge_id[min(edge + AHEAD, last)]))
            here, id = place - np.int64(lattice.edge_length[edge]), lattice.edge_id[edge]
            score = best[here] + scores[id]
            is_better = score > most
            most = score if is_better else most
            token = id if is_better else token
            before = here if is_better else before
        best[place], desk.token[place], desk.before[place] = most, token, before
        lattice.best[node], lattice.best_length[node] = token, place - before


@inlined
def _leave_best(lattice, desk, stop):
    """Count the tokens on the best paths of the visited words, the last token of a path first.

    Only tokens that end after the offset `stop` are counted.
    """
    for place in range(desk.size[0], stop, -1):
        passing = desk.passing[place]
        if passing != 0:
            lattice.counts[desk.token[place]] += passing
            lattice.tokens[0] += passing
            desk.passing[desk.before[place]] += passing
            desk.passing[place] = 0


@kernel
def cut_words(lattice, desk, scores, word, work):
    """Find the best paths of the words from `word` on, for about `work` units of work, and count their tokens.

    Return the next word.
    """
    done = np.int64(0)
    while word < len(lattice.shared) and done < work:
        _leave_best(lattice, desk, np.int64(lattice.shared[word]))
        start = _enter_word(lattice, desk, word)
        _enter_best(lattice, desk, scores, start)
        desk.passing[desk.size[0]] += lattice.weights[word]
        done += _edges_of(lattice, word)
        word += 1
    if word == len(lattice.shared):
        _leave_best(lattice, desk, np.int64(0))
    return word


# -- Dropping ----------------------------------------------------------------------------


@kernel
def plan_words(lattice, desk, scores, turns, leaving, changes, word, work):
    """Split words again and again while tokens are dropped one after another. Return the next word.

    A long word can need very much work. So a call may also end inside a word, and the next call goes on there.

    `leaving` gets how often each token occurred when it was dropped. `changes` gets the number of tokens that each drop
    adds.
    """
    done, unfinished = np.int64(0), desk.unfinished
    while word < len(lattice.shared) and done < work:
        if unfinished[0] == NEVER:
            start = _enter_word(lattice, desk, word)
            size = desk.size[0]
            for place in range(start, size + 1):
                node = desk.node[place]
                desk.token[place] = lattice.best[node]
                desk.before[place] = place - np.int64(lattice.best_length[node])
                desk.turn[place] = min(turns[desk.token[place]], desk.turn[desk.before[place]])
            done += 3 + size - start
            unfinished[0] = desk.turn[size]
            if unfinished[0] != NEVER:
                _begin_turns(lattice, desk, scores, lattice.weights[word])
        if unfinished[0] != NEVER:
            done += _cut_in_turn(lattice, desk, scores, turns, leaving, changes, lattice.weights[word], work - done)
        if unfinished[0] == NEVER:
            word += 1
    return word


@inlined
def _count_path(lattice, tokens, before, place, weight):
    """Add `weight` to the count of each token on the path that ends at an offset. Return the number of tokens."""
    count = np.int64(0)
    while place > 0:
        lattice.counts[tokens[place]] += weight
        count += 1
        place = before[place]
    return count


@inlined
def _begin_turns(lattice, desk, scores, weight):
    """Copy the best paths of the current word, and subtract its tokens from the counts until all drops are made."""
    size = desk.size[0]
    best, tokens, before = desk.other, desk.other_token, desk.other_before
    best[0] = 0.0
    for place in range(1, size + 1):
        tokens[place], before[place] = desk.token[place], desk.before[place]
        best[place] = best[before[place]] + scores[tokens[place]]
    desk.unfinished[1] = _count_path(lattice, tokens, before, size, -weight)


@kernel
def _cut_in_turn(lattice, desk, scores, turns, leaving, changes, weight, most_work):
    """Split the current word again each time a token of its best path is dropped. Return the amount of work.

    Stop after about `most_work` units of work.
    """
    size, work = desk.size[0], np.int64(0)
    tokens, before = desk.other_token, desk.other_before
    turn, count = desk.unfinished[0], desk.unfinished[1]
    while turn != NEVER and work < most_work:
        place = size
        while place > 0:
            if turns[tokens[place]] == turn:
                leaving[turn] += weight
            place = before[place]
        work += size + _cut_without(lattice, desk, scores, turns, turn)
        now, place, new_count = turn, size, np.int64(0)
        turn = np.int64(NEVER)
        while place > 0:
            turn = min(turn, np.int64(turns[tokens[place]]))
            new_count += 1
            place = before[place]
        changes[now] += weight * (new_count - count)
        count = new_count
    if turn == NEVER:
        _count_path(lattice, tokens, before, size, weight)
    desk.unfinished[0], desk.unfinished[1] = turn, count
    return work


@inlined
def _cut_without(lattice, desk, scores, turns, turn):
    """Find new best paths to the beginnings of a word, after tokens were dropped up to the step `turn`.

    Only paths with a dropped token change, so only these paths are searched. Return their number.
    """
    best, tokens, before, is_new = desk.other, desk.other_token, desk.other_before, desk.is_new
    changed = np.int64(0)
    for place in range(1, desk.size[0] + 1):
        is_new[place] = turns[tokens[place]] <= turn or is_new[before[place]]
        if is_new[place]:
            changed += 1
            node, most = desk.node[place], -np.inf
            for edge in range(lattice.first_edge[node], lattice.first_edge[node + 1]):
                id = lattice.edge_id[edge]
                here = place - np.int64(lattice.edge_length[edge])
                score = best[here] + scores[id]
                if score > most and turns[id] > turn:
                    most = score
                    tokens[place] = id
                    before[place] = here
            best[place] = most
    return changed


@kernel
def own_paths(lattice, desk, scores, pieces, ends, lengths, best_scores, stops, tokens):
    """Write the score and the tokens of the best path over each piece. The piece itself is not used as a token.

    For each piece, `ends` holds a node at which the piece ends.
    """
    used = np.int64(0)
    best = desk.other
    best[0] = 0.0
    for i in range(len(pieces)):
        size, node = np.int64(lengths[i]), ends[i]
        for place in range(size, 0, -1):
            desk.other_node[place] = node
            node = np.int64(lattice.parent[node])
        for place in range(1, size + 1):
            node, most = desk.other_node[place], -np.inf
            for edge in range(lattice.first_edge[node], lattice.first_edge[node + 1]):
                here = place - np.int64(lattice.edge_length[edge])
                if here < 0:
                    continue
                id = lattice.edge_id[edge]
                score = best[here] + scores[id]
                if score > most and id != pieces[i]:
                    most = score
                    desk.other_token[place] = id
                    desk.other_before[place] = here
            best[place] = most
        best_scores[i] = best[size]
        end = size
        while end > 0:
            end = desk.other_before[end]
            used += 1
        end, at = size, used
        while end > 0:
            at -= 1
            tokens[at] = desk.other_token[end]
            end = desk.other_before[end]
        stops[i] = used


@kernel
def tidy_edges(lattice, scores):
    kept, last = np.int64(0), len(lattice.edge_id) - 1
    for node in range(len(lattice.first_edge) - 1):
        first, stop = lattice.first_edge[node], lattice.first_edge[node + 1]
        lattice.first_edge[node] = kept
        for edge in range(first, stop):
            prefetch(scores, np.uint64(lattice.edge_id[min(edge + AHEAD, last)]))
            if scores[lattice.edge_id[edge]] != -np.inf:
                lattice.edge_id[kept] = lattice.edge_id[edge]
                lattice.edge_length[kept] = lattice.edge_length[edge]
                kept += 1
    lattice.first_edge[len(lattice.first_edge) - 1] = kept


# -- All paths ---------------------------------------------------------------------------


@inlined
def _leave_expected(lattice, desk, shares, stop):
    """Add the expected counts of tokens that end at nodes of the current word after the length `stop`.

    The nodes are visited from the longest prefix to the shortest. All words with these prefixes have already been
    visited, so the sums over the symbols after these nodes are complete.
    """
    reached, left = desk.score, desk.left
    for place in range(desk.size[0], stop, -1):
        behind = left[place]
        if behind != 0.0:
            node = desk.node[place]
            for edge in range(lattice.first_edge[node], lattice.first_edge[node + 1]):
                at = 2 * np.int64(lattice.edge_id[edge])
                here = place - np.int64(lattice.edge_length[edge])
                through = shares[at] * behind
                left[here] += through
                shares[at + 1] += reached[here] * through
            left[place] = 0.0


@kernel
def expect_words(lattice, desk, shares, likelihood, word, work):
    """Add up the expected count of each token in the words from `word` on, for about `work` units of work.

    `shares` holds two numbers for each token: its probability, and its expected count. `likelihood[0]` gets the
    log-likelihood of the words. Return the next word.
    """
    done = np.int64(0)
    reached, last = desk.score, len(lattice.edge_id) - 1
    while word < len(lattice.shared) and done < work:
        _leave_expected(lattice, desk, shares, np.int64(lattice.shared[word]))
        start = _enter_word(lattice, desk, word)
        size = desk.size[0]
        for place in range(start, size + 1):
            node, total = desk.node[place], 0.0
            for edge in range(lattice.first_edge[node], lattice.first_edge[node + 1]):
                here = place - np.int64(lattice.edge_length[edge])
                prefetch(shares, np.uint64(2 * np.int64(lattice.edge_id[min(edge + AHEAD, last)])))
                total += reached[here] * shares[2 * np.int64(lattice.edge_id[edge])]
            reached[place] = total
        weight = lattice.weights[word]
        if reached[size] < SMALL:
            likelihood[0] += _expect_long_word(lattice, desk, shares, weight)
        else:
            likelihood[0] += weight * math.log(reached[size])
            desk.left[size] += weight / reached[size]
        done += 2 * _edges_of(lattice, word)
        word += 1
    if word == len(lattice.shared):
        _leave_expected(lattice, desk, shares, np.int64(0))
    return word


@inlined
def _scaled(number, times):
    """Return a number after it was multiplied by a large factor `times` times.

    If `times` is negative, divide by the factor instead.
    """
    for _ in range(min(times, MOST_LIFTS)):
        number *= LIFT
    for _ in range(min(-times, MOST_LIFTS)):
        number /= LIFT
    return number


@kernel
def _expect_long_word(lattice, desk, shares, weight):
    """Compute the expected counts for a long word.

    Its probabilities are too small for ordinary numbers. So each of them is multiplied by a large factor as often as
    needed, and the number of multiplications is stored with it.
    """
    size = desk.size[0]
    reached, left, lifts, lifts_left = desk.other, desk.other_left, desk.lifts, desk.lifts_left
    reached[0] = left[size] = 1.0
    lifts[0] = lifts_left[size] = 0
    for place in range(1, size + 1):
        left[place - 1], lifts_left[place - 1] = 0.0, UNREACHED
        first, stop = lattice.first_edge[desk.node[place]], lattice.first_edge[desk.node[place] + 1]
        least, total = np.int64(UNREACHED), 0.0
        for edge in range(first, stop):
            least = min(least, lifts[place - np.int64(lattice.edge_length[edge])])
        for edge in range(first, stop):
            here = place - np.int64(lattice.edge_length[edge])
            total += _scaled(reached[here] * shares[2 * np.int64(lattice.edge_id[edge])], least - lifts[here])
        reached[place], lifts[place] = total, least
        if total < SMALL and place < size:
            reached[place], lifts[place] = _scaled(total, 1), least + 1
    share = weight / reached[size]
    for place in range(size, 0, -1):
        if left[place] < SMALL:
            left[place], lifts_left[place] = _scaled(left[place], 1), lifts_left[place] + 1
        for edge in range(lattice.first_edge[desk.node[place]], lattice.first_edge[desk.node[place] + 1]):
            at = 2 * np.int64(lattice.edge_id[edge])
            here = place - np.int64(lattice.edge_length[edge])
            behind = shares[at] * left[place]
            if lifts_left[place] < lifts_left[here]:  # the old sum is negligible
                left[here] = _scaled(left[here], lifts_left[place] - lifts_left[here])
                lifts_left[here] = lifts_left[place]
            left[here] += _scaled(behind, lifts_left[here] - lifts_left[place])
            times = lifts[size] - lifts[here] - lifts_left[place]
            half = np.int64(times / 2)  # half of the lifts at a time, so that the number stays in range
            shares[at + 1] += _scaled(_scaled(reached[here] * share, half) * behind, times - half)
    return weight * (math.log(reached[size]) - lifts[size] * SHIFT * LN_2)
