"""Floors: what no vocabulary of so many pieces, and no way to cut by it, can fall below.

Put a price on each edge, and cut each word the cheapest way, where an edge costs a token and its price. Give for each
piece what its edges cost together. What all words cost, less the largest of these sums, is a floor, whatever the
prices are: whoever has a piece saves at most its sum. So prices are raised where the cheapest ways use what is not
paid for, and lowered where they pay for what is not used, until the floor hardly rises.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bpe_core.kernels import price_lattices as kernels
from bpe_core.methods.kit.floor.lattice import Lattice
from bpe_core.support.arrays import Bools, Int32s, Int64s

SLOWNESS = 4  # a price is pulled by the average of some 2 ** SLOWNESS rounds
FIRST_STEP, LAST_STEP = 4.0, 0.01  # of the way that would close the gap, were the floor a plane
STEADY = 0.6  # the share of all rounds before steps get smaller
FARTHER = 5.0  # so many gaps away steps aim at most
PATIENCE, SHORTER = 15, 0.8  # after so many rounds without a better floor, all steps become so much shorter
FIRST_WORTHS = (1, 2, 4, 8, 16)  # where pieces are long and rare, one saves more than a join does
QUICK, SLOW = 0.02, 0.004  # how much of what pieces are wanted for is forgotten each round, at first and at last


@dataclass(frozen=True)
class Floor:
    """A proven floor: `value / unit` tokens, with the prices that prove it."""

    wanted: int  # pieces
    value: int
    unit: int
    prices: Int32s

    @property
    def tokens(self) -> int:
        """Return the least whole number that is not below it."""
        return -(-self.value // self.unit)


class FloorPrices:
    """Raises the floor for one size, round after round."""

    def __init__(self, lattice: Lattice, wanted: int, upper: int, worth: float, warm: Int32s | None = None) -> None:
        """`upper` is what some vocabulary reaches, `worth` about what the last piece of one saves."""
        self.lattice, self.wanted, self.upper = lattice, wanted, upper
        self.reached = upper  # by the best vocabulary so far
        edges, pieces = len(lattice.edges.piece), len(lattice)
        self._prices = kernels.Prices(
            np.zeros(edges, np.int32), np.zeros(edges, np.int16), np.zeros(edges, np.uint8), np.zeros(pieces, np.uint8)
        )
        self._desks = lattice.desks()
        self._sums = [np.zeros(pieces, np.int64) for _ in self._desks]
        self._step, self.rounds = 0, 0
        self._scale, self._since = 1.0, 0  # of all steps, and the rounds since the floor rose
        self.wish = np.zeros(pieces, np.float32)  # how much each piece was taken in the last rounds
        self.best = Floor(wanted, -(1 << 62), lattice.unit, self._prices.price)
        if wanted < pieces + lattice.left_out:
            self._begin(worth, warm)

    def _begin(self, worth: float, warm: Int32s | None) -> None:
        """Take the prices of another size, or spread what a piece may save over its places: what has the best floor."""
        best, prices = -(1 << 62), self._prices.price.copy()
        for times in (*FIRST_WORTHS, 0):
            self._prices.price[:] = _first_prices(self.lattice, worth * times) if times or warm is None else warm
            floor = self._cut(0)[0]
            if floor > best:
                best, prices = floor, self._prices.price.copy()
        self._prices.price[:] = prices
        self._prices.used.fill(0)

    def round(self, share: float) -> None:
        """Make one round; `share` is how much of all that is planned is done, from 0 to 1."""
        value, strength, taken = self._cut(SLOWNESS if self.rounds > 1 else 0)
        self._prices.taken[:] = taken
        rate = QUICK + (SLOW - QUICK) * share if self.rounds else 1.0
        self.wish += (taken - self.wish) * np.float32(rate)
        self._since += 1
        if value > self.best.value:
            self._since = 0
            self.best = Floor(self.wanted, value, self.lattice.unit, self._prices.price.copy())
        self._step = self._next_step(value, strength, share)
        self.rounds += 1

    def _cut(self, slowness: int) -> tuple[int, int, Bools]:
        """Pull the prices and cut all words: the floor, how strong the pull was, and which pieces cost most."""
        lattice, unit = self.lattice, self.lattice.unit

        def part(words: tuple[int, int], number: int) -> Any:
            self._sums[number].fill(0)
            return lattice.run(
                kernels.raise_prices, lattice.words, lattice.edges, self._prices, self._sums[number],
                self._desks[number], *map(np.int64, (*words, self._step, slowness, unit)),
            )  # fmt: skip

        found = lattice.in_parts(part)
        total, strength = (sum(int(one[place]) for one in found) for place in (0, 1))
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
            self._scale, self._since = self._scale * SHORTER, 0
        part = self._scale * FIRST_STEP * (LAST_STEP / FIRST_STEP) ** max(0.0, (share - STEADY) / (1 - STEADY))
        gap = max(0.0, min(self.upper - value / unit, FARTHER * (self.reached - value / unit)))
        step = part * gap * (1 << kernels.ONE_BITS) / max(1, strength)
        return int(min(step, 4.0) * unit)


def _first_prices(lattice: Lattice, worth: float) -> Int32s:
    """Let each piece cost as much as the last one taken may save, spread over its places."""
    each = np.minimum(worth / np.maximum(1, lattice.counts), lattice.lengths - 1)
    prices: Int32s = (each * lattice.unit).astype(np.int32)[lattice.edges.piece]
    return prices


def largest_sums(sums: Int64s, wanted: int, limit: int, left_out: int) -> tuple[Bools, int]:
    """Return the pieces with the largest sums and their total; `left_out` others may have sums up to the limit.

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
