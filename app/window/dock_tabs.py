"""Tabs of docks that Qt forgot: they stay on the screen where they were and answer to no click, so they are hidden."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDockWidget, QMainWindow, QTabBar

from app.session.timer import timer

PROBE = "\N{ZERO WIDTH SPACE}"  # after a title, for no longer than a moment
LATER_MILLISECONDS = 100


class DockTabs:
    """Tidies the tab bars of a window whenever its docks were arranged anew.

    Qt makes another tab bar each time a layout is restored, or changed before it was shown, and does not always
    take the one before away.
    """

    def __init__(self, window: QMainWindow, docks: Mapping[str, QDockWidget]) -> None:
        self._window, self._docks = window, docks
        self._soon = timer(window, 0, self._tidy_unless_dragging)

    def watch(self, dock: QDockWidget) -> None:
        for signal in (dock.visibilityChanged, dock.dockLocationChanged, dock.topLevelChanged):
            signal.connect(lambda _: self.tidy_soon())

    def tidy_soon(self) -> None:
        self._soon.start(0)

    def tidy(self) -> None:
        """Hide the bars that no longer follow the titles of their docks."""
        bars = [child for child in self._window.children() if isinstance(child, QTabBar) and child.count()]
        alive: set[int] = set()
        for dock in self._docks.values():
            title = dock.windowTitle()
            dock.setWindowTitle(title + PROBE)
            alive |= {i for i, bar in enumerate(bars) if title + PROBE in _titles(bar)}
            dock.setWindowTitle(title)
        for i, bar in enumerate(bars):
            if i not in alive:
                bar.hide()

    def _tidy_unless_dragging(self) -> None:
        if QGuiApplication.mouseButtons():
            self._soon.start(LATER_MILLISECONDS)
        else:
            self.tidy()


def _titles(bar: QTabBar) -> list[str]:
    return [bar.tabText(place) for place in range(bar.count())]
