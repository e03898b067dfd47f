"""The window goes first: while it takes in news and draws, the loops of background threads give way.

Python lets one thread run at a time, in turns, and these threads would have most of the turns.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time

from PySide6.QtCore import QEvent, QObject, QTimer

PATIENCE_SECONDS = 0.02  # a window that is busy for longer must not stop all work
_NAP_SECONDS = 0.001
_MODESTY, MOST_MODEST = 5, 19  # as for the command `nice`


class _Window:
    is_at_work = False


def window_begins(*_: object) -> None:
    """Mark the window as at work until all that waits is drawn. May be connected to any signal."""
    _Window.is_at_work = True
    QTimer.singleShot(0, window_is_done)


def window_is_done() -> None:
    _Window.is_at_work = False


def let_window_go_first() -> None:
    """Wait while the window is at work; called in the background, about every millisecond."""
    if not _Window.is_at_work:
        return
    until = time.monotonic() + PATIENCE_SECONDS
    while _Window.is_at_work and time.monotonic() < until:
        time.sleep(_NAP_SECONDS)


def lower_priority() -> None:
    """Serve the window before this thread; called when a background thread starts."""
    if sys.platform == "linux":  # elsewhere threads have no priority of their own that can be asked for this way
        with contextlib.suppress(OSError):
            me = threading.get_native_id()
            os.setpriority(os.PRIO_PROCESS, me, min(MOST_MODEST, os.getpriority(os.PRIO_PROCESS, me) + _MODESTY))


class WhileItDraws(QObject):
    """A filter that notes when a window begins to draw."""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.UpdateRequest:
            window_begins()
        return False
