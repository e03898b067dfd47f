"""A function on a thread of its own: the one kind of job for whatever is asked once and answered once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

from app.worker.job import Job
from app.worker.mailbox import Mailbox, Message


@dataclass(frozen=True)
class Answered(Message):
    """What the function returned."""

    answer: Any


@dataclass(frozen=True)
class Reported(Message):
    """How far the function is, in whatever form it tells."""

    news: Any


class Task(Job):
    """Calls the function once, with itself: `cancelled` and `report` are what the engine takes as such."""

    def __init__(self, mailbox: Mailbox, stamp: Hashable, function: Callable[[Task], Any]) -> None:
        super().__init__(mailbox, stamp)
        self._function = function

    def cancelled(self) -> bool:
        """Whether nobody waits for the answer any more. To be asked all the time: the window goes first meanwhile."""
        return self.told_to_stop()

    def report(self, news: object) -> None:
        """Tell how far the work is; of many reports the window hears the newest."""
        self.post(Reported(self.stamp, news))

    def work(self) -> None:
        self.post(Answered(self.stamp, self._function(self)))
