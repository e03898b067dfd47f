"""Memory that is no longer needed goes back to the system, so that a long day costs no more than a short one.

The C library of most Linux systems keeps what is freed for later, in a store for each thread;
there it lies in pieces while other threads ask for more. With two stores, and large arrays in
none of them, a window in which runs come and go stays a third smaller.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable

LARGE = 1 << 20  # bytes; what is larger is asked of the system and given back to it at once
STORES = 2

_MMAP_THRESHOLD, _ARENA_MAX = -3, -8  # what <malloc.h> calls them


def give_back_early() -> None:
    """Must be called before there are threads; where the C library is another one, nothing is done."""
    adjust = _of_glibc("mallopt")
    if adjust is not None:
        adjust(_ARENA_MAX, STORES)
        adjust(_MMAP_THRESHOLD, LARGE)


def give_back_now() -> None:
    """What lies free between what is used; takes a millisecond or so."""
    trim = _of_glibc("malloc_trim")
    if trim is not None:
        trim(0)


def _of_glibc(name: str) -> Callable[..., int] | None:
    return getattr(ctypes.CDLL(None), name, None) if sys.platform.startswith("linux") else None
