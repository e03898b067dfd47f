"""Safety copies that were left behind: what can be brought back."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.session.jobs import Jobs
from app.worker.job import Job
from app.worker.mailbox import Message
from app.worker.saving import Leftover, LeftoversJob, claim, remove_safety_copy
from app.worker.saving import Leftovers as Found
from bpe_core.session_file import Lock


class Leftovers(QObject):
    """Knows them, the newest first; each is claimed by one window before it is opened or removed."""

    changed = Signal()

    def __init__(self, folder: Path, jobs: Jobs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.all: tuple[Leftover, ...] = ()
        self._folder, self._jobs = folder, jobs
        self._job: LeftoversJob | None = None
        self._looks_again = False
        self._claimed: dict[Path, Lock] = {}
        self.brought_back: frozenset[Path] = frozenset()  # those claimed whose session is in the window by now
        jobs.mailbox.arrived.connect(self._receive)
        jobs.ended.connect(self._job_ended)

    def look(self) -> None:
        """Look for them aside; `changed` tells when that is done."""
        self._looks_again = self._job is not None  # what is left behind just now, the look under way may have missed
        if self._job is None:
            self._job = LeftoversJob(self._jobs.mailbox, self._jobs.next_stamp("leftovers"), self._folder)
            self._jobs.start(self._job)

    def claim(self, leftover: Leftover) -> bool:
        """Whether no other window has it; from now on this one has."""
        if leftover.path in self._claimed:
            return True
        lock = claim(leftover.path)
        if lock is not None:
            self._claimed[leftover.path] = lock
        return lock is not None

    def remove(self, leftover: Leftover) -> None:
        """Throw one away for good."""
        if self.claim(leftover):
            self._remove(leftover.path)
            self.all = tuple(other for other in self.all if other is not leftover)
            self.changed.emit()

    def set_brought_back(self, path: Path) -> None:
        """The session of one that was claimed is in the window."""
        self.brought_back |= {path}

    def give_back(self, path: Path) -> None:
        """One that was claimed could not be opened: it stays, and others may try."""
        self.brought_back -= {path}
        self._claimed.pop(path).release()

    def replace(self, brought_back: frozenset[Path]) -> None:
        """What was brought back is on the disk as another safety copy now."""
        for path in brought_back & self.brought_back:
            self._remove(path)
        self.all = tuple(leftover for leftover in self.all if leftover.path.exists())
        self.changed.emit()

    def release(self) -> None:
        """Leave what is claimed to others."""
        for lock in self._claimed.values():
            lock.release()
        self._claimed.clear()

    def _remove(self, path: Path) -> None:
        remove_safety_copy(path)
        self.give_back(path)

    def _receive(self, message: Message) -> None:
        if isinstance(message, Found) and self._job is not None and message.stamp == self._job.stamp:
            self.all = message.found
            self.changed.emit()

    def _job_ended(self, job: Job) -> None:
        if job is self._job:
            self._job = None
            if self._looks_again:
                self.look()
