"""Encoding the texts of the corpus, or others, with the shown run as it stood at any merge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import get_args

from PySide6.QtCore import QObject, Signal

from app.session.aside import Aside
from app.session.corpus import SessionCorpus
from app.session.corpus_texts import CorpusText, reading
from app.session.groups import IN_NONE
from app.session.manifests import RESULT, SESSION, TEXTS
from app.session.run import NO_RUN
from app.session.runs import Runs
from app.session.time import TimeCursor
from app.worker.job import Task
from bpe_core import Progress
from bpe_core.learning.methods import Wording
from bpe_core.segmenting.encode_corpus import EncodedCorpus, Width, encode_corpus

TOPIC = "ids of the corpus"
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
    written = Signal(tuple, Path)  # by which command, and where

    def __init__(
        self, runs: Runs, cursor: TimeCursor, corpus: SessionCorpus, aside: Aside, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._runs, self._cursor, self._corpus, self._aside = runs, cursor, corpus, aside

    @property
    def is_busy(self) -> bool:
        return self._aside.is_busy(TOPIC)

    @property
    def merges(self) -> int:
        """How many the shown run has."""
        return self._runs.shown.learned if self._runs.shown is not None else 0

    @property
    def wording(self) -> Wording:
        """What its steps are called."""
        return NO_RUN if self._runs.shown is None else self._runs.shown.wording

    @property
    def position(self) -> int:
        """The moment shown."""
        return self._cursor.position

    def start(self, files: Sequence[Path], at: int, width: Width | None, path: Path) -> None:
        """Encode these files; none: the texts of the corpus."""
        run = self._runs.shown
        if self.is_busy:
            return
        sources = tuple(CorpusText(file.name, path=file) for file in files) or self._corpus.texts.value
        if run is None or run.history is None or not sources:
            self.failed.emit("There is nothing to encode with yet: train first, or open a text.")
            return
        history, numbers = run.history, run.shown_numbers

        def work(task: Task) -> EncodedCorpus:
            with reading(sources, task.remarks) as corpus:
                return encode_corpus(
                    corpus,
                    history,
                    path,
                    at=at,
                    width=width,
                    numbers=numbers,
                    progress=task.report,
                    cancelled=task.cancelled,
                )

        names = [source.name for source in sources]
        told = ("--width", width) if width is not None else ()
        which = [str(file.absolute()) for file in files] or [TEXTS]
        command = ("encode", "--merges", SESSION, "--at", str(at), *told, "-o", RESULT, *which)
        self._aside.ask(
            TOPIC,
            work,
            partial(self._finish, names, command),
            self.failed.emit,
            self._tell_progress,
            self.ended.emit,
            writes=True,
        )
        self.progressed.emit(0.0)

    def cancel(self) -> None:
        """The file is not there until it is whole, so what was there before stays."""
        self._aside.cancel(TOPIC)

    def _tell_progress(self, progress: Progress) -> None:
        self.progressed.emit(progress.done / progress.total if progress.total else 0.0)

    def _finish(self, names: Sequence[str], command: tuple[str, ...], result: EncodedCorpus) -> None:
        are_the_same = len(names) == len(result.files)  # else some are folders, of which each file is told
        named = zip(names if are_the_same else [file.name for file in result.files], result.files, strict=True)
        groups = [(f"all of {one.name}" if one.name else f"all {IN_NONE}", one) for one in result.groups]
        rows = [
            FileRow(name, file.bytes, file.tokens, file.different_tokens, file.bytes_per_token)
            for name, file in [*groups, *named]
        ]
        self.finished.emit(rows, f"Wrote {result.tokens:,} ids as {result.width} to {result.path}.")
        self.written.emit(command, Path(result.path))
