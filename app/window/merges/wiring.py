"""Connects the merge table with the run, the step shown, the filter and the Edit menu."""

from __future__ import annotations

from PySide6.QtCore import QObject

from app.session.session import Session
from app.settings import COPY_HEADERS
from app.window.main_window import Frame
from app.window.merges.merge_panel import MergePanel
from app.window.merges.merge_table import MergeTableModel


class Merging(QObject):
    def __init__(
        self, session: Session, frame: Frame, model: MergeTableModel, panel: MergePanel, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._panel, self._actions = panel, frame.actions
        runs, cursor, table = session.runs, session.cursor, panel.table
        runs.changed.connect(lambda: model.show_run(runs.shown))
        dock = frame.window.docks["merges"]
        model.modelReset.connect(lambda: dock.setWindowTitle(model.wording.steps.capitalize()))
        model.modelReset.connect(lambda: frame.actions.call_steps(model.wording.step))
        runs.grew.connect(lambda start, stop: model.grow())
        cursor.moved.connect(model.set_position)
        cursor.moved.connect(lambda position: table.mark(position, follow=not cursor.live))
        model.reordered.connect(lambda: table.mark(cursor.position, follow=not cursor.live))
        table.travelled.connect(cursor.go_to)
        model.filter_changed.connect(
            lambda chosen: session.filter.put(chosen, f"Filter {model.wording.steps}", joins=True)
        )
        session.filter.changed.connect(model.set_filter)
        frame.keep_ticked("copy_headers", COPY_HEADERS)
        self._actions["copy_tsv"].triggered.connect(lambda: self._copy("\t"))
        self._actions["copy_csv"].triggered.connect(lambda: self._copy(","))
        table.copy_wanted.connect(lambda: self._copy("\t"))
        self._actions["find"].triggered.connect(panel.begin_filter)

    def _copy(self, separator: str) -> None:
        self._panel.table.copy(separator, headers=self._actions["copy_headers"].isChecked())
