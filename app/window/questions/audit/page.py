"""The tokens that deserve a second look: by criterion, in any order, to a file, and a table without them."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QHeaderView, QPushButton, QTableView, QVBoxLayout, QWidget

from app.window.parts.page import Page
from app.window.parts.tables import put_headings_left, selected_rows, table_of_rows
from app.window.parts.widgets import flat_button, paragraph
from app.window.parts.wording import tip
from app.window.questions.audit.model import NUMBERS, AuditModel
from app.window.questions.audit.trim_dialog import TrimDialog
from app.window.questions.audit.trimming import Trimming

WIDTHS = (64, 150, 100, 80, 130)


class AuditPage(Page):
    """A double click asks about the token."""

    token_wanted = Signal(int)

    def __init__(self, model: AuditModel, trimming: Trimming, parent: QWidget | None = None) -> None:
        super().__init__(model, parent)
        self.model, self.trimming = model, trimming
        self.criterion = QComboBox()
        self.criterion.setAccessibleName("Criterion")
        self.criterion.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.summary = paragraph()
        self.summary.setAccessibleName("What the audit found")
        self.stop = flat_button("Stop")
        self.stop.setAccessibleName("Stop looking at the tokens")
        self.export = QPushButton("Save List …")
        self.export.setToolTip("Write the tokens listed to a CSV, TSV or JSON file: id, text, bytes and criteria")
        self.trim = QPushButton("Trim …")
        self.trim.setToolTip("Make a table without some tokens: those selected, all listed, or the least used")
        self.table = _table(model)
        self._lay_out()
        self._connect()
        self._show()

    def _lay_out(self) -> None:
        row = QHBoxLayout()
        row.addWidget(self.criterion)
        row.addStretch()
        row.addWidget(self.stop)
        row.addWidget(self.export)
        row.addWidget(self.trim)
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 6, 8, 4)
        column.addLayout(row)
        column.addWidget(self.summary)
        column.addWidget(self.table, 1)

    def _connect(self) -> None:
        self.criterion.activated.connect(lambda: self.model.choose(self.criterion.currentData()))
        self.model.changed.connect(self._show)
        self.stop.clicked.connect(self._stop)
        self.export.clicked.connect(self.save_wanted)
        self.trim.clicked.connect(self._open_trim)
        self.trimming.busy_changed.connect(self._show)
        self.table.activated.connect(lambda index: self.token_wanted.emit(self.model.ids_of([index.row()])[0]))

    def _show(self) -> None:
        model = self.model
        busy = self.trimming.is_busy
        self.summary.setText("Trimming …" if busy else model.summary)
        self.stop.setVisible(bool(model.progress) or busy)
        for button in (self.export, self.trim):
            button.setEnabled(model.found is not None and not busy)
        refusal = self.trimming.refusal
        self.trim.setEnabled(self.trim.isEnabled() and not refusal)
        self._offer_criteria()

    def _offer_criteria(self) -> None:
        choices = self.model.choices
        titles = [self.criterion.itemText(place) for place in range(self.criterion.count())]
        if titles != [title for _, title, _ in choices]:
            self.criterion.clear()
            for place, (criterion, title, meaning) in enumerate(choices):
                self.criterion.addItem(title, criterion)
                self.criterion.setItemData(place, tip(meaning), Qt.ItemDataRole.ToolTipRole)
        places = [criterion for criterion, _, _ in choices]
        chosen = self.model.criterion  # kept while another run is looked at
        self.criterion.setCurrentIndex(places.index(chosen) if chosen in places else 0)
        told = [f"{title}: {meaning}" for _, title, meaning in choices if meaning]
        self.criterion.setToolTip(tip("\n".join(told)))

    def _stop(self) -> None:
        self.trimming.cancel()
        if self.model.progress:
            self.model.stop()

    def _open_trim(self) -> None:
        rows = tuple(selected_rows(self.table))
        self.trim_dialog = TrimDialog(self.trimming, rows, self.model.rowCount(), self)
        self.trim_dialog.finished.connect(self.trim_dialog.deleteLater)  # its parent would keep it for ever
        self.trim_dialog.open()


def _table(model: AuditModel) -> QTableView:
    table = table_of_rows(model, "Tokens that deserve a second look", WIDTHS)
    put_headings_left(table)
    header = table.horizontalHeader()
    header.setStretchLastSection(True)
    header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
    header.setSortIndicator(NUMBERS[0], Qt.SortOrder.AscendingOrder)
    table.setSortingEnabled(True)
    return table
