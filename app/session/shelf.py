"""The texts to learn from, and what is known about each."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.session.changes import Held, Steps
from app.session.counts import Counts, Outcome
from app.session.jobs import Jobs
from app.session.notices import Notice
from app.session.sources import Source, Sources, moved, with_files, without
from app.worker.counting import CountProgress, Listed, ListingJob
from app.worker.job import Job
from app.worker.mailbox import Message
from bpe_core import Recipe


class Shelf(QObject):
    """A list of texts that a person arranges; they are counted as the present recipe splits them."""

    noticed = Signal(Notice)
    listed = Signal()  # all folders that were added have been looked through

    def __init__(self, recipe: Held[Recipe], jobs: Jobs, undo: Steps, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.sources: Held[Sources] = Held((), undo, self)
        self.counts = Counts(jobs, self)
        self._recipe = recipe
        self._jobs = jobs
        self._listing: set[Job] = set()
        jobs.mailbox.arrived.connect(self._receive)
        jobs.ended.connect(self._note_end)

    @property
    def is_listing(self) -> bool:
        """Whether texts that were added are still on their way."""
        return bool(self._listing)

    def add_paths(self, paths: Sequence[Path]) -> None:
        """Add files, and the files of folders; a large folder takes a moment."""
        job = ListingJob(self._jobs.mailbox, self._jobs.next_stamp("listing"), tuple(paths))
        self._listing.add(job)
        self._jobs.start(job)

    def add_text(self, name: str, text: str) -> None:
        self.sources.put((*self.sources.value, Source(name, text=text)), f"Add {name}")

    def replace_by_text(self, name: str, text: str) -> None:
        self.sources.put((Source(name, text=text),), f"Use {name}")

    def remove(self, numbers: set[int]) -> None:
        self.sources.put(without(self.sources.value, numbers), "Remove from the corpus")

    def move(self, number: int, place: int) -> None:
        self.sources.put(moved(self.sources.value, number, place), "Reorder the corpus")

    def read_as(self, numbers: set[int], encoding: str | None) -> None:
        """Read files in another encoding."""
        changed = (
            dataclasses.replace(source, encoding=encoding) if source.number in numbers else source
            for source in self.sources.value
        )
        self.sources.put(tuple(changed), "Change the encoding")

    def count(self) -> None:
        """Count what is not counted yet."""
        self.counts.want([source.as_text() for source in self.sources.value], self._recipe.value)

    def outcome_of(self, source: Source) -> Outcome | None:
        return self.counts.outcome_of(source.as_text(), self._recipe.value)

    def progress_of(self, source: Source) -> CountProgress | None:
        return self.counts.progress_of(source.as_text())

    def _receive(self, message: Message) -> None:
        if isinstance(message, Listed):
            if not message.paths:
                self.noticed.emit(Notice("There are no files in that folder."))
            self.sources.put(with_files(self.sources.value, message.paths), "Add files")

    def _note_end(self, job: Job) -> None:
        if job in self._listing:
            self._listing.remove(job)
            if not self._listing:
                self.listed.emit()

    @property
    def splits(self) -> bool:
        """Whether the recipe means to split texts at all."""
        return self._recipe.value.pattern != "none"
