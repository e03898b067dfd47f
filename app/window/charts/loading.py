"""A class that loads pyqtgraph in the background. Loading takes 0.3 s, and the window would not respond meanwhile."""

from __future__ import annotations

from importlib import import_module

from PySide6.QtCore import QObject, Signal

from app.session.aside import Aside
from bpe_core.support.progress import CancelCheck, while_wanted

LOADED = ("app.window.charts.rows", "app.window.charts.lines", "app.window.charts.dots")


class ChartLoading(QObject):
    """A loader of pyqtgraph. It begins with the first bars, or when the window has been visible for a while."""

    done = Signal()

    def __init__(self, aside: Aside) -> None:
        super().__init__(aside)
        self.is_done = False
        self._aside = aside
        self._has_begun = False

    def begin(self) -> None:
        if not self._has_begun:
            self._has_begun = True
            self._aside.ask("charts", lambda task: _load(task.cancelled), self._end)

    def _end(self, _: object) -> None:
        self.is_done = True
        self.done.emit()


def _load(cancelled: CancelCheck) -> None:
    for name in while_wanted(LOADED, cancelled, every=1):
        import_module(name)
