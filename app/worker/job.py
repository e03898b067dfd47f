"""The background jobs. Each job has its own thread, and a mailbox carries its messages to the window."""

from __future__ import annotations

import os
import queue
import sys
import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from app.worker import window_first
from app.worker.window_first import lower_priority, wait_for_window
from bpe_core.errors import BpeError, Cancelled

AGAIN_MILLISECONDS = 1  # until another try to read a box into which a thread is writing


class Mailbox(QObject):
    """A box of messages that any thread can post. It emits `arrived` in the window's thread."""

    arrived = Signal(object, object)  # the sender and the message
    _rang = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lock = threading.Lock()
        self._waiting: dict[tuple[Hashable, type], object] = {}
        self._closed = False
        self._rang.connect(self._deliver, Qt.ConnectionType.QueuedConnection)

    def post(self, sender: Hashable, message: object) -> None:
        """Add a message to the box. The message replaces an unread message of the same sender and type."""
        kind = sender, type(message)
        with self._lock:
            if self._closed:
                return
            first = not self._waiting
            self._waiting.pop(kind, None)  # removed first, so that the newest message comes last
            self._waiting[kind] = message
            if first:
                self._rang.emit()  # inside the lock: `close` must not come between

    def close(self) -> None:
        with self._lock:
            self._closed = True
            self._waiting.clear()
        window_first.mark_window_free()

    def _deliver(self) -> None:
        # The thread that holds it may itself wait for a core, and background threads get theirs last.
        if not self._lock.acquire(blocking=False):
            QTimer.singleShot(AGAIN_MILLISECONDS, self._deliver)
            return
        waiting = list(self._waiting.items())
        self._waiting.clear()
        self._lock.release()
        window_first.mark_window_busy()
        for (sender, _), message in waiting:
            if not self._closed:  # the receiver of the message before may close the box
                self.arrived.emit(sender, message)


Waiting = queue.SimpleQueue[tuple[threading.Thread, Callable[[], None]]]
_may_begin = threading.Event()
_may_begin.set()


def hold_jobs() -> None:
    """Make new jobs wait until `release_jobs` is called. Jobs that have begun continue."""
    _may_begin.clear()


def release_jobs() -> None:
    _may_begin.set()


def start_soon(thread: threading.Thread, refused: Callable[[], None]) -> None:
    """Start a thread without waiting for it. Call `refused` if the system cannot start more threads."""
    _waiting().put((thread, refused))


@lru_cache(maxsize=1)
def _waiting() -> Waiting:
    waiting: Waiting = queue.SimpleQueue()

    def start() -> None:
        while True:
            thread, refused = waiting.get()
            _may_begin.wait()
            try:
                thread.start()
            except RuntimeError:
                refused()
            del thread, refused  # otherwise the last job stays in memory until the next one begins

    threading.Thread(target=start, name="thread_starter", daemon=True).start()  # this daemon thread never runs a kernel
    return waiting


THREAD = "background: "  # how the names of all these threads begin


def end_process(code: int) -> int:
    """Return the exit code.

    If a thread still runs after the window closed, end the process at once and do not return.

    Python would wait for that thread, which may be compiling for a minute and cannot be stopped. Python
    documents `os._exit` for this case. A daemon thread does not help: if it is in a kernel when the interpreter
    ends, the process crashes. All data that must be kept is written by now.
    """
    if any(thread.name.startswith(THREAD) for thread in threading.enumerate()):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    return code


@dataclass(frozen=True)
class EndMessage:
    """The last message of every job, after a success and after a failure."""


class Job:
    """A job on its own thread. A job ends by itself or when it is asked to stop, and it is never killed.

    A window that is closed waits a limited time for the job. If `writes` is true, the window waits until the job has
    ended.
    """

    def __init__(self, name: str, *, writes: bool = False) -> None:
        self.writes = writes
        self.failure = ""  # after a failure: a sentence, if the reason is of use to a user
        self._mailbox: Mailbox | None = None
        self._stop = threading.Event()
        self._has_begun = False
        self._is_over = threading.Event()
        # Not a daemon: a daemon still inside a kernel when the interpreter ends would crash the process.
        self._thread = threading.Thread(target=self._main, name=THREAD + name)

    def start(self, mailbox: Mailbox) -> None:
        self._mailbox = mailbox
        self._has_begun = True
        start_soon(self._thread, self._refuse)

    def stop(self) -> None:
        """Ask the job to end soon. The message `EndMessage` reports the end."""
        self._stop.set()

    def join(self, seconds: float | None = None) -> None:
        """Wait until the thread has ended, but at most `seconds` seconds.

        If `seconds` is None, there is no limit.
        """
        if self._has_begun and self._is_over.wait(seconds) and self._thread.ident is not None:
            self._thread.join()  # the thread has no work left

    @property
    def is_under_way(self) -> bool:
        return self._has_begun and not self._is_over.is_set()

    @property
    def is_stopping(self) -> bool:
        return self._stop.is_set()

    def work(self) -> None:
        """Do the work of this job. Subclasses override this method, which is called on the job's thread."""
        raise NotImplementedError

    def post(self, message: object) -> None:
        if self._mailbox is not None:
            self._mailbox.post(self, message)

    def _main(self) -> None:
        lower_priority()
        try:
            self.work()
        except Cancelled:
            pass
        except BpeError as error:
            self.failure = str(error)
        except MemoryError:
            self.failure = "There is not enough memory for this task. Try a smaller text or vocabulary."
        finally:
            # Other errors go on to threading.excepthook, which shows them. The job has ended, too.
            self._end()

    def _refuse(self) -> None:
        self.failure = "This computer cannot start another thread. Close other programs, then try again."
        self._end()

    def _end(self) -> None:
        self.post(EndMessage())
        self._is_over.set()


@dataclass(frozen=True)
class ProgressMessage:
    """A message about the progress of a task. Its content may have any type."""

    news: Any


class Task(Job):
    """A job that calls a function once.

    The function receives the task, and passes the task's methods `cancelled` and `report` to the engine.
    """

    def __init__(self, name: str, function: Callable[[Task], Any], *, writes: bool = False) -> None:
        super().__init__(name, writes=writes)
        self.is_done = False
        self.answer: Any = None
        self.remarks: list[str] = []  # sentences for the user besides the answer
        self._function = function

    def cancelled(self) -> bool:
        """Return whether the task should stop, because its answer is not needed any more.

        Call this method often, because each call also waits while the window is busy.
        """
        wait_for_window()
        return self.is_stopping

    def report(self, news: object) -> None:
        """Report progress. The window receives only the newest of many reports."""
        self.post(ProgressMessage(news))

    def work(self) -> None:
        self.answer = self._function(self)
        self.is_done = True
