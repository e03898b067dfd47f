"""A timer in a line."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer

hurry = 1  # pauses before something is done once are divided by this: tests need not wait as long as a person likes


def timer(parent: QObject, milliseconds: int, act: Callable[[], object], *, repeats: bool = False) -> QTimer:
    """Not started yet. Its properties are set by calls: as keywords PySide finds none with an i in a Turkish locale."""
    made = QTimer(parent)
    made.setInterval(milliseconds if repeats else pause(milliseconds))
    made.setSingleShot(not repeats)
    made.timeout.connect(act)
    return made


def pause(milliseconds: int) -> int:
    """How long to wait before something is done once."""
    return milliseconds // hurry
