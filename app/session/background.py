"""The background tasks of a session, and the messages to the user.

Each task has its own thread, and its answer arrives in the thread of the window.
"""

from __future__ import annotations

import time
from collections import defaultdict, deque
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from PySide6.QtCore import QObject, Signal

from app.session.run import Run
from app.worker.job import EndMessage, Job, Mailbox, ProgressMessage, Task

Result = TypeVar("Result")

PATIENCE = 1.0  # seconds that closing waits for tasks to stop
REPEAT_AFTER = 60.0  # seconds before the same remark about a topic is repeated
MOST_TOPICS = 100  # with topics at rest; each run and each file has a topic of its own
REST = 9  # while a run goes on, the pause between two questions, in times of the last answer


@dataclass(frozen=True)
class Answer:
    title: str
    act: Callable[[], object]


@dataclass(frozen=True)
class Notice:
    """A message to the user in the bar inside the window."""

    sentence: str
    details: str = ""
    is_error: bool = True
    answers: tuple[Answer, ...] = ()
    can_wait: bool = False  # it is no reply to what the user just did
    is_still_true: Callable[[], bool] = field(default=lambda: True, compare=False)  # else it disappears

    @property
    def is_offer(self) -> bool:
        return self.can_wait and bool(self.answers)


def _ignore(*news: object) -> None:
    pass


@dataclass
class _Topic:
    under_way: Task | None = None
    began: float = 0.0
    waiting: deque[Callable[[], None]] = field(default_factory=deque)  # functions that start the queued questions
    seconds: float = 0.0  # duration of the last answer

    @property
    def is_busy(self) -> bool:
        return self.under_way is not None or bool(self.waiting)


class BackgroundTasks(QObject):
    """A runner of background tasks.

    Each topic has at most one thread. A newer task of a topic stops the older task, or waits until it ends. All threads
    end before the window is destroyed.
    """

    noticed = Signal(Notice)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._topics: defaultdict[Hashable, _Topic] = defaultdict(_Topic)
        self._jobs: dict[Job, tuple[Callable[[Any], object], Callable[[], object]]] = {}
        self._shown_remarks: dict[tuple[Hashable, str], float] = {}  # the time of each remark, by topic and sentence
        self._is_closed = False
        self._mailbox = Mailbox(self)
        self._mailbox.arrived.connect(self._receive)

    def run(
        self,
        topic: Hashable,
        work: Callable[[Task], Result],
        done: Callable[[Result], object] = _ignore,
        failed: Callable[[str], object] = _ignore,
        progress: Callable[[Any], object] = _ignore,
        ended: Callable[[], object] = _ignore,
        *,
        queues: bool = False,
        writes: bool = False,
    ) -> None:
        """Run `work` on another thread. Stop the earlier task of the same topic, unless `queues` is true.

        `done` receives the answer, `failed` receives a sentence about an error, and `progress` receives the newest
        report. `ended` is called last, when the topic is free again. It is not called if the work never began. If
        `writes` is true, a window that is being closed waits for the task.
        """
        if not queues:
            self.cancel(topic)
        task = Task(str(topic), work, writes=writes)
        self._forget_topics_at_rest()
        about = self._topics[topic]

        def begin() -> None:
            about.under_way = task
            about.began = time.monotonic()
            self.start(task, receive, end)

        def receive(message: ProgressMessage) -> None:
            if not task.is_stopping:
                progress(message.news)

        def end() -> None:
            about.under_way = None
            about.seconds = time.monotonic() - about.began
            try:
                if task.failure and not task.is_stopping:
                    failed(task.failure)
                elif task.is_done and not task.is_stopping:
                    done(task.answer)
                    self._show_remarks(topic, task.remarks)
            finally:
                ended()
                self._begin_next(about)

        about.waiting.append(begin)
        self._begin_next(about)

    def _forget_topics_at_rest(self) -> None:
        """Delete the data about inactive topics, such as how long their last tasks took, if there are many topics."""
        if len(self._topics) > MOST_TOPICS:
            self._topics = defaultdict(_Topic, {topic: about for topic, about in self._topics.items() if about.is_busy})

    def _begin_next(self, about: _Topic) -> None:
        if about.under_way is None and about.waiting:
            about.waiting.popleft()()

    def notify(self, sentence: str, details: str = "", **how: Any) -> None:
        self.noticed.emit(Notice(sentence, details, **how))

    def cancel(self, topic: Hashable) -> None:
        """Stop the running task of a topic, and drop its waiting tasks."""
        about = self._topics[topic]
        about.waiting.clear()
        if about.under_way is not None:
            about.under_way.stop()

    def is_busy(self, *topics: Hashable) -> bool:
        """Return whether a task of one of these topics runs or waits. If no topic is given, check all topics."""
        return any(self._topics[topic].is_busy for topic in topics or tuple(self._topics))

    def pause(self, topic: Hashable, run: Run | None, least: int) -> int:
        """Return the milliseconds to wait before the next task of a topic.

        The pause is longer than `least` only while `run` is being trained, because the training needs the processor.
        """
        seconds = self._topics[topic].seconds if run is not None and run.is_busy else 0.0
        return max(least, round(1000 * REST * seconds))

    def start(self, job: Job, receive: Callable[[Any], object], ended: Callable[[], object]) -> None:
        """Start a job that posts several messages. `receive` is called with each message, and `ended` at the end."""
        if not self._is_closed:
            self._jobs[job] = receive, ended
            job.start(self._mailbox)

    def close(self) -> None:
        """Stop all jobs.

        Wait until the jobs that write files have ended. Wait for the other jobs only for a limited time (see
        app.worker.job.end_process).
        """
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
        if isinstance(message, EndMessage):
            del self._jobs[job]
            ended()
        else:
            receive(message)

    def _show_remarks(self, topic: Hashable, remarks: list[str]) -> None:
        """Show the remarks of a task, except those that were shown a short time ago.

        A task that runs again at each step has the same remarks at each step.
        """
        now = time.monotonic()
        self._shown_remarks = {
            sentence: when for sentence, when in self._shown_remarks.items() if now - when < REPEAT_AFTER
        }
        fresh = [remark for remark in remarks if (topic, remark) not in self._shown_remarks]
        self._shown_remarks |= {(topic, remark): now for remark in fresh}
        if fresh:
            more = f" And {len(fresh) - 1:,} more." if len(fresh) > 1 else ""
            self.notify(fresh[0] + more, "\n".join(fresh), is_error=False, can_wait=True)
