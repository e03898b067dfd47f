"""Encoding the texts of the corpus, or others, with the shown run as it stood at any merge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from PySide6.QtCore import QObject, Signal

from app.session.jobs import Jobs
from app.session.runs import Runs
from app.session.shelf import Shelf
from app.session.sources import Source
from app.session.time import TimeCursor
from app.worker.corpus_encoding import CorpusEncoded, CorpusEncodingJob, EncodingProgress
from app.worker.job import Failed, Job
from app.worker.mailbox import Message
from bpe_core.segmenting.encode_corpus import Width

WIDTHS: tuple[Width, ...] = get_args(Width)


@dataclass(frozen=True)
class FileRow:
    """What one text became."""

    name: str
    bytes: int
    tokens: int
    different: int
    bytes_per_token: float


class CorpusEncoding(QObject):
    """One file of ids at a time."""

    progressed = Signal(float)  # from 0 to 1
    finished = Signal(list, str)  # the rows, and a sentence
    failed = Signal(str)
    ended = Signal()

    def __init__(self, runs: Runs, cursor: TimeCursor, shelf: Shelf, jobs: Jobs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._runs, self._cursor, self._shelf, self._jobs = runs, cursor, shelf, jobs
        self._job: CorpusEncodingJob | None = None
        self._names: list[str] = []
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

    def start(self, files: Sequence[Path], at: int, width: Width | None, path: Path) -> None:
        """Encode these files; none: the texts of the corpus."""
        run = self._runs.shown
        if self.is_busy:
            return
        sources = tuple(Source(file.name, path=file) for file in files) or self._shelf.sources.value
        if run is None or run.history is None or not sources:
            self.failed.emit("There is nothing to encode with yet: train first, or open a text.")
            return
        if run.shown_numbers is not None:
            self.failed.emit(
                f"{run.recipe.name} numbers its tokens in an order of its own. Export it as a table and open that: "
                "its ids are the ones written."
            )
            return
        self._names = [source.name for source in sources]
        texts = [source.as_text() for source in sources]
        stamp = self._jobs.next_stamp("encoding a corpus")
        self._job = CorpusEncodingJob(self._jobs.mailbox, stamp, texts, run.history, at, width, path)
        self._jobs.start(self._job)
        self.progressed.emit(0.0)

    def cancel(self) -> None:
        if self._job is not None:
            self._job.stop()

    def _receive(self, message: Message) -> None:
        if self._job is None or message.stamp != self._job.stamp:
            return
        if isinstance(message, EncodingProgress):
            self.progressed.emit(message.done / message.total if message.total else 0.0)
        elif isinstance(message, Failed):
            self.failed.emit(message.sentence)
        elif isinstance(message, CorpusEncoded):
            result = message.result
            rows = [
                FileRow(name, file.bytes, file.tokens, file.different_tokens, file.bytes_per_token)
                for name, file in zip(self._names, result.files, strict=False)
            ]
            self.finished.emit(rows, f"Wrote {result.tokens:,} ids as {result.width} to {result.path}.")

    def _job_ended(self, job: Job) -> None:
        if job is self._job:
            self._job = None
            self.ended.emit()
