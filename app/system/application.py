"""The program as the desktop sees it."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QEvent, Signal
from PySide6.QtGui import QFileOpenEvent
from PySide6.QtWidgets import QApplication


class Application(QApplication):
    """Hears of files that were double-clicked: macOS says so to the running program, not on its command line."""

    file_wanted = Signal(Path)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QFileOpenEvent) and event.file():
            self.file_wanted.emit(Path(event.file()))
            return True
        return super().event(event)
