"""The base class of list models for Qt's views."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.window.parts.wording import tip

Index = QModelIndex | QPersistentModelIndex
Role = Qt.ItemDataRole
Row = TypeVar("Row")


class RowListModel(QAbstractListModel, Generic[Row]):
    def __init__(self, rows: Sequence[Row] = (), parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.rows = rows

    def set_rows(self, rows: Sequence[Row], *, are_same: bool = False) -> None:
        """Replace the rows.

        If `are_same` is true, the new rows describe the same items in the same order, and the selection stays.
        """
        if are_same:
            self.rows = rows
            if rows:
                self.dataChanged.emit(self.index(0), self.index(len(rows) - 1))
        else:
            self.beginResetModel()
            self.rows = rows
            self.endResetModel()

    def value_in_role(self, row: int, role: int) -> Any:
        """Return the data that a view shows for a row. `role` is a role of Qt, such as the role of the tip."""
        raise NotImplementedError

    def description(self, row: int) -> str:
        """Return the description of a row. It is shown as a tip, and screen readers read it."""
        return ""

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self.rows)

    def data(self, index: Index, role: int = Role.DisplayRole) -> Any:
        if not index.isValid() or index.row() >= len(self.rows):
            return None
        if role in (Role.ToolTipRole, Role.AccessibleDescriptionRole):
            text = self.description(index.row())
            return tip(text) if role == Role.ToolTipRole else text
        return self.value_in_role(index.row(), role)
