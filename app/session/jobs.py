"""The jobs that are under way, so that each is waited for before the program ends."""

from __future__ import annotations

import itertools

from PySide6.QtCore import QObject, Signal

from app.worker.job import Ended, Job
from app.worker.mailbox import Mailbox, Message


class Jobs(QObject):
    """Starts jobs and forgets them when they have ended."""

    ended = Signal(object)  # the job

    def __init__(self, mailbox: Mailbox, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.mailbox = mailbox
        self._under_way: set[Job] = set()
        self._numbers = itertools.count(1)
        mailbox.arrived.connect(self._receive)

    def next_stamp(self, purpose: str) -> tuple[str, int]:
        """A stamp nobody had before."""
        return purpose, next(self._numbers)

    def start(self, job: Job) -> None:
        self._under_way.add(job)
        job.start()

    def close(self) -> None:
        """Ask all to stop, then wait for each."""
        for job in self._under_way:
            job.stop()
        for job in self._under_way:
            job.join()
        self._under_way.clear()

    def _receive(self, message: Message) -> None:
        if isinstance(message, Ended) and message.job in self._under_way:
            self._under_way.remove(message.job)
            self.ended.emit(message.job)
