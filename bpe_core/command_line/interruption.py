"""How a command works: a line tells how far it is, and Ctrl-C stops it.

The first Ctrl-C stops the work and keeps what it has, if there is something; the second one drops it. The same holds
where the system ends the command, or its terminal is closed.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType, TracebackType

from bpe_core.command_line.progress_bar import TerminalBar
from bpe_core.errors import Cancelled
from bpe_core.support.progress import Work, ignore_progress
from bpe_core.support.signals import SignalListener

KEEPS = "Stopping; what was learned is kept. Ctrl-C again drops it."


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
        self.work = Work(cancelled=self)
        self._number: int = signal.SIGINT
        self._announcement = announcement
        self._listener: SignalListener | None = None

    def __call__(self) -> bool:
        """For the engine, which asks whether it is cancelled."""
        return self.requested

    @property
    def exit_code(self) -> int:
        """0 unless a signal has stopped the work."""
        return exit_code(self._number) if self.requested else 0

    def __enter__(self) -> Interruption:
        self._listener = SignalListener(self._on_signal)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._listener is not None:
            self._listener.stop()

    def as_error(self) -> Interrupted:
        return Interrupted(self._number)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        is_first, self.requested = not self.requested, True  # for threads that still ask
        self._number = number
        if not (is_first and self.worth_keeping):
            raise self.as_error()
        # Straight to the descriptor: the stream itself may be in the middle of a line.
        with suppress(OSError):
            os.write(sys.__stderr__.fileno() if sys.__stderr__ else 2, f"\n{self._announcement}\n".encode())


@contextmanager
def working(
    announcement: str = "", stopped: str = "Stopped; nothing was written.", *, quiet: bool = False
) -> Iterator[Interruption]:
    """Show the progress of `work`, and say that it was stopped; whoever started the command ends it then."""
    bar = TerminalBar(sys.stderr)
    with Interruption(announcement) as interruption:
        interruption.work = Work(ignore_progress if quiet else bar, interruption)
        try:
            yield interruption
        except (Cancelled, KeyboardInterrupt):
            bar.clear()
            if stopped:
                sys.stderr.write(f"{stopped}\n")
            raise interruption.as_error() from None
        finally:
            bar.clear()
