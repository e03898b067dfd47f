"""The list of the session's runs. One of the runs is shown."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

from PySide6.QtCore import QObject, Signal

from app.session.background import BackgroundTasks
from app.session.run import NO_RUN, Origin, Phase, Run
from app.session.time import TimeCursor
from bpe_core.history.history import History
from bpe_core.history.token_texts import TokenTexts
from bpe_core.methods.facts import Wording


class RunList(QObject):
    changed = Signal()  # another run is shown, or its phase has changed
    leading_changed = Signal()  # the leading pairs of the shown run have changed

    def __init__(self, background: BackgroundTasks, cursor: TimeCursor, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.all: list[Run] = []
        self.shown: Run | None = None
        self._background = background
        self._cursor = cursor
        self._last_number = 0

    @property
    def wording(self) -> Wording:
        return NO_RUN if self.shown is None else self.shown.wording

    def show(self, run: Run | None, *, stays: bool = False) -> None:
        """Show a run at its last step. If `stays` is true, keep the time slider at its step."""
        self.shown = run
        self.changed.emit()
        self._cursor.set_end(0 if run is None else run.learned)
        if not stays:
            self._cursor.go_live()
        self.leading_changed.emit()

    def add_table(
        self,
        history: History,
        names: TokenTexts,
        sentence: str,
        parent: int | None = None,
        *,
        is_shown: bool = True,
        phase: Phase = Phase.ENDED,
    ) -> Run:
        """Add a table as a run, such as a table from a file. Return the run."""
        run = Run(self._next_number(), history.recipe, (), phase=phase, sentence=sentence, parent=parent)
        run.history = history
        run.names = names
        self.all.append(run)
        if is_shown:
            self.show(run)
        else:
            self.changed.emit()
        return run

    def find_run(self, number: int | None) -> Run | None:
        return next((run for run in self.all if run.number == number), None)

    def origin_of(self, run: Run | None) -> Origin | None:
        """Return the opened table from which `run`, or the nearest run that it continues, was made.

        Return None if there is no such table, or if the table has no sidecar files.
        """
        while run is not None and run.origin is None:
            run = self.find_run(run.parent)
        return run.origin if run is not None and run.origin is not None and run.origin.sidecars else None

    def branched_from(self, run: Run) -> Run | None:
        """Return the run that this run branched off from, or None if this run is not a branch."""
        parent = self.find_run(run.parent)
        is_steered = parent is not None and run.recipe.interventions not in ((), parent.recipe.interventions)
        return parent if is_steered else None

    def with_branches(self, run: Run) -> list[Run]:
        """Return the run and all its branches, in the order of the list of runs."""
        numbers = {run.number}
        for other in self.all:
            if other.parent in numbers:
                numbers.add(other.number)
        return [other for other in self.all if other.number in numbers]

    def replace_run(self, old: Run, new: Run, *, with_number: bool = False) -> None:
        """Remove the run `old`, and show the run `new` at the current step.

        If `with_number` is true, `new` gets the number of `old`.
        """
        self._background.cancel(old.stamp)
        self.all = [run for run in self.all if run is not old]
        if with_number and all(run.number != old.number for run in self.all if run is not new):
            given, new.number = new.number, old.number  # it is the same to a user, who sees numbers
            if given != new.number:
                self._take_back_number(given)
        self.restore_or_remove([new], are_there=True, stays=True)

    def restore_or_remove(self, runs: Sequence[Run], are_there: bool, *, stays: bool = False) -> None:
        """Restore these runs if `are_there` is true, or else remove them.

        Then show the first restored run. If the run shown was removed, show the parent of the first removed run, or
        else the newest run.
        """
        for run in runs if are_there else ():
            if any(other.number == run.number for other in self.all if other is not run):
                run.number = self._next_number()
            self._last_number = max(self._last_number, run.number)
        self.all = sorted({*self.all, *runs} if are_there else {*self.all} - {*runs}, key=lambda run: run.number)
        if are_there:
            self.show(runs[0], stays=stays)
        elif self.shown in runs:
            self.show(self.find_run(runs[0].parent) or next(reversed(self.all), None))
        else:
            self.changed.emit()

    def rename(self, run: Run, name: str) -> None:
        run.recipe = run.recipe.with_changes(name=name)
        if run.history is not None and not run.is_busy:  # exports use this name, too
            run.history = copy(run.history)
            run.history.recipe = run.history.recipe.with_changes(name=name)
        self.changed.emit()

    def replace_all(self, runs: Sequence[Run], shown: Run | None) -> None:
        """Replace all runs. Ignore later reports of background tasks about the former runs."""
        for run in self.all:
            if run not in runs:
                self._stop_tasks(run)
        self.all = list(runs)
        self._last_number = max((run.number for run in runs), default=0)
        self.show(shown if shown in self.all else None)

    def drop(self, run: Run) -> None:
        """Remove a run that is not shown, even if it is being trained."""
        self._stop_tasks(run)
        self.restore_or_remove([run], are_there=False)
        self._take_back_number(run.number)

    def _next_number(self) -> int:
        self._last_number += 1
        return self._last_number

    def _take_back_number(self, number: int) -> None:
        """Let the next run reuse the number of a removed draft, if it was the last number."""
        if number == self._last_number and all(run.number != number for run in self.all):
            self._last_number -= 1

    def _stop_tasks(self, run: Run) -> None:
        """Stop all background tasks of a run."""
        self._background.cancel(run.stamp)
        if run.job is not None:
            run.job.stop()
