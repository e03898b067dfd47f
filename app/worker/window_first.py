"""The priority of the window: background threads pause while the window handles messages and draws.

Python runs only one thread at a time. Without the pauses, background threads would take most of the time.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time

from PySide6.QtCore import QEvent, QObject, QTimer

PATIENCE_SECONDS = 0.02  # threads wait no longer than this for a busy window
_NAP_SECONDS = 0.001
_MODESTY, MOST_MODEST = 5, 19  # values as for the command `nice`


class _Window:
    is_at_work = False


def mark_window_busy(*_: object) -> None:
    """Mark the window as busy until all waiting events are handled. Any signal can be connected to this function."""
    _Window.is_at_work = True
    QTimer.singleShot(0, mark_window_free)


def mark_window_free() -> None:
    _Window.is_at_work = False


def wait_for_window() -> None:
    """Wait while the window is busy, but at most PATIENCE_SECONDS.

    Background threads call this about every millisecond.
    """
    if not _Window.is_at_work:
        return
    until = time.monotonic() + PATIENCE_SECONDS
    while _Window.is_at_work and time.monotonic() < until:
        time.sleep(_NAP_SECONDS)


def lower_priority() -> None:
    """Give the current thread a lower priority than the thread of the window.

    Background threads call this when they start. On systems other than Linux it does nothing.
    """
    if sys.platform == "linux":  # only Linux lets a thread lower its own priority in this way
        with contextlib.suppress(OSError):
            me = threading.get_native_id()
            os.setpriority(os.PRIO_PROCESS, me, min(MOST_MODEST, os.getpriority(os.PRIO_PROCESS, me) + _MODESTY))


class DrawingFilter(QObject):
    """An event filter that marks the window as busy when the window begins to draw."""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.UpdateRequest:
            mark_window_busy()
        return False
