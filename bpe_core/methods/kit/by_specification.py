"""A learner for small samples. It runs the slow specification of a method while machine code is not ready."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from bpe_core.counting.words import WordTable
from bpe_core.errors import FormatError
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.columns import Scores
from bpe_core.history.history import Columns, EndReason, History, Reasons
from bpe_core.methods.kit.learner import Candidate, Way
from bpe_core.recipes.recipe import Recipe

if TYPE_CHECKING:
    from bpe_core.methods.kit.method import Method

WORK_A_STEP = 1_000
BYTES_A_CELL = 1_500


@dataclass(frozen=True)
class SpecifiedWay(Way):
    """The way to make steps by a method's specification, which is a short, slow function in plain Python."""


def specified_way(method: Method) -> SpecifiedWay:
    return SpecifiedWay(partial(SpecifiedLearner, method=method), BYTES_A_CELL)


class SpecifiedLearner:
    """A learner that first learns all steps by a method's specification, and then replays them one by one.

    The specification is a short, slow function in plain Python that learns a whole vocabulary.
    """

    gone_through = None

    def __init__(
        self, words: WordTable, alphabet: Alphabet, recipe: Recipe, known: History | None, *, method: Method
    ) -> None:
        self._words = words
        self._alphabet = alphabet
        self._recipe = recipe
        self._method = method
        self._known = known
        self._history = self._learned_by(recipe)
        self.learned = 0
        self.tokens_at_start = self._history.tokens_at_start
        is_nothing = not len(self._history) and self._history.end_reason == "no pairs"
        self.has_candidates = not is_nothing and bool((np.diff(words.starts) > 1).any())

    @property
    def reasons(self) -> Reasons:
        return self._history.first(self.learned).reasons

    @property
    def scores(self) -> Scores | None:
        return self._history.first(self.learned).scores

    def learn(self, columns: Columns, stop_at: int, work: int) -> EndReason:
        self._learn_up_to(stop_at)
        rows = slice(self.learned, min(stop_at, len(self._history), self.learned + max(1, work // WORK_A_STEP)))
        for name, column in self._history.columns._asdict().items():
            getattr(columns, name)[rows] = column[rows]
        self.learned = max(self.learned, rows.stop)
        is_over = self.learned == len(self._history) and stop_at > self.learned
        return self._history.end_reason if is_over else ""

    def candidates(self, wanted: int) -> list[Candidate]:
        """Return a list with the next step only, because the specification does not report other candidates."""
        if not wanted:
            return []
        self._learn_up_to(self.learned + 1)
        if self.learned == len(self._history):
            return []
        step = self._history[self.learned]
        return [Candidate(step.left, step.right, step.count, step.reasons)]

    def _learn_up_to(self, steps: int) -> None:
        """Learn again with a limit of `steps` steps, if the vocabulary was full after fewer steps.

        The new limit replaces the vocabulary size of the recipe. Do nothing if a larger vocabulary would not begin with
        the same steps.
        """
        if self._history.end_reason == "vocabulary full" and steps > len(self._history) and self._can_be_continued:
            self._history = self._learned_by(self._recipe.with_changes(merges=steps, vocab_size=None))

    @property
    def _can_be_continued(self) -> bool:
        """Return whether learning a larger vocabulary begins with the same steps as learning a smaller one.

        This is false if the size affects the early steps, or if steps drop tokens.
        """
        return not self._method.size_decides and self._method.joins_in_order(self._recipe)

    def _learned_by(self, recipe: Recipe) -> History:
        train: Callable[..., History] | None = self._method.specification
        assert train is not None
        if self._method.can_be_steered:
            return train(self._words, recipe, self._alphabet, () if self._known is None else self._known.pairs())
        learned = train(self._words, recipe)
        if self._known is not None and not _begins_with(learned, self._known):
            raise FormatError("The steps do not belong to these words: training on these words makes other steps.")
        return learned


def _begins_with(history: History, known: History) -> bool:
    ours, theirs = (each.columns.first(len(known)) for each in (history, known))
    return np.array_equal(ours.left, theirs.left) and np.array_equal(ours.right, theirs.right)
