"""One background job is one object: what it does, how it is stopped, what it says at its end."""

from __future__ import annotations

import threading
from collections.abc import Hashable
from dataclasses import dataclass

from app.worker.courtesy import be_modest, give_way
from app.worker.mailbox import Mailbox, Message
from bpe_core import BpeError, Cancelled


@dataclass(frozen=True)
class Failed(Message):
    """A job could not do its work, for a reason a person can understand."""

    sentence: str


@dataclass(frozen=True)
class Ended(Message):
    """A job is over, whether or not it succeeded: the last message of every job."""

    job: Job


class Job:
    """Work on a thread of its own. It is asked to stop, never killed, and waited for before the program ends."""

    def __init__(self, mailbox: Mailbox, stamp: Hashable) -> None:
        self.stamp = stamp
        self._mailbox = mailbox
        self._stop = threading.Event()
        # Not a daemon: a daemon still inside a kernel when the interpreter ends would crash the process.
        self._thread = threading.Thread(target=self._main, name=type(self).__name__)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Ask it to end soon; it says so with `Ended`."""
        self._stop.set()

    def join(self) -> None:
        """Wait until the thread is gone."""
        if self._thread.ident is not None:
            self._thread.join()

    @property
    def stopping(self) -> bool:
        return self._stop.is_set()

    def told_to_stop(self) -> bool:
        """The same, for loops to ask all the time; in doing so they let the window go first."""
        give_way()
        return self._stop.is_set()

    def work(self) -> None:
        """What the job does, on its thread; overridden by each kind of job."""
        raise NotImplementedError

    def post(self, message: Message) -> None:
        self._mailbox.post(message)

    def _main(self) -> None:
        be_modest()
        try:
            self.work()
        except Cancelled:
            pass
        except BpeError as error:
            self.post(Failed(self.stamp, str(error)))
        except MemoryError:
            self.post(Failed(self.stamp, "There is not enough memory for this; try a smaller text or vocabulary."))
        finally:
            # Anything else goes on to threading.excepthook, which shows it; the job is over all the same.
            self.post(Ended(self.stamp, self))
