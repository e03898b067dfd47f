"""The safety copy: a file in the person's own folder that follows the session while it is not saved."""

from __future__ import annotations

import itertools
import os
from datetime import datetime
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.session.aside import Aside
from app.worker.safety_copy import Kept, NotKept, SafetyCopyJob, lock_of
from bpe_core.lock import Lock
from bpe_core.private_folder import private_folder
from bpe_core.session_file import EXTENSION, SavedSession

_numbers = itertools.count(1)


class SafetyCopy(QObject):
    """One file and its lock, from the first change of a session until it is saved or left."""

    kept = Signal()  # the newest session given is on the disk
    left = Signal()  # nobody holds it any more
    trouble = Signal(str)  # it could not be written: told once, until it works again

    def __init__(self, folder: Path, aside: Aside, parent: QObject | None = None) -> None:
        super().__init__(parent)
        stamp = f"{datetime.now():%Y-%m-%d-%H-%M-%S}-{os.getpid()}-{next(_numbers)}"
        self.path = folder / f"{stamp}{EXTENSION}"
        self._aside = aside
        self._job = SafetyCopyJob(self.path)
        self._lock: Lock | None = None
        self._is_started = False
        self._is_in_trouble = False
        self._refusal = ""  # why it could not be begun
        self.last: SavedSession | None = None  # given

    def keep(self, session: SavedSession) -> None:
        """Write it soon, aside."""
        if not self._is_started and not self._start():
            return
        self.last = session
        self._job.keep(session)

    def secure(self, session: SavedSession) -> str:
        """Write it now and wait for that; why it cannot be, nothing where it is on the disk."""
        self.keep(session)
        return self._job.refusal_of(session) if self._is_started else self._refusal

    def leave(self, session: SavedSession) -> None:
        """Write it a last time, and leave it to be found at the next start."""
        self.keep(session)
        self._end()

    def discard(self) -> None:
        """Remove it."""
        self._job.discard()
        self._end()

    def release(self) -> None:
        """Give up the lock; the job must have ended."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def _start(self) -> bool:
        try:
            private_folder(self.path.parent)
            self._lock = Lock.acquire(lock_of(self.path))
        except OSError as error:
            self._refusal = f"Could not write {self.path}: {error.strerror or error}."
            self._tell(self._refusal)
            return False
        self._is_started = True
        self._aside.start(self._job, self._receive, self._job_ended)
        return True

    def _end(self) -> None:
        if self._is_started:
            self._job.stop()
        else:
            self.deleteLater()

    def _receive(self, message: Kept | NotKept) -> None:
        if isinstance(message, NotKept):
            self._tell(message.sentence)
        else:
            self._is_in_trouble = False
            self.kept.emit()

    def _tell(self, sentence: str) -> None:
        if not self._is_in_trouble:
            self._is_in_trouble = True
            self.trouble.emit(sentence)

    def _job_ended(self) -> None:
        self.release()
        self.left.emit()
        self.deleteLater()
