"""The floors: lower bounds on the number of tokens of a corpus.

A floor is valid for all vocabularies of one size, and for every way to split the words. An edge is a place in a word
where a piece fits. The proof uses prices:

- Each edge gets a price. A word that uses the edge pays one token plus this price.
- First, the words may use all pieces at these prices. Each word is split in the cheapest way, and the costs of all
  words are added up.
- A vocabulary of n pieces does not pay the prices of its own edges. A piece saves at most the sum of the prices of its
  edges. So n pieces save at most the n largest sums.
- The floor is the cost of all words minus the n largest sums. This is true for any prices.

In each round, the prices change in two ways. The pieces with the largest sums get lower prices for the edges that no
cheapest split uses. All other pieces get higher prices for the edges that the cheapest splits use. The rounds end when
the floor hardly rises.

If the best vocabulary is still far above the floor, couples of pieces get prices, too (`couples.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bpe_core.kernels import price_lattices as kernels
from bpe_core.methods.kit.floor.couples import Usage, most_price, no_couples, with_new_couples
from bpe_core.methods.kit.floor.lattice import Lattice
from bpe_core.support.arrays import Bools, Int32s, Int64s
from bpe_core.support.progress import never_cancelled

SLOWNESS = 4  # the average of about 2 ** SLOWNESS rounds changes a price
FIRST_STEP, LAST_STEP = 4.0, 0.01  # shares of the step that would close the gap if the floor were a plane
STEADY = 0.6  # the share of all rounds before the steps become smaller
FARTHER = 5.0  # the target of a step is at most this many gaps away
PATIENCE, SHORTER = 15, 0.8  # rounds without a better floor until all steps are shortened, and the factor
FIRST_WORTHS = (1, 2, 4, 8, 16)  # a long, rare piece saves more than a merge does
QUICK, SLOW = 0.02, 0.004  # the share of the wishes that each round forgets, at first and at the end
FIRST_COUPLED, LAST_COUPLED = 0.05, 0.002  # the shares of the step if couples have prices
ROUNDS_FOR_COUPLES = 20  # rounds between two searches for couples
NO_MORE_COUPLES = 0.8  # the share of the rounds after which no couples are added


@dataclass(frozen=True)
class Floor:
    """A proven lower bound: no vocabulary of `wanted` pieces splits the words into fewer than `value / unit` tokens.

    `prices` has the price of each edge. The beginning of this module explains how the prices prove the bound. `couples`
    has a row for each couple of pieces with a price: the numbers of its edges, and then its price.
    """

    wanted: int  # pieces
    value: int
    unit: int
    prices: Int32s
    couples: Int64s

    @property
    def tokens(self) -> int:
        """Return the floor in tokens, rounded up to a whole number."""
        return -(-self.value // self.unit)


class FloorPrices:
    """A search for prices, which prove a floor for one vocabulary size.

    The floor is a number of tokens: no vocabulary of this size needs fewer tokens for the corpus. Each place in a word
    where a piece fits has a price. In each round, the prices are changed so that the floor may rise.
    """

    def __init__(
        self,
        lattice: Lattice,
        wanted: int,
        upper: int,
        worth: float,
        warm: Int32s | None = None,
        is_late: Callable[[], bool] = never_cancelled,
    ) -> None:
        """Prepare the search for the prices that prove the highest floor: a lower bound on the number of tokens.

        `wanted` is the number of pieces in a vocabulary. `upper` is the number of tokens that the words have with a
        known vocabulary of this size, so no floor can be higher. `worth` estimates how many tokens the least valuable
        piece of the known vocabulary saves. `warm` holds prices that were found for another size, as a possible start.
        `is_late` returns whether the time for the search is over. Then fewer initial prices are tried.
        """
        self.lattice = lattice
        self.wanted = wanted
        self.upper = upper
        self.reached = upper  # the tokens of the best vocabulary until now
        edges = len(lattice.edges.piece)
        pieces = len(lattice)
        self._prices = kernels.Prices(
            np.zeros(edges, np.int32), np.zeros(edges, np.int16), np.zeros(edges, np.uint8), np.zeros(pieces, np.uint8),
            np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.uint8),
        )  # fmt: skip
        self._couples = no_couples()
        self._most = 0  # the highest price of a couple
        self._usage: Usage | None = None  # known if couples may have prices
        self._first_coupled = 0.0  # the share of the rounds that was made without couples
        self._desks = lattice.desks()
        self._sums = [np.zeros(pieces, np.int64) for _ in self._desks]
        self._step = 0
        self.rounds = 0
        self._scale, self._since = 1.0, 0  # a factor for all steps, and the rounds since the floor rose
        self.wish = np.zeros(pieces, np.float32)  # how often each piece was taken in the last rounds, from 0 to 1
        self.best = Floor(wanted, -(1 << 62), lattice.unit, self._prices.price, self._priced_couples())
        if wanted < pieces + lattice.left_out:
            self._begin(worth, warm, is_late)

    def _begin(self, worth: float, warm: Int32s | None, is_late: Callable[[], bool]) -> None:
        """Try several lists of initial prices. Keep the list that proves the highest floor.

        A floor is a lower bound on the number of tokens. Most lists assume that each piece saves about `worth`
        tokens, or a multiple of `worth`. They divide this number equally among the occurrences of the piece. If
        `warm` is given, this list of prices is tried first. When the time is over, the remaining lists are left out.
        """
        best = self.best.value
        prices = self._prices.price.copy()
        for times in (0, *FIRST_WORTHS):
            if times and is_late():
                break
            self._prices.price[:] = _first_prices(self.lattice, worth * times) if times or warm is None else warm
            floor = self._change_and_split(0)[0]
            if floor > best:
                best = floor
                prices = self._prices.price.copy()
        self._prices.price[:] = prices
        self._prices.used.fill(0)

    def round(self, share: float) -> None:
        """Run one round: change the prices, split all words by the new prices, and compute the floor.

        If the floor is the highest so far, keep it with its prices. Then choose how far the next round changes the
        prices. `share` is the completed part of the planned rounds, from 0 to 1.
        """
        value, strength, taken = self._change_and_split(SLOWNESS if self.rounds > 1 else 0)
        self._prices.taken[:] = taken
        if self._usage is not None:
            self._usage.add(self._prices, taken)
            if share < NO_MORE_COUPLES and self.rounds % ROUNDS_FOR_COUPLES == 0:
                self._add_couples(self._usage)
        rate = QUICK + (SLOW - QUICK) * share if self.rounds else 1.0
        self.wish += (taken - self.wish) * np.float32(rate)
        self._since += 1
        if value > self.best.value:
            self._since = 0
            self.best = Floor(self.wanted, value, self.lattice.unit, self._prices.price.copy(), self._priced_couples())
        self._step = self._next_step(value, strength, share)
        self.rounds += 1

    def _change_and_split(self, slowness: int) -> tuple[int, int, Bools]:
        """Change the price of each edge, and split all words at the lowest cost. An edge is a place where a piece
        fits.

        Return three values: the floor that the new prices prove, the size of the change as a sum of squares, and a
        mask. The mask marks the `wanted` pieces whose edges have the largest sums of prices. The larger `slowness`
        is, the more the change depends on earlier rounds.
        """
        lattice = self.lattice
        unit = self.lattice.unit

        def part(words: tuple[int, int], number: int) -> Any:
            self._sums[number].fill(0)
            return kernels.raise_prices(
                lattice.words, lattice.edges, self._prices, self._sums[number], self._desks[number],
                *map(np.int64, (*words, self._step, slowness, unit)),
            )  # fmt: skip

        coupled, strength_of_couples = self._change_couples(slowness)
        results = lattice.in_parts(part)
        total, strength = (sum(int(result[place]) for result in results) for place in (0, 1))
        strength += strength_of_couples
        sums = self._sums[0]
        for other in (*self._sums[1:], *coupled):
            sums += other
        taken, largest = largest_sums(sums, self.wanted, lattice.limit * unit, lattice.left_out)
        return total - largest, strength, taken

    def _change_couples(self, slowness: int) -> tuple[list[Int64s], int]:
        """Change the price of each couple. Return what each piece pays for its couples, and the size of the change."""
        if self._usage is None:
            return [], 0
        self._prices.added.fill(0)
        self._prices.credit.fill(0)
        sums = np.zeros(len(self.lattice), np.int64)
        numbers = map(np.int64, (self._step, slowness, self._most))
        return [sums], int(kernels.raise_couple_prices(self._couples, self._prices, sums, *numbers))

    @property
    def has_couples(self) -> bool:
        return self._usage is not None

    def begin_couples(self, share: float) -> None:
        """Continue from the best prices, and from now on give prices to couples of pieces, too.

        `share` is the completed part of the planned rounds, from 0 to 1.
        """
        nodes = len(self.lattice.words.symbols) + 1
        self._prices = self._prices._replace(
            price=self.best.prices.copy(),
            added=np.zeros(len(self._prices.price), np.int64),
            credit=np.zeros(nodes, np.int64),
            visited=np.zeros(nodes, np.uint8),
        )
        self._prices.lean.fill(0)
        self._usage = Usage(self.lattice)
        self._first_coupled = share
        self._step = self.lattice.unit >> 10

    def _add_couples(self, usage: Usage) -> None:
        self._couples = with_new_couples(self.lattice, self._couples, usage)
        self._most = most_price(self.lattice, self._couples)

    def _priced_couples(self) -> Int64s:
        priced = self._couples.price > 0
        return np.column_stack((self._couples.edges[priced], self._couples.price[priced]))

    def _next_step(self, value: int, strength: int, share: float) -> int:
        unit = self.lattice.unit
        if self.rounds == 0:
            return unit >> 10
        if self._usage is not None:
            done = (share - self._first_coupled) / (1 - self._first_coupled)
            part = _smaller(FIRST_COUPLED, LAST_COUPLED, done)
            gap = max(0.0, self.reached - value / unit)
        else:
            if self._since > PATIENCE:
                self._scale = self._scale * SHORTER
                self._since = 0
            part = self._scale * _smaller(FIRST_STEP, LAST_STEP, share)
            gap = max(0.0, min(self.upper - value / unit, FARTHER * (self.reached - value / unit)))
        step = part * gap * (1 << kernels.ONE_BITS) / max(1, strength)
        return int(min(step, 4.0) * unit)


def _smaller(first: float, last: float, share: float) -> float:
    """Return a number that stays at `first` for most of the rounds, and then falls to `last`.

    `share` says how many of all rounds are done, from 0 to 1.
    """
    power = max(0.0, (share - STEADY) / (1 - STEADY))
    smaller: float = first * (last / first) ** power
    return smaller


def _first_prices(lattice: Lattice, worth: float) -> Int32s:
    """Return the initial price of each edge.

    Each piece is assumed to save about `worth` tokens in all. This number is divided equally among the occurrences of
    the piece. A price is never higher than the number of tokens that one occurrence can save.
    """
    each = np.minimum(worth / np.maximum(1, lattice.counts), lattice.lengths - 1)
    prices: Int32s = (each * lattice.unit).astype(np.int32)[lattice.edges.piece]
    return prices


def largest_sums(sums: Int64s, wanted: int, limit: int, left_out: int) -> tuple[Bools, int]:
    """Choose the `wanted` pieces with the largest sums. Return a mask of these pieces, and the total of their sums.

    `sums` has the sum of the prices of each piece. There are `left_out` more pieces, whose prices are not known. In the
    total, each of them counts as a piece with the sum `limit`. The mask has no items for them.

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
