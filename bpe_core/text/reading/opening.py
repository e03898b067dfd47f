"""Functions that open a path as a checked stream of bytes.

The stream is decompressed and its encoding is known. Every failure raises an error that a user can understand.
"""

from __future__ import annotations

import codecs
import contextlib
import os
import re
import sys
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, cast

from bpe_core.errors import CorpusError, EncodingError, cause_of, plain
from bpe_core.support.wrapped import WrappedFile
from bpe_core.text.reading.source import Source, Span

Errors = tuple[type[Exception], ...]

READ_ON = 2_000_000  # bytes; by then bzip2, xz and zstd have checked some, gzip the whole of a small file
HEAD_LENGTH = 64 * 1024
COMPRESSION_OF_SUFFIX = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "zstd"}

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+(://|::)")  # two letters at least: C: is a disk
_BYTE_ORDER_MARKS = (  # UTF-32 first: its little-endian mark begins with that of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_KNOWN_BEGINNINGS = (
    (b"\x1f\x8b", "gzip data; let its name end in .gz"),
    (b"BZh", "bzip2 data; let its name end in .bz2"),
    (b"\xfd7zXZ\x00", "xz data; let its name end in .xz"),
    (b"\x28\xb5\x2f\xfd", "zstd data; let its name end in .zst"),
    (b"PK\x03\x04", "an office document (extract its text first) or a zip archive (let its name end in .zip)"),
    (b"%PDF-", "a PDF document; extract its text first"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"GIF8", "a picture"),
    (b"\x7fELF", "a program"),
    (b"SQLite format 3\x00", "a database; export its text first"),
    (b"PAR1", "a Parquet table; let its name end in .parquet"),
    (b"ARROW1", "an Arrow table; let its name end in .arrow"),
)


class NotText(CorpusError):
    """An error for a file without any text. If the file belongs to a folder, it is skipped."""


def is_address(place: str) -> bool:
    """Return whether a path is an address, such as s3://bucket/a.jsonl, and not a path on this computer."""
    return _ADDRESS.match(place) is not None


def without_password(address: str) -> str:
    """Return an address without its password, for display and storage: ftp://anna@host for ftp://anna:secret@host."""
    return re.sub(r"(://[^/@:\s]*):[^/@\s]*@", r"\1@", address)


def shown(path: Path | str) -> str:
    """Return a path that is safe to show: invalid text and characters that control a terminal are escaped."""
    return plain(str(path)).replace("\n", "\\n")


class ByteStream:
    """The bytes of one source, which are read in order. The function `open_stream` creates the stream."""

    def __init__(self, source: Source, raw: BinaryIO) -> None:
        self._source = source
        self._raw = raw
        self._unpacker: Any = raw  # BinaryIO lacks the method readinto that all of them have
        self._unpacking_errors: Errors = ()
        self._head = b""  # read ahead by `head`, not yet returned
        self._handed_out = 0
        self._has_failed = False
        self._at_first = _stamp(raw) if source.path is not None else None
        if source.compression:
            self._unpacker, self._unpacking_errors = _unpacker(source, raw)

    @property
    def bytes_read(self) -> int:
        """Return how many bytes of the stored file were read.

        In a compressed file, these are compressed bytes.
        """
        return self._raw.tell() if self._source.compression else self._handed_out

    @property
    def has_changed(self) -> bool:
        """Return whether the file changed after it was opened. If so, the bytes may belong to two versions."""
        if self._at_first is None or self._source.size is None:
            return False
        size = self._source.size if self._source.span is None else self._source.span.file_size
        return _stamp(self._raw) != self._at_first or self._at_first[0] != size

    def head(self, length: int) -> bytes:
        """Return the first bytes of the stream. A later call of `fill` returns the same bytes again."""
        buffer = memoryview(bytearray(length))
        self._head = bytes(buffer[: self._read(buffer)])
        return self._head

    def fill(self, buffer: memoryview) -> int:
        """Fill the buffer with the next bytes, and return how many bytes were read.

        At the end of the stream, there may be fewer bytes than the buffer can hold.
        """
        ahead = len(self._head[: len(buffer)])
        buffer[:ahead] = self._head[:ahead]
        self._head = self._head[ahead:]
        filled = ahead + self._read(buffer[ahead:])
        self._handed_out += filled
        return filled

    def check_for_damage(self) -> None:
        """Read on in a compressed file, so that damage in the file raises an error.

        Call this before you report invalid text. A damaged file may first decompress to invalid text, and the error
        comes only a little later.
        """
        if self._source.compression and not self._has_failed:
            self._read(memoryview(bytearray(READ_ON)))

    def _read(self, buffer: memoryview) -> int:
        filled = 0
        self._has_failed = True
        with sentences(self._source.name, self._source.compression, self._unpacking_errors):
            while filled < len(buffer) and (got := self._unpacker.readinto(buffer[filled:])):
                filled += got
        self._has_failed = False
        return filled


def _unpacker(source: Source, raw: BinaryIO) -> tuple[Any, Errors]:
    """Return the stream in decompressed form, and the types of errors that a damaged file raises.

    Raise CorpusError if this Python lacks the module for the compression.
    """
    try:
        if source.compression == "gzip":
            import gzip

            return gzip.GzipFile(fileobj=raw), (zlib.error,)
        if source.compression == "bzip2":
            import bz2

            return bz2.BZ2File(raw), (ValueError,)
        if source.compression == "xz":
            import lzma

            return lzma.LZMAFile(raw), (lzma.LZMAError,)
        if sys.version_info >= (3, 14):
            from compression import zstd
        else:
            from backports import zstd
        return zstd.ZstdFile(raw), (zstd.ZstdError,)
    except ImportError as error:
        lacks = f"{source.name} cannot be read: this Python lacks {source.compression}."
        advice = "Install the package backports.zstd" if source.compression == "zstd" else "Decompress it first"
        raise CorpusError(f"{lacks} {advice}.") from error


class _OfSpan(WrappedFile):
    def __init__(self, raw: BinaryIO, span: Span) -> None:
        super().__init__(raw)
        self._left = span.stop - span.start
        raw.seek(span.start)

    def fileno(self) -> int:
        return int(self.raw.fileno())

    def readinto(self, buffer: Any) -> int:
        got = self.raw.readinto(memoryview(buffer)[: self._left]) or 0
        self._left -= got
        return got


def _stamp(raw: BinaryIO) -> tuple[int, int]:
    status = os.fstat(raw.fileno())
    return status.st_size, status.st_mtime_ns


@contextlib.contextmanager
def open_stream(source: Source) -> Iterator[ByteStream]:
    """Open the bytes of a file, of standard input, or of a file at an address."""
    if source.path is None and source.opens is None:
        if sys.stdin is None or sys.stdin.closed:
            raise CorpusError("There is no standard input to read from; name a file instead.")
        yield ByteStream(source, cast(BinaryIO, sys.stdin.buffer))
        return
    with open_raw(source) as raw:
        stream = ByteStream(source, raw)
        try:
            yield stream
        except CorpusError:
            stream.check_for_damage()
            raise


def open_raw(source: Source) -> BinaryIO:
    with sentences(source.name):
        if source.span is not None:
            return cast(BinaryIO, _OfSpan(open_raw(replace(source, span=None)), source.span))
        if source.opens is not None:
            return source.opens()
        assert source.path is not None  # standard input is never opened
        return cast(BinaryIO, open(source.path, "rb", buffering=0))


@contextlib.contextmanager
def sentences(name: str, compression: str = "", unpacking_errors: Errors = ()) -> Iterator[None]:
    advice = "If the file is not compressed, change the ending of its name."
    damaged = f"{name} is not valid {compression} data, or is damaged. {advice}"
    try:
        yield
    except FileNotFoundError as error:
        raise CorpusError(f"{name} does not exist.") from error
    except PermissionError as error:
        raise CorpusError(f"{name} cannot be opened: permission denied.") from error
    except IsADirectoryError as error:
        raise CorpusError(f"{name} is a folder, not a file.") from error
    except EOFError as error:
        sentence = f"{name} ends too early: its {compression} data is truncated. Copy or download the file again."
        raise CorpusError(sentence) from error
    except OSError as error:
        is_unpacking = error.errno is None and compression
        raise CorpusError(damaged if is_unpacking else f"{name} cannot be read: {cause_of(error)}.") from error
    except unpacking_errors as error:
        raise CorpusError(damaged) from error


def encoding_of(head: bytes, named: str | None) -> str:
    """Return the encoding of a file.

    It is the encoding of the byte order mark if `head` begins with one. Otherwise it is `named`, or UTF-8 if no
    encoding is named.
    """
    for mark, encoding in _BYTE_ORDER_MARKS:
        if head.startswith(mark):
            return encoding
    return checked_encoding(named) if named else "utf-8"


def checked_encoding(named: str) -> str:
    """Return the usual name of an encoding. Raise EncodingError for an unknown encoding."""
    try:
        "".encode(named)  # also refuses codecs that are no encodings of text, such as rot13
        codecs.getincrementaldecoder(named)
        return codecs.lookup(named).name
    except (LookupError, UnicodeError, ValueError) as error:
        known = "well-known encodings are utf-8, utf-16, cp1252, latin-1, shift_jis and gb18030"
        raise EncodingError(f"There is no encoding named {named!r}; {known}.") from error


def why_not_text(head: bytes, encoding: str, named: str | None) -> str:
    """Return why a file with the first bytes `head` is not text, or an empty string if it may be text.

    The reason can be the end of a sentence, such as “it looks like gzip data”.
    """
    if named or encoding != "utf-8":
        return ""
    for beginning, description in _KNOWN_BEGINNINGS:
        if head.startswith(beginning):
            return f"it looks like {description}"
    zero = head.find(b"\0")
    advice = "if it is text in UTF-16 or UTF-32, give the encoding"
    return f"byte {zero:,} is zero, which text does not contain; {advice}" if zero >= 0 else ""


def refuse_empty_or_binary(name: str, head: bytes, named: str | None, *, binary: bool = False) -> str:
    """Return the encoding of a file with these first bytes.

    Raise NotText if the file is empty or is not text. If `binary` is true, a file that is not text is accepted.
    """
    if not head or head in (mark for mark, _ in _BYTE_ORDER_MARKS):
        raise NotText(f"{name} is empty: there is no text in it.")
    encoding = encoding_of(head, named)
    if not binary and (reason := why_not_text(head, encoding, named)):
        raise NotText(f"{name} is not a text file: {reason}.")
    return encoding
