"""The couples of pieces, which raise a floor where pieces of one length compete for the same places.

A floor is a lower bound on the number of tokens. With prices of edges alone, a floor is also valid for vocabularies
with parts of pieces, such as a third of a piece. In nearly random words, such as those of DNA, this makes the floor
much too low: with a third of all pieces of three symbols, each word could be split in three ways at once, each way to a
third.

A couple forbids this for two pieces. At one place they overlap, so a word can use only one of them there. At another
place, one directly follows the other. A vocabulary uses both there only if it contains both. Count the uses of the two
pieces at the first place, and add one if both are used at the second place. The sum is at most the number of these two
pieces that the vocabulary contains. This is true for each vocabulary of whole pieces, but not for thirds of pieces. The
price of a couple is paid for each use, and the sum of the prices of each of the two pieces grows by this price.

A piece that overlaps itself is a couple, too. It is used at most once at such a place, so its sum grows by the price
only once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bpe_core.kernels import price_lattices as kernels
from bpe_core.kernels.price_lattices import Couples
from bpe_core.methods.kit.floor.lattice import Lattice
from bpe_core.support.arrays import Bools, Int64s

LEAST_USE = 0.02  # an edge that is used less is in no new couple
MOST_EDGES = 100_000  # in one search for couples
LEAST_EXCESS = 0.02  # how much more than allowed the pieces of a new couple are used
FORGOTTEN = 0.03  # the share of the averages that each round replaces
MOST_SUM = 1 << 59  # all prices together, so that sums of prices fit into 64 bits

Shares = npt.NDArray[np.float32]


def no_couples() -> Couples:
    return Couples(
        np.zeros((0, 4), np.int64), np.zeros(0, np.int64), np.zeros((0, 2), np.int64), np.ones((0, 2), np.int64),
        np.zeros(0, np.int64), np.zeros(0, np.int64),
    )  # fmt: skip


class Usage:
    """The use of each edge, each node and each piece: an average over the last rounds, from 0 to 1."""

    def __init__(self, lattice: Lattice) -> None:
        self._rounds = 0
        self._begin = 0  # the place in the list of used edges where the next search for couples begins
        self.edges = np.zeros(len(lattice.edges.piece), np.float32)
        self.nodes = np.zeros(len(lattice.words.symbols) + 1, np.float32)
        self.pieces = np.zeros(len(lattice), np.float32)

    def add(self, prices: kernels.Prices, taken: Bools) -> None:
        """Add the uses of edges, nodes and pieces in the last round to the averages."""
        self._rounds += 1
        rate = max(FORGOTTEN, 1 / self._rounds)
        averages = (self.edges, self.nodes, self.pieces)
        for average, now in zip(averages, (prices.used, prices.visited, taken), strict=True):
            average += (now.astype(np.float32) - average) * np.float32(rate)

    def used_edges(self) -> Int64s:
        """Return the edges that are used often enough to be in a new couple of pieces.

        If there are many, return a part of them. The next call returns the next part.
        """
        used = np.flatnonzero(self.edges > LEAST_USE)
        begin = self._begin if self._begin < len(used) else 0
        self._begin = begin + MOST_EDGES
        return used[begin : begin + MOST_EDGES]


class _Places(NamedTuple):
    """The best place of each two pieces whose edges overlap, or follow one another.

    `key` identifies the two pieces. `left` and `right` are the two edges at the best place, and `use` is their use
    there.
    """

    key: Int64s
    left: Int64s
    right: Int64s
    use: Shares


def with_new_couples(lattice: Lattice, known: Couples, usage: Usage) -> Couples:
    """Return the couples that have a price or may get one, and new couples.

    In the average of the last rounds, the pieces of a new couple were used more than any vocabulary allows.
    """
    live = usage.used_edges()
    begin = np.searchsorted(lattice.edges.first, live, side="right") - 1
    end = begin + lattice.edges.length[live]
    overlapping = _best_places(lattice, usage, live, *_overlaps(begin, end), np.zeros(1, np.float32))
    left, right = _followers(lattice, begin, end)
    following = _best_places(lattice, usage, live, left, right, usage.nodes[end[left]])
    first, second = np.divmod(overlapping.key, len(lattice))
    excess = overlapping.use - usage.pieces[first] - np.where(first == second, 0, usage.pieces[second])
    place = np.minimum(np.searchsorted(following.key, overlapping.key), max(0, len(following.key) - 1))
    follows = (following.key[place] == overlapping.key) if len(following.key) else np.zeros(len(first), np.bool_)
    excess[follows] += following.use[place[follows]]
    chosen = np.flatnonzero((excess > LEAST_EXCESS) & (follows | (first == second)))
    follows = follows[chosen] & (first != second)[chosen]
    place = place[chosen]
    edges = np.full((len(chosen), 4), -1, np.int64)
    edges[:, 0] = overlapping.left[chosen]
    edges[:, 1] = overlapping.right[chosen]
    edges[follows, 2] = following.left[place[follows]]
    edges[follows, 3] = following.right[place[follows]]
    kept = (known.price > 0) | (known.lean > 0)
    rows = np.concatenate((known.edges[kept], edges))
    _, earliest = np.unique(rows, axis=0, return_index=True)
    is_new = np.zeros(len(rows), np.bool_)
    is_new[earliest] = True
    fresh = _of_edges(lattice, edges[is_new[np.count_nonzero(kept) :]])
    return Couples(*(np.concatenate((old[kept], new)) for old, new in zip(known, fresh, strict=True)))


def most_price(lattice: Lattice, couples: Couples) -> int:
    """Return the highest price that a couple may have per occurrence. Higher prices are useless, or sums overflow."""
    weights = int(couples.counts.max(axis=1).sum())
    return min((lattice.longest - 1) * lattice.unit, MOST_SUM // max(1, weights))


def _overlaps(begin: Int64s, end: Int64s) -> tuple[Int64s, Int64s]:
    """Return all pairs of edges that overlap. The edges are sorted by their beginning."""
    many = np.searchsorted(begin, end) - np.arange(len(begin)) - 1
    left = np.repeat(np.arange(len(begin)), many)
    return left, left + 1 + _numbers_in_groups(many)


def _followers(lattice: Lattice, begin: Int64s, end: Int64s) -> tuple[Int64s, Int64s]:
    """Return all pairs of edges in which the second edge begins where the first ends, in the same word."""
    first = np.searchsorted(begin, end)
    many = np.searchsorted(begin, end, side="right") - first
    many[np.isin(end, lattice.words.starts)] = 0
    return np.repeat(np.arange(len(begin)), many), np.repeat(first, many) + _numbers_in_groups(many)


def _numbers_in_groups(many: Int64s) -> Int64s:
    """Return the numbers from zero on for each group. `many` holds the number of items in each group.

    >>> _numbers_in_groups(np.array([2, 0, 3])).tolist()
    [0, 1, 0, 1, 2]
    """
    stops = np.cumsum(many)
    numbers: Int64s = np.arange(stops[-1] if len(stops) else 0) - np.repeat(stops - many, many)
    return numbers


def _best_places(lattice: Lattice, usage: Usage, live: Int64s, left: Int64s, right: Int64s, spent: Any) -> _Places:
    """Return the best place of each two pieces: the two edges that are used most, after `spent` is subtracted.

    `left` and `right` hold all pairs of edges to choose from, as indices into `live`, which lists edges.
    """
    one = live[left]
    other = live[right]
    use = usage.edges[one] + usage.edges[other] - spent
    pieces = np.sort(lattice.edges.piece[np.stack((one, other))].astype(np.int64), axis=0)
    key = pieces[0] * len(lattice) + pieces[1]
    order = np.lexsort((-use, key))
    key = key[order]
    order = order[np.concatenate((np.ones(min(1, len(key)), np.bool_), key[1:] != key[:-1]))]
    return _Places(pieces[0][order] * len(lattice) + pieces[1][order], one[order], other[order], use[order])


def _of_edges(lattice: Lattice, edges: Int64s) -> Couples:
    overlap = edges[:, :2]
    is_single = edges[:, 2] < 0
    pieces = lattice.edges.piece[overlap].astype(np.int64)
    pieces[is_single, 1] = -1
    at = np.searchsorted(lattice.edges.first, edges[:, 3], side="right") - 1
    symbols = np.searchsorted(lattice.edges.first, edges[:, [0, 3]], side="right") - 1
    words = np.searchsorted(lattice.words.starts, np.maximum(symbols, 0), side="right") - 1
    counts = lattice.words.counts[words]
    counts[is_single, 1] = counts[is_single, 0]
    none = np.zeros(len(edges), np.int64)
    return Couples(edges, np.where(is_single, -1, at), pieces, counts, none, none.copy())
