"""Questions about a run that take longer than a frame: each is a function, answered on a thread of its own."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

from app.worker.job import Job
from app.worker.mailbox import Mailbox, Message
from bpe_core import MergeHistory, WordTable
from bpe_core.insight.ranked_words import RankedWords

IsStopping = Callable[[], bool]
Question = Callable[[IsStopping], Any]

KEPT_RUNS = 3


@dataclass(frozen=True)
class Answered(Message):
    """What the function returned."""

    answer: Any


class QuestionJob(Job):
    """Calls the function once; it may ask whether anybody still waits for it."""

    def __init__(self, mailbox: Mailbox, stamp: Hashable, question: Question) -> None:
        super().__init__(mailbox, stamp)
        self._question = question

    def work(self) -> None:
        answer = self._question(self.told_to_stop)
        if not self.stopping:
            self.post(Answered(self.stamp, answer))


class RankedRuns:
    """The ranked words of the runs last asked about. Shared by the threads of all questions."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: OrderedDict[Hashable, RankedWords] = OrderedDict()

    def of(self, run: Hashable, words: WordTable, history: MergeHistory) -> RankedWords:
        """Those of a run; ranks found with more merges serve for fewer, so they are only found anew as it grows."""
        with self._lock:
            known = self._known.get(run)
            if known is None or known.words is not words or len(known.history) < len(history):
                known = RankedWords.of(words, history)
            self._known[run] = known
            self._known.move_to_end(run)
            while len(self._known) > KEPT_RUNS:
                self._known.popitem(last=False)
            return known
