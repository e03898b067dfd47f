"""The application object. It receives double-clicked files, and signals of the system that close the window."""

from __future__ import annotations

import contextlib
import signal
import socket
from pathlib import Path
from types import FrameType

from PySide6.QtCore import QEvent, QObject, QSocketNotifier, QTimer, Signal
from PySide6.QtGui import QFileOpenEvent
from PySide6.QtWidgets import QApplication, QWidget

from bpe_core.support.signals import SignalListener


class Application(QApplication):
    """An application that receives double-clicked files. macOS sends them as events, not on a command line."""

    file_wanted = Signal(Path)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QFileOpenEvent) and event.file():
            self.file_wanted.emit(Path(event.file()))
            return True
        return super().event(event)


TWICE_MILLISECONDS = 5_000


class Interrupt(QObject):
    """A receiver of signals of the operating system.

    Python handles a signal only while Python code runs. So each signal also writes a byte into a socket. The byte wakes
    Qt, and Qt runs Python code.
    """

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
            signal.signal(ending, signal.SIG_DFL)  # a second signal soon after ends the program at once
        QTimer.singleShot(TWICE_MILLISECONDS, self, self._listen)  # the window may ask, and stay open
        # Close later: before the event loop runs, closing the last window would not end the program.
        QTimer.singleShot(0, self._window.close)

    def _drain(self) -> None:
        """Empty the socket. Python runs the handler of the signal as soon as this method is called."""
        with contextlib.suppress(BlockingIOError):
            self._read.recv(4096)
