"""A class that loads pyqtgraph in the background.

Loading it in the window's thread would block the window for 0.3 s.
"""

from __future__ import annotations

from importlib import import_module

from PySide6.QtCore import QObject, Signal

from app.session.background import BackgroundTasks
from bpe_core.support.progress import CancelCheck, while_wanted

LOADED = ("app.window.charts.rows", "app.window.charts.lines", "app.window.charts.dots")


class ChartLoading(QObject):
    """An object that loads the package pyqtgraph in the background.

    Loading begins when the first bars appear, or when the window has been visible for a while.
    """

    done = Signal()

    def __init__(self, background: BackgroundTasks) -> None:
        super().__init__(background)
        self.is_done = False
        self._background = background
        self._has_begun = False

    def begin(self) -> None:
        if not self._has_begun:
            self._has_begun = True
            self._background.run("charts", lambda task: _load(task.cancelled), self._end)

    def _end(self, _: object) -> None:
        self.is_done = True
        self.done.emit()


def _load(cancelled: CancelCheck) -> None:
    for name in while_wanted(LOADED, cancelled, every=1):
        import_module(name)
