"""Machine code of other versions of the program: kept while it is used, removed when nobody has used it for long.

Two versions may live side by side, so age alone does not tell. Each process that loads machine code notes the day,
and on POSIX holds its folder for as long as it lives. This module does not import Numba.
"""

from __future__ import annotations

import os
import re
import stat
import sys
import time
from contextlib import suppress
from pathlib import Path

NAME = "kernels-[0-9a-f]{16}"
DAYS_KEPT = 30

_held: dict[Path, int] = {}  # the folders that this process uses


def note_use(folder: Path) -> None:
    """From now on, and until this process ends, the folder is in use."""
    with suppress(OSError):
        os.utime(folder)
    if sys.platform != "win32" and folder not in _held:
        import fcntl

        with suppress(OSError):
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            _held[folder] = handle
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)


def remove_outdated(today: Path) -> None:
    """Remove what lies beside the folder of today, is ours, and has not been used for a month."""
    with suppress(OSError):
        for folder in sorted(today.parent.iterdir()):
            if folder != today and re.fullmatch(NAME, folder.name):
                with suppress(OSError):
                    _remove_if_nobody_wants_it(folder)


def _remove_if_nobody_wants_it(folder: Path) -> None:
    import shutil  # which whoever only uses what is kept can do without

    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or time.time() - status.st_mtime < DAYS_KEPT * 86_400:
        return
    if sys.platform == "win32":
        shutil.rmtree(folder)  # what is open there cannot be removed
        return
    import fcntl

    if status.st_uid != os.geteuid():
        return  # in a folder shared with others, theirs are none of our business
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        if os.path.samestat(status, os.fstat(handle)):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)  # an OSError where a process uses it
            shutil.rmtree(folder)  # follows no link inside
    finally:
        os.close(handle)
