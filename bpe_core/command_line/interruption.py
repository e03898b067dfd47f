"""Ctrl-C: the work stops, and what it has is kept if there is something. Ctrl-C twice: it is dropped.

The same holds where the system ends the command, or its terminal is closed.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from types import FrameType, TracebackType

from bpe_core.support.signals import SignalListener


class Interrupted(KeyboardInterrupt):
    """What a signal makes of the work; its number tells which."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.exit_code = exit_code(number)


def exit_code(number: int) -> int:
    """The one that tells by which signal a command was ended: 130 for Ctrl-C."""
    return 128 + number


class Interruption:
    """While entered, the first Ctrl-C only sets `requested`; the second one interrupts.

    Before there is anything to keep the first one interrupts already: the work may be waiting
    for standard input, and would not ask.
    """

    def __init__(self, announcement: str = "") -> None:
        self.requested = False
        self.worth_keeping = False
        self.exit_code = exit_code(signal.SIGINT)
        self._announcement = announcement
        self._listener: SignalListener | None = None

    def __call__(self) -> bool:
        """For the engine, which asks whether it is cancelled."""
        return self.requested

    def __enter__(self) -> Interruption:
        self._listener = SignalListener(self._on_signal)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._listener is not None:
            self._listener.stop()

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        is_first, self.requested = not self.requested, True  # for threads that still ask
        self.exit_code = exit_code(number)
        if not (is_first and self.worth_keeping):
            raise Interrupted(number)
        # Straight to the descriptor: the stream itself may be in the middle of a line.
        with suppress(OSError):
            os.write(sys.__stderr__.fileno() if sys.__stderr__ else 2, f"\n{self._announcement}\n".encode())
