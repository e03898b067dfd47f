"""What the steps of reading hand to each other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from bpe_core.text.reading.skipped import SkipLog

Bytes = bytes | bytearray | memoryview
Kind = Literal["text", "jsonl", "csv", "tsv", "texts", "word counts"]
OnInvalid = Literal["strict", "replace", "skip"]
OnBadRow = Literal["error", "skip"]

STANDARD_INPUT = "-"


@dataclass(frozen=True)
class Source:
    """One place text comes from."""

    name: str  # as shown to a person
    path: Path | None  # None for standard input and for texts given in memory
    size: int | None  # bytes as stored, so compressed if the file is; None where it cannot be known
    kind: Kind
    compression: str = ""  # "gzip", "bzip2", "xz", "zstd" or none
    encoding: str | None = "utf-8"  # None where only reading will tell


@dataclass(frozen=True)
class ReadingOptions:
    """How a person wants files to be read."""

    encoding: str | None = None  # None: by the byte order mark, else UTF-8
    on_invalid: OnInvalid = "strict"
    field: str = "text"  # the one that holds the text in .jsonl, .csv and .tsv files
    on_bad_row: OnBadRow = "error"


class TextBlock(NamedTuple):
    """A stretch of a file's text as valid UTF-8, cut between characters."""

    data: Bytes
    bytes_read: int  # of the file as stored, when this block had been read


class DocumentPiece(NamedTuple):
    """A stretch of one document; documents are never glued to each other."""

    data: Bytes
    ends_document: bool
    bytes_read: int


class Reader(Protocol):
    """Something that can be read, piece by piece, as often as needed (or says why not)."""

    @property
    def source(self) -> Source: ...

    def pieces(self, size: int, log: SkipLog) -> Iterator[DocumentPiece]:
        """The documents in pieces of about `size` bytes; what was passed over goes to the log."""
        ...
