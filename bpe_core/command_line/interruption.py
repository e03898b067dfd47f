"""Ctrl-C: the work stops, and what it has is kept if there is something. Ctrl-C twice: it is dropped."""

from __future__ import annotations

import os
import signal
import sys
import threading
from types import FrameType, TracebackType
from typing import Any

INTERRUPTED = 130  # the exit code that says so


class Interruption:
    """While entered, the first Ctrl-C only sets `requested`; the second one interrupts.

    Before there is anything to keep the first one interrupts already: the work may be waiting
    for standard input, and would not ask.
    """

    def __init__(self, announcement: str) -> None:
        self.requested = False
        self.worth_keeping = False
        self._announcement = announcement
        self._previous: Any = None

    def __call__(self) -> bool:
        """For the engine, which asks whether it is cancelled."""
        return self.requested

    def __enter__(self) -> Interruption:
        # Only the main thread may set handlers; and a job started with `nohup` or `&` stays deaf.
        if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
            self._previous = signal.signal(signal.SIGINT, self._on_signal)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self.requested or not self.worth_keeping:
            self.requested = True  # for threads that still ask
            raise KeyboardInterrupt
        self.requested = True
        # Straight to the descriptor: the stream itself may be in the middle of a line.
        os.write(sys.__stderr__.fileno() if sys.__stderr__ else 2, f"\n{self._announcement}\n".encode())
