"""A timer in a line."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer


def timer(parent: QObject, milliseconds: int, act: Callable[[], object], *, repeats: bool = False) -> QTimer:
    """Not started yet. Its properties are set by calls: as keywords PySide finds none with an i in a Turkish locale."""
    made = QTimer(parent)
    made.setInterval(milliseconds)
    made.setSingleShot(not repeats)
    made.timeout.connect(act)
    return made
