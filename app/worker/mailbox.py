"""How news crosses from any thread into the window's: frozen messages, the newest of a kind only.

A thread may post as often as it likes. The window is woken once, takes what has gathered,
and sees of each sender and kind only the latest: a flood becomes one message.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from app.worker import window_first

AGAIN_MILLISECONDS = 1  # until a box is looked into once more while somebody puts something into it


class Mailbox(QObject):
    """Posted to from any thread; `arrived` is emitted in the thread the mailbox lives in."""

    arrived = Signal(object, object)  # who sent it, and what
    _rang = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lock = threading.Lock()
        self._waiting: dict[tuple[Hashable, type], object] = {}
        self._closed = False
        self._rang.connect(self._deliver, Qt.ConnectionType.QueuedConnection)

    def post(self, sender: Hashable, message: object) -> None:
        """Leave a message; it replaces one of the same sender and type that was not fetched yet."""
        kind = sender, type(message)
        with self._lock:
            if self._closed:
                return
            first = not self._waiting
            self._waiting.pop(kind, None)  # so that the newest stands last, behind what came before it
            self._waiting[kind] = message
            if first:
                self._rang.emit()  # inside the lock: `close` must not come between

    def close(self) -> None:
        """From now on nothing arrives any more."""
        with self._lock:
            self._closed = True
            self._waiting.clear()
        window_first.window_is_done()

    def _deliver(self) -> None:
        # Whoever holds it may itself be waiting for a core, and threads that work aside get theirs last.
        if not self._lock.acquire(blocking=False):
            QTimer.singleShot(AGAIN_MILLISECONDS, self._deliver)
            return
        waiting = list(self._waiting.items())
        self._waiting.clear()
        self._lock.release()
        window_first.window_begins()
        for (sender, _), message in waiting:
            if not self._closed:  # by whoever received the one before
                self.arrived.emit(sender, message)
