"""The lattices of all words as arrays: which tokens could stand where, the best paths, and what all paths expect.

The stretches of base symbols lie end to end in `symbols`, a separator behind each. The tokens that could begin at a
cell lie side by side, the shortest first, each with its length. A path is told by its tokens, each in the cell where
it begins. For each token there is a list of the stretches on whose best paths it stands, or stood once: whoever goes
through it looks.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bpe_core.kernels.jit import inlined, kernel

# Entries of `Lattice.number`.
STRETCHES, LINKS, NEXT_LINK, TOKENS, LONGEST, DROPPED, WORK = range(7)
NUMBERS = 7

NOBODY = -1
SMALL, SHIFT, UNREACHED = 2.0**-600, 600, 1 << 20  # as `learning/unigram/lattices.py` says
LIFT = 2.0**SHIFT
MOST_LIFTS = 4  # which take any number out of the range of numbers
LN_2 = math.log(2)


class Lattice(NamedTuple):
    """All stretches, the tokens that could stand in them, and their best paths."""

    symbols: npt.NDArray[np.int32]
    starts: npt.NDArray[np.int64]  # the first cell of each stretch, and the end of all
    weights: npt.NDArray[np.int64]  # how often each occurs
    first_edge: npt.NDArray[np.int64]  # of each cell, and the end of all
    edge_id: npt.NDArray[np.int32]
    edge_length: npt.NDArray[np.int16]
    path: npt.NDArray[np.int32]  # the token of the best path that begins in a cell, or NOBODY
    counts: npt.NDArray[np.int64]  # how often each token stands on the best paths
    head: npt.NDArray[np.int32]  # the last link of each token's list, or NOBODY
    link_stretch: npt.NDArray[np.int32]
    link_next: npt.NDArray[np.int32]
    number: npt.NDArray[np.int64]


class Desk(NamedTuple):
    """Room for the numbers of one stretch: one for each place, the end too."""

    score: npt.NDArray[np.float64]
    other: npt.NDArray[np.float64]
    before: npt.NDArray[np.int64]
    token: npt.NDArray[np.int32]
    lifts: npt.NDArray[np.int64]


# -- Best paths --------------------------------------------------------------------------


@inlined
def _find_best_path(lattice, desk, scores, first, size, left_out):
    """The best paths to each of some cells from the first: the last token of each, and where that begins."""
    best, before, token = desk.score, desk.before, desk.token
    best[0] = 0.0
    for place in range(1, size + 1):
        best[place] = -np.inf
    for here in range(size):
        so_far = best[here]
        for edge in range(lattice.first_edge[first + here], lattice.first_edge[first + here + 1]):
            stop = here + lattice.edge_length[edge]
            if stop > size:
                break
            id = lattice.edge_id[edge]
            if id == left_out:
                continue
            score = so_far + scores[id]
            if score > best[stop]:
                best[stop] = score
                before[stop] = here
                token[stop] = id


@kernel
def cut_stretch(lattice, desk, scores, stretch):
    """Cut a stretch anew, and count its tokens in place of those it had; whether there was room for the links."""
    first = lattice.starts[stretch]
    size = lattice.starts[stretch + 1] - 1 - first
    number = lattice.number
    if number[LINKS] + size > len(lattice.link_next):
        return False
    weight = lattice.weights[stretch]
    _find_best_path(lattice, desk, scores, first, size, NOBODY)
    for cell in range(first, first + size):
        old = lattice.path[cell]
        if old != NOBODY:
            lattice.counts[old] -= weight
            number[TOKENS] -= weight
            lattice.path[cell] = NOBODY
    place = size
    while place > 0:
        id = desk.token[place]
        place = desk.before[place]
        lattice.path[first + place] = id
        lattice.counts[id] += weight
        number[TOKENS] += weight
        link = number[LINKS]
        lattice.link_stretch[link] = stretch
        lattice.link_next[link] = lattice.head[id]
        lattice.head[id] = link
        number[LINKS] = link + 1
    return True


@kernel
def cut_stretches(lattice, desk, scores, stretch, work):
    """Cut stretches anew, from this one on; the one that is next."""
    done = np.int64(0)
    while stretch < lattice.number[STRETCHES] and done < work:
        if not cut_stretch(lattice, desk, scores, stretch):
            return stretch
        done += 2 + lattice.first_edge[lattice.starts[stretch + 1]] - lattice.first_edge[lattice.starts[stretch]]
        stretch += 1
    return stretch


@kernel
def drop_pieces(lattice, desk, scores, pieces, counts, tokens, work):
    """Drop pieces one after the other, from where the last call left, at least one; False: more room is needed."""
    number = lattice.number
    while number[DROPPED] < len(pieces):
        i = number[DROPPED]
        piece = pieces[i]
        if number[NEXT_LINK] == NOBODY:
            if i > 0 and number[WORK] >= work:
                return True
            counts[i] = lattice.counts[piece]
            scores[piece] = -np.inf
            number[NEXT_LINK] = lattice.head[piece] if counts[i] > 0 else NOBODY
        while number[NEXT_LINK] != NOBODY:
            link = number[NEXT_LINK]
            stretch = lattice.link_stretch[link]
            first, stop = lattice.starts[stretch], lattice.starts[stretch + 1]
            cell = first
            while cell < stop and lattice.path[cell] != piece:
                cell += 1
            if cell < stop:
                if not cut_stretch(lattice, desk, scores, stretch):
                    return False
                number[WORK] += lattice.first_edge[stop] - lattice.first_edge[first]
            number[WORK] += 5
            number[NEXT_LINK] = lattice.link_next[link]
        number[WORK] += 1
        tokens[i] = number[TOKENS]
        number[DROPPED] = i + 1
    return True


@kernel
def own_paths(lattice, desk, scores, pieces, places, lengths, found, ends, tokens):
    """The best path over each piece that is not the piece itself: its score, and its tokens end to end."""
    used = np.int64(0)
    for i in range(len(pieces)):
        size = np.int64(lengths[i])
        _find_best_path(lattice, desk, scores, places[i], size, pieces[i])
        found[i] = desk.score[size]
        place, count = size, 0
        while place > 0:
            place = desk.before[place]
            count += 1
        place, at = size, used + count
        while place > 0:
            at -= 1
            tokens[at] = desk.token[place]
            place = desk.before[place]
        used += count
        ends[i] = used


@kernel
def tidy_edges(lattice, scores):
    """Leave out tokens that have no score any more."""
    kept = np.int64(0)
    for cell in range(len(lattice.first_edge) - 1):
        first, stop = lattice.first_edge[cell], lattice.first_edge[cell + 1]
        lattice.first_edge[cell] = kept
        for edge in range(first, stop):
            if scores[lattice.edge_id[edge]] != -np.inf:
                lattice.edge_id[kept] = lattice.edge_id[edge]
                lattice.edge_length[kept] = lattice.edge_length[edge]
                kept += 1
    lattice.first_edge[len(lattice.first_edge) - 1] = kept


# -- All paths ---------------------------------------------------------------------------


@inlined
def _lifted(number, times):
    """A number multiplied so often, or divided where it is less than 0."""
    for _ in range(min(times, MOST_LIFTS)):
        number *= LIFT
    for _ in range(min(-times, MOST_LIFTS)):
        number /= LIFT
    return number


@kernel
def expect_stretch(lattice, desk, chances, expected, stretch):
    """Add, for each token at each place, how probable the paths are that go through it; the log-likelihood.

    What leaves the range of numbers is begun anew by the other one.
    """
    first = lattice.starts[stretch]
    size = lattice.starts[stretch + 1] - 1 - first
    reached, left = desk.score, desk.other
    for place in range(size + 1):
        reached[place] = 0.0
    reached[0] = left[size] = 1.0
    for here in range(size):
        so_far = reached[here]
        if so_far < SMALL:
            return expect_long_stretch(lattice, desk, chances, expected, stretch)
        for edge in range(lattice.first_edge[first + here], lattice.first_edge[first + here + 1]):
            reached[here + lattice.edge_length[edge]] += so_far * chances[lattice.edge_id[edge]]
    if reached[size] < SMALL:
        return expect_long_stretch(lattice, desk, chances, expected, stretch)
    weight = lattice.weights[stretch]
    share = weight / reached[size]
    for here in range(size - 1, -1, -1):
        through, total = reached[here] * share, 0.0
        for edge in range(lattice.first_edge[first + here], lattice.first_edge[first + here + 1]):
            id = lattice.edge_id[edge]
            behind = chances[id] * left[here + lattice.edge_length[edge]]
            total += behind
            expected[id] += through * behind
        left[here] = total
    return weight * math.log(reached[size])


@kernel
def expect_long_stretch(lattice, desk, chances, expected, stretch):
    """The same where numbers must be lifted to stay in range; how often is kept beside them."""
    first = lattice.starts[stretch]
    size = lattice.starts[stretch + 1] - 1 - first
    reached, left, lifts, lifts_left = desk.score, desk.other, desk.before, desk.lifts
    for place in range(size + 1):
        reached[place] = 0.0
        lifts[place] = UNREACHED
    reached[0] = left[size] = 1.0
    lifts[0] = lifts_left[size] = 0
    for here in range(size):
        if reached[here] < SMALL:
            reached[here] = _lifted(reached[here], 1)
            lifts[here] += 1
        for edge in range(lattice.first_edge[first + here], lattice.first_edge[first + here + 1]):
            there = here + lattice.edge_length[edge]
            if lifts[here] < lifts[there]:
                reached[there] = _lifted(reached[there], lifts[here] - lifts[there])
                lifts[there] = lifts[here]
            reached[there] += _lifted(reached[here] * chances[lattice.edge_id[edge]], lifts[there] - lifts[here])
    weight = lattice.weights[stretch]
    share = weight / reached[size]
    for here in range(size - 1, -1, -1):
        through, total, least = reached[here] * share, 0.0, np.int64(UNREACHED)
        for edge in range(lattice.first_edge[first + here], lattice.first_edge[first + here + 1]):
            least = min(least, lifts_left[here + lattice.edge_length[edge]])
        for edge in range(lattice.first_edge[first + here], lattice.first_edge[first + here + 1]):
            id = lattice.edge_id[edge]
            there = here + lattice.edge_length[edge]
            behind = chances[id] * left[there]
            total += _lifted(behind, least - lifts_left[there])
            times = lifts[size] - lifts[here] - lifts_left[there]
            half = np.int64(times / 2)
            expected[id] += _lifted(_lifted(through, half) * behind, times - half)
        lifts_left[here] = least
        left[here] = total
        if total < SMALL:
            left[here] = _lifted(total, 1)
            lifts_left[here] = least + 1
    return weight * (math.log(reached[size]) - lifts[size] * SHIFT * LN_2)


@kernel
def expect_stretches(lattice, desk, chances, expected, likelihood, stretch, work):
    """Add what the stretches from this one on expect; the one that is next."""
    done = np.int64(0)
    while stretch < lattice.number[STRETCHES] and done < work:
        likelihood[0] += expect_stretch(lattice, desk, chances, expected, stretch)
        done += 2 + 3 * (lattice.first_edge[lattice.starts[stretch + 1]] - lattice.first_edge[lattice.starts[stretch]])
        stretch += 1
    return stretch
