"""A class that begins, pauses, continues and ends the training of runs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.session.background import BackgroundTasks
from app.session.corpus_texts import CorpusTexts
from app.session.counts import CountFailure, Counts, TextCount
from app.session.run import Phase, Run, changed_name
from app.session.run_list import RunList
from app.session.studies import MixedWords, Studies, tables_by_group
from app.session.time import TimeCursor
from app.worker.job import Task
from app.worker.training import (
    ExtendedTable,
    ReadyTrainer,
    SizeMismatch,
    TableToExtend,
    TrainingJob,
    TrainingProgress,
    extend_table,
    make_trainer,
)
from bpe_core.counting.words import WordTable
from bpe_core.editing.growing import can_repeat_steps, free_numbers, growing_recipe, without_counts
from bpe_core.editing.without_tokens import numbers_of
from bpe_core.errors import BpeError, RecipeError
from bpe_core.history.history import History, Pair
from bpe_core.recipes.interventions import Act, Intervention
from bpe_core.recipes.recipe import Recipe
from bpe_core.session_file.values import Fingerprint
from bpe_core.support.wording import count_text

UNCOUNTED = "Counting was cancelled, so the merges have no counts."
UNEXPECTED = "Training ended because of an unexpected error. The steps before the error are kept."
CANCELLED = "Counting was cancelled, so there is nothing to learn from."


class Runs(RunList):
    """A manager of the training. It belongs to the window's thread, and background tasks report to it there."""

    began = Signal()  # a training has begun
    grew = Signal(int, int)  # the shown run has learned the merges from a up to, but not including, b
    prepared = Signal(object)  # the texts of this run are counted
    rested = Signal(object)  # this run has paused or ended while another was shown
    did_not_fit = Signal(object, object)  # a run whose texts have no vocabulary of its size; more about it

    def __init__(
        self, counts: Counts, background: BackgroundTasks, cursor: TimeCursor, parent: QObject | None = None
    ) -> None:
        super().__init__(background, cursor, parent)
        self.merges_per_second: float | None = None
        self.mixed = MixedWords()
        self.studies = Studies(counts, self.mixed)
        self._counts = counts
        self.has_texts: Callable[[], bool] = lambda: False  # whether the corpus has texts now
        counts.settled.connect(self._prepare_counted)

    @property
    def waiting_for_counts(self) -> bool:
        return any(run.phase is Phase.COUNTING for run in self.all)

    def train(
        self,
        sources: CorpusTexts,
        recipe: Recipe,
        *,
        merges: int | None = None,
        fits: bool = False,
        is_shown: bool = True,
    ) -> Run | None:
        """Begin the training of a run, and return the run. Return None if there are no texts.

        Pause the training after `merges` steps. If `fits` is true, replace an impossible vocabulary size with a
        possible size.
        """
        if not sources:
            self._report_missing_text("There is no text to learn from")
            return None
        run = self._begin(recipe, sources, is_shown=is_shown, merges_when_prepared=merges, fits=fits)
        self._counts.request(sources, recipe)
        return run

    def train_again(self, run: Run, recipe: Recipe) -> None:
        """Train a failed run again on the same texts, with a different recipe."""
        if run in self.all and run.phase is Phase.FAILED:
            run.recipe = recipe
            run.phase = Phase.COUNTING
            run.sentence = ""
            self._counts.request(run.sources, recipe)

    def resume(self, *, merges: int | None = None) -> None:
        """Continue the training of the run shown, if its recipe demands more steps. Pause it after `merges` steps."""
        if self.shown is not None and self.shown.can_go_on():
            self._learn(self.shown, merges)

    def pause(self) -> None:
        if self.shown is not None and self.shown.job is not None:
            self.shown.job.stop()

    def stop(self) -> None:
        """End the training of the run shown. The steps made so far stay."""
        run = self.shown
        if run is None:
            return
        if run.phase is Phase.COUNTING:
            self._end(run, UNCOUNTED if run.only_counts else CANCELLED)
            self._counts.cancel()
        elif run.phase is Phase.PREPARING:
            self._background.cancel(run.stamp)
            self._end(run, UNCOUNTED if run.only_counts else "Training was stopped before it began.")
        elif run.phase is Phase.PAUSED:
            self._end(run, run.end_sentence())
        elif run.job is not None:
            self._end(run, run.end_sentence())  # set at once, or its last message would be taken for a pause
            run.job.stop()

    def extend(self, recipe: Recipe) -> None:
        """Continue the training of the run shown, until it has the larger vocabulary size given by `recipe`."""
        run = self.shown
        if run is not None and run.can_extend_to(recipe):
            recipe = run.with_own_steering(recipe).with_changes(name=run.recipe.name)
            if run.trainer is not None:
                run.trainer.extend(recipe)
            run.recipe = recipe
            self._learn(run, None)

    def forget_results(self) -> None:
        """Forget everything that was computed about runs, because another session is about to be shown."""
        self.studies.forget()
        self.mixed.forget()

    def _report_missing_text(self, sentence: str) -> None:
        what_to_do = "Open a file, paste a text or choose a sample."
        self._background.notify(f"{sentence}. {what_to_do}", is_still_true=lambda: not self.has_texts())

    def set_pace(self, merges_per_second: float | None) -> None:
        self.merges_per_second = merges_per_second
        if self.shown is not None and self.shown.job is not None:
            self.shown.job.set_pace(merges_per_second)

    def _begin(self, recipe: Recipe, sources: CorpusTexts, *, is_shown: bool = True, **choices: Any) -> Run:
        self.began.emit()
        run = Run(self._next_number(), recipe, sources, **choices)
        self.all.append(run)
        if is_shown:
            self.show(run)
        return run

    def count_on(self, sources: CorpusTexts) -> None:
        """Begin to count how often each merge of the run shown is made on the texts in `sources`.

        Do nothing unless the run is an imported table without counts.
        """
        run = self.shown
        if run is None or not run.can_be_counted:
            return
        if not sources:
            self._report_missing_text("There is no text in which to count")
            return
        run.sources = sources
        run.phase = Phase.COUNTING
        run.sentence = ""
        run.only_counts = True
        self._report_state(run)
        self._counts.request(sources, run.recipe)

    def branch(self, run: Run, step: int, act: Act, pair: Pair) -> None:
        """Begin a branch: a run that forbids or forces a pair at a step.

        Later interventions of the original run are dropped.
        """
        known = run.recipe.interventions
        earlier = [
            intervention
            for intervention in known
            if intervention.step < step or (intervention.step == step and intervention.act == "forbid")
        ]
        sentence = run.why_no_branch(step)
        if not sentence:
            try:
                recipe = run.recipe.with_changes(interventions=(*earlier, Intervention(step, act, *pair)))
            except RecipeError as error:
                sentence = str(error)
        if sentence:
            self._background.notify(sentence)
            return
        words = run.words
        history = run.history
        assert words is not None  # checked by why_no_branch
        assert history is not None
        start = history.first(step - 1)
        read = dict(run.fingerprints)
        branch = self._begin(recipe, run.sources, parent=run.number, begins_with=start, fingerprints=read)
        self._make_trainer(branch, lambda: words)
        self._report_state(branch)

    def add_tokens(
        self,
        sources: CorpusTexts,
        by: int,
        first_id: int | None = None,
        held_out: tuple[Path, ...] = (),
        **choices: Any,
    ) -> None:
        """Begin a run that adds `by` tokens to the vocabulary of the run shown. They are learned from `sources`.

        The old tokens keep their ids.
        """
        run = self.shown
        if run is None or run.history is None or not sources:
            self._background.notify(f"There is no {'text to learn from' if run else 'table to extend'}.")
            return
        try:
            recipe = growing_recipe(run.history, by, name=changed_name(run.recipe.name, "extended"), **choices)
            numbers = numbers_of(run.history)
            free_numbers(numbers, by, first_id)
        except BpeError as error:
            self._background.notify(str(error))
            return
        start = without_counts(run.history).numbered(numbers) if can_repeat_steps(run.history) else None
        table_to_extend = TableToExtend(run.history.numbered(numbers), first_id, held_out)
        self._begin(recipe, sources, parent=run.number, begins_with=start, table_to_extend=table_to_extend)
        self._counts.request(sources, recipe)

    def _prepare_counted(self) -> None:
        """Make the trainers of all runs that waited for the end of counting."""
        for run in self.all:
            if run.phase is Phase.COUNTING:
                self._prepare(run)

    def _prepare(self, run: Run) -> None:
        outcomes = self._counts.last_outcomes(run.sources, run.recipe)
        if None in outcomes:
            self._end(run, UNCOUNTED if run.only_counts else CANCELLED)
            return
        failures = [outcome.sentence for outcome in outcomes if isinstance(outcome, CountFailure)]
        tables = tables_by_group(run.sources, outcomes)
        if not tables:
            self._fail(run, failures[0], "\n".join(failures))
            return
        if failures:
            used = len(outcomes) - len(failures)
            sentence = (
                f"{failures[0]} {used:,} of {count_text(len(outcomes), 'text')} {'is' if used == 1 else 'are'} used."
            )
            self._background.notify(sentence, "\n".join(failures))
        run.fingerprints = {
            source.number: Fingerprint(*outcome.file_state)
            for source, outcome in zip(run.sources, outcomes, strict=True)
            if isinstance(outcome, TextCount) and outcome.file_state is not None
        }
        as_they_are = run.only_counts and not any(tables)
        recipe = run.recipe.with_changes(mixture=None) if as_they_are else run.recipe
        words = partial(self.mixed.words, tables, recipe)
        if run.table_to_extend is not None and run.begins_with is None:
            recipe, table_to_extend = run.recipe, run.table_to_extend  # the run is shown when all is learned
            self._run_task(
                run, lambda task: extend_table(words, recipe, table_to_extend, task.cancelled), self._take_extended
            )
        else:
            self._make_trainer(run, words)
        self.prepared.emit(run)
        self._report_state(run)

    def _make_trainer(self, run: Run, words: Callable[[], WordTable]) -> None:
        recipe = run.recipe
        history = run.begins_with if run.history is None else run.history
        self._run_task(run, lambda task: make_trainer(words, recipe, history, task.cancelled), self._take_trainer)

    def _run_task(self, run: Run, work: Callable[[Task], Any], take: Callable[[Run, Any], None]) -> None:
        run.phase = Phase.PREPARING
        end = partial(self._note_end_of_preparing, run)
        self._background.run(run.stamp, work, partial(take, run), partial(self._fail, run), ended=end)

    def _take_extended(self, run: Run, extended_table: ExtendedTable) -> None:
        extended = extended_table.extended
        run.names = extended_table.names
        run.extended_table = extended_table
        run.history = extended.history
        run.recipe = extended.history.recipe
        self._end(
            run, f"{count_text(len(extended.added), 'token is', 'tokens are')} new. All older tokens keep their ids."
        )
        if run is self.shown:
            self._cursor.set_end(run.learned)

    def _learn(self, run: Run, merges: int | None) -> None:
        run.sentence = ""
        words = run.words
        if run.trainer is None:  # a run from a file repeats its merges on its words first
            assert words is not None
            run.merges_when_prepared = merges
            self._make_trainer(run, lambda: words)
        else:
            assert run.names is not None
            run.phase = Phase.LEARNING
            is_slow = merges is None and run is self.shown
            rate = self.merges_per_second if is_slow else None
            run.job = job = TrainingJob(run.trainer, run.names, rate, merges=merges)
            self._background.start(job, partial(self._receive, run), partial(self._note_end_of_learning, run, job))
        self._report_state(run)

    def _receive(self, run: Run, message: TrainingProgress) -> None:
        if run not in self.all:
            return
        run.merges_per_second = message.merges_per_second
        run.seconds_left = message.seconds_left
        run.leading = message.leading or run.leading
        self.grow(run, message.history)
        if run is self.shown and message.leading is not None:
            self.leading_changed.emit()
        if not message.is_over:
            return
        run.job = None
        if message.history.end_reason or run.phase is Phase.ENDED:
            self._end(run, run.end_sentence())
        else:
            run.phase = Phase.PAUSED
            self._report_state(run)

    def grow(self, run: Run, history: History) -> None:
        """Store a longer history of a run, and show its new steps."""
        start = run.learned
        run.store_history(history)
        if run is self.shown and run.learned > start:
            self.grew.emit(start, run.learned)
            self._cursor.set_end(run.learned)

    def set_phase(self, run: Run, phase: Phase, sentence: str) -> None:
        """Store and report the phase of a run, with a sentence about it. Do nothing if neither has changed."""
        if (phase, sentence) != (run.phase, run.sentence):
            run.phase = phase
            run.sentence = sentence
            self._report_state(run)

    def _take_trainer(self, run: Run, message: ReadyTrainer | SizeMismatch) -> None:
        if isinstance(message, SizeMismatch):
            run.phase = Phase.FAILED
            run.sentence = message.sentence
            self.did_not_fit.emit(run, message)
            self._report_state(run)
            return
        run.trainer = message.trainer
        run.names = message.names
        run.store_history(message.trainer.history)
        run.words = message.words
        run.begins_with = None
        run.symbol_counts = message.symbol_counts
        run.leading = message.leading
        if run is self.shown:
            self._cursor.set_end(run.learned)
        if run.only_counts:
            run.only_counts = False
            self._end(run, f"The merges were counted on {count_text(len(run.sources), 'text')}.")
        else:
            self._learn(run, run.merges_when_prepared)
        if run is self.shown:
            self.leading_changed.emit()

    def _note_end_of_preparing(self, run: Run) -> None:
        """Report the failure of a run whose thread ended with an unexpected error before the training began."""
        if run in self.all and run.phase is Phase.PREPARING and not self._background.is_busy(run.stamp):
            self._fail(run, UNEXPECTED)

    def _note_end_of_learning(self, run: Run, job: TrainingJob) -> None:
        if run in self.all and run.job is job:
            run.job = None
            if run.is_busy:
                self._fail(run, job.failure or UNEXPECTED)

    def _end(self, run: Run, sentence: str) -> None:
        run.phase = Phase.ENDED
        run.sentence = sentence
        self._report_state(run)

    def _fail(self, run: Run, sentence: str, details: str = "") -> None:
        run.job = None
        run.phase = Phase.FAILED
        run.sentence = sentence
        self._background.notify(sentence, details)
        self._report_state(run)

    def _report_state(self, run: Run) -> None:
        if run is self.shown:
            self.changed.emit()
        elif not run.is_busy:
            self.rested.emit(run)
