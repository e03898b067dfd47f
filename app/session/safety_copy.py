"""The safety copies of unsaved sessions, in the user's own data folder. After a crash they are still there."""

from __future__ import annotations

import contextlib
import itertools
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.session.background import BackgroundTasks
from app.worker.job import Job
from app.worker.window_first import wait_for_window
from bpe_core.errors import BpeError, OutputError
from bpe_core.session_file import EXTENSION
from bpe_core.session_file.reading import Summary, read_summary
from bpe_core.session_file.values import SavedSession
from bpe_core.session_file.writing import SessionWriter
from bpe_core.support.lock import Lock
from bpe_core.support.private_folder import make_private_file, private_folder

LEAST_AGE = timedelta(days=30)
MOST_BYTES = 1_000_000_000
RULE = (
    f"Kept for {LEAST_AGE.days} days. After that, the oldest sessions are deleted if all of them together take more "
    "than 1 GB"
)

LOCK_EXTENSION = ".lock"
RETRY_SECONDS = 5.0  # seconds to the next try after a failed write
LOOK_SECONDS = 0.1  # seconds between two checks that the thread still runs


_numbers = itertools.count(1)


class SafetyCopy(Job):
    """A writer that keeps a file up to date with the newest state of a session.

    After each attempt to write, it posts a message: the reason for a failure, or an empty string after a success.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__("safety_copy", writes=True)
        stamp = f"{datetime.now():%Y-%m-%d-%H-%M-%S}-{os.getpid()}-{next(_numbers)}"
        self.path = folder / f"{stamp}{EXTENSION}"
        with self._refusing():
            private_folder(folder)
            self.lock = Lock.acquire(lock_of(self.path))
        self.last: SavedSession | None = None  # the last session given
        self._writer: SessionWriter | None = None
        self._newest: SavedSession | None = None  # a session that was not written yet
        self._is_wanted = True
        self._news = threading.Event()
        self._trying = threading.Condition()
        self._tried: SavedSession | None = None
        self._refusal = ""  # why the last write failed

    def keep(self, session: SavedSession) -> None:
        """Write this session soon. If a newer session arrives first, only the newer session is written."""
        self.last = self._newest = session
        self._news.set()

    def refusal_of(self, session: SavedSession) -> str:
        """Wait until this session is written, or until writing it fails.

        Return the reason for the failure, or an empty string if the session was written.
        """
        with self._trying:
            while self._tried is not session and self.is_under_way:
                self._trying.wait(LOOK_SECONDS)
            return self._refusal if self._tried is session else f"Could not write {self.path}."

    def discard(self) -> None:
        """Stop the writer and delete its file, because the session is saved or needs no copy."""
        self._is_wanted = False
        self.stop()

    def stop(self) -> None:
        super().stop()
        self._news.set()

    def release(self) -> None:
        """Release the lock on the file. Call this only after the writing thread has ended."""
        if self.lock is not None:
            self.lock.release()

    def work(self) -> None:
        while True:
            self._news.wait()
            self._news.clear()
            last = self.is_stopping  # read first, so that a session given before the stop is still written
            session = self._newest
            self._newest = None
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
            self._tried = session
            self._refusal = refusal
            self._trying.notify_all()
        self.post(refusal)
        if refusal:
            if self._newest is None:
                self._newest = session  # try again, unless a newer session comes
            if not self.is_stopping and not self._news.wait(RETRY_SECONDS):
                self._news.set()

    def _write(self, session: SavedSession) -> None:
        if self._writer is not None and not self.path.exists():
            self._close()  # somebody deleted the file: writes to it would be lost
        if self._writer is None:
            with self._refusing():
                private_folder(self.path.parent)
                self.path.unlink(missing_ok=True)
                make_private_file(self.path)
            self._writer = SessionWriter(self.path)
        self._writer.update(session, cancelled=_never_cancelled)

    @contextlib.contextmanager
    def _refusing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise OutputError(f"Could not write {self.path}: {error.strerror or error}.") from error

    def _close(self) -> None:
        if self._writer is not None:
            with contextlib.suppress(OutputError):
                self._writer.close()
            self._writer = None


def _never_cancelled() -> bool:
    """Wait while the window is busy, and return False. Writing a safety copy is never cancelled."""
    wait_for_window()
    return False


def remove_safety_copy(path: Path) -> None:
    """Remove a safety copy and the journal that SQLite may have left beside it."""
    for file in (path, path.with_name(path.name + "-journal")):
        with contextlib.suppress(OSError):
            file.unlink()


def lock_of(path: Path) -> Path:
    """Return the path of the lock file that a running window holds for its safety copy."""
    return path.with_suffix(LOCK_EXTENSION)


@dataclass(frozen=True)
class Leftover:
    """A safety copy whose window is no longer running."""

    path: Path
    written: datetime  # from its content, or else the time of the file
    size: int  # bytes
    summary: Summary | None = None  # None if it is damaged
    damage: str = ""  # the sentence about it


class Leftovers(QObject):
    """The safety copies of windows that are no longer running, newest first.

    Only one window can claim a copy. This window can then open or remove the copy.
    """

    changed = Signal()

    def __init__(self, folder: Path, background: BackgroundTasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.all: tuple[Leftover, ...] = ()
        self._folder = folder
        self._background = background
        self._claimed: dict[Path, Lock] = {}
        self.brought_back: frozenset[Path] = frozenset()  # claimed copies whose sessions are shown by now

    def search(self) -> None:
        folder = self._folder
        self._background.run("leftovers", lambda task: find_leftovers(folder), self._take)

    def claim(self, leftover: Leftover) -> bool:
        """Claim a safety copy for this window. Return False if another window has claimed it."""
        if leftover.path in self._claimed:
            return True
        lock = claim(leftover.path)
        if lock is not None:
            self._claimed[leftover.path] = lock
        return lock is not None

    def remove(self, leftover: Leftover) -> None:
        if self.claim(leftover):
            self._remove(leftover.path)
            self.all = tuple(other for other in self.all if other is not leftover)
            self.changed.emit()

    def give_back(self, path: Path) -> None:
        """Release the claim on a safety copy that could not be opened."""
        self.brought_back -= {path}
        self._claimed.pop(path).release()

    def replace(self, brought_back: frozenset[Path]) -> None:
        """Remove the given restored safety copies, because a newer safety copy contains their content."""
        for path in brought_back & self.brought_back:
            self._remove(path)
        self.all = tuple(leftover for leftover in self.all if leftover.path.exists())
        self.changed.emit()

    def release(self) -> None:
        for lock in self._claimed.values():
            lock.release()
        self._claimed.clear()

    def _remove(self, path: Path) -> None:
        remove_safety_copy(path)
        self.give_back(path)

    def _take(self, leftovers: tuple[Leftover, ...]) -> None:
        self.all = leftovers
        self.changed.emit()


def find_leftovers(folder: Path) -> tuple[Leftover, ...]:
    """Return the safety copies of windows that are no longer running, newest first.

    Remove old copies if all copies together need too much space.
    """
    if not _is_our_own(folder):
        return ()
    now = datetime.now(UTC)
    leftovers = [leftover for path in folder.glob(f"*{EXTENSION}") if (leftover := _look(path)) is not None]
    # A time in the future comes from a wrong clock, and must not make a copy the newest.
    leftovers.sort(key=lambda leftover: (leftover.written <= now, leftover.written, leftover.path.name), reverse=True)
    removed = [leftover for leftover in copies_to_remove(leftovers, now) if _if_free(leftover.path, remove_safety_copy)]
    return tuple(leftover for leftover in leftovers if leftover not in removed)


def copies_to_remove(leftovers: Sequence[Leftover], now: datetime) -> list[Leftover]:
    """Return the safety copies to remove, oldest first.

    A copy is removed only if it is old and all copies together need too much space.
    """
    going: list[Leftover] = []
    too_much = sum(leftover.size for leftover in leftovers) - MOST_BYTES
    for leftover in sorted(leftovers, key=lambda leftover: leftover.written):
        if too_much > 0 and leftover.written < now - LEAST_AGE:
            going.append(leftover)
            too_much -= leftover.size
    return going


def _is_our_own(folder: Path) -> bool:
    try:
        return folder.exists() and bool(private_folder(folder))
    except OSError:
        return False


def _look(path: Path) -> Leftover | None:
    try:
        if not _if_free(path, bool):
            return None  # a running window holds it
        status = path.stat()
        if status.st_size == 0:  # its window ended before anything was written
            remove_safety_copy(path)
            return None
        changed = datetime.fromtimestamp(status.st_mtime, UTC)
    except (OSError, OverflowError, ValueError):
        return None
    try:
        summary = read_summary(path)
    except BpeError as error:
        return Leftover(path, changed, status.st_size, damage=str(error)) if path.exists() else None
    return Leftover(path, summary.written or changed, status.st_size, summary)


_one_at_a_time = threading.RLock()  # a check takes the lock for a moment, which must not look like another window


def claim(path: Path) -> Lock | None:
    """Return a lock on a safety copy. Return None if the copy is gone or another window has the lock."""
    with _one_at_a_time, contextlib.suppress(OSError):
        lock = Lock.acquire(lock_of(path))
        if lock is None or path.exists():
            return lock
        lock.release()
    return None


def _if_free(path: Path, act: Callable[[Path], object]) -> bool:
    with _one_at_a_time:
        lock = claim(path)
        if lock is not None:
            act(path)
            lock.release()
    return lock is not None
