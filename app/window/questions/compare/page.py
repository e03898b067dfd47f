"""Two tokenizers compared: the merges that differ, and what it comes to."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QHeaderView, QPushButton, QTableView, QVBoxLayout, QWidget

from app.window.parts.page import Page
from app.window.parts.tables import table_of_rows
from app.window.parts.widgets import paragraph
from app.window.questions.compare.choice import OtherChoice
from app.window.questions.compare.model import CompareModel
from app.window.questions.compare.putting_together import PuttingTogether

NOTHING_CHOSEN = "Choose another run, or open a tokenizer, to compare with the one shown."


class ComparePage(Page):
    """A click on a row travels to that merge."""

    duel_wanted = Signal()

    def __init__(self, model: CompareModel, putting_together: PuttingTogether, parent: QWidget | None = None) -> None:
        super().__init__(model, parent)
        self.model, self.putting_together = model, putting_together
        self.choice = OtherChoice(model)
        self.side_by_side = QPushButton("Side by Side")
        self.side_by_side.setToolTip("Your text as each of the two cuts it, with all the room there is")
        self.put_together = QPushButton("Put Together")
        self.put_together.setToolTip(
            "Make one table of both: it keeps the tokens and ids of the one shown, and has what only the other one has"
        )
        self.totals = paragraph()
        self.summary = paragraph()
        self.summary.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.table = _table(model)
        self._lay_out()
        self._connect()
        self._show()

    def _lay_out(self) -> None:
        row = QHBoxLayout()
        row.addWidget(self.totals, 1)
        row.addWidget(self.side_by_side)
        row.addWidget(self.put_together)
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 6, 8, 4)
        column.addWidget(self.choice)
        column.addLayout(row)
        column.addWidget(self.table, 1)
        column.addWidget(self.summary)

    def _connect(self) -> None:
        model = self.model
        model.changed.connect(self._show)
        self.side_by_side.clicked.connect(self.duel_wanted)
        self.put_together.clicked.connect(self.putting_together.start)
        self.putting_together.busy_changed.connect(self._show)
        self.table.clicked.connect(self._travel)
        self.table.activated.connect(self._travel)

    def _travel(self, index: QModelIndex) -> None:
        self.model.travel_to_row(index.row())

    def _show(self) -> None:
        model = self.model
        self.totals.setText(model.trouble or model.totals or NOTHING_CHOSEN)
        self.summary.setText(model.summary)
        self.summary.setVisible(bool(model.summary))
        self.put_together.setEnabled(self.putting_together.can_start)


def _table(model: CompareModel) -> QTableView:
    table = table_of_rows(model, "Steps that differ")
    table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
    return table
