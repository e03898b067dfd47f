"""The priority of the window: while the window handles messages and draws, background threads pause.

Python runs one thread at a time, in turns. Background threads would otherwise have most of the turns.
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
    """Mark the window as busy until everything pending is drawn. Any signal can be connected to this function."""
    _Window.is_at_work = True
    QTimer.singleShot(0, mark_window_free)


def mark_window_free() -> None:
    _Window.is_at_work = False


def wait_for_window() -> None:
    """Wait while the window is busy. Background threads call this about every millisecond."""
    if not _Window.is_at_work:
        return
    until = time.monotonic() + PATIENCE_SECONDS
    while _Window.is_at_work and time.monotonic() < until:
        time.sleep(_NAP_SECONDS)


def lower_priority() -> None:
    """Lower the priority of the present thread below the window's. Background threads call this when they start."""
    if sys.platform == "linux":  # only Linux lets a thread lower its own priority in this way
        with contextlib.suppress(OSError):
            me = threading.get_native_id()
            os.setpriority(os.PRIO_PROCESS, me, min(MOST_MODEST, os.getpriority(os.PRIO_PROCESS, me) + _MODESTY))


class DrawingFilter(QObject):
    """An event filter that marks the window as busy when it begins to draw."""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.UpdateRequest:
            mark_window_busy()
        return False
