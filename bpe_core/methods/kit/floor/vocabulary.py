"""The search for a vocabulary that needs hardly more tokens than the floor, which is a proven lower bound.

The search begins with the pieces that were chosen most often while the floor was computed. Then it swaps pieces. The
shortest paths through all words show for every piece at once how many tokens it saves, or would save. Therefore many
pieces are swapped together: the best pieces outside the vocabulary for the worst pieces inside. After a swap that saves
nothing, the next swap is smaller.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from bpe_core.kernels import price_lattices as kernels
from bpe_core.methods.kit.floor.lattice import Lattice
from bpe_core.support.arrays import Bools, Int64s

LEAVE_AT_ONCE = 12  # one twelfth of the remaining pieces is removed at once
HIDDEN = 1_000  # one token in 1,000 may be lost without another check
FIRST_SHARE, MORE, FEWER = 0.3, 1.3, 0.5  # the share of promising swaps that is tried, and its factors


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """A set of pieces, and the number of tokens in the corpus if its words are split into these pieces.

    Tokens for unknown characters are not counted.
    """

    inside: Bools
    tokens: int
    gains: Int64s  # tokens that each piece outside would save
    losses: Int64s  # tokens that each piece inside saves

    @classmethod
    def of(cls, lattice: Lattice, inside: Bools) -> Vocabulary:
        marks = inside.astype(np.uint8)
        desks = lattice.desks()
        columns = [np.zeros((2, len(lattice)), np.int64) for _ in desks]

        def part(words: tuple[int, int], number: int) -> Any:
            gains, losses = columns[number]
            first, stop = map(np.int64, words)
            return kernels.weigh_pieces(lattice.words, lattice.edges, marks, gains, losses, desks[number], first, stop)

        tokens = sum(map(int, lattice.in_parts(part)))
        gains, losses = sum(columns, start=np.zeros((2, len(lattice)), np.int64))
        return cls(inside, tokens, gains, losses)

    @classmethod
    def wished(cls, lattice: Lattice, wish: Any, wanted: int) -> Vocabulary:
        """Return the vocabulary of the `wanted` pieces with the highest values in `wish`.

        A value says how often the piece was chosen while the floor was computed, from 0 to 1. If two pieces have equal
        values, the piece that may save more tokens comes first.
        """
        order = np.lexsort((-lattice.saves, -wish))
        inside = np.zeros(len(lattice), np.bool_)
        inside[order[: max(0, wanted)]] = True
        return cls.of(lattice, inside)


def by_value(lattice: Lattice, now: Vocabulary) -> Iterator[Int64s]:
    """Rank the pieces of a vocabulary by value, the most valuable piece first. Yield the ranking after each round.

    The ranking is built from its end. Each round removes some of the least valuable pieces from the vocabulary, and
    puts them before the pieces that earlier rounds removed. Then it recomputes the values of the remaining pieces. The
    last ranking holds all pieces.
    """
    ranking = np.zeros(0, np.int64)
    least = np.zeros(len(lattice), np.int64)
    while now.inside.any():
        out, now = _remove_least_valuable(lattice, now, least)
        ranking = np.concatenate((out[::-1], ranking))
        yield ranking


def _remove_least_valuable(lattice: Lattice, now: Vocabulary, least: Int64s) -> tuple[Int64s, Vocabulary]:
    """Remove the least valuable pieces. Return these pieces, and the vocabulary without them.

    The value of a piece is the number of tokens that it saves. It is estimated separately for each occurrence, as
    if the piece stayed at all its other occurrences, and then added up. This estimate can be too low, for example
    if a piece occurs several times in a long word, or if two pieces can replace each other. If it is far too low,
    fewer pieces are removed at once. If it is far too low for a single piece, `least` stores the true value of
    this piece.
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
    """A search that swaps some pieces at each call, until no swap saves a token."""

    def __init__(self, lattice: Lattice, first: Vocabulary) -> None:
        self._lattice = lattice
        self.best = first
        self._share = FIRST_SHARE
        self.is_over = False

    def swap(self) -> None:
        now = self.best
        outside = np.flatnonzero(~now.inside)
        inside = np.flatnonzero(now.inside)
        outside = outside[np.argsort(-now.gains[outside], kind="stable")]
        inside = inside[np.argsort(now.losses[inside], kind="stable")]
        both = min(len(outside), len(inside))
        pays = int(np.count_nonzero(now.gains[outside[:both]] > now.losses[inside[:both]]))
        swapped = max(1, int(pays * self._share))
        if not pays:
            self.is_over = True
            return
        chosen = now.inside.copy()
        chosen[outside[:swapped]] = True
        chosen[inside[:swapped]] = False
        tried = Vocabulary.of(self._lattice, chosen)
        if tried.tokens < now.tokens:
            self.best, self._share = tried, min(1.0, self._share * MORE)
        else:
            self._share *= FEWER
            self.is_over = swapped == 1
