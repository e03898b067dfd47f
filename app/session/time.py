"""The time cursor, which holds the step that the whole window shows, and functions for timers and pauses."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal


class TimeCursor(QObject):
    """The step that the window shows. Until a user moves the cursor, it stays at the end of the run.

    >>> cursor = TimeCursor()
    >>> cursor.set_end(10); cursor.position
    10
    >>> cursor.go_to(4); cursor.set_end(20); cursor.position
    4
    """

    moved = Signal(int)
    end_moved = Signal(int)
    live_changed = Signal(bool)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.position = 0
        self.end = 0
        self.live = True

    def go_to(self, position: int) -> None:
        """Move to a step, and stay there even if the run gets more steps."""
        self._set_live(False)
        self._move(min(max(position, 0), self.end))

    def go_live(self) -> None:
        self._set_live(True)
        self._move(self.end)

    def set_end(self, end: int) -> None:
        if end != self.end:
            self.end = end
            self.end_moved.emit(end)
        self._move(end if self.live else min(self.position, end))

    def _move(self, position: int) -> None:
        if position != self.position:
            self.position = position
            self.moved.emit(position)

    def _set_live(self, live: bool) -> None:
        if live != self.live:
            self.live = live
            self.live_changed.emit(live)


hurry = 1  # single-shot pauses are divided by this number, so that tests wait less


def timer(parent: QObject, milliseconds: int, act: Callable[[], object], *, repeats: bool = False) -> QTimer:
    """Return a timer that has not been started yet. It calls `act` when the time has passed.

    The timer is set by methods and not by keyword arguments. In a Turkish locale, PySide finds no keyword that
    contains the letter i.
    """
    made = QTimer(parent)
    made.setInterval(milliseconds if repeats else pause(milliseconds))
    made.setSingleShot(not repeats)
    made.timeout.connect(act)
    return made


def pause(milliseconds: int) -> int:
    return milliseconds // hurry
