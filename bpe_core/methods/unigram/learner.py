"""The rounds of Unigram: estimate, drop rare pieces, estimate again, and drop the pieces that cost least.

A round makes `em_passes` passes over the words. Each pass computes the expected count of every piece: the average over
all ways to split each word, weighted by their probability. New log-probabilities follow from these counts, and pieces
with an expected count below one half are dropped. Then pieces whose best path consists of other pieces are dropped.
After that, the pieces whose removal lowers the likelihood of the corpus least are dropped, until `keep_share` per cent
of the tokens are left. When no more than 1.1 times the requested size is left, the least likely pieces are dropped
until the size is reached.

A token is *in force* while it has a probability. A piece that is too rare loses its probability at once. So nothing
changes when a later step drops the piece. A base symbol is never dropped. If it is not in force, its score is the score
of the least likely token in force, minus a penalty.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from bpe_core.history.columns import Float32s
from bpe_core.history.history import Reasons
from bpe_core.methods.kit.dropping_learner import (
    MORE_THAN_ASKED,
    RARE,
    SLICE,
    Batch,
    DroppingLearner,
    ReasonColumns,
    least_first,
    losses,
    rounded_sums,
    scores_of,
)
from bpe_core.support.arrays import Bools, Float64s, Int64s

# The causes of a drop.
RARELY_USED, NOT_ITS_OWN_PATH, LEAST_LOSS, LEAST_LIKELY = range(4)

PIECES_A_SLICE = 4_096
_SCORE_BETWEEN = np.float32(0.0001)  # the difference between the scores that characters get at the end


class Pass(NamedTuple):
    objective: float  # minus the average log-likelihood of a word before the pass
    size: int  # tokens in force after the pass


class UnigramLearner(DroppingLearner):
    _round = 0
    passes: list[Pass]

    def _room_for_reasons(self, steps: int) -> Reasons:
        return {"loss": np.empty(steps), "round": np.empty(steps, np.int32), "cause": np.empty(steps, np.int8)}

    def _chosen(self, pieces: Int64s, cause: int | Int64s, loss: Float64s | float = np.nan) -> Batch:
        reasons = self._room_for_reasons(len(pieces))
        reasons["loss"][:] = loss
        reasons["round"][:] = self._round
        reasons["cause"][:] = cause
        return Batch.of(pieces, reasons)

    def _reasons_of_others(self, reasons: ReasonColumns, others: Bools) -> ReasonColumns:
        return {**reasons, "loss": np.where(others, np.nan, reasons["loss"])}

    # -- The course of a run ---------------------------------------------------------------

    def _rounds(self) -> Iterator[bool]:
        self.passes = []
        most = int(self._asked * MORE_THAN_ASKED)
        while True:
            self._round += 1
            rare = [np.zeros(0, np.int64)]
            for _ in range(self._recipe.em_passes):
                room = self._steps_left() - sum(map(len, rare))
                yield from self._expect()
                rare.append(self._estimate(room))
            yield from self._set_scores()
            yield from self._prepare_drops(self._chosen(np.concatenate(rare), RARELY_USED))
            yield from self._prepare_drops((yield from self._costing_least(most)))
            if int(self._in_force.sum()) <= most or not self._alive.any():
                break
        self._round += 1
        yield from self._finish()

    def _expect(self) -> Iterator[bool]:
        scores = self._with_penalties()
        self._lattices.tidy(scores)
        return self._in_slices(partial(self._lattices.expect, scores=scores))

    def _estimate(self, room: int) -> Int64s:
        expected = rounded_sums(self._lattices.expected)
        stay = self._in_force & (expected >= RARE)
        rare = np.flatnonzero(self._in_force & ~stay & self._is_seed)
        rare = least_first(rare, expected[rare])
        stay[rare[room:]] = True
        if not stay.any():  # all words are too rare to estimate
            stay = self._in_force & ~self._is_seed
        self._in_force &= stay
        self.passes.append(Pass(-self._lattices.log_likelihood / self._weight, int(stay.sum())))
        self._scores = scores_of(expected, stay)
        return rare[:room]

    def _costing_least(self, most: int) -> Generator[bool, None, Batch]:
        counts = self._lattices.counts
        used = self._in_force & (counts > 0)
        pieces = self._lattices.in_order(np.flatnonzero(used & self._is_seed))
        own_scores = list[Float32s]()
        tokens = list[Int64s]()
        sizes = list[Int64s]()
        for start in range(0, len(pieces), PIECES_A_SLICE):
            own = self._lattices.own_paths(pieces[start : start + PIECES_A_SLICE], self._scores)
            own_scores.append(own.scores)
            tokens.append(own.tokens)
            sizes.append(np.diff(own.starts))
            self._work -= SLICE // 10
            yield True
        size = int(self._in_force.sum())
        self._in_force &= self._is_seed | (counts > 0)
        idle = np.flatnonzero(self._alive)
        least = idle[:0]
        loss_of = np.zeros(len(self._alive), np.float32)
        if len(pieces):
            split = np.concatenate(own_scores) > self._scores[pieces]
            starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(np.concatenate(sizes))))
            cost = losses(counts, pieces, starts, np.concatenate(tokens))
            keep = max(most, size * self._recipe.keep_share // 100) - int((used & ~self._is_seed).sum())
            whole = pieces[~split]
            loss_of[whole] = cost[~split]
            least = least_first(whole, loss_of[whole])[: max(0, len(whole) - max(0, keep))]
            kept = np.zeros(len(self._alive), np.bool_)
            kept[whole] = True
            idle = np.flatnonzero(self._alive & ~kept)
        idle = least_first(idle, self._scores[idle])
        causes = np.repeat([NOT_ITS_OWN_PATH, LEAST_LOSS], [len(idle), len(least)])
        costs = np.concatenate((np.full(len(idle), np.nan), loss_of[least]))
        return self._chosen(np.concatenate((idle, least)), causes, costs)

    def _finish(self) -> Iterator[bool]:
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
        yield from self._prepare_drops(self._chosen(pieces, LEAST_LIKELY))
