"""The learner that runs compiled kernels for WordPiece with the rule `score`.

It adds the arrays for scores to the arrays of byte-pair encoding.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bpe_core.counting.words import WordTable
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import TIED, Reasons
from bpe_core.kernels import learn_score
from bpe_core.methods.kit.compiled_pairs import CompiledLearner as CompiledLearner
from bpe_core.methods.kit.layout import Layout
from bpe_core.methods.kit.learner import Candidate, with_token_counts
from bpe_core.support.arrays import enlarge


class ReasonColumns(NamedTuple):
    """The columns with the reasons for the steps. The columns may have more rows than there are steps."""

    left_count: npt.NDArray[np.int64]
    right_count: npt.NDArray[np.int64]
    tied: npt.NDArray[np.bool_]


class CompiledScoreLearner(CompiledLearner):
    _reasons = ReasonColumns(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.bool_))

    @property
    def reasons(self) -> Reasons:
        left, right, tied = (column[: self.learned] for column in self._reasons)
        return {"left_count": left, "right_count": right, TIED: tied}

    def candidates(self, wanted: int) -> list[Candidate]:
        return with_token_counts(super().candidates(wanted), self._scores.token_counts)

    def _begin(self, layout: Layout, words: WordTable, alphabet: Alphabet) -> None:
        self._token_counts = layout.symbol_counts(words, len(alphabet))

    def _begin_order(self) -> None:
        tokens = len(self._token_counts)
        self._scores = learn_score.Scores(
            entries=np.zeros(len(self._state.pairs), learn_score.ENTRY),
            token_counts=self._token_counts,
            owner_counts=np.zeros(tokens, np.int64),
            best=np.zeros(tokens, np.int32),
            rarer_first=np.zeros(tokens, np.int32),
            owners=np.empty(tokens, np.int32),
            places=np.full(tokens, learn_score.NOWHERE, np.int32),
            number=np.zeros(1, np.int64),
        )

    def _make_room_for_tokens(self, merges: int) -> None:
        super()._make_room_for_tokens(merges)
        scores = self._scores
        tokens = len(self._state.token_lengths)
        known = len(scores.best)
        if known < tokens:
            of_tokens = ("token_counts", "owner_counts", "best", "rarer_first", "owners", "places")
            changes = {name: enlarge(getattr(scores, name), tokens) for name in of_tokens}
            for name, column in changes.items():
                column[known:] = learn_score.NOWHERE if name == "places" else 0
            self._scores = scores._replace(**changes)
        if len(self._reasons.tied) < merges:
            self._reasons = ReasonColumns(*(enlarge(column, merges) for column in self._reasons))

    def _grow_pairs(self) -> None:
        super()._grow_pairs()
        self._scores.entries.resize(len(self._state.pairs), refcheck=False)
