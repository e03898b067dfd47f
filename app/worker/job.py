"""One background job is one object: what it does, how it is stopped, how it ended."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from app.worker.mailbox import Mailbox
from app.worker.starting import start_soon
from app.worker.window_first import let_window_go_first, lower_priority
from bpe_core import BpeError, Cancelled

THREAD = "aside: "  # how the names of all these threads begin


@dataclass(frozen=True)
class Ended:
    """The last message of every job, whether or not it succeeded."""


class Job:
    """Work on a thread of its own. It is asked to stop, never killed, and before the program ends waited for.

    But for `writes`, not long: what only answers may be left behind where it does not hear.
    """

    def __init__(self, name: str, *, writes: bool = False) -> None:
        self.writes = writes
        self.failure = ""  # once it has ended: a sentence, where the reason is one that a person can understand
        self._mailbox: Mailbox | None = None
        self._stop = threading.Event()
        self._has_begun, self._is_over = False, threading.Event()
        # Not a daemon: a daemon still inside a kernel when the interpreter ends would crash the process.
        self._thread = threading.Thread(target=self._main, name=THREAD + name)

    def start(self, mailbox: Mailbox) -> None:
        self._mailbox = mailbox
        self._has_begun = True
        start_soon(self._thread, self._refuse)

    def stop(self) -> None:
        """Ask it to end soon; it says so with `Ended`."""
        self._stop.set()

    def join(self, seconds: float | None = None) -> None:
        """Wait until the thread is gone, or for so many seconds."""
        if self._has_begun and self._is_over.wait(seconds) and self._thread.ident is not None:
            self._thread.join()  # it has nothing to do any more

    @property
    def is_under_way(self) -> bool:
        """Whether it was started and has not ended."""
        return self._has_begun and not self._is_over.is_set()

    @property
    def stopping(self) -> bool:
        return self._stop.is_set()

    def work(self) -> None:
        """What the job does, on its thread; overridden by each kind of job."""
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
            self.failure = "There is not enough memory for this; try a smaller text or vocabulary."
        finally:
            # Anything else goes on to threading.excepthook, which shows it; the job is over all the same.
            self._end()

    def _refuse(self) -> None:
        """There is no thread for it."""
        self.failure = "This computer has no threads left to work with; close other programs, then try again."
        self._end()

    def _end(self) -> None:
        self.post(Ended())
        self._is_over.set()


@dataclass(frozen=True)
class Reported:
    """How far a task is, in whatever form it tells."""

    news: Any


class Task(Job):
    """A function called once, with this object: its `cancelled` and `report` are what the engine takes as such."""

    def __init__(self, name: str, function: Callable[[Task], Any], *, writes: bool = False) -> None:
        super().__init__(name, writes=writes)
        self.is_done = False
        self.answer: Any = None
        self.remarks: list[str] = []  # sentences to be told beside the answer
        self._function = function

    def cancelled(self) -> bool:
        """Whether nobody waits for the answer any more. To be asked all the time: the window goes first meanwhile."""
        let_window_go_first()
        return self.stopping

    def report(self, news: object) -> None:
        """Tell how far the work is; of many reports the window hears the newest."""
        self.post(Reported(news))

    def work(self) -> None:
        self.answer = self._function(self)
        self.is_done = True
