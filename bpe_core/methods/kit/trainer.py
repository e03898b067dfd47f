"""The trainer, which lets a method choose and make steps one by one, and records the steps.

    >>> from bpe_core.counting.words import WordTable
    >>> trainer = Trainer(WordTable.from_counts({"aaabdaaabac": 1}), Recipe.preset("raw-bytes", min_frequency=2))
    >>> trainer.advance(max_merges=1)
    Batch(start=0, stop=1, finished=False)
    >>> [(pair.left, pair.right, pair.count) for pair in trainer.candidates(2)]
    [(256, 97, 2), (97, 98, 2)]
    >>> trainer.advance().finished, trainer.end_reason
    (True, 'too rare')

The steps are computed by machine code. While it is still being compiled, most runs wait for it. Byte-pair
encoding starts at once in plain Python. For samples, the method's specification is used. The result is always
the same.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from bpe_core.counting.words import WordTable
from bpe_core.errors import Cancelled, FormatError, NothingToLearn, RecipeError
from bpe_core.history.history import Columns, EndReason, History
from bpe_core.kernels import readiness
from bpe_core.methods.kit.by_specification import SpecifiedWay
from bpe_core.methods.kit.layout import FEWER_CELLS
from bpe_core.methods.kit.leading import MOST_LEADING, LeadingPairs
from bpe_core.methods.kit.learner import UNLIMITED, Candidate, GoneThrough, LearnerStart, LooksAhead
from bpe_core.methods.kit.method import Method
from bpe_core.recipes.interventions import forced_at
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.limits import check_room
from bpe_core.support.progress import CancelCheck, Progress, ProgressReport, Work, ignore_progress, never_cancelled
from bpe_core.support.wording import count_text

SECONDS_BETWEEN_REPORTS = 0.05
FIRST_WORK = 50_000  # about a millisecond
LEAST_WORK = 1_000
AHEAD_WORK = 1_000_000  # work between two checks whether the search was cancelled
ROOM_AT_FIRST = 4_096  # steps


@dataclass(frozen=True)
class Batch:
    """The steps that one call learned, from `start` to `stop`, and whether the run has ended."""

    start: int
    stop: int
    finished: bool


class Trainer:
    """A training run, which makes its steps in batches.

    A trainer may move between threads, but only one thread may use it at a time. The histories that it returns never
    change.
    """

    def __init__(
        self,
        words: WordTable,
        recipe: Recipe,
        *,
        history: History | None = None,
        cancelled: CancelCheck = never_cancelled,
        progress: ProgressReport = ignore_progress,
    ) -> None:
        """Prepare a training run. If a history is given, make its steps first.

        The counts in the history must agree with these words. If machine code is needed and is still being compiled,
        wait for it and report progress.
        """
        words.check_total()
        if len(words) == 0:
            raise NothingToLearn("The text holds no words, so there is nothing to learn; choose another text.")
        self.words = words
        self.recipe = recipe
        self._method = Method.of(recipe)
        known = 0 if history is None else len(history)
        self.alphabet, self._learner = self._begin(history, Work(progress, cancelled))
        self.steps_planned = max(self._method.steps_planned(recipe, self.alphabet), known)
        check_beforehand(recipe, len(self.alphabet), self.steps_planned, known)
        self._columns = Columns.with_room(min(self.steps_planned, max(ROOM_AT_FIRST, known)))
        self.end_reason: EndReason = ""
        self._rate = 0.0  # work units a second, as last measured
        if not self._learner.has_candidates:
            raise NothingToLearn(self._method.nothing_to_learn)
        if history is not None:
            self._replay(history, cancelled)

    @property
    def history(self) -> History:
        """Return all steps made so far. Later steps do not change the returned history."""
        return History(
            self.recipe,
            self.alphabet,
            self._columns.first(self._learner.learned),
            reasons=self._learner.reasons,
            scores=self._learner.scores,
            tokens_at_start=self._learner.tokens_at_start,
            end_reason=self.end_reason,
        )

    @property
    def gone_through(self) -> GoneThrough | None:
        """Return the progress of the learner in bytes of the text or in tokens of the vocabulary.

        Return None if the learner does not report such progress. Also return None if the share of finished steps
        among the planned steps is larger than this progress.
        """
        gone = self._learner.gone_through
        if gone is not None and gone.done * self.steps_planned >= self._learner.learned * gone.total:
            return gone
        return None

    def progress(self) -> Progress:
        if (gone := self.gone_through) is not None:
            return Progress("training", gone.done, gone.total, gone.unit)
        return Progress("training", self._learner.learned, self.steps_planned, self.recipe.wording.steps)

    def advance(self, max_merges: int | None = None, seconds: float | None = None) -> Batch:
        """Learn until `max_merges` steps are made, the time in `seconds` has passed, or the run ends."""
        start = self._learner.learned
        goal = self.steps_planned if max_merges is None else min(self.steps_planned, start + max(0, max_merges))
        deadline = None if seconds is None else time.perf_counter() + seconds
        end: EndReason = ""
        while self._learner.learned < goal and not end:
            end = self._learn_a_while(goal, deadline)
            if deadline is not None and time.perf_counter() >= deadline:
                break
        if self.recipe.interventions:
            check_done(self.recipe, self._columns, self._learner.learned, end)
        if end or self._learner.learned >= self.steps_planned:
            self.end_reason = end or "vocabulary full"
        return Batch(start, self._learner.learned, self.end_reason != "")

    def candidates(self, n: int) -> list[Candidate]:
        return self._learner.candidates(n)

    def leading(self) -> LeadingPairs:
        """Return the best candidates for the next step."""
        return LeadingPairs(self._learner.learned, tuple(self.candidates(MOST_LEADING)))

    def look_ahead(self, cancelled: CancelCheck = never_cancelled) -> None:
        """Search for the next steps in advance, if the method's learner can do so.

        Do not search after the end of a run, because a search would change the result of the run.
        """
        learner = self._learner
        while isinstance(learner, LooksAhead) and not self.end_reason and not cancelled():
            if learner.look_ahead(AHEAD_WORK):
                return

    def extend(self, recipe: Recipe) -> None:
        """Continue the run to a larger vocabulary.

        Raise RecipeError if the new recipe changes more than the size, or if the new size is too small.
        """
        if not recipe.is_same_but_for_size(self.recipe):
            raise RecipeError("A run can change only the size of its vocabulary. For other choices train a new run.")
        limit = self._method.steps_planned(recipe, self.alphabet)
        if limit < self._learner.learned:
            raise RecipeError(
                f"{recipe.wording.counted(self._learner.learned)} are learned already, but a vocabulary of "
                f"{len(self.alphabet) + limit:,} has room for only {limit:,}. Choose a larger vocabulary."
            )
        self.recipe = recipe
        self.steps_planned = limit
        if self.end_reason == "vocabulary full" and limit > self._learner.learned:
            self.end_reason = ""

    # --- How far a call goes ------------------------------------------------------------

    def _learn_a_while(self, goal: int, deadline: float | None) -> EndReason:
        room = len(self._columns.left)
        if self._learner.learned == room:
            self._columns = _with_more_room(self._columns, min(self.steps_planned, max(ROOM_AT_FIRST, 2 * room)))
            room = len(self._columns.left)
        if deadline is None:
            return self._learner.learn(self._columns, min(goal, room), UNLIMITED)
        before = time.perf_counter()
        left = max(0.0, deadline - before)
        work = max(LEAST_WORK, int(self._rate * left)) if self._rate else FIRST_WORK
        end = self._learner.learn(self._columns, min(goal, room), work)
        if not end and self._learner.learned < min(goal, room):  # the call did all of its work
            self._rate = work / max(1e-6, time.perf_counter() - before)
        return end

    def _begin(self, known: History | None, work: Work) -> LearnerStart:
        method = self._method
        size = len(self.words.text)
        is_fast = self._is_fast(size, work)
        way = method.compiled if is_fast else method.plain
        assert way is not None
        check_room(way.bytes_a_cell * (size + len(self.words)), "Training", FEWER_CELLS)
        return method.begin(self.words, self.recipe, known, fast=is_fast)

    def _is_fast(self, size: int, work: Work) -> bool:
        """Return whether machine code will perform the steps.

        If it is not ready and the slower ways would take too long, wait for it.
        """
        compiled = self._method.compiled
        plain = self._method.plain
        if compiled is None:
            return False
        if plain is None:
            readiness.need_machine_code(compiled.part, work)
            return True
        if isinstance(plain, SpecifiedWay):
            return readiness.by_machine_code(size, compiled.part, work)
        waits = not compiled.begins_without
        return readiness.use_machine_code(size, compiled.part, work, waits=waits)

    def _replay(self, history: History, cancelled: CancelCheck) -> None:
        end: EndReason = ""
        while self._learner.learned < len(history) and not end:
            if cancelled():
                raise Cancelled("Cancelled.")
            end = self._learn_a_while(len(history), time.perf_counter() + SECONDS_BETWEEN_REPORTS)
        if history.has_counts:
            _check_same(history.columns, self._columns.first(self._learner.learned))


def learn(
    words: WordTable,
    recipe: Recipe,
    *,
    history: History | None = None,
    progress: ProgressReport = ignore_progress,
    cancelled: CancelCheck = never_cancelled,
    keep: Callable[[Trainer], object] = lambda trainer: None,
) -> History:
    """Learn from counted words until the run ends. If a history is given, make its steps first.

    `keep` is called after each batch and may save the steps made until then.
    """
    trainer = Trainer(words, recipe, history=history, cancelled=cancelled, progress=progress)
    finished = False
    while not finished and not cancelled():
        finished = trainer.advance(seconds=SECONDS_BETWEEN_REPORTS).finished
        progress(trainer.progress())
        if not finished:
            keep(trainer)
    history = trainer.history
    if not finished:
        history.end_reason = "stopped"
    return history


def _with_more_room(columns: Columns, room: int) -> Columns:
    grown = Columns.with_room(room)
    for name, old in columns._asdict().items():
        getattr(grown, name)[: len(old)] = old
    return grown


def _check_same(known: Columns, columns: Columns) -> None:
    if len(columns.left) < len(known.left):
        raise FormatError(
            f"The steps do not belong to these words: with these words only {len(columns.left):,} of the steps can be "
            "made."
        )
    for name in ("left", "right", "count", "tokens_left"):
        differs = getattr(known, name) != getattr(columns, name)
        if differs.any():
            step = int(differs.argmax()) + 1
            raise FormatError(
                f"The steps do not belong to these words: at step {step:,} the value “{name.replace('_', ' ')}” "
                f"is {int(getattr(known, name)[step - 1]):,} in the history, but the words give "
                f"{int(getattr(columns, name)[step - 1]):,}."
            )


def check_beforehand(recipe: Recipe, alphabet_size: int, steps: int, known: int) -> None:
    """Raise RecipeError before the first step if this run cannot follow the recipe.

    The recipe may name a step or a token that cannot exist in this run, or continue a table that is not given.
    """
    for intervention in recipe.interventions:
        if intervention.step > steps:
            raise RecipeError(
                f"There is no step {intervention.step:,} for {intervention}: this run makes only {steps:,}. "
                "Choose an earlier step, or a larger vocabulary."
            )
        later = max(intervention.left, intervention.right)
        if later >= alphabet_size + intervention.step - 1:
            raise RecipeError(
                f"{intervention} names the token {later:,}, which does not exist before step "
                f"{intervention.step:,}. Choose a later step, or a token that exists by then."
            )
    if recipe.grown_from > known:
        raise RecipeError(
            f"This recipe continues a table of {count_text(recipe.grown_from, 'step')}, and a recipe does not hold "
            "that table. Open the table and extend it (bpe-explorer extend)."
        )


def check_done(recipe: Recipe, columns: Columns, learned: int, end: EndReason) -> None:
    """Raise RecipeError if an intervention of the recipe had no effect.

    An intervention has no effect if its forced pair occurs nowhere in the text, or if the run ends before its step.
    """
    for step, (left, right) in forced_at(recipe.interventions).items():
        if step <= learned and columns.count[step - 1] == 0:
            raise RecipeError(
                f"force:{left}+{right}@{step} cannot be done: at step {step:,} this pair occurs nowhere in the text. "
                "Remove the intervention, or force the pair at an earlier step."
            )
    missed = next((intervention for intervention in recipe.interventions if intervention.step > learned + 1), None)
    if missed is not None and end in ("too rare", "no pairs"):
        raise RecipeError(
            f"There is no step {missed.step:,} for {missed}: no pair is frequent enough after "
            f"{count_text(learned, 'step')}."
        )
