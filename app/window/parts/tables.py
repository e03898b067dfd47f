"""Functions for tables of rows: they share one look, and selections stay fast with a hundred thousand rows."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from PySide6.QtCore import QAbstractItemModel, QItemSelectionModel, Qt
from PySide6.QtWidgets import QAbstractItemView, QListView, QTableView

from app.window.parts.theme import fixed_font
from app.window.parts.widgets import named


def select_whole_rows(table: QTableView) -> None:
    """Let whole rows be selected. The header gets an empty selection of its own, as it asks row by row at each painting
    whether columns are selected: four seconds for a hundred thousand rows."""
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    header = table.horizontalHeader()
    header.setSelectionModel(QItemSelectionModel(table.model(), header))


def selected_rows(table: QAbstractItemView) -> list[int]:
    """List the selected rows in order, from the selected ranges: an index for each row would be slow."""
    ranges = table.selectionModel().selection()
    parts = [ranges.at(place) for place in range(ranges.count())]
    return sorted({row for part in parts for row in range(part.top(), part.bottom() + 1)})


ROW_HEIGHT = 22
WIDEST = 260  # pixels that a text may widen its column to


def table_of_rows(model: QAbstractItemModel, name: str, widths: Iterable[int] = ()) -> QTableView:
    """Make a table in the font of tokens, with a name for screen readers and widths for the first columns."""
    table = named(QTableView(), name)
    table.setModel(model)
    table.setFont(fixed_font(table.font().pointSizeF()))
    select_whole_rows(table)
    table.verticalHeader().hide()
    table.verticalHeader().setDefaultSectionSize(ROW_HEIGHT)
    table.setShowGrid(False)
    table.horizontalHeader().setTextElideMode(Qt.TextElideMode.ElideRight)  # or a heading at the right loses its start
    for column, width in enumerate(widths):
        table.setColumnWidth(column, width)
    return table


def list_of_rows(model: QAbstractItemModel, name: str) -> QListView:
    """Make a list that never scrolls sideways: its rows are elided."""
    view = named(QListView(), name)
    view.setModel(model)
    view.setTextElideMode(Qt.TextElideMode.ElideRight)
    view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    return view


def put_headings_left(table: QTableView) -> None:
    table.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)


def let_headings_sort(table: QTableView, column: int, order: Qt.SortOrder) -> None:
    """Let a click on a heading sort. Sort by `column` at first, unless it is -1. The model marks the heading."""
    put_headings_left(table)
    header = table.horizontalHeader()
    header.setSortIndicator(column, order)
    table.setSortingEnabled(True)
    header.setSortIndicatorShown(False)
    table.model().modelReset.connect(partial(_make_room, table))


def _make_room(table: QTableView) -> None:
    """Widen columns for their headings and the texts in sight, except where a person has set the width."""
    header = table.horizontalHeader()
    for column in range(header.count()):
        size = header.sectionSize(column)
        wanted = header.sectionSizeHint(column)
        if size == header.defaultSectionSize():
            wanted = max(wanted, min(table.sizeHintForColumn(column), WIDEST))
        if size < wanted:
            header.resizeSection(column, wanted)
