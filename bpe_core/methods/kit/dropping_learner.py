"""The learners that drop pieces. They store the steps, the number of tokens in the corpus after each step, and the
current scores.

A generator divides the long work into slices. A call of `learn` runs slices until its time is used up. The generator
finds batches of pieces to drop, and the counts after each drop. Each step drops one piece. Each method has a different
generator.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bpe_core.counting.words import WordTable
from bpe_core.errors import FormatError
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.columns import DROPPED, Float32s, Scores
from bpe_core.history.history import NOTHING, Columns, EndReason, History, Reasons
from bpe_core.methods.kit.cells import Stretches
from bpe_core.methods.kit.learner import UNLIMITED, Candidate
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.arrays import Bools, Float64s, Int32s, Int64s, repeat

if TYPE_CHECKING:  # this import loads machine code
    from bpe_core.methods.kit.compiled_lattices import CompiledLattices

RARE = 0.5  # a piece with a smaller expected count is dropped
SETTLED_BITS = 40  # the bits of a 64-bit sum that do not depend on the order of adding
UNKNOWN_PENALTY = np.float32(10)  # how far a symbol without a score is below the lowest score
_LEAST_EXPECTED = 1e-3  # keeps the score of a dropped piece finite
_SHIFT = 7.0  # from this number on the series below is exact


def digamma(numbers: Float64s) -> Float64s:
    """Return the digamma function of positive numbers, which is the derivative of the logarithm of the gamma function.

    >>> digamma(np.array([1.0, 10.0])).round(6).tolist()
    [-0.577216, 2.251753]
    """
    shifted = numbers.copy()
    lost = np.zeros(len(numbers))
    small = np.flatnonzero(shifted < _SHIFT)
    while len(small):
        lost[small] += 1 / shifted[small]
        shifted[small] += 1
        small = small[shifted[small] < _SHIFT]
    shifted -= 0.5
    inverse = 1 / (shifted * shifted)
    series = inverse * (1 / 24 - inverse * (7 / 960 - inverse * (31 / 8064 - inverse * 127 / 30720)))
    values: Float64s = np.log(shifted) + series - lost
    return values


def first_scores(coverage: Int64s) -> Float32s:
    scores = np.log(np.maximum(coverage, 1).astype(np.float64)) - np.log(float(max(1, coverage.sum())))
    narrow: Float32s = scores.astype(np.float32)
    return narrow


def rounded_sums(expected: Float64s) -> Float32s:
    """Round sums to 32 bits. First remove the last bits, which depend on the order of the additions.

    Otherwise the same additions in a different order could give a different 32-bit number, if the sum is halfway
    between two such numbers. An odd count above 2**24 is such a sum.

    >>> rounded_sums(np.array([27_833_691.0, 27_833_691.0 - 4e-9])).tolist()
    [27833692.0, 27833692.0]
    """
    fractions, exponents = np.frexp(expected)
    narrow: Float32s = np.ldexp(np.rint(np.ldexp(fractions, SETTLED_BITS)), exponents - SETTLED_BITS).astype(np.float32)
    return narrow


def scores_of(expected: Float32s, stay: Bools) -> Float32s:
    """Return the log-probabilities that follow from the expected counts of the pieces that stay.

    The digamma function gives rare pieces a lower score than the logarithm would.
    """
    counts = expected[stay].astype(np.float64)
    scores = np.full(len(expected), DROPPED, np.float32)
    scores[stay] = digamma(np.maximum(counts, _LEAST_EXPECTED)) - digamma(np.array([counts.sum()]))
    return scores


def least_first(ids: Int64s, numbers: Float32s) -> Int64s:
    """Sort ids by the entries of `numbers` at the same positions, in ascending order. If entries are equal, the largest
    id comes first.

    >>> least_first(np.array([1, 2, 3, 4]), np.array([0.5, -2, 0.5, -7], np.float32)).tolist()
    [4, 2, 3, 1]
    """
    bits = (numbers + np.float32(0)).view(np.int32)  # turns -0.0 into 0.0
    keys = (bits ^ (bits >> 31 & 0x7FFFFFFF)).astype(np.int64) << 32  # sorts like the numbers, faster than two keys
    keys |= 0xFFFFFFFF - ids
    keys.sort()
    return 0xFFFFFFFF - (keys & 0xFFFFFFFF)


def losses(counts: Int64s, pieces: Int64s, starts: Int64s, others: Int64s) -> Float32s:
    """Return how much log-probability the corpus loses for each piece that is replaced by other pieces.

    The loss is divided by the total number of tokens. Piece i is replaced by `others[starts[i]:starts[i + 1]]`.
    """
    total = float(counts.sum())
    count = counts[pieces].astype(np.float64)
    sizes = np.diff(starts)
    as_it_is = np.log(count) - np.log(total)
    new_total = np.log(total + count * (sizes - 1))
    gained = np.log(counts[others] + repeat(count, sizes)) - repeat(new_total, sizes)
    replaced = np.add.reduceat(gained, starts[:-1]) if len(pieces) else gained
    lost: Float32s = (count / total * (as_it_is - replaced)).astype(np.float32)
    return lost


MORE_THAN_ASKED = 1.1  # up to this many times the size, only scores or counts choose the pieces to drop
SLICE = 1_000_000  # the most work between two checks of the time
STEPS_AT_ONCE = 50_000

LatticesMaker = Callable[[Stretches, Alphabet, Recipe], "CompiledLattices"]
ReasonColumns = Mapping[str, npt.NDArray[Any]]


class Batch(NamedTuple):
    """A batch of pieces that are dropped one by one, in the order of the array `pieces`."""

    pieces: Int32s
    reasons: ReasonColumns  # the reasons of each piece
    counts: Int64s  # the count of each piece when it is dropped
    tokens_left: Int64s

    @classmethod
    def of(cls, pieces: Int64s, reasons: ReasonColumns) -> Batch:
        return cls(pieces.astype(np.int32), reasons, *(np.zeros(len(pieces), np.int64) for _ in range(2)))

    def only(self, chosen: slice | Int64s) -> Batch:
        reasons = {name: column[chosen] for name, column in self.reasons.items()}
        return Batch(self.pieces[chosen], reasons, self.counts[chosen], self.tokens_left[chosen])


def size_asked_for(recipe: Recipe, alphabet: Alphabet) -> int:
    if recipe.vocab_size is not None:
        return recipe.vocab_size
    return len(alphabet) + len(recipe.special_tokens) - min(recipe.merges or 0, alphabet.seed_count)


class DroppingLearner(ABC):
    """A learner that drops one piece at each step. It counts tokens with the help of the lattices of all words."""

    gone_through = None
    _right = NOTHING  # the right half of each step

    def __init__(
        self,
        words: WordTable,
        alphabet: Alphabet,
        recipe: Recipe,
        forced: History | None,
        make_lattices: LatticesMaker,
        *,
        stretches: Stretches | None = None,  # the words in cells for the alphabet, if the caller has them
    ) -> None:
        self._recipe = recipe
        self._asked = size_asked_for(recipe, alphabet)
        self._specials = len(recipe.special_tokens)
        self._forced: Int32s = np.zeros(0, np.int32) if forced is None else forced.columns.left
        stretches = stretches or Stretches.of(words, alphabet, recipe)
        self._weight = int(stretches.counts.sum())
        self._unknown_tokens = stretches.unknown_tokens
        self._lattices = make_lattices(stretches, alphabet, recipe)
        self._alphabet = alphabet
        self._is_seed = np.arange(len(alphabet)) >= len(alphabet) - alphabet.seed_count
        self._alive = self._is_seed.copy()  # which seeds have not been dropped
        self.coverage = self._lattices.coverage()  # how many symbols of the corpus each token could cover
        self._in_force = self.coverage > 0
        self._scores = self._first_scores()
        self._since, self._rows = [0], [self._row()]
        self.learned = 0
        room = int(self._is_seed.sum())
        self._dropped = np.empty(room, np.int32)
        self.reasons: Reasons = self._room_for_reasons(room)
        self.has_candidates = room > 0
        self._batch = Batch.of(np.zeros(0, np.int64), {})
        self._next = 0
        self._work, self._is_cut = UNLIMITED, False  # whether all words were split since the last drop
        for _ in self._cut():
            pass
        self.tokens_at_start = self._tokens()
        self._course = self._rounds()

    @abstractmethod
    def _rounds(self) -> Iterator[bool]:
        """Do the work of the method in slices. After each slice, yield whether a batch of pieces is ready.

        If a batch is ready, the caller drops all its pieces before it continues the generator.
        """

    def _first_scores(self) -> Float32s:
        return first_scores(self.coverage)

    def _room_for_reasons(self, steps: int) -> Reasons:
        return {}

    @property
    def scores(self) -> Scores:
        return Scores(tuple(self._since), tuple(self._rows), self._dropped[: self.learned])

    # -- Steps -----------------------------------------------------------------------------

    def learn(self, columns: Columns, stop_at: int, work: int) -> EndReason:
        self._work = work
        while self.learned < stop_at and self._work > 0:
            if self._next < len(self._batch.pieces):
                self._drop_some(columns, stop_at)
            elif next(self._course, None) is None:
                return "no pairs"
        return ""

    def look_ahead(self, work: int) -> bool:
        """Search for the next batch, if all pieces of the last batch are dropped already.

        Return whether a batch is ready or the run is over.
        """
        self._work = work
        is_over = False
        while self._next == len(self._batch.pieces) and self._work > 0 and not is_over:
            is_over = next(self._course, None) is None
        return is_over or self._next < len(self._batch.pieces)

    def candidates(self, wanted: int) -> list[Candidate]:
        """Return the pieces of the batch that are not dropped yet.

        If there is no batch, return the pieces with the lowest counts.
        """
        rest = self._batch.only(slice(self._next, self._next + wanted))
        if not len(rest.pieces):
            counts = self._lattices.counts
            alive = np.flatnonzero(self._alive)
            least = alive[np.lexsort((self._scores[alive], counts[alive]))][:wanted]
            return [Candidate(id, self._right, int(counts[id])) for id in least.tolist()]
        columns = {name: column.tolist() for name, column in rest.reasons.items()}
        return [
            Candidate(id, self._right, count, {name: column[row] for name, column in columns.items()})
            for row, (id, count) in enumerate(zip(rest.pieces.tolist(), rest.counts.tolist(), strict=True))
        ]

    def _drop_some(self, columns: Columns, stop_at: int) -> None:
        size = min(stop_at - self.learned, STEPS_AT_ONCE, len(self._batch.pieces) - self._next)
        batch = self._batch.only(slice(self._next, self._next + size))
        rows = slice(self.learned, self.learned + size)
        columns.left[rows], columns.count[rows], columns.tokens_left[rows] = (
            batch.pieces, batch.counts, batch.tokens_left
        )  # fmt: skip
        columns.right[rows] = self._right
        for column in (columns.runner_up_left, columns.runner_up_right, columns.runner_up_count):
            column[rows] = NOTHING
        for name, column in batch.reasons.items():
            self.reasons[name][rows] = column
        self._dropped[rows] = batch.pieces
        self._remove_pieces(batch.pieces)
        self.learned += size
        self._next += size
        self._work -= size

    def _remove_pieces(self, pieces: Int32s) -> None:
        self._alive[pieces] = self._in_force[pieces] = False
        self._scores[pieces] = DROPPED

    def _tokens(self) -> int:
        return self._lattices.tokens + self._unknown_tokens

    # -- Parts of a course -----------------------------------------------------------------

    def _steps_left(self) -> int:
        return len(self._alphabet) - self.learned + self._specials - self._asked

    def _prepare_drops(self, batch: Batch) -> Iterator[bool]:
        """Make `batch` the current batch, and count the tokens of the corpus after each of its drops.

        A large batch is prepared in several parts. After each slice of work, and when a part is ready, yield True so
        that the caller can continue later.
        """
        batch = self._as_forced(batch)
        while len(batch.pieces):
            size = self._steps_left() if self._steps_left() > 0 else STEPS_AT_ONCE  # more steps than the run makes
            now = batch.only(slice(size))
            batch = batch.only(slice(size, None))
            lattices = self._lattices
            if lattices.counts[now.pieces].any():
                if not self._is_cut:
                    yield from self._cut()
                self._is_cut = False
                yield from self._in_slices(partial(lattices.plan, pieces=now.pieces))
                now = now._replace(counts=lattices.leaving, tokens_left=lattices.tokens_after + self._unknown_tokens)
            else:  # pieces that occur nowhere change no count
                now.tokens_left.fill(self._tokens())
            self._batch = now
            self._next = 0
            yield True

    def _as_forced(self, batch: Batch) -> Batch:
        """Replace the pieces of a batch by the pieces that the given history drops at the same steps."""
        forced_now = self._forced[self.learned : self.learned + len(batch.pieces)]
        alive = self._alive[batch.pieces]
        if alive.all() and (batch.pieces[: len(forced_now)] == forced_now).all():
            return batch
        alive = self._alive.copy()
        rows = list[int]()
        pieces = list[int]()
        forced = self._forced[self.learned :].tolist()
        for row, piece in enumerate(batch.pieces.tolist()):
            while alive[piece]:
                now = forced[len(pieces)] if len(pieces) < len(forced) else piece
                if not (0 <= now < len(alive) and alive[now]):
                    raise FormatError(
                        f"The steps do not belong to these words: step {self.learned + len(pieces) + 1:,} drops token "
                        f"{now:,}, which is not in the initial vocabulary, or was dropped earlier."
                    )
                alive[now] = False
                rows.append(row)
                pieces.append(now)
        changed = batch.only(np.array(rows, np.int64))
        changed = changed._replace(reasons=self._reasons_of_others(changed.reasons, changed.pieces != np.array(pieces)))
        return changed._replace(pieces=np.array(pieces, np.int32))

    def _reasons_of_others(self, reasons: ReasonColumns, others: Bools) -> ReasonColumns:
        return reasons

    # -- Scores -----------------------------------------------------------------------------

    def _set_scores(self, staying: Bools | None = None) -> Iterator[bool]:
        """Use the current scores after the newest step, and split all words by them.

        A base symbol without a score gets the lowest score of the tokens that the mask `staying` marks, minus a
        penalty. By default, all tokens in force count.
        """
        self._scores = self._with_penalties(staying)
        row = self._row()
        if len(self._since) > 1 and self._since[-1] == self.learned:  # the row before was never in force
            self._rows[-1] = row
        else:
            self._since.append(self.learned)
            self._rows.append(row)
        return self._cut()

    def _with_penalties(self, staying: Bools | None = None) -> Float32s:
        """Return all scores. A base symbol without a score gets the lowest score of the tokens, minus a penalty.

        If `staying` is given, only the scores of the tokens in this mask are compared for the lowest score.
        """
        out = ~self._in_force & ~self._is_seed
        known = self._scores[self._in_force if staying is None else staying]
        least = known.min() if len(known) else np.float32(0)
        scores: Float32s = np.where(out, least - UNKNOWN_PENALTY, self._scores).astype(np.float32)
        return scores

    def _row(self) -> Float32s:
        row: Float32s = self._scores[self._alive | ~self._is_seed]
        row.flags.writeable = False
        return row

    def _cut(self) -> Iterator[bool]:
        yield from self._in_slices(partial(self._lattices.cut, scores=self._scores))
        self._is_cut = True

    def _in_slices(self, job: Callable[[int, int], tuple[int, int]]) -> Iterator[bool]:
        """Run a job on the lattices of all stretches of text, one slice after another. Yield True after each slice.

        Each call of the job gets the index of its first lattice, and the amount of work that the call may do.
        """
        start = 0
        while start < len(self._lattices):
            start, done = job(start, max(1, min(self._work, SLICE)))
            self._work -= done
            yield True
