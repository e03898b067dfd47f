"""A claim on something that only one process may have, given up by the system when the process ends.

However it ends: a lock is no file that exists, but one that is held.
"""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

_NOT_HELD = -1


class Lock:
    """A lock that is held until `release`."""

    def __init__(self, path: Path, handle: int) -> None:
        self.path = path
        self._handle = handle
        self._is_released = False

    @classmethod
    def acquire(cls, path: Path) -> Lock | None:
        """The lock, or None if somebody holds it; an OSError where no file can be made or locked."""
        return cls._taken(path, os.O_CREAT)

    @classmethod
    def of_existing(cls, path: Path) -> Lock | None:
        """The same of a file that is there; None, too, if there is none."""
        try:
            return cls._taken(path, 0)
        except FileNotFoundError:
            return None

    @classmethod
    def of_nobody(cls, path: Path) -> Lock:
        """A file that is not locked, for whoever must go on without."""
        return cls(path, _NOT_HELD)

    @classmethod
    def _taken(cls, path: Path, create: int) -> Lock | None:
        while True:
            lock = cls(path, os.open(path, os.O_RDWR | create | _NO_LINK, 0o600))
            try:
                if not _take(lock._handle):
                    lock._close()
                    return None
            except OSError:  # a file system that knows no locks
                lock._close()
                raise
            if _is_still_there(path, lock._handle):
                return lock
            lock._close()  # its last holder removed it between our opening and taking it

    def release(self) -> None:
        """Give it up; the file is removed while it is still ours."""
        if self._is_released:
            return
        self._is_released = True
        if sys.platform == "win32":  # an open file cannot be removed there
            self._close()
        with contextlib.suppress(OSError):
            self.path.unlink()
        self._close()

    def release_as(self, path: Path) -> None:
        """Give it up; the file takes the place of another."""
        if sys.platform == "win32":  # nor can it be renamed
            self._close()
        os.replace(self.path, path)
        self._is_released = True
        self._close()

    def _close(self) -> None:
        if self._handle != _NOT_HELD:
            os.close(self._handle)
        self._handle = _NOT_HELD


def _is_still_there(path: Path, handle: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(handle))
    except FileNotFoundError:
        return False


if sys.platform == "win32":
    import msvcrt

    _NO_LINK = 0
    _FAR = 0x7FFF_FFFF  # what is locked there cannot be written, so it is a byte that no file has

    def _take(handle: int) -> bool:
        os.lseek(handle, _FAR, os.SEEK_SET)
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    _NO_LINK = os.O_NOFOLLOW  # a link could lead to a file of the person's that matters

    def _take(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
