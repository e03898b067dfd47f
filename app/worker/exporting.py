"""Writing a merge table to a file."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path

from app.worker.job import Job
from app.worker.mailbox import Mailbox, Message
from bpe_core import MergeHistory, Progress
from bpe_core.formats import write_history


@dataclass(frozen=True)
class ExportProgress(Message):
    """How much is written."""

    done: int
    total: int | None


@dataclass(frozen=True)
class Exported(Message):
    """The file is there."""

    path: Path
    merges: int


class ExportJob(Job):
    """The file appears when it is whole; a cancelled export leaves what was there."""

    def __init__(self, mailbox: Mailbox, stamp: Hashable, history: MergeHistory, path: Path) -> None:
        super().__init__(mailbox, stamp)
        self._history = history
        self._path = path

    def work(self) -> None:
        write_history(self._history, self._path, progress=self._report, cancelled=self._stop.is_set)
        self.post(Exported(self.stamp, self._path, len(self._history)))

    def _report(self, progress: Progress) -> None:
        self.post(ExportProgress(self.stamp, progress.done, progress.total))
