"""Functions that show the progress of a command, in a line or in a log, and that stop a command at Ctrl-C.

The first Ctrl-C stops the work and keeps its results. The second Ctrl-C discards the results. If the system ends the
command or the terminal is closed, this counts as Ctrl-C.

    counting  [==========          ]  52 %  5.4 of 10.3 MB  61.2 MB/s  0:01 left
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from types import FrameType, TracebackType
from typing import TextIO

from bpe_core.errors import Cancelled
from bpe_core.support.progress import PERCENT, Progress, Work
from bpe_core.support.signals import SignalListener

KEEPS = "Stopping. The steps learned so far are kept. Press Ctrl-C again to drop these steps."


class SecondInterrupt(KeyboardInterrupt):
    def __init__(self, number: int) -> None:
        super().__init__()
        self.exit_code = exit_code(number)


def exit_code(number: int) -> int:
    """Return the exit code after a signal. After Ctrl-C, the exit code is 130."""
    return 128 + number


class Interruption:
    """A context in which Ctrl-C stops the work.

    The first Ctrl-C sets `requested`, and the second raises KeyboardInterrupt. If there is no result to keep yet, the
    first Ctrl-C raises KeyboardInterrupt, because work that waits for standard input does not check `requested`.
    """

    def __init__(self, announcement: str = "") -> None:
        self.requested = False
        self.worth_keeping = False
        self.work = Work(cancelled=self)
        self.clear: Callable[[], None] = lambda: None  # removes the bar until the next progress
        self._number: int = signal.SIGINT
        self._announcement = announcement
        self._listener: SignalListener | None = None

    def __call__(self) -> bool:
        """Return whether the work is cancelled. The engine calls this object from time to time."""
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

    def print_lines(self, *lines: str) -> None:
        """Write lines to standard error, above the progress line."""
        if lines:
            self.clear()
            sys.stderr.writelines(f"{line}\n" for line in lines)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        is_first, self.requested = not self.requested, True  # for threads that still ask
        self._number = number
        if not (is_first and self.worth_keeping):
            raise self.as_error()
        # Write directly to the descriptor: the stream itself may be in the middle of a line.
        with suppress(OSError):
            os.write(sys.__stderr__.fileno() if sys.__stderr__ else 2, f"\n{self._announcement}\n".encode())


@contextmanager
def interruptible(
    announcement: str = "", stopped: str = "The command was stopped, and nothing was written.", *, quiet: bool = False
) -> Iterator[Interruption]:
    """Show the progress of a command until the `with` block ends.

    If the user interrupts the block, print the sentence `stopped`.
    """
    shown = shown_on(sys.stderr, _style.get(), quiet=quiet)
    with Interruption(announcement) as interruption:
        interruption.work = Work(shown, interruption)
        interruption.clear = shown.clear
        try:
            yield interruption
        except (Cancelled, KeyboardInterrupt):
            shown.clear()
            if stopped:
                sys.stderr.write(f"{stopped}\n")
            raise interruption.as_error() from None
        finally:
            shown.clear()


STYLES = ("auto", "lines", "json", "none")
_style: ContextVar[str] = ContextVar("how progress is shown", default=STYLES[0])


@contextmanager
def progress_style(style: str) -> Iterator[None]:
    """Choose how progress is shown until the `with` block ends.

    By default a terminal gets a bar, and a log gets lines.
    """
    token = _style.set(style)
    try:
        yield
    finally:
        _style.reset(token)


def shown_on(stream: TextIO, style: str, *, quiet: bool = False) -> ShownProgress:
    if style == "json":
        return ProgressInJson(stream)
    if style == "none" or (quiet and style == "auto"):
        return ShownProgress(stream)
    return TerminalBar(stream) if stream.isatty() and style == "auto" else ProgressInLines(stream)


class ShownProgress:
    """The base class of objects that write the progress of work to a stream. The base class itself writes nothing."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._stage = ""
        self._began = self._shown = time.monotonic()
        self._done_before = 0  # a stage may begin in the middle, as when training goes on

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        if is_new := progress.stage != self._stage:
            self._stage = progress.stage
            self._began = now
            self._done_before = progress.done
        self.show(progress, now, is_new=is_new)

    def show(self, progress: Progress, now: float, *, is_new: bool) -> None:
        """Show the progress of the work. `is_new` is true when a new stage of the work begins."""

    def clear(self) -> None:
        """Remove the progress lines that are only useful while the work runs."""

    def rate(self, progress: Progress, now: float) -> float:
        return (progress.done - self._done_before) / max(now - self._began, 1e-9)


SECONDS_BETWEEN_DRAWINGS = 0.1
BAR_WIDTH = 24


class TerminalBar(ShownProgress):
    """A progress bar in one line of a terminal. The line is removed at the end."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream)
        self._visible = False

    def show(self, progress: Progress, now: float, *, is_new: bool) -> None:
        if progress.total is not None and progress.done >= progress.total:
            self.clear()
        elif is_new or now - self._shown >= SECONDS_BETWEEN_DRAWINGS:
            self._shown = now
            self._visible = True
            import shutil  # needed on a terminal only

            width = shutil.get_terminal_size().columns - 1
            self._stream.write("\r\x1b[K" + bar_line(progress, self.rate(progress, now))[:width])
            self._stream.flush()

    def clear(self) -> None:
        if self._visible:
            self._visible = False
            self._stream.write("\r\x1b[K")
            self._stream.flush()


FIRST_LINE_AFTER = 5.0
MOST_SECONDS_BETWEEN_LINES = 60.0
# The time left for machine code is shown earlier, but not for work that is over at once.
FIRST_LINE_OF_WAITING = 1.0
SECONDS_BETWEEN_LINES_OF_WAITING = 10.0


class ProgressInLines(ShownProgress):
    """A progress display that writes lines to a log.

    The first line comes after a few seconds. Each pause between lines is twice as long as the pause before it, up to a
    minute. If the progress is a percentage, a line comes every ten seconds.
    """

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream)
        self._pause = FIRST_LINE_AFTER

    def show(self, progress: Progress, now: float, *, is_new: bool) -> None:
        waits = progress.unit == PERCENT
        pause = SECONDS_BETWEEN_LINES_OF_WAITING if waits else self._pause
        if is_new and waits:
            self._shown = now - pause + FIRST_LINE_OF_WAITING
        if now - self._shown >= pause:
            self._shown = now
            self._pause = self._pause if waits else min(2 * pause, MOST_SECONDS_BETWEEN_LINES)
            self._stream.write(f"{bar_line(progress, self.rate(progress, now), has_bar=False)}\n")
            self._stream.flush()


SECONDS_BETWEEN_OBJECTS = 0.5


class ProgressInJson(ShownProgress):
    """A writer of progress as lines of JSON, for other programs.

    The beginning and the end of each stage are always written.
    """

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream)
        self._first = time.monotonic()

    def show(self, progress: Progress, now: float, *, is_new: bool) -> None:
        is_last = progress.total is not None and progress.done >= progress.total
        if is_new or is_last or now - self._shown >= SECONDS_BETWEEN_OBJECTS:
            self._shown = now
            record = {"stage": progress.stage, "done": progress.done, "total": progress.total, "unit": progress.unit}
            record |= {"detail": progress.detail, "seconds": round(now - self._first, 3)}
            self._stream.write(f"{json.dumps(record, ensure_ascii=False)}\n")
            self._stream.flush()


def bar_line(progress: Progress, rate: float, *, has_bar: bool = True) -> str:
    """Return the line that shows the progress. `rate` is the number of units per second.

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
    bar = f"  [{'=' * int(share * BAR_WIDTH):<{BAR_WIDTH}}]" if has_bar else ""
    total = f"{progress.total * scale:,.{digits}f}"
    left = f"  {_clock((progress.total - progress.done) / rate)} left" if rate > 0 else ""
    return f"{progress.stage}{bar} {percent}  {done} of {total} {unit}  {speed}{left}"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(max(0, round(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
