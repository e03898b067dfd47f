"""A vocabulary that nearly reaches its floor: the pieces that the prices ask for, then swapped while that saves tokens.

What a piece outside would save, and what one inside saves, is known for all at once from the shortest ways through all
words. So many are swapped together, the best against the worst, fewer of them where that went wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from bpe_core.kernels import price_lattices as kernels
from bpe_core.methods.kit.floor.lattice import Lattice
from bpe_core.support.arrays import Bools, Int64s

LEAVE_AT_ONCE = 12  # a twelfth of those left
HIDDEN = 1_000  # this part of all tokens may be lost without a second look
FIRST_SHARE, MORE, FEWER = 0.3, 1.3, 0.5  # of the swaps that seem to pay: how many are tried, and what comes next


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Pieces with what they make of the words; without what the alphabet lacks."""

    inside: Bools
    tokens: int
    gains: Int64s  # what each piece outside would save
    losses: Int64s  # what each piece inside saves

    @classmethod
    def of(cls, lattice: Lattice, inside: Bools) -> Vocabulary:
        marks = inside.astype(np.uint8)
        desks = lattice.desks()
        columns = [np.zeros((2, len(lattice)), np.int64) for _ in desks]

        def part(words: tuple[int, int], number: int) -> Any:
            return lattice.run(
                kernels.weigh_pieces, lattice.words, lattice.edges, marks, *columns[number], desks[number],
                *map(np.int64, words),
            )  # fmt: skip

        tokens = sum(map(int, lattice.in_parts(part)))
        gains, losses = sum(columns, start=np.zeros((2, len(lattice)), np.int64))
        return cls(inside, tokens, gains, losses)

    @classmethod
    def wished(cls, lattice: Lattice, wish: Any, wanted: int) -> Vocabulary:
        """Take those pieces that are wished for most; of equals the longer ones, which occur in more words."""
        order = np.lexsort((-lattice.saves, -wish))
        inside = np.zeros(len(lattice), np.bool_)
        inside[order[: max(0, wanted)]] = True
        return cls.of(lattice, inside)


def by_value(lattice: Lattice, now: Vocabulary) -> Iterator[Int64s]:
    """Find the order of a vocabulary's pieces, the most valuable first; what was found last is the whole.

    What is worth least leaves, a part of all at a time, and the others are weighed anew.
    """
    ranking, least = np.zeros(0, np.int64), np.zeros(len(lattice), np.int64)
    while now.inside.any():
        out, now = _leave(lattice, now, least)
        ranking = np.concatenate((out[::-1], ranking))
        yield ranking


def _leave(lattice: Lattice, now: Vocabulary, least: Int64s) -> tuple[Int64s, Vocabulary]:
    """Take out the pieces worth least, and say which.

    Each place is weighed as if the piece stayed at all others. So a piece that a long word holds often, or one of two
    that replace each other, may save more than it seems. Then fewer leave, and `least` keeps what a single one saves.
    """
    left = np.flatnonzero(now.inside)
    count = max(1, len(left) // LEAVE_AT_ONCE)
    while True:
        losses = np.maximum(now.losses, least)
        out = left[np.lexsort((-left, losses[left]))][:count]
        inside = now.inside.copy()
        inside[out] = False
        after = Vocabulary.of(lattice, inside)
        more = after.tokens - now.tokens
        if more <= 2 * int(losses[out].sum()) + now.tokens // HIDDEN:
            return out, after
        if count == 1:
            least[out] = more
        count = max(1, count // 2)


class SwapSearch:
    """Swaps pieces, some at each call, until no swap saves anything."""

    def __init__(self, lattice: Lattice, first: Vocabulary) -> None:
        self._lattice, self.best = lattice, first
        self._share = FIRST_SHARE
        self.is_over = False

    def swap(self) -> None:
        now = self.best
        outside, inside = np.flatnonzero(~now.inside), np.flatnonzero(now.inside)
        outside = outside[np.argsort(-now.gains[outside], kind="stable")]
        inside = inside[np.argsort(now.losses[inside], kind="stable")]
        both = min(len(outside), len(inside))
        pays = int(np.count_nonzero(now.gains[outside[:both]] > now.losses[inside[:both]]))
        swapped = max(1, int(pays * self._share))
        if not pays:
            self.is_over = True
            return
        chosen = now.inside.copy()
        chosen[outside[:swapped]], chosen[inside[:swapped]] = True, False
        tried = Vocabulary.of(self._lattice, chosen)
        if tried.tokens < now.tokens:
            self.best, self._share = tried, min(1.0, self._share * MORE)
        else:
            self._share *= FEWER
            self.is_over = swapped == 1
