"""Finding out which merge dissolves each boundary of a text."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from app.worker.job import Job
from app.worker.mailbox import Mailbox, Message
from bpe_core import Boundaries, MergeHistory, Tokenizer


@dataclass(frozen=True)
class Encoded(Message):
    """The boundaries of the text that was asked for."""

    boundaries: Boundaries
    history: MergeHistory


class EncodingJob(Job):
    """Encodes one text with one history. Special tokens stand for themselves: a person who types one means it."""

    def __init__(self, mailbox: Mailbox, stamp: Hashable, history: MergeHistory, text: str) -> None:
        super().__init__(mailbox, stamp)
        self._history = history
        self._text = text

    def work(self) -> None:
        boundaries = Tokenizer(self._history).boundaries(self._text, allowed_special="all")
        if not self.stopping:
            self.post(Encoded(self.stamp, boundaries, self._history))
