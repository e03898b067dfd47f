"""Work aside: a function is handed over, done on a thread of its own, and its answer arrives in the window's thread."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from PySide6.QtCore import QObject

from app.session.jobs import Jobs
from app.session.run import Run
from app.worker.job import Failed, Job
from app.worker.mailbox import Message
from app.worker.task import Answered, Reported, Task

Answer = TypeVar("Answer")

REST = 9  # times as long as an answer took nothing is asked about its topic again, while a run goes on


def _ignore(*news: object) -> None:
    """For whoever does not want to know."""


@dataclass
class _Asked:
    work: Callable[[Task], Any]
    done: Callable[[Any], object]
    failed: Callable[[str], object]
    progress: Callable[[Any], object]
    ended: Callable[[], object]
    is_wanted: bool = True
    task: Task | None = None
    began: float = 0.0


@dataclass
class _Topic:
    """What is asked about one thing: one question under way, the others in their order."""

    waiting: deque[_Asked] = field(default_factory=deque)
    under_way: _Asked | None = None
    seconds: float = 0.0  # that the last answer took


class Aside(QObject):
    """Each topic has one thread at most; the newest question of a topic wins."""

    def __init__(self, jobs: Jobs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._jobs = jobs
        self._topics: dict[str, _Topic] = {}
        jobs.mailbox.arrived.connect(self._receive)
        jobs.ended.connect(self._job_ended)

    def ask(
        self,
        topic: str,
        work: Callable[[Task], Answer],
        done: Callable[[Answer], object] = _ignore,
        failed: Callable[[str], object] = _ignore,
        progress: Callable[[Any], object] = _ignore,
        ended: Callable[[], object] = _ignore,
        *,
        queues: bool = False,
    ) -> None:
        """Let `work` be done; whatever was asked about this topic before is stopped and not heard any more.

        With `queues` it is done after what was asked before instead. `failed` is given a sentence for
        the person; `progress` whatever the work reports, the newest only; `ended` is called at the very
        end of work that was begun, whatever became of it, when the topic is free again.
        """
        if not queues:
            self.cancel(topic)
        self._topics.setdefault(topic, _Topic()).waiting.append(_Asked(work, done, failed, progress, ended))
        self._go_on(topic)

    def cancel(self, topic: str) -> None:
        """Nobody wants to know any more."""
        about = self._topics.setdefault(topic, _Topic())
        about.waiting.clear()
        if about.under_way is not None and about.under_way.task is not None:
            about.under_way.is_wanted = False
            about.under_way.task.stop()

    def is_busy(self, *topics: str) -> bool:
        """Whether work about one of these topics is under way; of none: about any."""
        return any(about.under_way is not None for name, about in self._topics.items() if name in topics or not topics)

    def pause(self, topic: str, run: Run | None, least: int) -> int:
        """Milliseconds to wait before a topic is asked about again; a run that goes on needs the processor itself."""
        seconds = self._topics[topic].seconds if run is not None and run.is_busy and topic in self._topics else 0.0
        return max(least, round(1000 * REST * seconds))

    def _go_on(self, topic: str) -> None:
        about = self._topics[topic]
        if about.under_way is None and about.waiting:
            asked = about.under_way = about.waiting.popleft()
            asked.task = Task(self._jobs.mailbox, self._jobs.next_stamp(topic), asked.work)
            asked.began = time.monotonic()
            self._jobs.start(asked.task)

    def _receive(self, message: Message) -> None:
        if not isinstance(message, Answered | Failed | Reported):
            return
        for about in self._topics.values():
            asked = about.under_way
            if asked is None or asked.task is None or asked.task.stamp != message.stamp or not asked.is_wanted:
                continue
            if isinstance(message, Answered):
                asked.done(message.answer)
            elif isinstance(message, Reported):
                asked.progress(message.news)
            else:
                asked.failed(message.sentence)
            break

    def _job_ended(self, job: Job) -> None:
        for topic, about in list(self._topics.items()):
            asked = about.under_way
            if asked is not None and asked.task is job:
                about.under_way, about.seconds = None, time.monotonic() - asked.began
                asked.ended()
                self._go_on(topic)
