"""Exporting the merges of the shown run, with its progress."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.models.wording import count_text
from app.session.jobs import Jobs
from app.session.notices import Notice
from app.session.runs import Runs
from app.worker.exporting import Exported, ExportJob, ExportProgress
from app.worker.job import Failed, Job
from app.worker.mailbox import Message


class TableExport(QObject):
    """One export at a time."""

    progressed = Signal(float)  # from 0 to 1
    ended = Signal()
    noticed = Signal(Notice)

    def __init__(self, runs: Runs, jobs: Jobs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._runs, self._jobs = runs, jobs
        self._job: ExportJob | None = None
        jobs.mailbox.arrived.connect(self._receive)
        jobs.ended.connect(self._job_ended)

    @property
    def is_busy(self) -> bool:
        return self._job is not None

    def can_start(self) -> bool:
        run = self._runs.shown
        return run is not None and run.history is not None and not self.is_busy

    @staticmethod
    def nothing_yet() -> Notice:
        return Notice("There is no merge table to export yet: train first.", is_error=False)

    def start(self, path: Path) -> None:
        """Write all merges learned so far; the name's ending chooses the format."""
        run = self._runs.shown
        if run is None or run.history is None or self.is_busy:
            return
        self._job = ExportJob(self._jobs.mailbox, self._jobs.next_stamp("export"), run.history, path)
        self._jobs.start(self._job)
        self.progressed.emit(0.0)

    def cancel(self) -> None:
        if self._job is not None:
            self._job.stop()

    def _receive(self, message: Message) -> None:
        if self._job is None or message.stamp != self._job.stamp:
            return
        if isinstance(message, ExportProgress):
            self.progressed.emit(message.done / message.total if message.total else 0.0)
        elif isinstance(message, Exported):
            written = count_text(message.merges, "merge")
            self.noticed.emit(Notice(f"Wrote {written} to {message.path}.", is_error=False))
        elif isinstance(message, Failed):
            self.noticed.emit(Notice(message.sentence))

    def _job_ended(self, job: Job) -> None:
        if job is self._job:
            self._job = None
            self.ended.emit()
