"""Memory that is not needed any more: Python's search for garbage cycles, and what the C library keeps."""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Callable

from PySide6.QtCore import QObject

from app.session.time import timer

LOOK_EVERY_MILLISECONDS = 2_000
WORTH_A_LOOK = 10_000  # new containers; fewer can wait
URGENT = 1_000_000  # that many cannot wait until nothing is busy
FULL_SEARCH_EVERY = 20  # looks at what is young, of which one also looks at what is old, as soon as nothing is busy
FULL_SEARCH_AT_LATEST = 30  # looks, however busy: or nothing would ever be freed where one run follows the other
GIVEN_BACK_EVERY = 15  # looks


class GarbageCollection(QObject):
    """A garbage collector for the window's thread alone: parts of Qt that another thread destroys crash the program.

    As long as possible it waits until nothing is busy.
    """

    def __init__(self, is_busy: Callable[[], bool], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._is_busy = is_busy
        self._young_searches = 0
        self._looks = 0  # since the last full search
        self._is_expected = False  # much has just been let go of
        self._timer = timer(self, LOOK_EVERY_MILLISECONDS, self.look, repeats=True)
        gc.disable()
        self.spare_what_exists()
        self._timer.start()

    def spare_what_exists(self) -> None:
        """Let no search pass what lives as long as the window: its parts, and libraries just loaded.

        After three runs over 10 MB a whole search takes 7 ms of the window's thread by this, and 59 ms without.
        """
        gc.freeze()

    def look(self) -> None:
        self._looks += 1
        is_busy, found = self._is_busy(), gc.get_count()[0]
        is_late = self._is_expected or (
            self._looks >= FULL_SEARCH_AT_LATEST and (found > WORTH_A_LOOK or self._young_searches > 0)
        )
        if is_late or (self._young_searches >= FULL_SEARCH_EVERY and not is_busy):
            self._young_searches = self._looks = 0
            self._is_expected = False
            gc.collect()
            give_back_now()
        elif found > (URGENT if is_busy else WORTH_A_LOOK):
            self._young_searches += 1
            gc.collect(1)
        elif self._looks % GIVEN_BACK_EVERY == 0:
            give_back_now()

    def expect_much(self) -> None:
        """Search all at the next look, as a whole session was let go of."""
        self._is_expected = True

    def stop(self) -> None:
        """Leave it to Python again."""
        self._timer.stop()
        gc.unfreeze()
        gc.enable()


LARGE = 1 << 20  # bytes; what is larger is asked of the system and given back to it at once
STORES = 2

_MMAP_THRESHOLD, _ARENA_MAX = -3, -8  # what <malloc.h> calls them


def give_back_early() -> None:
    """Let large pieces go back to the system; must be called before there are threads. Other C libraries do as they do.

    With `give_back_now`, the window holds 418 MB after eight runs over 10 MB, and 473 MB without.
    """
    adjust = _of_glibc("mallopt")
    if adjust is not None:
        adjust(_ARENA_MAX, STORES)
        adjust(_MMAP_THRESHOLD, LARGE)


def give_back_now() -> None:
    """Give back what lies free between what is used; it takes a millisecond or so."""
    trim = _of_glibc("malloc_trim")
    if trim is not None:
        trim(0)


def _of_glibc(name: str) -> Callable[..., int] | None:
    return getattr(ctypes.CDLL(None), name, None) if sys.platform.startswith("linux") else None
