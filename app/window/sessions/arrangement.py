"""The window layout that a session file stores: the room, the panels, the chart, and the order of the merges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDockWidget

from app.window.main_window import MainWindow
from app.window.merges.merge_table import MergeTableModel
from app.window.parts.page import PageTabs
from app.window.room_plan import ROOM

LARGEST_SIZE = 10_000  # pixels
FORMER_CHARTS = {"duel": "lab"}  # charts of older files, and those that replace them


class SavedArrangement:
    def __init__(self, window: MainWindow, charts: PageTabs, merges: MergeTableModel) -> None:
        self._window = window
        self._charts = charts
        self._merges = merges
        self._docks: Mapping[str, QDockWidget] = window.docks

    def now(self) -> dict[str, Any]:
        docks = self._window.arrangement()
        return {
            "room": self._window.room,
            "docks": dict(docks.is_open),
            "sizes": {name: list(size) for name, size in docks.sizes.items()},
            "centre": self._window.centre.sizes(),
            "chart": self._charts.shown,
            "sort": [self._merges.sort_column, self._merges.sort_descending],
        }

    def restore(self, layout: Mapping[str, Any]) -> None:
        """Arrange the window as a session file says.

        Ignore values that are not valid, because a stranger may have made the file.
        """
        room, docks, centre = (layout.get(key) for key in ("room", "docks", "centre"))
        self._window.show_room(room if room in ROOM else "ask")
        if isinstance(docks, dict) and room in ROOM:  # older files had one room for all
            for id, dock in self._docks.items():
                dock.setVisible(docks.get(id) is True)
        self._resize_docks(layout.get("sizes"))
        if isinstance(centre, list) and len(centre) == 2 and all(type(size) is int for size in centre):
            self._window.centre.setSizes([min(max(0, size), LARGEST_SIZE) for size in centre])
        self._show_chart(layout.get("chart"))
        self._sort(layout.get("sort"))

    def _show_chart(self, chart: object) -> None:
        if type(chart) is int and 0 <= chart < len(self._charts.ids):  # older files give the index of the chart
            chart = self._charts.ids[chart]
        if isinstance(chart, str):
            self._charts.show_page(FORMER_CHARTS.get(chart, chart))

    def _sort(self, sort: object) -> None:
        if isinstance(sort, list) and len(sort) == 2 and sort[0] in range(self._merges.columnCount()):
            order = Qt.SortOrder.DescendingOrder if sort[1] is True else Qt.SortOrder.AscendingOrder
            self._merges.sort(sort[0], order)

    def _resize_docks(self, sizes: object) -> None:
        """Give docks their saved sizes. Show each of these docks in front of the docks at the same place."""
        if not isinstance(sizes, dict):
            return
        ids = {dock.windowTitle(): id for id, dock in self._docks.items()}  # older files name docks by their titles
        given: dict[Any, Any] = {ids.get(name, name): size for name, size in sizes.items()}
        known = {self._docks[id]: size for id, size in given.items() if id in self._docks and _is_size(size)}
        for dock in known:
            dock.raise_()
        for place, direction in enumerate((Qt.Orientation.Horizontal, Qt.Orientation.Vertical)):
            self._window.resizeDocks([*known], [size[place] for size in known.values()], direction)


def _is_size(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(type(n) is int and 0 < n < LARGEST_SIZE for n in value)
