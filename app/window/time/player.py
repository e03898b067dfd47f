"""Playing history: the cursor walks by itself."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from app.session.time import TimeCursor
from app.session.timer import timer

TICK_MILLISECONDS = 40
WHOLE_HISTORY_SECONDS = 12.0  # however long it is, playing it takes about so long
SLOWEST_MERGES_PER_SECOND = 4.0


class Player(QObject):
    """Moves the time cursor forward until the end."""

    playing_changed = Signal(bool)

    def __init__(self, cursor: TimeCursor, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._cursor = cursor
        self._place = 0.0
        self._timer = timer(self, TICK_MILLISECONDS, self._tick, repeats=True)

    @property
    def is_playing(self) -> bool:
        return self._timer.isActive()

    def toggle(self) -> None:
        self.pause() if self.is_playing else self.play()

    def play(self) -> None:
        """From where the cursor stands; from the start if that is the end."""
        if self._cursor.end == 0:
            return
        if self._cursor.position >= self._cursor.end:
            self._cursor.go_to(0)
        self._place = float(self._cursor.position)
        self._timer.start()
        self.playing_changed.emit(True)

    def pause(self) -> None:
        if self.is_playing:
            self._timer.stop()
            self.playing_changed.emit(False)

    def _tick(self) -> None:
        if self._cursor.live or self._cursor.position != int(self._place):
            self.pause()  # somebody took the cursor
            return
        speed = max(SLOWEST_MERGES_PER_SECOND, self._cursor.end / WHOLE_HISTORY_SECONDS)
        self._place = min(self._place + speed * TICK_MILLISECONDS / 1000, float(self._cursor.end))
        self._cursor.go_to(int(self._place))
        if self._cursor.position >= self._cursor.end:
            self.pause()
