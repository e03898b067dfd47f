"""The values that the steps of reading pass on: sources, options, chunks of text, reports of what was skipped."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO, Literal, NamedTuple

from bpe_core.support.arrays import Int64s
from bpe_core.support.former_names import former_classes

Bytes = bytes | bytearray | memoryview
Kind = Literal["text", "jsonl", "csv", "tsv", "parquet", "arrow", "tar", "zip", "texts", "word counts"]
OnInvalid = Literal["strict", "replace", "skip"]
OnBadRow = Literal["error", "skip"]

STANDARD_INPUT = "-"
SHOWN_PER_SOURCE = 20  # a file with a million bad rows must not fill the memory with reports


class Span(NamedTuple):
    start: int
    stop: int
    file_size: int  # of the whole file


@dataclass(frozen=True)
class Source:
    """The description of a source, made once where it is opened, and handed on to all that read, count or report it."""

    name: str  # as shown to a person
    path: Path | None  # None for standard input, for texts given in memory, and where there is `opens`
    size: int | None  # bytes as stored, so compressed if the file is; None if it cannot be known
    kind: Kind
    compression: str = ""  # "gzip", "bzip2", "xz", "zstd" or none
    encoding: str | None = None  # as its beginning showed; None if it was not looked at, so that reading has to
    is_word_list: bool = False  # a table of words and how often each occurs
    fields: tuple[str, ...] = ()  # of a table: those that could hold its texts
    field: str = ""  # the one of them that does; empty if none was chosen and none can be guessed
    counted: str = ""  # of a file of counts: its head as JSON (`counts_head.py`)
    group: str = ""  # of such a file: the group whose counts are meant
    parts: tuple[Source, ...] = ()  # of a folder of such files: these
    span: Span | None = None  # of a large plain text: the part that is read
    version: str = dataclasses.field(default="", compare=False, repr=False)  # behind an address: new if written anew
    opens: Callable[[], BinaryIO] | None = dataclasses.field(default=None, compare=False, repr=False)  # without a path


@dataclass(frozen=True)
class ReadingOptions:
    encoding: str | None = None  # None: by the byte order mark, else UTF-8
    on_invalid: OnInvalid = "strict"
    field: str | None = None  # the one of a table that holds its texts, `doc.body` say; None: by the usual names
    on_bad_row: OnBadRow = "error"
    word_list: bool | None = None  # whether tables hold words with counts; None: if their column names say so


class Chunk(NamedTuple):
    """A stretch of one document, or several whole documents end to end: valid UTF-8, cut between characters."""

    data: Bytes  # never changed once handed out
    ends_document: bool
    bytes_read: int = 0  # of its source as stored (compressed, say), for progress
    inner_ends: Int64s | None = None  # where documents end before the end of the data, ascending
    source: int = 0  # index into `corpus.sources`

    def documents(self) -> Iterator[Chunk]:
        """Split it so that no part holds more than one document.

        >>> import numpy as np
        >>> [bytes(one.data) for one in Chunk(b"abcd", True, inner_ends=np.array([1, 3])).documents()]
        [b'a', b'bc', b'd']
        """
        if self.inner_ends is None:
            yield self
            return
        for start, stop in pairwise((0, *self.inner_ends.tolist(), len(self.data))):
            ends = self.ends_document or stop < len(self.data)
            yield self._replace(data=self.data[start:stop], ends_document=ends, inner_ends=None)


def one_by_one(chunks: Iterable[Chunk]) -> Iterator[Chunk]:
    for chunk in chunks:
        if chunk.inner_ends is None:
            yield chunk
        else:
            yield from chunk.documents()


@dataclass(frozen=True)
class SkippedText:
    source: str
    sentence: str
    count: int = 1  # how many such things this report covers

    def __str__(self) -> str:
        """Return the sentence, with its source if it does not name it."""
        return self.sentence if self.source in self.sentence else f"{self.source}: {self.sentence}"


class SkipLog:
    """A log of what reading passed over, in order. For each source the first reports are kept and the rest counted."""

    def __init__(self) -> None:
        self._shown: list[SkippedText] = []
        self._seen: Counter[str] = Counter()

    def add(self, source: str, sentence: str, count: int = 1) -> None:
        self._seen[source] += 1
        if self._seen[source] <= SHOWN_PER_SOURCE:
            self._shown.append(SkippedText(source, sentence, count))

    def reports(self) -> tuple[SkippedText, ...]:
        more = {source: seen - SHOWN_PER_SOURCE for source, seen in self._seen.items()}
        return (*self._shown, *(SkippedText(source, f"and {n:,} more", n) for source, n in more.items() if n > 0))

    def add_missing_end(self, source: str) -> None:
        """Report a file without the mark at its end, which not every program writes."""
        without = "ends without the mark that such files end with"
        self.add(source, f"{source} {without}: if it was truncated, texts are missing.")


__getattr__ = former_classes(__name__, Skipped="SkippedText")
