"""Counting the words of texts, one after the other, so that each has its own table."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from app.worker.job import Job
from app.worker.mailbox import Mailbox, Message
from bpe_core import BpeError, Cancelled, Corpus, CorpusError, Progress, Recipe, WordTable, count_words
from bpe_core.text.reading.source import OnInvalid

LONG_WORD = 64  # bytes; hardly any word of a language with blanks is as long


# What a person may choose beside the encodings that Python knows: what becomes of bytes that are not valid.
LENIENT: dict[str, tuple[str, OnInvalid]] = {
    "utf-8 replace": ("utf-8", "replace"),
    "utf-8 skip": ("utf-8", "skip"),
}


@dataclass(frozen=True)
class Text:
    """What is to be counted: a file, or a text that is already here."""

    key: Hashable
    path: Path | None
    text: str
    encoding: str | None = None
    refused: str = ""  # why the file must not be read


@dataclass(frozen=True)
class CountNews(Message):
    """Something about one text; the stamp holds the job's and the text's."""

    job_stamp: Hashable
    key: Hashable


@dataclass(frozen=True)
class Counted(CountNews):
    """One text is counted."""

    table: WordTable
    words: int
    longest_word: int  # in bytes
    share_in_long_words: float  # of all bytes
    encoding: str
    skipped: tuple[str, ...]  # what could not be read, as sentences


@dataclass(frozen=True)
class CountFailed(CountNews):
    """One text could not be counted; the others go on."""

    sentence: str


@dataclass(frozen=True)
class CountProgress(CountNews):
    """Where the counting of one text stands."""

    done: int
    total: int | None
    bytes_per_second: float


class CountingJob(Job):
    """Reads and counts each text that is not counted yet."""

    def __init__(self, mailbox: Mailbox, stamp: Hashable, texts: Sequence[Text], recipe: Recipe) -> None:
        super().__init__(mailbox, stamp)
        self.keys = {text.key for text in texts}
        self._texts = texts
        self._recipe = recipe

    def work(self) -> None:
        for text in self._texts:
            if self.stopping:
                return
            try:
                self.post(self._counted(text))
            except Cancelled:
                return
            except BpeError as error:
                self.post(CountFailed((self.stamp, text.key), self.stamp, text.key, str(error)))

    def _counted(self, text: Text) -> Counted:
        corpus = corpus_of(text)
        table = count_words(corpus, self._recipe, progress=self._reporter(text), cancelled=self.told_to_stop)
        if self.stopping:
            raise Cancelled("Counting was stopped.")
        lengths = np.diff(table.starts)
        weights = lengths * table.counts
        everything = max(1, int(weights.sum()))
        return Counted(
            stamp=(self.stamp, text.key),
            job_stamp=self.stamp,
            key=text.key,
            table=table,
            words=table.total,
            longest_word=int(lengths.max(initial=0)),
            share_in_long_words=float(weights[lengths > LONG_WORD].sum() / everything),
            encoding=_encoding_of(corpus),
            skipped=tuple(str(report) for report in corpus.skipped),
        )

    def _reporter(self, text: Text) -> Callable[[Progress], None]:
        began = time.monotonic()

        def report(progress: Progress) -> None:
            rate = progress.done / max(1e-3, time.monotonic() - began)
            stamp = (self.stamp, text.key)
            self.post(CountProgress(stamp, self.stamp, text.key, progress.done, progress.total, rate))

        return report


def corpus_of(text: Text) -> Corpus:
    """A text to be read, from its file or as it is."""
    if text.path is None:
        return Corpus.from_texts([text.text])
    if text.refused:
        raise CorpusError(text.refused)
    _refuse_what_may_never_end(text.path)
    if text.encoding in LENIENT:
        encoding, on_invalid = LENIENT[text.encoding]
        return Corpus.from_files([text.path], encoding=encoding, on_invalid=on_invalid)
    return Corpus.from_files([text.path], encoding=text.encoding)


def _refuse_what_may_never_end(path: Path) -> None:
    """A session may name anything. Whoever waits for a pipe cannot be stopped, and the window could not close."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise CorpusError(f"{path} is a pipe or a device; the window learns from files only (bpe-explorer train can).")


def _encoding_of(corpus: Corpus) -> str:
    encodings = {source.encoding for source in corpus.sources if source.encoding}
    return " and ".join(sorted(encodings)) or "UTF-8"


class ListingJob(Job):
    """Finds the files of folders; a large tree takes a while."""

    def __init__(self, mailbox: Mailbox, stamp: Hashable, paths: Sequence[Path]) -> None:
        super().__init__(mailbox, stamp)
        self._paths = paths

    def work(self) -> None:
        found: list[Path] = []
        for path in self._paths:
            inside = sorted(path.rglob("*")) if path.is_dir() else [path]
            found += [file for file in inside if not _hidden(file, path) and (file.is_file() or file == path)]
            if self.stopping:
                return
        self.post(Listed(self.stamp, tuple(found)))


@dataclass(frozen=True)
class Listed(Message):
    """The files in the order they are to be read."""

    paths: tuple[Path, ...]


def _hidden(file: Path, folder: Path) -> bool:
    return file != folder and any(part.startswith(".") for part in file.relative_to(folder).parts)
