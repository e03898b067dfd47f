"""Ctrl-C in the terminal, its end, or `kill` close the window like any other way of closing it."""

from __future__ import annotations

import contextlib
import signal
import socket
from types import FrameType

from PySide6.QtCore import QObject, QSocketNotifier, QTimer
from PySide6.QtWidgets import QWidget

from bpe_core.ending import SignalListener

TWICE_MILLISECONDS = 5_000


class Interrupt(QObject):
    """Python hears a signal only when it runs; a byte in a socket wakes it while Qt waits."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._read, self._write = socket.socketpair()
        self._read.setblocking(False)
        self._write.setblocking(False)
        signal.set_wakeup_fd(self._write.fileno(), warn_on_full_buffer=False)
        self._notifier = QSocketNotifier(self._read.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._drain)
        self._listen()

    def _listen(self) -> None:
        self._listener = SignalListener(self._close)

    def _close(self, number: int, frame: FrameType | None) -> None:
        for ending in self._listener.signals:
            signal.signal(ending, signal.SIG_DFL)  # a second one soon after ends the program at once
        QTimer.singleShot(TWICE_MILLISECONDS, self, self._listen)  # the window may ask, and stay
        # Later, not at once: before the event loop runs, closing the last window would not end it.
        QTimer.singleShot(0, self._window.close)

    def _drain(self) -> None:
        """Empty the socket; by returning to Python here, the handler has its turn."""
        with contextlib.suppress(BlockingIOError):
            self._read.recv(4096)
