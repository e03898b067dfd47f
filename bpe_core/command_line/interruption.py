"""Show the progress of a command in a line, and stop it by Ctrl-C.

The first Ctrl-C stops the work and keeps its results; the second one drops them. The same holds where the system ends
the command, or its terminal is closed.

counting  [==========          ]  52 %  5.4 of 10.3 MB  61.2 MB/s  0:01 left
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType, TracebackType
from typing import TextIO

from bpe_core.errors import Cancelled
from bpe_core.support.progress import PERCENT, Progress, Work, ignore_progress
from bpe_core.support.signals import SignalListener

KEEPS = "Stopping; what was learned is kept. Ctrl-C again drops it."


class SecondInterrupt(KeyboardInterrupt):
    def __init__(self, number: int) -> None:
        super().__init__()
        self.exit_code = exit_code(number)


def exit_code(number: int) -> int:
    """Return 130 for Ctrl-C."""
    return 128 + number


class Interruption:
    """A context in which the first Ctrl-C only sets `requested`, and the second one interrupts.

    Before there is anything to keep, the first one interrupts: work that waits for standard input would not ask.
    """

    def __init__(self, announcement: str = "") -> None:
        self.requested = False
        self.worth_keeping = False
        self.work = Work(cancelled=self)
        self._number: int = signal.SIGINT
        self._announcement = announcement
        self._listener: SignalListener | None = None

    def __call__(self) -> bool:
        """Return whether the work is cancelled; the engine calls this."""
        return self.requested

    @property
    def exit_code(self) -> int:
        return exit_code(self._number) if self.requested else 0

    def __enter__(self) -> Interruption:
        self._listener = SignalListener(self._on_signal)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._listener is not None:
            self._listener.stop()

    def as_error(self) -> SecondInterrupt:
        return SecondInterrupt(self._number)

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
    """Show the progress of `work`; say that it was interrupted, and let the caller end the command."""
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


SECONDS_BETWEEN_DRAWINGS = 0.1
SECONDS_BETWEEN_LINES = 10.0  # where they stay
SECONDS_BEFORE_A_LINE = 1.0  # so that nothing is said of what is over at once
BAR_WIDTH = 24


class TerminalBar:
    """A line that is drawn anew for each Progress, on a terminal only, and removed in the end.

    Where nobody sees it being drawn, lines say now and then how long it is still to wait for machine code.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._draws = stream.isatty()
        self._visible = False
        self._stage = ""
        self._began = self._drawn = self._told = 0.0
        self._done_before = 0  # a stage may begin in the middle: training goes on

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        if progress.stage != self._stage:
            self._stage, self._began, self._done_before, self._drawn = progress.stage, now, progress.done, 0.0
            self._told = now - SECONDS_BETWEEN_LINES + SECONDS_BEFORE_A_LINE
        if progress.total is not None and progress.done >= progress.total:
            self.clear()
        elif self._draws and now - self._drawn >= SECONDS_BETWEEN_DRAWINGS:
            self._drawn, self._visible = now, True
            line = bar_line(progress, (progress.done - self._done_before) / max(now - self._began, 1e-9))
            import shutil  # wanted on a terminal only

            width = shutil.get_terminal_size().columns - 1
            self._stream.write("\r\x1b[K" + line[:width])
            self._stream.flush()
        elif not self._draws and progress.unit == PERCENT and now - self._told >= SECONDS_BETWEEN_LINES:
            self._told = now
            self._stream.write(f"{bar_line(progress, 0.0)}\n")
            self._stream.flush()

    def clear(self) -> None:
        if self._visible:
            self._visible = False
            self._stream.write("\r\x1b[K")
            self._stream.flush()


def bar_line(progress: Progress, rate: float) -> str:
    """Write the line at a given rate (units a second).

    >>> bar_line(Progress("training", 500, 2000, "merges"), rate=250.0)
    'training  [======                  ]  25 %  500 of 2,000 merges  250 merges/s  0:06 left'
    >>> bar_line(Progress("machine code is being made", 40, 100, PERCENT), rate=1.0)
    'machine code is being made: 40 %'
    """
    scale, unit, digits = (1e-6, "MB", 1) if progress.unit == "bytes" else (1.0, progress.unit, 0)
    done = f"{progress.done * scale:,.{digits}f}"
    speed = f"{rate * scale:,.{digits}f} {unit}/s"
    if not progress.total:
        return f"{progress.stage}  {done} {unit}  {speed}  {progress.detail}".rstrip()
    share = min(1.0, progress.done / progress.total)
    percent = f"{share:>4.0%}".replace("%", " %")
    if progress.unit == PERCENT:
        return f"{progress.stage}:{percent}"
    bar = "=" * int(share * BAR_WIDTH)
    total = f"{progress.total * scale:,.{digits}f}"
    left = f"  {_clock((progress.total - progress.done) / rate)} left" if rate > 0 else ""
    return f"{progress.stage}  [{bar:<{BAR_WIDTH}}] {percent}  {done} of {total} {unit}  {speed}{left}"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(max(0, round(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
