"""The functions that make tables and lists.

Tables look the same everywhere, and are fast with a hundred thousand rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from PySide6.QtCore import QAbstractItemModel, QItemSelectionModel, Qt
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QListView, QTableView

from app.window.parts.widgets import name_widget, use_fixed_font
from app.window.parts.zoom import set_zoomed, zoomed


def select_whole_rows(table: QTableView) -> None:
    """Let a user select only whole rows of a table.

    The header gets an empty selection of its own. If it shared the selection of the table, it would check all rows
    one by one, which takes four seconds for a hundred thousand rows.
    """
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    header = table.horizontalHeader()
    header.setSelectionModel(QItemSelectionModel(table.model(), header))


def selected_rows(table: QAbstractItemView) -> list[int]:
    """Return the numbers of the selected rows in order.

    They are computed from the selected ranges, because Qt is slow at making an index for each row.
    """
    ranges = table.selectionModel().selection()
    parts = [ranges.at(place) for place in range(ranges.count())]
    return sorted({row for part in parts for row in range(part.top(), part.bottom() + 1)})


ROW_HEIGHT = 22
WIDEST = 260  # pixels that a text may widen its column to


def table_of_rows(model: QAbstractItemModel, name: str, widths: Iterable[int] = ()) -> QTableView:
    """Return a table view with the font in which tokens are shown.

    `name` is for screen readers. `widths` are the widths of the first columns.
    """
    table = name_widget(QTableView(), name)
    table.setModel(model)
    use_fixed_font(table)
    select_whole_rows(table)
    table.verticalHeader().hide()
    set_zoomed(table.verticalHeader(), QHeaderView.setDefaultSectionSize, ROW_HEIGHT)
    table.setShowGrid(False)
    table.horizontalHeader().setTextElideMode(Qt.TextElideMode.ElideRight)  # or a heading at the right loses its start
    for column, width in enumerate(widths):
        table.setColumnWidth(column, zoomed(width))
    return table


def list_of_rows(model: QAbstractItemModel, name: str) -> QListView:
    """Return a list view that never scrolls sideways, because it shortens long rows."""
    view = name_widget(QListView(), name)
    view.setModel(model)
    view.setTextElideMode(Qt.TextElideMode.ElideRight)
    view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    return view


def put_headings_left(table: QTableView) -> None:
    table.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)


def sort_by_headings(table: QTableView, column: int, order: Qt.SortOrder) -> None:
    """Sort a table by a column when a user clicks on its heading. At first, the table is sorted by `column`.

    If `column` is -1, the table is not sorted at first. The model writes the sort mark into the heading.
    """
    put_headings_left(table)
    header = table.horizontalHeader()
    header.setSortIndicator(column, order)
    table.setSortingEnabled(True)
    header.setSortIndicatorShown(False)
    table.model().modelReset.connect(partial(_make_room, table))


def _make_room(table: QTableView) -> None:
    """Make columns wide enough for their headings and their visible texts.

    A column that a user has resized becomes wider only if its heading does not fit.
    """
    header = table.horizontalHeader()
    for column in range(header.count()):
        size = header.sectionSize(column)
        wanted = header.sectionSizeHint(column)
        if size == header.defaultSectionSize():
            wanted = max(wanted, min(table.sizeHintForColumn(column), zoomed(WIDEST)))
        if size < wanted:
            header.resizeSection(column, wanted)
