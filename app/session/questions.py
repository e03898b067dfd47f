"""Questions about a run: asked in the window, answered aside, the newest of each topic only."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.session.jobs import Jobs
from app.session.run import Run
from app.worker.job import Failed, Job
from app.worker.mailbox import Message
from app.worker.questions import Answered, Question, QuestionJob, RankedRuns
from bpe_core import MergeHistory, WordTable
from bpe_core.insight.ranked_words import RankedWords

REST = 9  # times as long as an answer took nothing is asked about its topic again, while a run goes on


@dataclass
class _Asked:
    question: Question
    answered: Callable[[Any], None]
    failed: Callable[[str], None]
    job: QuestionJob | None = None
    began: float = 0.0


class Questions(QObject):
    """A topic has one question under way and one that waits; what is asked meanwhile takes the waiting one's place."""

    idle = Signal()  # nothing is under way any more

    def __init__(self, jobs: Jobs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.ranked_runs = RankedRuns()
        self._jobs = jobs
        self._under_way: dict[str, _Asked] = {}
        self._waiting: dict[str, _Asked] = {}
        self._seconds: dict[str, float] = {}  # that the last answer about each topic took
        jobs.mailbox.arrived.connect(self._receive)
        jobs.ended.connect(self._job_ended)

    @property
    def busy(self) -> bool:
        return bool(self._under_way)

    def ask(
        self,
        topic: str,
        question: Question,
        answered: Callable[[Any], None],
        failed: Callable[[str], None] = lambda sentence: None,
    ) -> None:
        """Let the question be answered; the answer is dropped if the topic has moved on by then."""
        self._waiting[topic] = _Asked(question, answered, failed)
        under_way = self._under_way.get(topic)
        if under_way is None:
            self._start(topic)
        elif under_way.job is not None:
            under_way.job.stop()

    def pause(self, topic: str, run: Run | None, least: int) -> int:
        """Milliseconds to wait before a topic is asked about again; a run that goes on needs the processor itself."""
        seconds = self._seconds.get(topic, 0.0) if run is not None and run.is_busy else 0.0
        return max(least, round(1000 * REST * seconds))

    def withdraw(self, topic: str) -> None:
        """Nobody wants to know any more."""
        self._waiting.pop(topic, None)
        under_way = self._under_way.get(topic)
        if under_way is not None and under_way.job is not None:
            under_way.job.stop()

    def ranked(self, run: Run) -> Callable[[], RankedWords] | None:
        """For use inside a question: the ranked words of a run as it is now; None if it has no words yet."""
        words, history = run.words, run.history
        if words is None or history is None or not len(history):
            return None
        return lambda: self._ranked(run.stamp, words, history)

    def _ranked(self, stamp: Hashable, words: WordTable, history: MergeHistory) -> RankedWords:
        return self.ranked_runs.of(stamp, words, history)

    def _start(self, topic: str) -> None:
        asked = self._waiting.pop(topic, None)
        if asked is None:
            return
        asked.job = QuestionJob(self._jobs.mailbox, self._jobs.next_stamp(topic), asked.question)
        asked.began = time.monotonic()
        self._under_way[topic] = asked
        self._jobs.start(asked.job)

    def _receive(self, message: Message) -> None:
        if not isinstance(message, Answered | Failed):
            return
        for topic, asked in list(self._under_way.items()):
            if asked.job is not None and asked.job.stamp == message.stamp and topic not in self._waiting:
                if isinstance(message, Answered):
                    asked.answered(message.answer)
                else:
                    asked.failed(message.sentence)

    def _job_ended(self, job: Job) -> None:
        for topic, asked in list(self._under_way.items()):
            if asked.job is job:
                self._seconds[topic] = time.monotonic() - asked.began
                del self._under_way[topic]
                self._start(topic)
        if not self._under_way:
            self.idle.emit()
