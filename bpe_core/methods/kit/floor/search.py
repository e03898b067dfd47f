"""The search for a floor and for a vocabulary near the floor, divided into small slices of work.

First the prices of the pieces change in rounds, and from time to time a vocabulary is made from them. Then swaps of
pieces improve the best vocabulary. A user can limit the search by a number of rounds, which gives the same result on
every machine, or by a number of seconds.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Self

import numpy as np

from bpe_core.counting.words import WordTable
from bpe_core.errors import NothingToLearn
from bpe_core.history.history import History
from bpe_core.methods.kit.floor.lattice import Lattice
from bpe_core.methods.kit.floor.prices import Floor, FloorPrices
from bpe_core.methods.kit.floor.vocabulary import ExchangeSearch, SwapSearch, Vocabulary
from bpe_core.methods.kit.trainer import learn
from bpe_core.methods.registry import USUAL
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.arrays import Int32s, Int64s
from bpe_core.support.progress import ALONE, Work

FOR_PRICES = 0.7  # the share of the time for prices; the rest is for swaps
BEFORE_COUPLES = 0.25  # the share of the rounds for prices after which couples may get prices
WIDE = 1.1  # couples get prices if the best vocabulary needs this many times as many tokens as the floor
LOOKS = 12  # how often a vocabulary is made from the prices while they rise
ROUNDS = 1_000
SWAPS = 120
BETWEEN_MOMENTS = 0.1  # seconds


@dataclass(frozen=True)
class Budget:
    rounds: int = ROUNDS
    swaps: int = SWAPS
    seconds: float = float("inf")
    gap: float = 0.0  # a share of the floor; a vocabulary that is no farther above the floor is good enough


@dataclass(frozen=True, eq=False)
class Guess:
    """A training run of byte-pair encoding. It gives the first estimates in the search for a lower bound.

    It has the count of each merge, and the number of tokens in the corpus after each merge.
    """

    tokens: Int64s
    counts: Int64s  # the count of each merge
    history: History | None = None

    @classmethod
    def of(cls, words: WordTable, recipe: Recipe, wanted: int, longest: int, work: Work = ALONE) -> Self:
        changes = dict(method=USUAL, ties="first-seen", merges=max(1, wanted), max_token_length=longest)
        marker = dict(marker="none", marker_text="") if recipe.marker == "continuation" else {}
        try:
            history = learn(words, recipe.with_changes(**changes, **marker), cancelled=work.cancelled)
        except NothingToLearn:
            return cls(np.zeros(0, np.int64), np.zeros(0, np.int64))
        work.check()
        return cls(history.tokens_after, history.columns.count.astype(np.int64), history)

    def upper(self, wanted: int, symbols: int) -> int:
        return int(self.tokens[min(max(0, wanted), len(self.tokens) - 1)]) if len(self.tokens) else symbols

    def worth(self, wanted: int) -> int:
        """Estimate how many tokens the least useful piece of a vocabulary with `wanted` pieces saves.

        The estimate is the count of merge number `wanted`. If there are fewer merges, return 1, because a useful piece
        saves at least one token.
        """
        return int(self.counts[wanted - 1]) if 0 < wanted <= len(self.counts) else 1


@dataclass(frozen=True)
class Moment:
    seconds: float
    done: int  # rounds and swaps
    floor: int  # tokens
    best: int


@dataclass
class Search:
    """A search among all vocabularies of one size, with the best results so far: a floor and the best vocabulary.

    The floor is a lower bound: no vocabulary of this size needs fewer tokens. Tokens for unknown characters are not
    counted.
    """

    lattice: Lattice
    wanted: int
    guess: Guess
    budget: Budget
    warm: Int32s | None = None
    work: Work = ALONE
    best: Vocabulary = field(init=False)
    floor: Floor = field(init=False)
    wish: np.typing.NDArray[np.float32] = field(init=False)  # for each piece, how strongly the prices favour it
    moments: list[Moment] = field(default_factory=list)
    rounds: int = 0  # rounds of prices made until now
    swaps: int = 0

    def __post_init__(self) -> None:
        self.wish = np.zeros(len(self.lattice), np.float32)

    def steps(self) -> Iterator[float]:
        """Search, and yield after each slice of work the completed part of the search, from 0 to 1."""
        began = time.monotonic()
        budget = self.budget
        lattice = self.lattice
        upper = self.guess.upper(self.wanted, lattice.symbols)
        worth = self.guess.worth(self.wanted)

        def time_is_over(share: float = 1.0) -> bool:
            self.work.check()
            return time.monotonic() - began >= share * budget.seconds

        pricing = FloorPrices(lattice, self.wanted, upper, worth, self.warm, partial(time_is_over, FOR_PRICES))
        is_easy = self.wanted <= 0 or self.wanted >= len(lattice) + lattice.left_out
        looked = -1.0
        share = 0.0
        while share < 1.0:
            if share >= BEFORE_COUPLES and not pricing.has_couples and self.best.tokens > WIDE * self.floor.tokens:
                pricing.begin_couples(share)
            pricing.round(share)
            self.rounds = pricing.rounds
            gone = (time.monotonic() - began) / (FOR_PRICES * budget.seconds)
            share = 1.0 if is_easy else min(1.0, max(gone, pricing.rounds / budget.rounds))
            self.floor = pricing.best
            self.wish = pricing.wish
            if share - looked >= 1 / LOOKS or share == 1.0:
                looked = share
                self._take(Vocabulary.wished(lattice, self.wish, self.wanted), began)
                pricing.reached = min(pricing.reached, self.best.tokens)
            elif time.monotonic() - began - self.moments[-1].seconds >= BETWEEN_MOMENTS:
                self._note(began)
            if self._is_near_enough():
                return
            yield FOR_PRICES * share
        improving: SwapSearch | ExchangeSearch = SwapSearch(lattice, self.best)
        for swap in range(budget.swaps):
            gone = (time.monotonic() - began) / budget.seconds
            if improving.is_over and isinstance(improving, SwapSearch):
                improving = ExchangeSearch(lattice, self.best)
            if improving.is_over or gone >= 1 or self._is_near_enough():
                break
            improving.swap(time_is_over)
            self.swaps = swap + 1
            self._take(improving.best, began)
            yield FOR_PRICES + (1 - FOR_PRICES) * max(swap / budget.swaps, min(1.0, gone))

    def _is_near_enough(self) -> bool:
        return self.best.tokens <= self.floor.tokens * (1 + self.budget.gap)

    def _take(self, vocabulary: Vocabulary, began: float) -> None:
        if not self.moments or vocabulary.tokens < self.best.tokens:
            self.best = vocabulary
        self._note(began)

    def _note(self, began: float) -> None:
        self.moments.append(
            Moment(time.monotonic() - began, self.rounds + self.swaps, self.floor.tokens, self.best.tokens)
        )
