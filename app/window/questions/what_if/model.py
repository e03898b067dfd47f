"""The model of "What if": how the steps of a branch differ from those of the run that it branched off from."""

from __future__ import annotations

from collections.abc import Hashable

from app.session.run import Run, name_of
from app.session.session import Session
from app.window.questions.compare.lanes import Lane
from app.window.questions.compare.lanes_model import LanesModel
from bpe_core.history.token_texts import quoted
from bpe_core.insight.table_comparison import TableComparison, compare_tables


class WhatIfModel(LanesModel):
    """A model with two lanes: the branch that a user showed or made last, and the run that it branched off from."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.branch: Run | None = None
        self.differences = ""  # how the steps of both differ
        self._compared_key: Hashable = None
        for signal in (session.cursor.moved, session.cursor.live_changed):
            signal.connect(self.refresh)  # in the same frame as the other views

    def follow(self) -> None:
        """Compare the run shown with its original run if it is a branch.

        If the user goes back from a branch to its original run, continue to compare the same two runs.
        """
        runs = self._session.runs
        shown = self._session.runs.shown
        if shown is not None and runs.branched_from(shown) is not None:
            self.branch = shown
        elif self.branch not in runs.all or shown is None or runs.branched_from(self.branch) is not shown:
            self.branch = None

    @property
    def original(self) -> Run | None:
        return None if self.branch is None else self._session.runs.branched_from(self.branch)

    def _wanted_runs(self) -> list[Run]:
        self.follow()
        wanted = [run for run in (self.original, self.branch) if run is not None and run.history is not None]
        return wanted if len(wanted) == 2 else []

    @property
    def size(self) -> int:
        """Return the vocabulary size at which both runs are compared.

        This is the size at the step shown. At the last step, it is the largest size that both runs have.
        """
        cursor = self._session.cursor
        shown = self._session.runs.shown
        if shown is None or shown.history is None or cursor.position in (cursor.end, shown.learned):
            return self.common_size
        return shown.history.vocabulary_size_at(min(cursor.position, shown.learned))

    def refresh(self) -> None:
        if self.is_watched:
            super().refresh()
            self._compare_steps()

    def _compare_steps(self) -> None:
        key = tuple(lane.key for lane in self.lanes)
        if key == self._compared_key:
            return
        self._compared_key = key
        self.differences = ""
        if any(lane.run.is_busy for lane in self.lanes):
            self._compared_key = None
        elif self.is_ready:
            first, second = (lane.history for lane in self.lanes)
            self._session.background.run(
                "what_if",
                lambda task: compare_tables(first, second, cancelled=task.cancelled),
                self._report_differing_steps,
                self._fail,
            )

    def _report_differing_steps(self, comparison: TableComparison) -> None:
        if self.branch is not None:
            self.differences = differing_steps(self.branch, comparison)
            self.changed.emit()

    def name_of(self, lane: Lane) -> str:
        return name_of(lane.run, self._session.runs.all)


def differing_steps(run: Run, comparison: TableComparison) -> str:
    """Return a sentence that says how many tokens are in one run only, and at which step the runs first differ."""
    if comparison.first is None or comparison.parted is None:
        return f"The {run.wording.steps} are the same."
    before, now = (" + ".join(map(quoted, pair)) for pair in comparison.parted)
    first = f"{run.wording.step} {comparison.first + 1:,}"
    return f"{comparison.new_tokens}. The runs differ from {first} on: {now} instead of {before}."
