"""Tables of rows: one look for all, and selections that stay fast with a hundred thousand rows."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QAbstractItemModel, QItemSelectionModel, Qt
from PySide6.QtWidgets import QAbstractItemView, QTableView

from app.window.parts.theme import fixed_font
from app.window.parts.widgets import named


def select_whole_rows(table: QTableView) -> None:
    """Let whole rows be selected in a table that has its model.

    The header asks at each painting whether columns are selected, row by row: four seconds once all rows are. So it
    gets a selection model of its own, which stays empty.
    """
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    header = table.horizontalHeader()
    header.setSelectionModel(QItemSelectionModel(table.model(), header))


def selected_rows(table: QAbstractItemView) -> list[int]:
    """List the selected rows in order, from ranges: an index for each would take long."""
    ranges = table.selectionModel().selection()
    parts = [ranges.at(place) for place in range(ranges.count())]
    return sorted({row for part in parts for row in range(part.top(), part.bottom() + 1)})


ROW_HEIGHT = 22


def table_of_rows(model: QAbstractItemModel, name: str, widths: Iterable[int] = ()) -> QTableView:
    """Make a table in the font of tokens, with a name for screen readers and widths for the first columns."""
    table = named(QTableView(), name)
    table.setModel(model)
    table.setFont(fixed_font(table.font().pointSizeF()))
    select_whole_rows(table)
    table.verticalHeader().hide()
    table.verticalHeader().setDefaultSectionSize(ROW_HEIGHT)
    table.setShowGrid(False)
    for column, width in enumerate(widths):
        table.setColumnWidth(column, width)
    return table


def put_headings_left(table: QTableView) -> None:
    table.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
