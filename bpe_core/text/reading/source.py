"""What the steps of reading hand to each other."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO, Literal, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from bpe_core.records import dataclass
from bpe_core.text.reading.skipped import SkipLog

Bytes = bytes | bytearray | memoryview
Kind = Literal["text", "jsonl", "csv", "tsv", "parquet", "arrow", "tar", "zip", "texts", "word counts"]
OnInvalid = Literal["strict", "replace", "skip"]
OnBadRow = Literal["error", "skip"]

STANDARD_INPUT = "-"


class Span(NamedTuple):
    """The part of a file that is read; the text may be cut at its ends."""

    start: int
    stop: int
    file_size: int  # of the whole


@dataclass(frozen=True)
class Source:
    """One place text comes from."""

    name: str  # as shown to a person
    path: Path | None  # None for standard input, for texts given in memory, and where `opens` knows the way
    size: int | None  # bytes as stored, so compressed if the file is; None where it cannot be known
    kind: Kind
    compression: str = ""  # "gzip", "bzip2", "xz", "zstd" or none
    encoding: str | None = "utf-8"  # None where only reading will tell
    is_word_list: bool = False  # a table of words and how often each occurs
    fields: tuple[str, ...] = ()  # of a table: those that could hold its texts
    field: str = ""  # the one of them that does; empty where none was chosen and none can be guessed
    counted: str = ""  # of a file of counts: what it says of itself (`counted.py`)
    group: str = ""  # of such a file: the group whose counts are meant
    parts: tuple[Source, ...] = ()  # of a folder of such files: these
    span: Span | None = None  # of a large plain text: what is read of it
    # how what has no path of its own is opened
    opens: Callable[[], BinaryIO] | None = dataclasses.field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class ReadingOptions:
    """How a person wants files to be read."""

    encoding: str | None = None  # None: by the byte order mark, else UTF-8
    on_invalid: OnInvalid = "strict"
    field: str | None = None  # the one of a table that holds its texts, `doc.body` say; None: by the usual names
    on_bad_row: OnBadRow = "error"
    word_list: bool | None = None  # whether tables hold words with their counts; None: if their names surely say so


class TextBlock(NamedTuple):
    """A stretch of a file's text as valid UTF-8, cut between characters."""

    data: Bytes
    bytes_read: int  # of the file as stored, when this block had been read


class DocumentPiece(NamedTuple):
    """A stretch of one document, or several whole ones end to end; who reads must keep them apart."""

    data: Bytes
    ends_document: bool
    bytes_read: int
    inner_ends: npt.NDArray[np.int64] | None = None  # where documents end before the end of the data, rising


def one_by_one(pieces: Iterable[DocumentPiece]) -> Iterator[DocumentPiece]:
    """The same with no more than one document a piece.

    >>> [bytes(one.data) for one in one_by_one([DocumentPiece(b"abcd", True, 4, np.array([1, 3]))])]
    [b'a', b'bc', b'd']
    """
    for piece in pieces:
        if piece.inner_ends is None:
            yield piece
            continue
        for start, stop in pairwise((0, *piece.inner_ends.tolist(), len(piece.data))):
            is_last = stop == len(piece.data)
            yield DocumentPiece(piece.data[start:stop], not is_last or piece.ends_document, piece.bytes_read)


class Reader(Protocol):
    """Something that can be read, piece by piece, as often as needed (or says why not)."""

    @property
    def source(self) -> Source: ...

    def pieces(self, size: int, log: SkipLog) -> Iterator[DocumentPiece]:
        """The documents in pieces of about `size` bytes; what was passed over goes to the log."""
        ...
