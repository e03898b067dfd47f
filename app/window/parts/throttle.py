"""For what costs too much to do at every piece of news."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject

from app.session.timer import pause, timer


class Throttle(QObject):
    """Does something at once, and then at most once in so many milliseconds, the last time included."""

    def __init__(self, milliseconds: int, act: Callable[[], object], parent: QObject) -> None:
        super().__init__(parent)
        self._act = act
        self._wanted = False
        self._timer = timer(self, milliseconds, self._pause_over)

    def call(self) -> None:
        if self._timer.isActive():
            self._wanted = True
        else:
            self._timer.start()
            self._act()

    def catch_up(self) -> None:
        """Do now what is still to be done."""
        if self._wanted:
            self._pause_over()

    def set_pause(self, milliseconds: int) -> None:
        """From now on at most once in so many; a pause under way begins anew."""
        if pause(milliseconds) != self._timer.interval():
            self._timer.setInterval(pause(milliseconds))

    @property
    def is_pending(self) -> bool:
        return self._wanted

    def _pause_over(self) -> None:
        if self._wanted:
            self._wanted = False
            self._timer.start()
            self._act()
