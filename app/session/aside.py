"""Work aside: a function is handed over, done on a thread of its own, and its answer arrives in the window's thread."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from PySide6.QtCore import QObject, Signal

from app.session.notices import Notice
from app.session.run import Run
from app.worker.job import Ended, Job, Mailbox, Reported, Task

Answer = TypeVar("Answer")

PATIENCE = 1.0  # seconds that closing waits for answers nobody wants any more
TELL_AGAIN = 60.0  # seconds until a remark that was made about a topic is worth to be told once more
REST = 9  # times as long as an answer took nothing is asked about its topic again, while a run goes on


def _ignore(*news: object) -> None:
    """For whoever does not want to know."""


@dataclass
class _Asked:
    task: Task
    done: Callable[[Any], object]
    failed: Callable[[str], object]
    progress: Callable[[Any], object]
    ended: Callable[[], object]
    began: float = 0.0


@dataclass
class _Topic:
    """What is asked about one thing: one question under way, the others in their order."""

    under_way: _Asked | None = None
    waiting: deque[_Asked] = field(default_factory=deque)
    seconds: float = 0.0  # that the last answer took


class Aside(QObject):
    """Each topic has one thread at most, and its newest question wins. All threads end before the window does."""

    noticed = Signal(Notice)  # what was remarked while an answer was made

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._topics: dict[Hashable, _Topic] = {}
        self._jobs: dict[Job, tuple[Callable[[Any], object], Callable[[], object]]] = {}
        self._remarked: dict[tuple[Hashable, str], float] = {}  # what was told about a topic, and when
        self._is_closed = False
        self._mailbox = Mailbox(self)
        self._mailbox.arrived.connect(self._receive)

    def ask(
        self,
        topic: Hashable,
        work: Callable[[Task], Answer],
        done: Callable[[Answer], object] = _ignore,
        failed: Callable[[str], object] = _ignore,
        progress: Callable[[Any], object] = _ignore,
        ended: Callable[[], object] = _ignore,
        *,
        queues: bool = False,
        writes: bool = False,
    ) -> None:
        """Let `work` be done aside; what was asked about this topic before is stopped unless this one `queues`.

        `failed` is given a sentence, `progress` the newest report. `ended` is called at the very end of work
        that was begun, when the topic is free again. What `writes` a file is waited for when the window closes.
        """
        if not queues:
            self.cancel(topic)
        asked = _Asked(Task(str(topic), work, writes=writes), done, failed, progress, ended)
        self._topics.setdefault(topic, _Topic()).waiting.append(asked)
        self._go_on(topic)

    def cancel(self, topic: Hashable) -> None:
        """Stop what is asked about a topic, and forget what waits."""
        about = self._topics.get(topic, _Topic())
        about.waiting.clear()
        if about.under_way is not None:
            about.under_way.task.stop()

    def is_busy(self, *topics: Hashable) -> bool:
        """Whether there is something to do about one of these topics; of none: about any."""
        known = (self._topics.get(topic, _Topic()) for topic in topics or tuple(self._topics))
        return any(about.under_way is not None or about.waiting for about in known)

    @property
    def busy_with(self) -> tuple[Hashable, ...]:
        return tuple(topic for topic in self._topics if self.is_busy(topic))

    def pause(self, topic: Hashable, run: Run | None, least: int) -> int:
        """Milliseconds to wait before a topic is asked about again; a run that goes on needs the processor itself."""
        seconds = self._topics.get(topic, _Topic()).seconds if run is not None and run.is_busy else 0.0
        return max(least, round(1000 * REST * seconds))

    def start(self, job: Job, receive: Callable[[Any], object], ended: Callable[[], object]) -> None:
        """Let a job begin that has more to say than one answer; `receive` is given what it posts."""
        if not self._is_closed:
            self._jobs[job] = receive, ended
            job.start(self._mailbox)

    def close(self) -> None:
        """Ask all work to stop, and wait for what writes; what only answers may be left (see app.worker.job.leave)."""
        self._is_closed = True
        self._mailbox.close()
        for job in self._jobs:
            job.stop()
        patience_ends = time.monotonic() + PATIENCE
        for job in sorted(self._jobs, key=lambda job: job.writes):
            job.join(None if job.writes else max(0.0, patience_ends - time.monotonic()))
        self._jobs.clear()

    def _receive(self, job: Job, message: object) -> None:
        receive, ended = self._jobs[job]
        if isinstance(message, Ended):
            del self._jobs[job]
            ended()
        else:
            receive(message)

    def _go_on(self, topic: Hashable) -> None:
        about = self._topics[topic]
        if about.under_way is not None or not about.waiting:
            return
        asked = about.under_way = about.waiting.popleft()
        asked.began = time.monotonic()

        def receive(message: Reported) -> None:
            if not asked.task.stopping:
                asked.progress(message.news)

        self.start(asked.task, receive, lambda: self._end(topic, asked))

    def _end(self, topic: Hashable, asked: _Asked) -> None:
        about, task = self._topics[topic], asked.task
        about.under_way, about.seconds = None, time.monotonic() - asked.began
        try:
            if task.stopping:
                return
            if task.failure:
                asked.failed(task.failure)
            elif task.is_done:
                asked.done(task.answer)
                self._tell_remarks(topic, task.remarks)
        finally:
            asked.ended()
            self._go_on(topic)

    def _tell_remarks(self, topic: Hashable, remarks: list[str]) -> None:
        """Not again and again, as what follows the time cursor asks again and again."""
        now = time.monotonic()
        self._remarked = {told: when for told, when in self._remarked.items() if now - when < TELL_AGAIN}
        fresh = [remark for remark in remarks if (topic, remark) not in self._remarked]
        self._remarked |= {(topic, remark): now for remark in fresh}
        if fresh:
            more = f" And {len(fresh) - 1:,} more." if len(fresh) > 1 else ""
            self.noticed.emit(Notice(fresh[0] + more, "\n".join(fresh), is_error=False, can_wait=True))
