"""What if: a run that was steered by hand below the one it leaves, each line of the text as both cut it."""

from __future__ import annotations

from collections.abc import Hashable

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QWidget

from app.session.run import Run, name_of
from app.session.session import Session
from app.window.parts.layouts import AtTop, in_column, in_row
from app.window.parts.widgets import named, paragraph, push_button
from app.window.questions.compare.lanes_model import LanesModel
from app.window.questions.compare.rows import LaneRows
from bpe_core.history.token_texts import quoted
from bpe_core.insight.table_comparison import TableComparison, compare_tables

TEXT_LINES = 3  # of the sentences, so that nothing below them jumps
BOTH = "Show Both Texts"
ONE = "Back to One Text"


class WhatIfModel(LanesModel):
    """Compares the branch that a person made last, or looks at, with the run it goes on from."""

    topic = "what if"
    hint = "Click to see why."

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.branch: Run | None = None
        self.told = ""  # how the steps of both differ
        self._told_of: Hashable = None
        for signal in (session.cursor.moved, session.cursor.live_changed):
            signal.connect(self.refresh)  # in the frame of everything else that moves

    def follow(self) -> None:
        """Take the run shown for the branch if it is one; stay with the last one while its original is shown."""
        runs, shown = self._session.runs, self._session.runs.shown
        if shown is not None and runs.left_by(shown) is not None:
            self.branch = shown
        elif self.branch not in runs.all or shown is None or runs.left_by(self.branch) is not shown:
            self.branch = None

    @property
    def original(self) -> Run | None:
        return None if self.branch is None else self._session.runs.left_by(self.branch)

    def wanted_runs(self) -> list[Run]:
        self.follow()
        wanted = [run for run in (self.original, self.branch) if run is not None and run.history is not None]
        return wanted if len(wanted) == 2 else []

    def wanted_step(self, place: int) -> int:
        """Both go with the cursor; at its end each is at its own."""
        cursor, learned = self._session.cursor, len(self.lanes[place].history)
        return learned if cursor.live or cursor.position == cursor.end else min(cursor.position, learned)

    def refresh(self) -> None:
        if self.is_watched:
            super().refresh()
            self._compare_steps()

    def _compare_steps(self) -> None:
        key = tuple(lane.key for lane in self.lanes)
        if key == self._told_of:
            return
        self._told_of, self.told = key, ""
        if any(lane.run.is_busy for lane in self.lanes):
            self._told_of = None
        elif self.is_ready:
            one, other = (lane.history for lane in self.lanes)
            self._session.aside.ask(
                (self.topic, "steps"),
                lambda task: compare_tables(one, other, cancelled=task.cancelled),
                self._tell_steps,
                self._fail,
            )

    def _tell_steps(self, found: TableComparison) -> None:
        if self.branch is not None:
            self.told = differing_steps(self.branch, found)
            self.changed.emit()

    @property
    def titles(self) -> str:
        runs = self._session.runs.all
        return " · ".join(f"{lane.letter} {name_of(lane.run, runs)}" for lane in self.lanes)


def differing_steps(run: Run, found: TableComparison) -> str:
    """Say how many steps of a run are others than those of another run, and which is the first."""
    if found.first is None or found.parted is None:
        return f"The {run.wording.steps} are the same."
    differing = sum(one.other_place is not None for one in found.differing)
    before, now = (" + ".join(map(quoted, pair)) for pair in found.parted)
    counted = run.wording.counted(run.learned)
    return f"{differing:,} of {counted} differ; the first at {found.first + 1:,}: {now} instead of {before}."


class BothTexts(QWidget):
    """Says how a branch differs; opened, it shows both texts instead of the one."""

    opened = Signal(bool)

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.model = WhatIfModel(session)
        self._runs, self._looks = session.runs, False
        self.told = named(paragraph(), "What the branch changes")
        self.told.setMinimumHeight(TEXT_LINES * self.fontMetrics().lineSpacing())
        self.told.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.button = push_button(BOTH, lambda: self.open(self.rows.isHidden()))
        self.rows = LaneRows(self.model, "Your text, as both runs cut it")
        self.rows.hide()
        in_column(in_row((self.told, 1), AtTop(self.button)), (self.rows, 1), on=self, margins=(4, 2, 0, 0))
        self.rows.fit_letters()
        self.model.changed.connect(self._show)
        session.runs.changed.connect(self.follow)

    def open(self, on: bool) -> None:
        if on != self.rows.isHidden():
            return
        self.rows.setVisible(on)
        self.button.setText(ONE if on else BOTH)
        self.opened.emit(on)

    def follow(self) -> None:
        """Be there while a branch is shown, or the run that it leaves."""
        self.model.follow()
        if self.model.branch is None:
            self.open(False)
        self.setVisible(self.model.branch is not None)

    def _show(self) -> None:
        self.told.setText("\n".join(filter(None, (self.model.titles, self.model.told, self.model.summary))))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._look(True)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._look(False)

    def _look(self, on: bool) -> None:
        if on != self._looks:
            self._looks = on
            self.model.watch(on)
