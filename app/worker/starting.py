"""Threads are started by a thread of their own.

Whoever starts one waits until it runs. On a busy computer that takes a while, in which the window would stand still.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from functools import lru_cache

Waiting = queue.SimpleQueue[tuple[threading.Thread, Callable[[], None]]]


def start_soon(thread: threading.Thread, refused: Callable[[], None]) -> None:
    """Let it begin, and do not wait until it does; or call what tells that the system has no more threads."""
    _waiting().put((thread, refused))


@lru_cache(maxsize=1)
def _waiting() -> Waiting:
    waiting: Waiting = queue.SimpleQueue()

    def start() -> None:
        while True:
            thread, refused = waiting.get()
            try:
                thread.start()
            except RuntimeError:
                refused()

    threading.Thread(target=start, name="starts others", daemon=True).start()  # it is never inside a kernel
    return waiting
