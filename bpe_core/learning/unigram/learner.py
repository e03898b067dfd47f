"""The rounds of Unigram: estimate, drop what is rare, estimate again, drop what costs least; until few enough are left.

A round makes `em_passes` passes over the words. Each counts how often every piece would stand in the corpus, over all
ways to cut each word by their probability, and makes new log-probabilities of that; pieces that are expected less than
half a time leave. Then the pieces that are not their own best path leave, and those without which the corpus becomes
least unlikely, until `keep_share` per cent of the tokens are left. When no more than 1.1 times the size asked for are
left, the least likely ones leave until the size is reached.

All that takes long is done in slices, one after the other, by a course of which a call of `learn` follows as much as it
has time for. What a slice ends with is known before a step is made: a batch of pieces to drop, one a step, and what
becomes of the corpus with each of them.

A rare piece has no probability any more from then on, so its steps change nothing. A base symbol never leaves the
vocabulary; while it is rare it counts as less likely than all others by a penalty ("out of force").
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bpe_core.alphabet import Alphabet
from bpe_core.counting.words import WordTable
from bpe_core.errors import FormatError
from bpe_core.history.history import NOTHING, Columns, EndReason, History, Reasons
from bpe_core.history.scores import DROPPED, Float32s, Scores
from bpe_core.learning.protocol import Candidate
from bpe_core.learning.unigram.cells import Int32s, Int64s, Stretches, for_learning
from bpe_core.learning.unigram.estimates import RARE, UNKNOWN_PENALTY, first_scores, least_first, losses, scores_of
from bpe_core.learning.unigram.lattices import Lattices
from bpe_core.recipe import Recipe

# Why a piece was dropped.
RARELY_USED, NOT_ITS_OWN_PATH, LEAST_LOSS, LEAST_LIKELY = range(4)

MORE_THAN_ASKED = 1.1  # the last of them are chosen by their scores alone
UNLIMITED = 2**60
SLICE = 1_000_000  # most work that is begun without looking whether it is enough
PIECES_A_SLICE = 4_096
STEPS_AT_ONCE = 50_000
_SCORE_BETWEEN = np.float32(0.0001)  # characters that are given a score at the end differ by so much

LatticesMaker = Callable[[Stretches, Alphabet, Recipe], Lattices]


class Batch(NamedTuple):
    """Pieces that leave, one after the other."""

    pieces: Int32s
    losses: npt.NDArray[np.float64]
    causes: npt.NDArray[np.int8]
    counts: Int64s  # how often each stands in the corpus when it leaves
    tokens_left: Int64s

    @classmethod
    def of(cls, pieces: Int64s, cause: int, loss: Float32s | float = np.nan) -> Batch:
        losses_, causes = np.empty(len(pieces)), np.full(len(pieces), cause, np.int8)
        losses_[:] = loss
        return cls(pieces.astype(np.int32), losses_, causes, *(np.zeros(len(pieces), np.int64) for _ in range(2)))

    def then(self, other: Batch) -> Batch:
        return Batch(
            np.concatenate((self.pieces, other.pieces)),
            np.concatenate((self.losses, other.losses)),
            np.concatenate((self.causes, other.causes)),
            np.concatenate((self.counts, other.counts)),
            np.concatenate((self.tokens_left, other.tokens_left)),
        )

    def only(self, chosen: slice | Int64s) -> Batch:
        return Batch._make(column[chosen] for column in self)


class Pass(NamedTuple):
    """What one pass of estimating found."""

    objective: float  # minus the log-likelihood of a word, on average, before it
    size: int  # tokens in force after it


def size_asked_for(recipe: Recipe, alphabet: Alphabet) -> int:
    """How many tokens shall be left, special ones included."""
    if recipe.vocab_size is not None:
        return recipe.vocab_size
    return len(alphabet) + len(recipe.special_tokens) - min(recipe.merges or 0, alphabet.seed_count)


class UnigramLearner:
    """Makes the steps of one run on the lattices of its words."""

    def __init__(
        self,
        words: WordTable,
        alphabet: Alphabet,
        recipe: Recipe,
        forced: History | None,
        make_lattices: LatticesMaker,
    ) -> None:
        self._recipe = recipe
        self._asked, self._specials = size_asked_for(recipe, alphabet), len(recipe.special_tokens)
        self._most = int(self._asked * MORE_THAN_ASKED)
        self._forced: Int32s = np.zeros(0, np.int32) if forced is None else forced.columns.left
        stretches = for_learning(words, alphabet, recipe)
        self._weight, self._unknown_tokens = stretches.total(), stretches.unknown_tokens
        self._lattices = make_lattices(stretches, alphabet, recipe)
        self._alphabet = alphabet
        self._is_seed = np.arange(len(alphabet)) >= len(alphabet) - alphabet.seed_count
        self._alive = self._is_seed.copy()  # of the seeds
        self.coverage = self._lattices.coverage()  # how many symbols of the corpus each token could cover
        self._in_force = self.coverage > 0
        self._scores = first_scores(self.coverage)
        self._since, self._rows = [0], [self._row()]
        self.passes: list[Pass] = []
        self.learned = 0
        room = int(self._is_seed.sum())
        self._dropped = np.empty(room, np.int32)
        self.reasons: Reasons = {
            "loss": np.empty(room), "round": np.empty(room, np.int32), "cause": np.empty(room, np.int8)
        }  # fmt: skip
        self.has_candidates = room > 0
        self._batch, self._next = Batch.of(np.zeros(0, np.int64), LEAST_LOSS), 0
        self._round, self._work, self._is_cut = 0, UNLIMITED, False  # whether nothing left since all words were cut
        for _ in self._cut():
            pass
        self.tokens_at_start = self._tokens()
        self._course = self._rounds()

    gone_through = None

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

    def candidates(self, wanted: int) -> list[Candidate]:
        """The rest of the batch; while the next one is being found, what is used least now."""
        rest = self._batch.only(slice(self._next, self._next + wanted))
        if not len(rest.pieces):
            counts, alive = self._lattices.counts, np.flatnonzero(self._alive)
            least = alive[np.lexsort((self._scores[alive], counts[alive]))][:wanted]
            return [Candidate(id, NOTHING, int(counts[id])) for id in least.tolist()]
        return [
            Candidate(id, NOTHING, count, {"loss": loss, "cause": cause, "round": self._round})
            for id, loss, cause, count, _ in zip(*(column.tolist() for column in rest), strict=True)
        ]

    def _drop_some(self, columns: Columns, stop_at: int) -> None:
        """Drop the next pieces of the batch, and tell of them."""
        size = min(stop_at - self.learned, STEPS_AT_ONCE, len(self._batch.pieces) - self._next)
        batch = self._batch.only(slice(self._next, self._next + size))
        rows, told = slice(self.learned, self.learned + size), self.reasons
        columns.left[rows], columns.count[rows], columns.tokens_left[rows] = (
            batch.pieces, batch.counts, batch.tokens_left
        )  # fmt: skip
        for column in (columns.right, columns.runner_up_left, columns.runner_up_right, columns.runner_up_count):
            column[rows] = NOTHING
        told["loss"][rows], told["round"][rows], told["cause"][rows] = batch.losses, self._round, batch.causes
        self._dropped[rows] = batch.pieces
        self._alive[batch.pieces] = self._in_force[batch.pieces] = False
        self._scores[batch.pieces] = DROPPED
        self.learned += size
        self._next += size
        self._work -= size

    def _tokens(self) -> int:
        return self._lattices.tokens + self._unknown_tokens

    # -- The course of a run ---------------------------------------------------------------

    def _rounds(self) -> Iterator[bool]:
        """Each value is a slice that is done. Whenever there is a batch, it is dropped before the course goes on."""
        while True:
            self._round += 1
            rare = [np.zeros(0, np.int64)]
            for _ in range(self._recipe.em_passes):
                room = self._steps_left() - sum(map(len, rare))
                yield from self._expect()
                rare.append(self._estimate(room))
            yield from self._set_scores()
            yield from self._leave(Batch.of(np.concatenate(rare), RARELY_USED))
            yield from self._leave((yield from self._costing_least()))
            if int(self._in_force.sum()) <= self._most or not self._alive.any():
                break
        self._round += 1
        yield from self._finish()

    def _steps_left(self) -> int:
        return len(self._alphabet) - self.learned + self._specials - self._asked

    def _expect(self) -> Iterator[bool]:
        """Count how often each token would stand in the corpus."""
        lattices, scores = self._lattices, self._with_penalties()
        lattices.tidy(scores)
        start = 0
        while start < len(lattices):
            start, done = lattices.expect(start, max(1, min(self._work, SLICE)), scores)
            self._work -= done
            yield True

    def _estimate(self, room: int) -> Int64s:
        """New scores of what was counted; the pieces that are too rare to have one, the rarest first.

        No more of them than may leave at all: the others keep what score they have.
        """
        expected = self._lattices.expected.astype(np.float32)
        stay = self._in_force & (expected >= RARE)
        rare = np.flatnonzero(self._in_force & ~stay & self._is_seed)
        rare = least_first(rare, expected[rare])
        stay[rare[room:]] = True
        if not stay.any():  # all words are too rare to tell
            stay = self._in_force & ~self._is_seed
        self._in_force &= stay
        self.passes.append(Pass(-self._lattices.log_likelihood / self._weight, int(stay.sum())))
        self._scores = scores_of(expected, stay)
        return rare[:room]

    def _costing_least(self) -> Generator[bool, None, Batch]:
        """The pieces that are never used as themselves, then those that cost least."""
        counts = self._lattices.counts
        used = self._in_force & (counts > 0)
        pieces = self._lattices.in_order(np.flatnonzero(used & self._is_seed))
        found, tokens, sizes = list[Float32s](), list[Int64s](), list[Int64s]()
        for start in range(0, len(pieces), PIECES_A_SLICE):
            own = self._lattices.own_paths(pieces[start : start + PIECES_A_SLICE], self._scores)
            found.append(own.scores)
            tokens.append(own.tokens)
            sizes.append(np.diff(own.starts))
            self._work -= SLICE // 10
            yield True
        size = int(self._in_force.sum())
        self._in_force &= self._is_seed | (counts > 0)
        idle = np.flatnonzero(self._alive)
        batch = Batch.of(idle[:0], LEAST_LOSS)
        if len(pieces):
            split = np.concatenate(found) > self._scores[pieces]
            starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(np.concatenate(sizes))))
            cost = losses(counts, pieces, starts, np.concatenate(tokens))
            keep = max(self._most, size * self._recipe.keep_share // 100) - int((used & ~self._is_seed).sum())
            whole, loss_of = pieces[~split], np.zeros(len(self._alive), np.float32)
            loss_of[whole] = cost[~split]
            least = least_first(whole, loss_of[whole])[: max(0, len(whole) - max(0, keep))]
            batch = Batch.of(least, LEAST_LOSS, loss_of[least])
            kept = np.zeros(len(self._alive), np.bool_)
            kept[whole] = True
            idle = np.flatnonzero(self._alive & ~kept)
        idle = least_first(idle, self._scores[idle])
        return Batch.of(idle, NOT_ITS_OWN_PATH).then(batch)

    def _finish(self) -> Iterator[bool]:
        """Every base symbol gets a score; then the least likely pieces leave."""
        missing = np.flatnonzero(~self._in_force & ~self._is_seed & (self.coverage > 0))
        if len(missing):
            missing = missing[np.lexsort((missing, -self.coverage[missing]))]
            least = self._scores[self._in_force].min()
            self._scores[missing] = least + _SCORE_BETWEEN * np.arange(len(missing), dtype=np.float32)
            self._in_force[missing] = True
        alive = np.flatnonzero(self._alive)
        texts = self._alphabet.texts_of_seeds(alive)
        pieces = alive[np.array(sorted(range(len(alive)), key=texts.__getitem__), np.int64)][::-1]
        pieces = pieces[np.argsort(self._scores[pieces], kind="stable")]
        staying = self._in_force.copy()
        staying[pieces[: max(0, self._steps_left())]] = False
        yield from self._set_scores(staying)
        yield from self._leave(Batch.of(pieces, LEAST_LIKELY))

    def _leave(self, batch: Batch) -> Iterator[bool]:
        """Find what becomes of the corpus when these pieces leave one after the other; then they do."""
        batch = self._as_told(batch)
        while len(batch.pieces):
            size = self._steps_left() if self._steps_left() > 0 else STEPS_AT_ONCE  # more than there are to make
            now, batch = batch.only(slice(size)), batch.only(slice(size, None))
            lattices, start = self._lattices, 0
            if lattices.counts[now.pieces].any():
                if not self._is_cut:
                    yield from self._cut()
                self._is_cut = False
                while start < len(lattices):
                    start, done = lattices.plan(start, max(1, min(self._work, SLICE)), now.pieces)
                    self._work -= done
                    yield True
                now = now._replace(counts=lattices.leaving, tokens_left=lattices.tokens_after + self._unknown_tokens)
            else:  # what stands nowhere changes nothing
                now.tokens_left.fill(self._tokens())
            self._batch, self._next = now, 0
            yield True

    def _as_told(self, batch: Batch) -> Batch:
        """The pieces that leave while a batch does, where a history tells of others in between."""
        told = self._forced[self.learned : self.learned + len(batch.pieces)]
        alive = self._alive[batch.pieces]
        if alive.all() and (batch.pieces[: len(told)] == told).all():
            return batch
        alive, rows, pieces = self._alive.copy(), list[int](), list[int]()
        forced = self._forced[self.learned :].tolist()
        for row, piece in enumerate(batch.pieces.tolist()):
            while alive[piece]:
                now = forced[len(pieces)] if len(pieces) < len(forced) else piece
                if not (0 <= now < len(alive) and alive[now]):
                    raise FormatError(
                        f"The steps do not belong to these words: step {self.learned + len(pieces) + 1:,} drops token "
                        f"{now:,}, which is no seed or was dropped before."
                    )
                alive[now] = False
                rows.append(row)
                pieces.append(now)
        found = batch.only(np.array(rows, np.int64))
        known = found.pieces == np.array(pieces)
        return found._replace(pieces=np.array(pieces, np.int32), losses=np.where(known, found.losses, np.nan))

    # -- Scores ----------------------------------------------------------------------------

    def _set_scores(self, staying: npt.NDArray[np.bool_] | None = None) -> Iterator[bool]:
        """Put the scores in force; what has none is compared with those that stay."""
        self._scores = self._with_penalties(staying)
        row = self._row()
        if len(self._since) > 1 and self._since[-1] == self.learned:  # never in force
            self._rows[-1] = row
        else:
            self._since.append(self.learned)
            self._rows.append(row)
        return self._cut()

    def _with_penalties(self, staying: npt.NDArray[np.bool_] | None = None) -> Float32s:
        """What is in force, and for base symbols that are not the least of that, and the penalty."""
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
        """Find the best paths of all words anew."""
        start = 0
        while start < len(self._lattices):
            start, done = self._lattices.cut(start, max(1, min(self._work, SLICE)), self._scores)
            self._work -= done
            yield True
        self._is_cut = True
