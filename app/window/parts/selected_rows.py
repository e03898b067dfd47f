"""Rows that are selected, also where a table has a hundred thousand of them."""

from __future__ import annotations

from PySide6.QtCore import QItemSelectionModel
from PySide6.QtWidgets import QAbstractItemView, QTableView


def select_whole_rows(table: QTableView) -> None:
    """Let rows be selected, of a table that has its model.

    Whenever the header is drawn it asks whether columns are selected, row by row: four seconds once all rows are. So it
    looks at a selection of its own, which stays empty.
    """
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    header = table.horizontalHeader()
    header.setSelectionModel(QItemSelectionModel(table.model(), header))


def selected_rows(table: QTableView) -> list[int]:
    """In order; told from the ranges, as an index for each would take long."""
    ranges = table.selectionModel().selection()
    parts = [ranges.at(place) for place in range(ranges.count())]
    return sorted({row for part in parts for row in range(part.top(), part.bottom() + 1)})
