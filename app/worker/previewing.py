"""How a text is cut into words before anything is merged."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from app.worker.job import Job
from app.worker.mailbox import Mailbox, Message
from bpe_core import Recipe
from bpe_core.text.normalization import normalize
from bpe_core.text.splitting import split_words


@dataclass(frozen=True)
class Split(Message):
    """The words of the beginning of a text, after normalization."""

    words: tuple[str, ...]


class PreviewJob(Job):
    """A person's own pattern may take long, so even a short text is split aside."""

    def __init__(self, mailbox: Mailbox, stamp: Hashable, text: str, recipe: Recipe) -> None:
        super().__init__(mailbox, stamp)
        self._text = text
        self._recipe = recipe

    def work(self) -> None:
        words = tuple(split_words(normalize(self._text, self._recipe), self._recipe))
        self.post(Split(self.stamp, words))
