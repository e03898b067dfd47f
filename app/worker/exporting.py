"""Writing a merge table for others: into memory, where it is read back and checked; later into its place."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path

from app.worker.job import Job
from app.worker.mailbox import Mailbox, Message
from bpe_core import MergeHistory, Progress
from bpe_core.formats import Format
from bpe_core.verification.prepared_export import PreparedExport, prepare_export


@dataclass(frozen=True)
class ExportProgress(Message):
    """How far writing or checking is."""

    stage: str
    done: int
    total: int | None


@dataclass(frozen=True)
class ExportPrepared(Message):
    """The files are written in memory and checked; nothing is in place yet."""

    prepared: PreparedExport


@dataclass(frozen=True)
class Exported(Message):
    """The files are there."""

    prepared: PreparedExport


class PreparingExportJob(Job):
    """Writes the first `merges` merges in memory, reads them back and encodes thousands of words by both."""

    def __init__(
        self,
        mailbox: Mailbox,
        stamp: Hashable,
        history: MergeHistory,
        path: Path,
        *,
        format: Format | None,
        merges: int,
        text: str,
    ) -> None:
        super().__init__(mailbox, stamp)
        self._history, self._path, self._format = history, path, format
        self._merges, self._text = merges, text

    def work(self) -> None:
        prepared = prepare_export(
            self._history,
            self._path,
            format=self._format,
            merges=self._merges,
            text=self._text,
            progress=self._report,
            cancelled=self.told_to_stop,
        )
        if not self.stopping:
            self.post(ExportPrepared(self.stamp, prepared))

    def _report(self, progress: Progress) -> None:
        self.post(ExportProgress(self.stamp, progress.stage, progress.done, progress.total))


class PlacingExportJob(Job):
    """Lets what was prepared take the place of the old files, all of them or none."""

    def __init__(self, mailbox: Mailbox, stamp: Hashable, prepared: PreparedExport) -> None:
        super().__init__(mailbox, stamp)
        self._prepared = prepared

    def work(self) -> None:
        self._prepared.put_in_place()
        self.post(Exported(self.stamp, self._prepared))
