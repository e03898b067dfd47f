"""The safety copy: a file in the person's own folder that follows the session while it is not saved."""

from __future__ import annotations

import contextlib
import itertools
import os
import threading
from datetime import datetime
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.session.aside import Aside
from app.worker.job import Job
from app.worker.window_first import let_window_go_first
from bpe_core.errors import OutputError
from bpe_core.session_file import EXTENSION
from bpe_core.session_file.values import SavedSession
from bpe_core.session_file.writing import SessionWriter
from bpe_core.support.lock import Lock
from bpe_core.support.private_folder import make_private_file, private_folder

LOCK_EXTENSION = ".lock"
RETRY_SECONDS = 5.0  # after the disk refused something
LOOK_SECONDS = 0.1  # between two looks at whether the thread that is waited for is still there


class SafetyCopyJob(Job):
    """Keeps a file up to date with the newest session it was given; posts why that failed, or an empty text."""

    def __init__(self, path: Path) -> None:
        super().__init__("safety copy", writes=True)
        self.path = path
        self._writer: SessionWriter | None = None
        self._newest: SavedSession | None = None
        self._is_wanted = True
        self._news = threading.Event()
        self._trying = threading.Condition()
        self._tried: SavedSession | None = None
        self._refusal = ""  # why the one that was tried last is not on the disk

    def keep(self, session: SavedSession) -> None:
        """Write this soon; a newer one may take its place before."""
        self._newest = session
        self._news.set()

    def refusal_of(self, session: SavedSession) -> str:
        """Wait until this session, the newest given, was tried; why it is not on the disk, nothing if it is."""
        with self._trying:
            while self._tried is not session and self.is_under_way:
                self._trying.wait(LOOK_SECONDS)
            return self._refusal if self._tried is session else f"Could not write {self.path}."

    def discard(self) -> None:
        """End, and leave nothing: it is saved elsewhere, or not worth it."""
        self._is_wanted = False
        self.stop()

    def stop(self) -> None:
        super().stop()
        self._news.set()

    def work(self) -> None:
        while True:
            self._news.wait()
            self._news.clear()
            last = self.stopping  # looked at first: what was given before the wish to stop is still written
            session, self._newest = self._newest, None
            if session is not None and self._is_wanted:
                self._try(session)
            if last:
                break
        self._close()
        if not self._is_wanted:
            remove_safety_copy(self.path)

    def _try(self, session: SavedSession) -> None:
        refusal = ""
        try:
            self._write(session)
        except OutputError as error:
            refusal = str(error)
        with self._trying:
            self._tried, self._refusal = session, refusal
            self._trying.notify_all()
        self.post(refusal)
        if refusal:
            if self._newest is None:
                self._newest = session  # and again, unless something newer comes
            if not self.stopping and not self._news.wait(RETRY_SECONDS):
                self._news.set()

    def _write(self, session: SavedSession) -> None:
        if self._writer is not None and not self.path.exists():
            self._close()  # somebody removed it: what is written now would be lost
        if self._writer is None:
            try:
                private_folder(self.path.parent)
                self.path.unlink(missing_ok=True)
                make_private_file(self.path)
            except OSError as error:
                raise OutputError(f"Could not write {self.path}: {error.strerror or error}.") from error
            self._writer = SessionWriter(self.path)
        self._writer.update(session, cancelled=_never_but_politely)

    def _close(self) -> None:
        if self._writer is not None:
            with contextlib.suppress(OutputError):
                self._writer.close()
            self._writer = None


def _never_but_politely() -> bool:
    """A safety copy is written to its end; only the window goes first."""
    let_window_go_first()
    return False


def remove_safety_copy(path: Path) -> None:
    """The file and what SQLite may have left beside it."""
    for file in (path, path.with_name(path.name + "-journal")):
        with contextlib.suppress(OSError):
            file.unlink()


def lock_of(path: Path) -> Path:
    """The lock that a living window holds on its safety copy."""
    return path.with_suffix(LOCK_EXTENSION)


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

    def _receive(self, refusal: str) -> None:
        if refusal:
            self._tell(refusal)
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
