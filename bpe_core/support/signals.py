"""The signals that ask a program to end: Ctrl-C, the shutdown of the system, and the closing of a terminal."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from types import FrameType

SIGNALS = tuple(
    signal.Signals[name] for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK") if name in signal.Signals.__members__
)

Handler = Callable[[int, FrameType | None], object]


class SignalListener:
    """A listener that calls a handler for each signal until `stop` is called.

    Signals that the shell told the program to ignore are still ignored, as after `nohup` and `&`.
    """

    def __init__(self, handler: Handler) -> None:
        self._handler = handler
        # only the main thread may set handlers
        mine = SIGNALS if threading.current_thread() is threading.main_thread() else ()
        before = {number: signal.getsignal(number) for number in mine}
        self._before = {number: former for number, former in before.items() if former not in (signal.SIG_IGN, None)}
        for number in self._before:
            signal.signal(number, self._hear)

    @property
    def signals(self) -> Iterable[signal.Signals]:
        return self._before

    def stop(self) -> None:
        for number, former in self._before.items():
            signal.signal(number, former)

    def _hear(self, number: int, frame: FrameType | None) -> None:
        _redirect_closed_terminal()
        self._handler(number, frame)


@contextlib.contextmanager
def hold_signals() -> Iterator[None]:
    """Let signals wait until the `with` block has ended, so that they cannot stop it in the middle."""
    heard: list[int] = []
    listener = SignalListener(lambda number, frame: heard.append(number))
    try:
        yield
    finally:
        listener.stop()
        for number in heard:
            signal.raise_signal(number)


def _redirect_closed_terminal() -> None:
    """Send output to the null device if the terminal is closed, so that printing cannot end the work too early."""
    for stream in (sys.__stdout__, sys.__stderr__):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            number = stream.fileno()  # type: ignore[union-attr]
            if _is_closed_terminal(number):
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, number)
                os.close(nowhere)


def _is_closed_terminal(number: int) -> bool:
    try:
        os.get_terminal_size(number)
    except OSError as error:
        return error.errno == errno.EIO
    return False
