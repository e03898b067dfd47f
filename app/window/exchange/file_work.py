"""The base class of background tasks that write a file.

A new task cancels an older task of the same topic. A cancelled task leaves no file.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QObject, Signal

from app.session.session import Session
from app.worker.job import Task
from bpe_core.history.history import History
from bpe_core.support.progress import Progress

Result = TypeVar("Result")


class FileWork(QObject):
    """A background task that writes a file.

    A new file replaces an old file only when it is complete. If the task is cancelled, the old file stays.
    """

    progressed = Signal(float)  # from 0 to 1
    failed = Signal(str)
    ended = Signal()
    written = Signal(tuple, Path)  # the command that writes the same file, and its path

    def __init__(self, topic: str, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._topic = topic
        self.session = session

    @property
    def is_busy(self) -> bool:
        return self.session.background.is_busy(self._topic)

    def cancel(self) -> None:
        self.session.background.cancel(self._topic)

    @property
    def history(self) -> History | None:
        """Return the history of the run shown, or None."""
        return self.session.runs.shown.history if self.session.runs.shown is not None else None

    @property
    def merges(self) -> int:
        return self.session.runs.shown.learned if self.session.runs.shown is not None else 0

    def _begin(self, work: Callable[[Task], Result], done: Callable[[Result], object]) -> None:
        self.session.background.run(self._topic, work, done, self._fail, self._progress, self._end, writes=True)
        self.progressed.emit(0.0)

    def _progress(self, progress: Progress) -> None:
        self.progressed.emit(progress.done / progress.total if progress.total else 0.0)

    def _fail(self, sentence: str) -> None:
        self.failed.emit(sentence)

    def _end(self) -> None:
        self.ended.emit()
