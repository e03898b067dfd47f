"""Safety copies that were left behind: what can be brought back."""

from __future__ import annotations

import contextlib
import threading
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.session.aside import Aside
from app.worker.safety_copy import lock_of, remove_safety_copy
from bpe_core import BpeError
from bpe_core.lock import Lock
from bpe_core.private_folder import private_folder
from bpe_core.session_file import EXTENSION, Summary, read_summary

MOST_LEFTOVERS = 20  # older ones are removed


@dataclass(frozen=True)
class Leftover:
    """A safety copy that no window is writing any more."""

    path: Path
    written: datetime
    summary: Summary


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

    def _take(self, found: tuple[Leftover, ...]) -> None:
        self.all = found
        self.changed.emit()


def find_leftovers(folder: Path) -> tuple[Leftover, ...]:
    """Safety copies whose window is gone, the newest first."""
    if not _is_our_own(folder):
        return ()
    files = sorted(folder.glob(f"*{EXTENSION}"), key=lambda path: path.name, reverse=True)
    found = [leftover for path in files if (leftover := _look(path)) is not None]
    for old in found[MOST_LEFTOVERS:]:
        remove_safety_copy(old.path)
    return tuple(found[:MOST_LEFTOVERS])


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
