"""A lock on something that only one process may use. The system releases the lock when the process ends.

The process locks an open file. A file that exists but is not locked has no meaning. So the lock is free as soon as the
process ends, even if the process is killed.
"""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

from bpe_core.support.signals import hold_signals


class Lock:
    """A lock on a file. It is held until `release` or `leave` is called.

    Some file systems have no locks. There the existence of the file is the lock, and there is no file handle.
    """

    def __init__(self, path: Path, handle: int | None = None) -> None:
        self.path = path
        self._handle = handle
        self._is_released = False

    @classmethod
    def acquire(cls, path: Path, create: int = os.O_CREAT) -> Lock | None:
        """Return the lock, or None if another process holds it. Raise OSError if the file cannot be made or locked."""
        while True:
            handle = os.open(path, os.O_RDWR | create | _NO_LINK, 0o600)
            try:
                is_taken = _take(handle)  # an OSError on a file system without locks
                if is_taken and os.path.samestat(path.stat(), os.fstat(handle)):
                    lock = cls(path, handle)
                    handle = -1
                    return lock
            except FileNotFoundError:  # its last holder removed it between our opening and taking it
                continue
            finally:
                if handle >= 0:
                    os.close(handle)
            if not is_taken:
                return None

    @classmethod
    def of_existing(cls, path: Path) -> Lock | None:
        """Return the lock of an existing file.

        Return None if another process holds the lock, or if the file does not exist.
        """
        try:
            return cls.acquire(path, create=0)
        except FileNotFoundError:
            return None

    def release(self) -> None:
        """Release the lock and remove its file."""
        if self._is_released:
            return
        with hold_signals():
            self._is_released = True
            if sys.platform == "win32":  # an open file cannot be removed there
                self._close()
            with contextlib.suppress(OSError):
                self.path.unlink()
            self._close()

    def leave(self) -> None:
        """Release the lock. The file stays for the next process."""
        self._is_released = True
        self._close()

    def release_as(self, path: Path) -> None:
        """Rename the file to `path`, and release the lock. A file that exists at `path` is replaced."""
        if sys.platform == "win32":  # nor can it be renamed
            self._close()
        os.replace(self.path, path)
        self._is_released = True
        self._close()

    def _close(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
        self._handle = None


if sys.platform == "win32":
    import msvcrt

    _NO_LINK = 0
    _FAR = 0x7FFF_FFFF  # a locked part cannot be written there, so it is a byte that no file has

    def _take(handle: int) -> bool:
        os.lseek(handle, _FAR, os.SEEK_SET)
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    _NO_LINK = os.O_NOFOLLOW  # a link could lead to an important file of the user

    def _take(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
