"""The panel of merges: the table, and the filter above it."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import (
    QAction,
)
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QLineEdit,
    QWidget,
)

from app.session.merge_filter import MergeFilter
from app.settings import COPY_HEADERS
from app.window.main_window import Frame
from app.window.merges.merge_table import MergeTableModel
from app.window.merges.merge_table_view import MergeTableView
from app.window.parts.icons import icon
from app.window.parts.layouts import in_column, in_row
from app.window.parts.theme import shades_of
from app.window.parts.typed_text import NumberBox
from app.window.parts.widgets import entry, keep_room_for, muted_label, name_widget
from app.window.parts.wording import count_text, tip

KINDS = (("Text", "text"), ("Regex", "regex"), ("Bytes", "hex"))
SPINNER = 44  # pixels of a field beside its number
HINTS = {"text": "Filter tokens", "regex": "such as ^␣[A-Z]", "hex": "such as 20 74"}


class MergePanel(QWidget):
    def __init__(self, model: MergeTableModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self.table = MergeTableView(model)
        self.needle = entry(can_be_cleared=True)
        self._sign = QAction(icon("search", self.palette()), "", self.needle)
        self.needle.addAction(self._sign, QLineEdit.ActionPosition.LeadingPosition)
        self.kind = name_widget(QComboBox(), "Kind of search text")
        for title, value in KINDS:
            self.kind.addItem(title, value)
        self.kind.setToolTip(
            "Text: tokens that contain this text · Regex: a regular expression · Bytes: hexadecimal bytes"
        )
        self.ties_only = QCheckBox("Ties")
        self.min_length = NumberBox(1, 100_000)
        self.min_length.setPrefix("≥ ")
        keep_room_for(self.min_length, "≥ 999", SPINNER)
        self.min_length.setToolTip("Only tokens of at least this many bytes")
        self.min_length.setAccessibleName("Minimum length of the token in bytes")
        self.below = muted_label()
        self._is_showing = False
        self._lay_out()
        self.needle.textChanged.connect(self._filter)
        self.kind.currentIndexChanged.connect(self._filter)
        self.ties_only.toggled.connect(self._filter)
        self.min_length.valueChanged.connect(self._filter)
        model.filter_changed.connect(self._show_filter)
        model.modelReset.connect(self._name)
        self._name()
        for signal in (model.rowsInserted, model.modelReset):
            signal.connect(self._show_count)
        self._show_filter(model.filter)

    def connect_with(self, frame: Frame) -> None:
        """Connect the table with the run and the step shown, and with the Edit menu."""
        model = self._model
        table = self.table
        session = frame.session
        actions = frame.actions
        runs = session.runs
        cursor = session.cursor
        dock = frame.window.docks["merges"]

        def copy(separator: str) -> None:
            table.copy(separator, headers=actions["copy_headers"].isChecked())

        runs.changed.connect(lambda: model.show_run(runs.shown))
        runs.grew.connect(lambda start, stop: model.grow())
        model.modelReset.connect(lambda: dock.setWindowTitle(model.wording.steps.capitalize()))
        model.modelReset.connect(lambda: actions.name_steps(model.wording.step))
        cursor.moved.connect(model.set_position)
        cursor.moved.connect(lambda position: table.mark(position, follow=not cursor.live))
        model.reordered.connect(lambda: table.mark(cursor.position, follow=not cursor.live))
        table.travelled.connect(cursor.go_to)
        model.filter_changed.connect(
            lambda chosen: session.filter.put(chosen, f"Filter {model.wording.steps}", joins=True)
        )
        session.filter.changed.connect(model.set_filter)
        frame.connect_tick("copy_headers", COPY_HEADERS)
        actions["copy_tsv"].triggered.connect(lambda: copy("\t"))
        actions["copy_csv"].triggered.connect(lambda: copy(","))
        table.copy_wanted.connect(lambda: copy("\t"))
        actions["find"].triggered.connect(self._begin_filter)

    def _begin_filter(self) -> None:
        self.needle.setFocus()
        self.needle.selectAll()

    def recolor(self) -> None:
        self._sign.setIcon(icon("search", self.palette()))
        self.table.delegate.recolor(self.palette())

    def _lay_out(self) -> None:
        row = in_row((self.needle, 1), self.kind, self.ties_only, self.min_length, spacing=6)
        in_column(row, (self.table, 1), self.below, on=self, margins=(4, 2, 8, 4), spacing=6)

    def _filter(self) -> None:
        if self._is_showing:
            return
        kind = self.kind.currentData()
        ties_only = self.ties_only.isChecked()
        self._model.set_filter(MergeFilter(self.needle.text(), kind, ties_only, self.min_length.value()))

    def _name(self) -> None:
        steps = self._model.wording.steps
        self.ties_only.setVisible(any(column.look == "tie" for column in self._model.columns))
        self.needle.setAccessibleName(f"Filter {steps}")
        self._sign.setText(f"Filter {steps}")
        self.ties_only.setToolTip(tip(f"Only {steps} that the tie rule decided"))
        self.table.setAccessibleName(steps.capitalize())

    def _show_filter(self, chosen: MergeFilter) -> None:
        self._is_showing = True  # a half-shown filter is no choice
        self.needle.setPlaceholderText(HINTS[chosen.kind])
        if chosen.needle != self.needle.text():
            self.needle.setText(chosen.needle)
        self.kind.setCurrentIndex(self.kind.findData(chosen.kind))
        self.ties_only.setChecked(chosen.ties_only)
        self.min_length.setValue(chosen.min_length)
        self._is_showing = False
        self._show_count()

    def _show_count(self) -> None:
        chosen = self._model.filter
        all_of_them = count_text(self._model.learned, self._model.wording.step)
        self.below.setStyleSheet(f"color: {shades_of(self.palette()).error.name()}" if chosen.error else "")
        if chosen.error:
            self.below.setText(chosen.error)
        elif chosen.lets_all_pass:
            self.below.setText(all_of_them)
        else:
            self.below.setText(f"{self._model.rowCount():,} of {all_of_them}")
        self.below.setAlignment(Qt.AlignmentFlag.AlignLeft)
