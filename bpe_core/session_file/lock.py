"""A claim on something that only one process may have, given up by the system when the process ends.

However it ends: a lock is no file that exists, but one that is held.
"""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path


class Lock:
    """A lock that is held until `release`."""

    def __init__(self, path: Path, handle: int) -> None:
        self._path = path
        self._handle = handle

    @classmethod
    def acquire(cls, path: Path) -> Lock | None:
        """The lock, or None if somebody holds it; an OSError where no file can be made at all."""
        while True:
            handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
            if not _take(handle):
                os.close(handle)
                return None
            if _is_still_there(path, handle):
                return cls(path, handle)
            os.close(handle)  # its last holder removed it between our opening and taking it

    def release(self) -> None:
        """Give it up; the file is removed while it is still ours."""
        if self._handle < 0:
            return
        if sys.platform == "win32":  # an open file cannot be removed there
            os.close(self._handle)
        with contextlib.suppress(OSError):
            self._path.unlink()
        if sys.platform != "win32":
            os.close(self._handle)
        self._handle = -1


def _is_still_there(path: Path, handle: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(handle))
    except FileNotFoundError:
        return False


if sys.platform == "win32":
    import msvcrt

    def _take(handle: int) -> bool:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _take(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
