"""The values that readers pass on: sources, options, chunks of text, and reports about skipped texts."""

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
Kind = Literal[
    "text", "jsonl", "csv", "tsv", "parquet", "arrow", "tar", "zip", "npy", "npz", "lines", "fasta", "events", "texts",
    "word counts",
]  # fmt: skip
INTEGERS: tuple[Kind, ...] = ("npy", "npz")  # files of integers, which are read as private characters
NAMED: tuple[Kind, ...] = ("lines", "fasta", "events")  # files of named symbols, which are read in the same way
OnInvalid = Literal["strict", "replace", "skip", "keep"]  # "keep" reads any file, for recipes that take all bytes
OnBadRow = Literal["error", "skip"]

STANDARD_INPUT = "-"
SHOWN_PER_SOURCE = 20  # a file with a million bad rows must not fill the memory with reports


class Span(NamedTuple):
    start: int
    stop: int
    file_size: int  # the version of the whole file


@dataclass(frozen=True)
class Source:
    """The description of a source of texts, such as a file, an address, or a text in memory.

    The description is made when the source is opened. Readers and reports use it afterwards.
    """

    name: str  # the name that is shown to people
    path: Path | None  # None for standard input, for texts given in memory, and if there is `opens`
    size: int | None  # stored bytes (compressed, if the file is); None if they cannot be known
    kind: Kind
    compression: str = ""  # "gzip", "bzip2", "xz", "zstd" or none
    encoding: str | None = None  # the encoding that its beginning showed; None if reading has to find it
    is_word_list: bool = False  # whether it is a table of words and counts
    fields: tuple[str, ...] = ()  # the fields of a table that could hold its texts
    field: str = ""  # the field that holds them; empty if none was chosen and none can be guessed
    counted: str = ""  # the head of a file of counts, as JSON (`counts_head.py`)
    group: str = ""  # the group of a file of counts whose counts are meant
    parts: tuple[Source, ...] = ()  # the files of a folder of counts
    span: Span | None = None  # the part of a large plain text that is read
    # at an address: changes if the file is written again
    version: str = dataclasses.field(default="", compare=False, repr=False)
    # opens a source without a path
    opens: Callable[[], BinaryIO] | None = dataclasses.field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class ReadingOptions:
    encoding: str | None = None  # None: by the byte order mark, or else UTF-8
    on_invalid: OnInvalid = "strict"
    field: str | None = None  # the field of a table that holds its texts, such as `doc.body`; None: by the usual names
    on_bad_row: OnBadRow = "error"
    word_list: bool | None = None  # whether tables hold words with counts; None: as their column names say

    # the names of the symbols that files hold in place of text; None: files hold text
    symbol_names: tuple[str, ...] | None = None


class Chunk(NamedTuple):
    """A part of one document, or several whole documents in a row.

    The bytes are valid UTF-8 and end between characters, unless the options keep invalid bytes.
    """

    data: Bytes  # never changed after it was passed on
    ends_document: bool
    bytes_read: int = 0  # stored bytes of its source (compressed, if it is) read so far, for progress
    inner_ends: Int64s | None = None  # the offsets at which documents end before the end of the data, ascending
    source: int = 0  # index into `corpus.sources`

    def documents(self) -> Iterator[Chunk]:
        """Split the chunk so that each part belongs to one document.

        >>> import numpy as np
        >>> [bytes(part.data) for part in Chunk(b"abcd", True, inner_ends=np.array([1, 3])).documents()]
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
    count: int = 1  # how many such oddities this report covers

    def __str__(self) -> str:
        """Return the sentence of the report, with the name of the source.

        If the sentence does not contain the name, the name is put before it.
        """
        return self.sentence if self.source in self.sentence else f"{self.source}: {self.sentence}"


class SkipLog:
    """A log of everything that was skipped during reading, in order.

    It stores the first reports of each source, and counts all further reports.
    """

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

    def add_change(self, source: str) -> None:
        """Report a file that was changed while it was read."""
        self.add(source, f"{source} was changed while it was read, so its old and new text may be mixed.")

    def add_missing_end(self, source: str) -> None:
        """Report a file that lacks the end mark of its format.

        The file may be truncated, but some programs write no end mark.
        """
        self.add(source, f"{source} lacks the end mark of its format. If the file was truncated, texts are missing.")


__getattr__ = former_classes(__name__, Skipped="SkippedText")
