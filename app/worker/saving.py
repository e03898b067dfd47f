"""Sessions on their way to and from the disk."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from app.worker.courtesy import give_way
from app.worker.job import Job
from app.worker.mailbox import Mailbox, Message
from app.worker.token_names import TokenNames
from bpe_core import BpeError, OutputError
from bpe_core.session_file import (
    EXTENSION,
    Lock,
    SavedSession,
    SessionWriter,
    Summary,
    read_session,
    read_summary,
    write_session,
)

LOCK_EXTENSION = ".lock"
MOST_LEFTOVERS = 20  # older ones are removed
RETRY_SECONDS = 5.0  # after the disk refused something


@dataclass(frozen=True)
class FileState:
    """What tells whether somebody else has written a file since."""

    size: int
    modified_ns: int

    @classmethod
    def of(cls, path: Path) -> FileState | None:
        try:
            status = path.stat()
        except OSError:
            return None
        return cls(status.st_size, status.st_mtime_ns)


@dataclass(frozen=True)
class Saved(Message):
    """The file is there, whole."""

    session: SavedSession
    path: Path
    state: FileState | None


class SavingJob(Job):
    """Writes a session beside its file, then puts it in its place."""

    def __init__(self, mailbox: Mailbox, stamp: Hashable, session: SavedSession, path: Path) -> None:
        super().__init__(mailbox, stamp)
        self._session = session
        self.path = path

    def work(self) -> None:
        write_session(self._session, self.path)  # not to be stopped: the window waits for it when it is closed
        self.post(Saved(self.stamp, self._session, self.path, FileState.of(self.path)))


@dataclass(frozen=True)
class Opened(Message):
    """A session, with the names of the tokens of each run."""

    session: SavedSession
    path: Path
    state: FileState | None
    names: Mapping[int, TokenNames]


class OpeningJob(Job):
    """Reads and checks a session file, or a safety copy."""

    def __init__(self, mailbox: Mailbox, stamp: Hashable, path: Path, *, is_safety_copy: bool = False) -> None:
        super().__init__(mailbox, stamp)
        self.path = path
        self.is_safety_copy = is_safety_copy

    def work(self) -> None:
        state = FileState.of(self.path)
        session = read_session(self.path, is_safety_copy=self.is_safety_copy)
        names = {}
        for run in session.runs:
            if run.history is not None:
                names[run.number] = TokenNames(run.history.alphabet)
                names[run.number].grow(run.history)
        if not self.stopping:
            self.post(Opened(self.stamp, session, self.path, state, names))


@dataclass(frozen=True)
class Kept(Message):
    """The safety copy holds this session."""

    session: SavedSession


@dataclass(frozen=True)
class NotKept(Message):
    """The safety copy could not be written; it is tried again."""

    sentence: str


class SafetyCopyJob(Job):
    """Keeps a file up to date with the newest session it was given, from its first to the last."""

    def __init__(self, mailbox: Mailbox, stamp: Hashable, path: Path) -> None:
        super().__init__(mailbox, stamp)
        self.path = path
        self._writer: SessionWriter | None = None
        self._newest: SavedSession | None = None
        self._is_wanted = True
        self._news = threading.Event()

    def keep(self, session: SavedSession) -> None:
        """Write this soon; a newer one may take its place before."""
        self._newest = session
        self._news.set()

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
        try:
            self._write(session)
        except OutputError as error:
            self.post(NotKept(self.stamp, str(error)))
            if self._newest is None:
                self._newest = session  # and again, unless something newer comes
            if not self.stopping and not self._news.wait(RETRY_SECONDS):
                self._news.set()
        else:
            self.post(Kept(self.stamp, session))

    def _write(self, session: SavedSession) -> None:
        if self._writer is not None and not self.path.exists():
            self._close()  # somebody removed it: what is written now would be lost
        if self._writer is None:
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                self.path.unlink(missing_ok=True)
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
    give_way()
    return False


def remove_safety_copy(path: Path) -> None:
    """The file and what SQLite may have left beside it."""
    for file in (path, path.with_name(path.name + "-journal")):
        with contextlib.suppress(OSError):
            file.unlink()


def lock_of(path: Path) -> Path:
    """The lock that a living window holds on its safety copy."""
    return path.with_suffix(LOCK_EXTENSION)


@dataclass(frozen=True)
class Leftover:
    """A safety copy that no window is writing any more."""

    path: Path
    written: datetime
    summary: Summary


@dataclass(frozen=True)
class Leftovers(Message):
    """What can be brought back, the newest first."""

    found: tuple[Leftover, ...]


class LeftoversJob(Job):
    """Looks for safety copies whose window is gone."""

    def __init__(self, mailbox: Mailbox, stamp: Hashable, folder: Path) -> None:
        super().__init__(mailbox, stamp)
        self._folder = folder

    def work(self) -> None:
        files = sorted(self._folder.glob(f"*{EXTENSION}"), key=lambda path: path.name, reverse=True)
        found = [leftover for path in files if (leftover := self._look(path)) is not None]
        for old in found[MOST_LEFTOVERS:]:
            remove_safety_copy(old.path)
        self.post(Leftovers(self.stamp, tuple(found[:MOST_LEFTOVERS])))

    def _look(self, path: Path) -> Leftover | None:
        try:
            if not _is_free(path):
                return None  # a living window's
            try:
                written = datetime.fromtimestamp(path.stat().st_mtime)
                return Leftover(path, written, read_summary(path))
            finally:
                if path.stat().st_size == 0:  # its window was gone before it was worth anything
                    remove_safety_copy(path)
        except (OSError, BpeError):
            return None


_one_at_a_time = threading.RLock()  # a look takes a lock for a moment, which must not pass for another window's


def claim(path: Path) -> Lock | None:
    """The lock of a safety copy, unless it is gone, or a window writes it or has brought it back."""
    with _one_at_a_time, contextlib.suppress(OSError):
        lock = Lock.acquire(lock_of(path))
        if lock is None or path.exists():
            return lock
        lock.release()
    return None


def _is_free(path: Path) -> bool:
    with _one_at_a_time:
        lock = claim(path)
        if lock is not None:
            lock.release()
    return lock is not None
