"""Functions that free memory. They control Python's garbage collector and the C library, which keeps freed memory."""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Callable

from PySide6.QtCore import QObject

from app.session.time import timer

LOOK_EVERY_MILLISECONDS = 2_000
WORTH_A_LOOK = 10_000  # fewer new containers are not worth a search
URGENT = 1_000_000  # so many new containers are searched even while the program is busy
FULL_SEARCH_EVERY = 20  # searches of young objects for each full search, as soon as nothing is busy
FULL_SEARCH_AT_LATEST = 30  # looks, even while busy: otherwise no garbage would be freed when one run follows the other
GIVEN_BACK_EVERY = 5  # looks


class GarbageCollection(QObject):
    """A controller that runs the garbage collection only in the window's thread.

    If another thread destroys Qt objects, the program crashes.
    A full collection waits until the program is idle. If the program stays busy for long, the collection runs anyway.
    """

    def __init__(self, is_busy: Callable[[], bool], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._is_busy = is_busy
        self._young_searches = 0
        self._looks = 0  # since the last full search
        self._is_expected = False  # many objects were just dropped
        self._timer = timer(self, LOOK_EVERY_MILLISECONDS, self.collect_if_due, repeats=True)
        gc.disable()
        self.exclude_present_objects()
        self._timer.start()

    def exclude_present_objects(self) -> None:
        """Exclude all objects that exist now from garbage collection.

        Most of these objects belong to loaded libraries, or exist as long as the window. After three runs over 10 MB,
        a full collection takes 7 ms of the window's thread with this call, and 59 ms without.
        """
        gc.freeze()

    def collect_if_due(self) -> None:
        self._looks += 1
        is_busy = self._is_busy()
        young_objects = gc.get_count()[0]
        is_late = self._is_expected or (
            self._looks >= FULL_SEARCH_AT_LATEST and (young_objects > WORTH_A_LOOK or self._young_searches > 0)
        )
        if is_late or (self._young_searches >= FULL_SEARCH_EVERY and not is_busy):
            self._young_searches = self._looks = 0
            self._is_expected = False
            gc.collect()
            release_memory_now()
        elif young_objects > (URGENT if is_busy else WORTH_A_LOOK):
            self._young_searches += 1
            gc.collect(1)
        elif self._looks % GIVEN_BACK_EVERY == 0:
            release_memory_now()

    def plan_full_collection(self) -> None:
        """Plan a full collection for the next check, because a whole session was dropped."""
        self._is_expected = True

    def stop(self) -> None:
        """Turn the automatic garbage collection of Python on again."""
        self._timer.stop()
        gc.unfreeze()
        gc.enable()


LARGE = 1 << 20  # bytes; larger pieces are taken from the system and returned to it at once
STORES = 2

_MMAP_THRESHOLD, _ARENA_MAX = -3, -8  # the numbers in <malloc.h>


def release_memory_early() -> None:
    """Let the C library return large free blocks to the system immediately. Only glibc supports that.

    Call this function before threads start. After eight training runs on 10 MB of text, the window uses 418 MB of
    memory with this function and `release_memory_now`, and 473 MB without them.
    """
    adjust = _of_glibc("mallopt")
    if adjust is not None:
        adjust(_ARENA_MAX, STORES)
        adjust(_MMAP_THRESHOLD, LARGE)


def release_memory_now() -> None:
    """Give free memory between used blocks back to the system. If 55 MB are free, this takes 6 to 10 ms."""
    trim = _of_glibc("malloc_trim")
    if trim is not None:
        trim(0)


def _of_glibc(name: str) -> Callable[..., int] | None:
    return getattr(ctypes.CDLL(None), name, None) if sys.platform.startswith("linux") else None
