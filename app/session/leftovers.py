"""Safety copies that were left behind: what can be brought back."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.session.aside import Aside
from app.session.safety_copy import lock_of, remove_safety_copy
from bpe_core.errors import BpeError
from bpe_core.session_file import EXTENSION
from bpe_core.session_file.reading import Summary, read_summary
from bpe_core.support.lock import Lock
from bpe_core.support.private_folder import private_folder

LEAST_AGE = timedelta(days=30)
MOST_BYTES = 1_000_000_000
RULE = f"Kept for {LEAST_AGE.days} days at least; after that the oldest go, once all take more than 1 GB"


@dataclass(frozen=True)
class Leftover:
    """A safety copy that no window is writing any more."""

    path: Path
    written: datetime  # as it says itself; of one that does not, when the file was changed
    size: int  # bytes
    summary: Summary | None = None  # None where it is damaged
    damage: str = ""  # the sentence


class Leftovers(QObject):
    """Knows them, the newest first; each is claimed by one window before it is opened or removed."""

    changed = Signal()

    def __init__(self, folder: Path, aside: Aside, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.all: tuple[Leftover, ...] = ()
        self._folder, self._aside = folder, aside
        self._claimed: dict[Path, Lock] = {}
        self.brought_back: frozenset[Path] = frozenset()  # those claimed whose session is in the window by now

    def look(self) -> None:
        """Look for them aside; `changed` tells when that is done."""
        folder = self._folder
        self._aside.ask("leftovers", lambda task: find_leftovers(folder), self._take)

    def claim(self, leftover: Leftover) -> bool:
        """Whether no other window has it; from now on this one has."""
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
        for lock in self._claimed.values():
            lock.release()
        self._claimed.clear()

    def _remove(self, path: Path) -> None:
        remove_safety_copy(path)
        self.give_back(path)

    def _take(self, found: tuple[Leftover, ...]) -> None:
        self.all = found
        self.changed.emit()


def find_leftovers(folder: Path) -> tuple[Leftover, ...]:
    """Safety copies whose window is gone, the newest first; those that the rule does not keep are removed."""
    if not _is_our_own(folder):
        return ()
    now = datetime.now(UTC)
    found = [leftover for path in folder.glob(f"*{EXTENSION}") if (leftover := _look(path)) is not None]
    # What says that it comes from the future is from a computer whose clock was wrong: it is not the newest for that.
    found.sort(key=lambda one: (one.written <= now, one.written, one.path.name), reverse=True)
    removed = [one for one in not_kept(found, now) if _remove_unless_wanted(one.path)]
    return tuple(one for one in found if one not in removed)


def not_kept(found: Sequence[Leftover], now: datetime) -> list[Leftover]:
    """Those that go by the rule, the oldest first: never one that is young, never one for which there is room."""
    going: list[Leftover] = []
    too_much = sum(one.size for one in found) - MOST_BYTES
    for one in sorted(found, key=lambda one: one.written):
        if too_much > 0 and one.written < now - LEAST_AGE:
            going.append(one)
            too_much -= one.size
    return going


def _remove_unless_wanted(path: Path) -> bool:
    lock = claim(path)
    if lock is None:
        return False
    remove_safety_copy(path)
    lock.release()
    return True


def _is_our_own(folder: Path) -> bool:
    """Whether it was us who left what is in it; not if there is none."""
    try:
        return folder.exists() and bool(private_folder(folder))
    except OSError:
        return False


def _look(path: Path) -> Leftover | None:
    try:
        if not _is_free(path):
            return None  # a living window's
        status = path.stat()
        if status.st_size == 0:  # its window was gone before it was worth anything
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
