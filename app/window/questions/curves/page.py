"""The page of the question about the results of a sweep, with buttons that start a sweep."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from app.window.parts.widgets import flat_button, name_widget
from app.window.questions.curves.plan_dialog import PlanDialog
from app.window.questions.curves.planning import CurvePlan
from app.window.questions.curves.sweeping import SweepModel
from app.window.questions.question_page import QuestionPage


class SweepPage(QuestionPage):
    session_wanted = Signal(object)  # the path of a session with the runs of a sweep

    def __init__(self, model: SweepModel, planning: CurvePlan, parent: QWidget | None = None) -> None:
        super().__init__(model, parent)
        self.sweep = model
        self._planning = planning
        new = "Plan a sweep of runs and measurements, and start it"
        self.new = name_widget(flat_button("New Sweep …", self.open_dialog, new), "New sweep")
        plan = "Start a saved plan, or continue it"
        self.plan = name_widget(flat_button("Plan …", self._choose_plan, plan), "Plan of a sweep")
        runs = "Open the session with the runs of this sweep. It replaces the session of this window"
        self.open = name_widget(flat_button("Open Its Runs", self._want_session, runs), "Open its runs")
        for button in (self.new, self.plan, self.open):
            self.add_action(button)
        model.changed.connect(self._show_open)
        self._show_open()

    def _want_session(self) -> None:
        self.session_wanted.emit(self.sweep.session)

    def _show_open(self) -> None:
        self.open.setVisible(self.sweep.session is not None)

    def open_dialog(self) -> None:
        """Open the dialog that plans a sweep."""
        self.dialog = PlanDialog(self._planning, self)
        self.dialog.written.connect(self.sweep.make)
        self.dialog.finished.connect(self.dialog.deleteLater)
        self.dialog.open()

    def _choose_plan(self) -> None:
        path, _ = QFileDialog.getOpenFileName(self, "The plan of a sweep", "", "Plans (*.toml);;All files (*)")
        if path:
            self.sweep.make(Path(path))
