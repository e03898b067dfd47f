"""A context in which file permissions also hold for root.

Tests of unreadable files need it, because root may normally read and write every file.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

_VERSION_3 = 0x20080522  # of the two calls below
_OVERRIDES = 1 << 1 | 1 << 2  # CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@contextlib.contextmanager
def permissions_for_root() -> Iterator[None]:
    """Make file permissions hold for root in this context.

    They hold for this thread and for the threads that it starts.
    """
    if not sys.platform.startswith("linux") or os.geteuid() != 0:
        yield
        return
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(_VERSION_3, 0)  # 0 is this thread
    sets = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable; twice, for the capabilities above 31
    _check(libc.capget(header, sets))
    before = sets[0]
    sets[0] &= ~_OVERRIDES
    _check(libc.capset(header, sets))
    try:
        yield
    finally:
        sets[0] = before
        _check(libc.capset(header, sets))


def _check(result: int) -> None:
    if result:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
