"""Python's search for garbage cycles, moved to moments and to the thread where it does no harm.

Left to itself it runs in whatever thread happens to allocate. There it may destroy a widget
outside the window's thread, and a full search while the kernels are loaded holds everything
up for some 60 ms.
"""

from __future__ import annotations

import gc
from collections.abc import Callable

from PySide6.QtCore import QObject

from app.session.timer import timer
from app.system.native_memory import give_back_now

LOOK_EVERY_MILLISECONDS = 2_000
WORTH_A_LOOK = 10_000  # new containers; fewer can wait
URGENT = 1_000_000  # so many cannot wait until nothing is busy
FULL_SEARCH_EVERY = 20  # looks at what is young, of which one also looks at what is old


class GarbageCollection(QObject):
    """Searches in the window's thread, and as long as possible only while nothing is busy."""

    def __init__(self, is_busy: Callable[[], bool], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._is_busy = is_busy
        self._young_searches = 0
        self._timer = timer(self, LOOK_EVERY_MILLISECONDS, self.look, repeats=True)
        gc.disable()
        self.spare_what_exists()
        self._timer.start()

    def spare_what_exists(self) -> None:
        """No search needs to pass what lives as long as the window: its parts, and libraries just loaded."""
        gc.freeze()

    def look(self) -> None:
        """Search if there is enough to make it worth while."""
        if self._young_searches >= FULL_SEARCH_EVERY and not self._is_busy():
            self._young_searches = 0
            gc.collect()
            give_back_now()
        elif gc.get_count()[0] > (URGENT if self._is_busy() else WORTH_A_LOOK):
            self._young_searches += 1
            gc.collect(1)

    def stop(self) -> None:
        """Leave it to Python again."""
        self._timer.stop()
        gc.unfreeze()
        gc.enable()
