"""Threads are started by a thread of their own.

Whoever starts one waits until it runs. On a busy computer that takes a while, in which the window would stand still.
"""

from __future__ import annotations

import queue
import threading
from functools import lru_cache


def start_soon(thread: threading.Thread) -> None:
    """Let it begin, and do not wait until it does."""
    _waiting().put(thread)


@lru_cache(maxsize=1)
def _waiting() -> queue.SimpleQueue[threading.Thread]:
    waiting: queue.SimpleQueue[threading.Thread] = queue.SimpleQueue()

    def start() -> None:
        while True:
            thread = waiting.get()
            try:
                thread.start()
            except RuntimeError as error:  # the system has no more of them
                told = (type(error), error, error.__traceback__, thread)
                threading.excepthook(threading.ExceptHookArgs(told))

    threading.Thread(target=start, name="starts others", daemon=True).start()  # it is never inside a kernel
    return waiting
