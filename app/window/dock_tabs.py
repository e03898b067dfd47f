"""A class that hides the unused tab bars of docks."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDockWidget, QMainWindow, QTabBar

from app.session.time import timer

PROBE = "\N{ZERO WIDTH SPACE}"  # added to a title for a moment, to see which tab bar follows
LATER_MILLISECONDS = 100


class DockTabs:
    """An object that hides unused tab bars. Qt leaves them on the screen when it restores a layout."""

    def __init__(self, window: QMainWindow, docks: Mapping[str, QDockWidget]) -> None:
        self._window = window
        self._docks = docks
        self._soon = timer(window, 0, self._tidy_unless_dragging)

    def watch(self, dock: QDockWidget) -> None:
        for signal in (dock.visibilityChanged, dock.dockLocationChanged, dock.topLevelChanged):
            signal.connect(lambda _: self.tidy_soon())

    def tidy_soon(self) -> None:
        self._soon.start(0)

    def tidy(self) -> None:
        """Hide the tab bars that no dock uses, and the tab bars with a single tab.

        To find the bars in use, the method changes the title of each dock for a moment. A bar that shows the changed
        title is in use.
        """
        bars = [child for child in self._window.children() if isinstance(child, QTabBar)]
        alive: set[int] = set()
        for dock in self._docks.values():
            title = dock.windowTitle()
            dock.setWindowTitle(title + PROBE)
            titles = [[bar.tabText(place) for place in range(bar.count())] for bar in bars]
            alive |= {i for i, names in enumerate(titles) if title + PROBE in names}
            dock.setWindowTitle(title)
        for i, bar in enumerate(bars):
            is_dead = i not in alive or bar.count() < 2
            if is_dead:
                bar.hide()
            # Qt shows a bar outside of the window, where Tab would get lost.
            bar.setFocusPolicy(Qt.FocusPolicy.NoFocus if is_dead else Qt.FocusPolicy.TabFocus)

    def _tidy_unless_dragging(self) -> None:
        if QGuiApplication.mouseButtons():
            self._soon.start(LATER_MILLISECONDS)
        else:
            self.tidy()
