"""Encoding whole texts into a file of ids."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.worker.counting import Text, corpus_of
from app.worker.job import Job
from app.worker.mailbox import Mailbox, Message
from bpe_core import Corpus, MergeHistory, Progress
from bpe_core.segmenting.encode_corpus import EncodedCorpus, Width, encode_corpus


@dataclass(frozen=True)
class EncodingProgress(Message):
    """How much is read."""

    done: int
    total: int | None


@dataclass(frozen=True)
class CorpusEncoded(Message):
    """The file is there."""

    result: EncodedCorpus


class CorpusEncodingJob(Job):
    """The file appears when it is whole; a cancelled job leaves what was there."""

    def __init__(
        self,
        mailbox: Mailbox,
        stamp: Hashable,
        texts: Sequence[Text],
        history: MergeHistory,
        at: int,
        width: Width | None,
        path: Path,
    ) -> None:
        super().__init__(mailbox, stamp)
        self._texts, self._history, self._at, self._width, self._path = texts, history, at, width, path

    def work(self) -> None:
        corpus = Corpus.joined([corpus_of(text) for text in self._texts])
        result = encode_corpus(
            corpus,
            self._history,
            self._path,
            at=self._at,
            width=self._width,
            progress=self._report,
            cancelled=self.told_to_stop,
        )
        self.post(CorpusEncoded(self.stamp, result))

    def _report(self, progress: Progress) -> None:
        self.post(EncodingProgress(self.stamp, progress.done, progress.total))
