"""The floors: lower bounds on the number of tokens of a corpus.

A floor is valid for all vocabularies of one size, and for every way to split the words. Each edge of a lattice has a
price. An edge costs one token plus its price, and each word is split in the cheapest way. The prices of all edges of a
piece have a sum. A vocabulary that holds the piece saves at most this sum. So a floor is the cost of all words minus
the largest sums, and this is true for any prices. In each round, the prices change in two ways. The pieces with the
largest sums get lower prices for the edges that no cheapest split uses. All other pieces get higher prices for the
edges that the cheapest splits use. The rounds end when the floor hardly rises.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bpe_core.kernels import price_lattices as kernels
from bpe_core.methods.kit.floor.lattice import Lattice
from bpe_core.support.arrays import Bools, Int32s, Int64s

SLOWNESS = 4  # the average of about 2 ** SLOWNESS rounds changes a price
FIRST_STEP, LAST_STEP = 4.0, 0.01  # shares of the step that would close the gap if the floor were a plane
STEADY = 0.6  # the share of all rounds before the steps become smaller
FARTHER = 5.0  # the target of a step is at most this many gaps away
PATIENCE, SHORTER = 15, 0.8  # rounds without a better floor until all steps are shortened, and the factor
FIRST_WORTHS = (1, 2, 4, 8, 16)  # a long, rare piece saves more than a merge does
QUICK, SLOW = 0.02, 0.004  # the share of the wishes that each round forgets, at first and at the end


@dataclass(frozen=True)
class Floor:
    """A proven floor of `value / unit` tokens, with the prices that prove it."""

    wanted: int  # pieces
    value: int
    unit: int
    prices: Int32s

    @property
    def tokens(self) -> int:
        """Return the floor in tokens, rounded up to a whole number."""
        return -(-self.value // self.unit)


class FloorPrices:
    """A search for prices, which raises the floor of one vocabulary size in rounds."""

    def __init__(self, lattice: Lattice, wanted: int, upper: int, worth: float, warm: Int32s | None = None) -> None:
        """Prepare the search.

        `wanted` is the number of pieces in a vocabulary. `upper` is the number of tokens with one vocabulary of this
        size. `worth` estimates the tokens that the least valuable piece of this vocabulary saves. `warm` are the prices
        that were found for another size.
        """
        self.lattice = lattice
        self.wanted = wanted
        self.upper = upper
        self.reached = upper  # the tokens of the best vocabulary until now
        edges = len(lattice.edges.piece)
        pieces = len(lattice)
        self._prices = kernels.Prices(
            np.zeros(edges, np.int32), np.zeros(edges, np.int16), np.zeros(edges, np.uint8), np.zeros(pieces, np.uint8)
        )
        self._desks = lattice.desks()
        self._sums = [np.zeros(pieces, np.int64) for _ in self._desks]
        self._step = 0
        self.rounds = 0
        self._scale, self._since = 1.0, 0  # a factor for all steps, and the rounds since the floor rose
        self.wish = np.zeros(pieces, np.float32)  # how often each piece was taken in the last rounds, from 0 to 1
        self.best = Floor(wanted, -(1 << 62), lattice.unit, self._prices.price)
        if wanted < pieces + lattice.left_out:
            self._begin(worth, warm)

    def _begin(self, worth: float, warm: Int32s | None) -> None:
        """Try several first prices, and keep the prices with the highest floor.

        Some first prices divide the tokens that a piece saves equally among its edges. If `warm` is given, these prices
        are tried too.
        """
        best = -(1 << 62)
        prices = self._prices.price.copy()
        for times in (*FIRST_WORTHS, 0):
            self._prices.price[:] = _first_prices(self.lattice, worth * times) if times or warm is None else warm
            floor = self._change_and_split(0)[0]
            if floor > best:
                best = floor
                prices = self._prices.price.copy()
        self._prices.price[:] = prices
        self._prices.used.fill(0)

    def round(self, share: float) -> None:
        """Run one round. `share` is the completed part of the planned rounds, from 0 to 1."""
        value, strength, taken = self._change_and_split(SLOWNESS if self.rounds > 1 else 0)
        self._prices.taken[:] = taken
        rate = QUICK + (SLOW - QUICK) * share if self.rounds else 1.0
        self.wish += (taken - self.wish) * np.float32(rate)
        self._since += 1
        if value > self.best.value:
            self._since = 0
            self.best = Floor(self.wanted, value, self.lattice.unit, self._prices.price.copy())
        self._step = self._next_step(value, strength, share)
        self.rounds += 1

    def _change_and_split(self, slowness: int) -> tuple[int, int, Bools]:
        """Change the prices, and split all words by the new prices.

        Return the floor, the strength of the change, and a mask of the pieces whose edges have the largest sums of
        prices.
        """
        lattice = self.lattice
        unit = self.lattice.unit

        def part(words: tuple[int, int], number: int) -> Any:
            self._sums[number].fill(0)
            return kernels.raise_prices(
                lattice.words, lattice.edges, self._prices, self._sums[number], self._desks[number],
                *map(np.int64, (*words, self._step, slowness, unit)),
            )  # fmt: skip

        results = lattice.in_parts(part)
        total, strength = (sum(int(result[place]) for result in results) for place in (0, 1))
        sums = self._sums[0]
        for other in self._sums[1:]:
            sums += other
        taken, largest = largest_sums(sums, self.wanted, lattice.limit * unit, lattice.left_out)
        return total - largest, strength, taken

    def _next_step(self, value: int, strength: int, share: float) -> int:
        unit = self.lattice.unit
        if self.rounds == 0:
            return unit >> 10
        if self._since > PATIENCE:
            self._scale = self._scale * SHORTER
            self._since = 0
        part = self._scale * FIRST_STEP * (LAST_STEP / FIRST_STEP) ** max(0.0, (share - STEADY) / (1 - STEADY))
        gap = max(0.0, min(self.upper - value / unit, FARTHER * (self.reached - value / unit)))
        step = part * gap * (1 << kernels.ONE_BITS) / max(1, strength)
        return int(min(step, 4.0) * unit)


def _first_prices(lattice: Lattice, worth: float) -> Int32s:
    """Return prices for all edges.

    Each piece saves about `worth` tokens in all, divided equally among its occurrences.
    """
    each = np.minimum(worth / np.maximum(1, lattice.counts), lattice.lengths - 1)
    prices: Int32s = (each * lattice.unit).astype(np.int32)[lattice.edges.piece]
    return prices


def largest_sums(sums: Int64s, wanted: int, limit: int, left_out: int) -> tuple[Bools, int]:
    """Return a mask of the `wanted` pieces with the largest sums of prices, and the total of these sums.

    `left_out` further pieces have no edges. The sum of each of them counts as `limit`.

    >>> taken, total = largest_sums(np.array([5, 1, 9, 5]), 2, 0, 0)
    >>> taken.tolist(), total
    ([True, False, True, False], 14)
    >>> largest_sums(np.array([5, 1, 9, 5]), 4, 2, 1)[1]
    21
    """
    taken = np.ones(len(sums), np.bool_)
    if wanted < len(sums):
        last = np.partition(sums, len(sums) - max(1, wanted))[len(sums) - max(1, wanted)]
        taken = sums > last
        taken[np.flatnonzero(sums == last)[: wanted - int(np.count_nonzero(taken))]] = True
    if wanted <= 0:
        return np.zeros(len(sums), np.bool_), 0
    chosen = sums[taken]
    beside = min(left_out, wanted - len(chosen))
    smaller = np.sort(chosen[chosen < limit])[: left_out - beside]
    return taken, int(chosen.sum()) + limit * (beside + len(smaller)) - int(smaller.sum())
