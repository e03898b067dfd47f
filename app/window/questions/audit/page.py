"""The page of the question `audit`, with a button that removes tokens from the vocabulary."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QWidget

from app.window.parts.tables import selected_rows
from app.window.parts.widgets import name_widget, push_button
from app.window.questions.audit.trim_dialog import TrimDialog
from app.window.questions.audit.trimming import TrimTask
from app.window.questions.question_page import QuestionPage

TRIM = "Make a table without some tokens: the selected tokens, all listed tokens, or the least used tokens"
ORDERS = {"times": "count", "characters": "length"}  # columns and the names of their orders, where these differ


class AuditPage(QuestionPage):
    """The page of the question `audit`. A double click on a row opens the page of its token."""

    token_wanted = Signal(int)

    def __init__(self, trimming: TrimTask, parent: QWidget | None = None) -> None:
        super().__init__(trimming.model, parent)
        self.trimming = trimming
        self.trim = name_widget(push_button("Trim …", self._trim, TRIM), "Trim")
        self.add_action(self.trim)
        trimming.busy_changed.connect(self._show_trim)
        self.table.horizontalHeader().sortIndicatorChanged.connect(self._choose_order)
        self.model.changed.connect(self._show_trim)
        self._show_trim()

    def open_row(self, row: int) -> None:
        for token in self.trimming.tokens([row]):
            self.token_wanted.emit(token)

    def _choose_order(self, column: int, order: Qt.SortOrder) -> None:
        """Choose the order of the rows in a saved file: by the column whose heading was clicked, as on the screen."""
        name = self.model.columns[column] if 0 <= column < len(self.model.columns) else ""
        sort = self.fields["sort"]
        reverse = self.fields["reverse"]
        assert isinstance(sort, QComboBox)
        assert isinstance(reverse, QCheckBox)
        place = sort.findData(ORDERS.get(name, name))
        if place >= 0:
            sort.setCurrentIndex(place)
            longest_first = sort.itemData(place) == "length"
            reverse.setChecked((order == Qt.SortOrder.DescendingOrder) != longest_first)

    def _show_trim(self) -> None:
        self.trim.setText("Stop Trimming" if self.trimming.is_busy else "Trim …")
        self.trim.setEnabled(self.trimming.is_busy or not self.trimming.refusal)

    def _trim(self) -> None:
        if self.trimming.is_busy:
            self.trimming.cancel()
            return
        rows = tuple(self.rows.place(row) for row in selected_rows(self.table))
        self.trim_dialog = TrimDialog(self.trimming, rows, self.rows.rowCount(), self)
        self.trim_dialog.finished.connect(self.trim_dialog.deleteLater)  # or the dialog's parent would keep it for ever
        self.trim_dialog.open()
