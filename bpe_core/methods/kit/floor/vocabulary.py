"""The search for a vocabulary that needs hardly more tokens than the floor, which is a proven lower bound.

The search begins with the pieces that were chosen most often while the floor was computed. Then it swaps pieces. The
shortest paths through all words show for every piece at once how many tokens it saves, or would save. Therefore many
pieces are swapped together: the best pieces outside the vocabulary for the worst pieces inside. After a swap that saves
nothing, the next swap is smaller.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

from bpe_core.kernels import price_lattices as kernels
from bpe_core.methods.kit.floor.lattice import Lattice
from bpe_core.support.arrays import Bools, Int64s
from bpe_core.support.progress import never_cancelled

LEAVE_AT_ONCE = 12  # one twelfth of the remaining pieces is removed at once
HIDDEN = 1_000  # one token in 1,000 may be lost without another check
FIRST_SHARE, MORE, FEWER = 0.3, 1.3, 0.5  # the share of promising swaps that is tried, and its factors
STAYS_INSIDE, STAYS_OUTSIDE = 2, 5  # the fewest exchanges after which a piece may leave or return
SEED = 1
EXCHANGES = 10  # pieces that are exchanged at each call
HOPE = 1_000  # exchanges without a better vocabulary until the search ends


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

        every = np.arange(len(lattice.words.counts))

        def part(words: tuple[int, int], number: int) -> Any:
            gains, losses = columns[number]
            first, stop = map(np.int64, words)
            return kernels.weigh_pieces(
                lattice.words, lattice.edges, marks, gains, losses, desks[number], every, first, stop, np.int64(1)
            )

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

    def swap(self, is_late: Callable[[], bool] = never_cancelled) -> None:
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


class ExchangeSearch:
    """A search that exchanges one piece for another again and again, even if this costs some tokens at first.

    The exchange adds the piece that saves most, and then removes the piece that saves least. A piece that was just
    added or removed must stay so for a few exchanges. Otherwise the next exchange would undo the last one. After each
    change only the words that contain the piece are split again.
    """

    def __init__(self, lattice: Lattice, first: Vocabulary) -> None:
        self._lattice = lattice
        self.best = first
        self._marks = first.inside.astype(np.uint8)
        self._tokens = first.tokens
        self._gains = first.gains.copy()
        self._losses = first.losses.copy()
        self._desk = lattice.desks()[0]
        self._words, self._first = _words_of_pieces(lattice)
        self._until = np.zeros(len(lattice), np.int64)  # the last exchange in which each piece must stay
        self._chance = Random(SEED)
        self._exchanges = 0
        self._best_exchange = 0
        inside = int(first.inside.sum())
        self._stays_inside = min(STAYS_INSIDE, (inside - 1) // 2)  # so that some pieces are always free
        self._stays_outside = min(STAYS_OUTSIDE, (len(lattice) - inside - 1) // 2)
        self.is_over = not 0 < inside < len(lattice)

    def swap(self, is_late: Callable[[], bool] = never_cancelled) -> None:
        """Exchange some pieces, one after the other.

        Stop if no better vocabulary has been found for a long time, or if `is_late` says that the time for the search
        is over.
        """
        for _ in range(EXCHANGES):
            if self.is_over or is_late():
                return
            self._exchange()

    def _exchange(self) -> None:
        self._exchanges += 1
        free = self._until < self._exchanges
        outside = np.flatnonzero(free & (self._marks == 0))
        inside = np.flatnonzero(free & (self._marks == 1))
        added = int(outside[self._gains[outside].argmax()])
        self._flip(added)
        removed = int(inside[self._losses[inside].argmin()])
        self._flip(removed)
        self._until[added] = self._stay(self._stays_inside)
        self._until[removed] = self._stay(self._stays_outside)
        if self._tokens < self.best.tokens:
            self._best_exchange = self._exchanges
            inside_now = self._marks.astype(np.bool_)
            self.best = Vocabulary(inside_now, self._tokens, self._gains.copy(), self._losses.copy())
        self.is_over = self._exchanges - self._best_exchange >= HOPE

    def _stay(self, least: int) -> int:
        """Return the number of the last exchange in which a piece must stay where it is now.

        The piece stays for `least` to twice `least` more exchanges. The number is drawn at random.
        """
        return self._exchanges + least + self._chance.randint(0, least)

    def _flip(self, piece: int) -> None:
        """Add a piece to the vocabulary, or remove it if it is there already.

        The words that contain this piece are split again.
        """
        lattice = self._lattice
        chosen = self._words[self._first[piece] : self._first[piece + 1]]
        for sign in (-1, 1):
            self._tokens += int(
                kernels.weigh_pieces(
                    lattice.words, lattice.edges, self._marks, self._gains, self._losses, self._desk, chosen,
                    np.int64(0), np.int64(len(chosen)), np.int64(sign),
                )
            )  # fmt: skip
            if sign < 0:
                self._marks[piece] ^= 1


def _words_of_pieces(lattice: Lattice) -> tuple[Int64s, Int64s]:
    """Return the indices of the words that contain each piece, and the position at which the words of each piece begin.

    The indices are in one array, piece after piece.
    """
    edges = lattice.edges.first[lattice.words.starts]
    words = np.repeat(np.arange(len(lattice.words.counts)), np.diff(edges))
    keys = np.unique(lattice.edges.piece.astype(np.int64) * len(lattice.words.counts) + words)
    pieces, words = np.divmod(keys, len(lattice.words.counts))
    return words, np.searchsorted(pieces, np.arange(len(lattice) + 1))
