"""Exporting the merges of the shown run: first prepared and checked, then put in place."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.session.changes import Held
from app.session.jobs import Jobs
from app.session.notices import Notice
from app.session.runs import Runs
from app.session.time import TimeCursor
from app.window.parts.wording import count_text
from app.worker.exporting import Exported, ExportPrepared, ExportProgress, PlacingExportJob, PreparingExportJob
from app.worker.job import Failed, Job
from app.worker.mailbox import Message
from bpe_core.formats import FORMATS
from bpe_core.verification.prepared_export import PreparedExport

STEM = "merges"  # of a file whose format asks for no name of its own


@dataclass(frozen=True)
class FormatChoice:
    """A format as it is offered."""

    name: str
    explanation: str
    file_name: str  # proposed


@dataclass(frozen=True)
class Check:
    """What came of reading the files back, before they are in place."""

    agrees: bool
    sentence: str
    cannot_hold: tuple[str, ...]
    differences: tuple[str, ...]
    more_differences: int
    files: tuple[str, ...]
    replaces: tuple[str, ...]  # the names of files that stand there now


def format_choices() -> list[FormatChoice]:
    """All formats: the tables with everything first, then those of other libraries."""
    return [
        FormatChoice(one.name, one.explanation, f"{STEM}{ending}" if ending.startswith(".") else ending)
        for one in FORMATS.values()
        if (ending := one.endings[0])
    ]


class TableExport(QObject):
    """One export at a time."""

    progressed = Signal(float)  # from 0 to 1
    checked = Signal(Check)
    written = Signal(str)  # a sentence
    failed = Signal(str)
    ended = Signal()
    noticed = Signal(Notice)

    def __init__(
        self, runs: Runs, cursor: TimeCursor, text: Held[str], jobs: Jobs, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self.stage = ""
        self._runs, self._cursor, self._text, self._jobs = runs, cursor, text, jobs
        self._job: Job | None = None
        self._prepared: PreparedExport | None = None
        self._goes_on = False  # to put in place what agrees, without being asked again
        jobs.mailbox.arrived.connect(self._receive)
        jobs.ended.connect(self._job_ended)

    @property
    def is_busy(self) -> bool:
        return self._job is not None

    @property
    def merges(self) -> int:
        """How many the shown run has."""
        return self._runs.shown.learned if self._runs.shown is not None else 0

    @property
    def position(self) -> int:
        """The moment shown."""
        return self._cursor.position

    def can_start(self) -> bool:
        run = self._runs.shown
        return run is not None and run.history is not None and not self.is_busy

    @staticmethod
    def nothing_yet() -> Notice:
        return Notice("There is no merge table to export yet: train first, or import one.", is_error=False)

    def prepare(self, path: Path, format: str | None = None, merges: int | None = None) -> None:
        """Write in memory and check; `checked` tells what came of it. None: by the name's ending; all merges."""
        self._prepare(path, format, merges, goes_on=False)

    def start(self, path: Path) -> None:
        """Write all merges learned so far, if they come back as they were; the name's ending chooses the format."""
        self._prepare(path, None, None, goes_on=True)

    def _prepare(self, path: Path, format: str | None, merges: int | None, *, goes_on: bool) -> None:
        run = self._runs.shown
        if run is None or run.history is None or self.is_busy:
            return
        self._prepared, self._goes_on = None, goes_on
        self._start(
            PreparingExportJob(
                self._jobs.mailbox,
                self._jobs.next_stamp("export"),
                run.history,
                path,
                format=None if format is None else FORMATS[format],
                merges=len(run.history) if merges is None else merges,
                text=self._text.value,
            )
        )

    def put_in_place(self) -> None:
        """Let what was prepared and shown replace the old files."""
        if self._prepared is not None and not self.is_busy:
            self._start(PlacingExportJob(self._jobs.mailbox, self._jobs.next_stamp("export"), self._prepared))

    def forget(self) -> None:
        """What was prepared is not wanted any more."""
        self._prepared = None

    def cancel(self) -> None:
        if self._job is not None:
            self._job.stop()

    def _start(self, job: Job) -> None:
        self._job, self.stage = job, "writing"
        self._jobs.start(job)
        self.progressed.emit(0.0)

    def _receive(self, message: Message) -> None:
        if self._job is None or message.stamp != self._job.stamp:
            return
        if isinstance(message, ExportProgress):
            self.stage = message.stage
            self.progressed.emit(message.done / message.total if message.total else 0.0)
        elif isinstance(message, ExportPrepared):
            self._prepared = message.prepared
            self.checked.emit(_check(message.prepared))
        elif isinstance(message, Exported):
            self._prepared = None
            self._tell_written(message.prepared)
        elif isinstance(message, Failed):
            self._goes_on = False
            self.failed.emit(message.sentence)
            self.noticed.emit(Notice(message.sentence))

    def _tell_written(self, prepared: PreparedExport) -> None:
        names = " and ".join(str(path) for path in prepared.files)
        found = prepared.verification
        sentence = f"Wrote {count_text(prepared.merges, 'merge')} to {names}; {found.sentence}."
        self.written.emit(sentence)
        self.noticed.emit(Notice(sentence, "\n".join(found.cannot_hold), is_error=False))

    def _job_ended(self, job: Job) -> None:
        if job is not self._job:
            return
        self._job = None
        goes_on, self._goes_on = self._goes_on, False
        if goes_on and self._prepared is not None:
            self._go_on(self._prepared)
        if not self.is_busy:
            self.ended.emit()

    def _go_on(self, prepared: PreparedExport) -> None:
        found = prepared.verification
        if found.agrees:
            self.put_in_place()
        else:
            details = "\n".join((*found.differences, *found.cannot_hold))
            self.noticed.emit(Notice(f"{prepared.path} was not written: {found.sentence}.", details))


def _check(prepared: PreparedExport) -> Check:
    found = prepared.verification
    return Check(
        agrees=found.agrees,
        sentence=found.sentence,
        cannot_hold=found.cannot_hold,
        differences=found.differences,
        more_differences=found.differing - len(found.differences),
        files=tuple(str(path) for path in prepared.files),
        replaces=tuple(path.name for path in prepared.replaces),
    )
