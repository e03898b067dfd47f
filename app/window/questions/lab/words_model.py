"""The words that are cut most differently, as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.window.questions.lab.figures import LabFigures, WordRow

Index = QModelIndex | QPersistentModelIndex
Role = Qt.ItemDataRole

NUMBERS = ("Times", "Cuts")  # behind a column for each lane
TIPS = (
    "How often the word occurs",
    "In how many cuts of it they differ; the word that makes most such cuts in the whole corpus comes first",
)


class DifferingWordsModel(QAbstractTableModel):
    """One row a word, one column a lane: how that one cuts it."""

    def __init__(self, figures: LabFigures, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._figures = figures
        self._rows: Sequence[WordRow] = ()
        self._letters: tuple[str, ...] = ()
        figures.changed.connect(self._refresh)

    def row(self, row: int) -> WordRow:
        return self._rows[row]

    def is_number(self, column: int) -> bool:
        return column >= len(self._letters)

    def lane_of(self, column: int) -> int:
        """The lane that a column is about; of a number the first."""
        return 0 if self.is_number(column) else column

    def _refresh(self) -> None:
        found = self._figures.found
        rows = found.words or ()
        if rows is not self._rows or found.letters != self._letters:
            self.beginResetModel()
            self._rows, self._letters = rows, found.letters
            self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:
        return len(self._letters) + len(NUMBERS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Role.DisplayRole) -> Any:
        if orientation != Qt.Orientation.Horizontal or section >= self.columnCount():
            return None
        if role == Role.DisplayRole:
            return (*self._letters, *NUMBERS)[section]
        if role == Role.ToolTipRole:
            return (*(f"How {letter} cuts it" for letter in self._letters), *TIPS)[section]
        return None

    def data(self, index: Index, role: int = Role.DisplayRole) -> Any:
        if role in (Role.DisplayRole, Role.ToolTipRole) and index.isValid():
            cell = self._rows[index.row()].cells[index.column()]
            return cell if role == Role.DisplayRole else f"{cell}\nClick to see it in the rows, and why it is cut so"
        if role == Role.TextAlignmentRole and self.is_number(index.column()):
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        return None
