"""The tables of the pages: rows of one height in the font of tokens, selected as a whole."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QAbstractItemModel, Qt
from PySide6.QtWidgets import QTableView

from app.window.parts.selected_rows import select_whole_rows
from app.window.parts.theme import fixed_font

ROW_HEIGHT = 22


def table_of_rows(model: QAbstractItemModel, name: str, widths: Iterable[int] = ()) -> QTableView:
    """One for such a model, called so where it is read aloud, with the first columns as wide as that."""
    table = QTableView()
    table.setAccessibleName(name)
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
    """Where most columns hold words."""
    table.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
