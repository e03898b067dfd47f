"""Writing the report of a run."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path

from app.worker.job import Job
from app.worker.mailbox import Mailbox, Message
from bpe_core.report import report_of, write_report
from bpe_core.session_file import SavedSession


@dataclass(frozen=True)
class Reported(Message):
    """The page is there."""

    path: Path


class ReportJob(Job):
    """One page about the run that is shown."""

    def __init__(self, mailbox: Mailbox, stamp: Hashable, session: SavedSession, path: Path) -> None:
        super().__init__(mailbox, stamp)
        self._session = session
        self._path = path

    def work(self) -> None:
        write_report(report_of(self._session), self._path)
        self.post(Reported(self.stamp, self._path))
