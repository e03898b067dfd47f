"""The past is recomputed: the leading pairs as they stood after any merge."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from app.worker.job import Job
from app.worker.mailbox import Mailbox, Message
from app.worker.training import LEADING_PAIRS, LeadingPairs
from bpe_core import MergeHistory, Trainer, WordTable


@dataclass(frozen=True)
class Replayed(Message):
    """The leading pairs of an earlier moment."""

    leading: LeadingPairs


class ReplayJob(Job):
    """Replays a run's merges on its words up to one moment, beside the trainer that goes on."""

    def __init__(self, mailbox: Mailbox, stamp: Hashable, words: WordTable, history: MergeHistory) -> None:
        super().__init__(mailbox, stamp)
        self._words = words
        self._history = history

    def work(self) -> None:
        replica = Trainer(self._words, self._history.recipe, history=self._history)
        if not self.stopping:
            pairs = tuple(replica.top_pairs(LEADING_PAIRS))
            self.post(Replayed(self.stamp, LeadingPairs(len(self._history), pairs)))
