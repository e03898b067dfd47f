"""Tokenizers from elsewhere, opened as runs without counts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.session.jobs import Jobs
from app.session.notices import Answer, Notice
from app.session.run import Phase, Run
from app.session.runs import Runs
from app.worker.importing import Imported, ImportJob
from app.worker.job import Failed, Job
from app.worker.mailbox import Message
from app.worker.training import Pace

Opened = Callable[[Run], None]


class Imports(QObject):
    """One file at a time. What was open stays as it was, whatever the file turns out to be."""

    noticed = Signal(Notice)
    ended = Signal()

    def __init__(self, runs: Runs, jobs: Jobs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._runs, self._jobs = runs, jobs
        self._job: ImportJob | None = None
        self._opened: Opened = runs.show
        jobs.mailbox.arrived.connect(self._receive)
        jobs.ended.connect(self._job_ended)

    @property
    def is_busy(self) -> bool:
        return self._job is not None

    def open(self, path: Path, opened: Opened | None = None) -> None:
        """Open a file as a run of its own; `opened` says what is done with it, other than showing it."""
        if self._job is not None:
            self.noticed.emit(Notice("A tokenizer is being opened just now; try again in a moment.", is_error=False))
            return
        self._opened = opened or self._runs.show
        self._job = ImportJob(self._jobs.mailbox, self._jobs.next_stamp("import"), path)
        self._jobs.start(self._job)
        stop = Answer("Cancel", self.cancel)
        self.noticed.emit(Notice(f"Opening {path.name} …", is_error=False, answers=(stop,)))

    def cancel(self) -> None:
        if self._job is not None:
            self._job.stop()

    def _receive(self, message: Message) -> None:
        if self._job is None or message.stamp != self._job.stamp or self._job.stopping:
            return
        if isinstance(message, Imported):
            self._take(message)
        elif isinstance(message, Failed):
            self.noticed.emit(Notice(message.sentence))

    def _take(self, message: Imported) -> None:
        history = message.history
        history.recipe = history.recipe.with_changes(name=message.path.name)
        lacks = "" if history.has_counts else " It has no counts."
        run = Run(
            number=self._runs.next_number(),
            recipe=history.recipe,
            sources=(),
            pace=Pace(),
            phase=Phase.ENDED,
            sentence=f"Imported from {message.path.name} ({message.format}).{lacks}",
            history=history,
            names=message.names,
            numbers=message.numbers,
        )
        self._runs.add(run)
        self._opened(run)
        about = " The details say what the file does otherwise." if message.notes else ""
        sentence = f"Opened {message.path.name}: {len(history):,} merges ({message.format}).{about}"
        self.noticed.emit(Notice(sentence, "\n".join(message.notes), is_error=False))

    def _job_ended(self, job: Job) -> None:
        if job is self._job:
            self._job = None
            self.ended.emit()
