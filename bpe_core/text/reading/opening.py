"""From a path to a stream of bytes, decompressed on the way; every failure is a sentence."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, Protocol, cast

from bpe_core.errors import CorpusError, cause_of, plain
from bpe_core.text.reading.source import Source, Span

Errors = tuple[type[Exception], ...]

READ_ON = 2_000_000  # bytes; bzip2, xz and zstd have checked some by then, gzip all of a small file


class _Unpacker(Protocol):
    def readinto(self, buffer: memoryview, /) -> int | None: ...


def _open_gzip(raw: BinaryIO) -> tuple[_Unpacker, Errors]:
    import gzip  # these four are loaded when wanted: most corpora need none of them

    return gzip.GzipFile(fileobj=raw), (zlib.error,)


def _open_bzip2(raw: BinaryIO) -> tuple[_Unpacker, Errors]:
    import bz2

    return bz2.BZ2File(raw), (ValueError,)


def _open_xz(raw: BinaryIO) -> tuple[_Unpacker, Errors]:
    import lzma

    return lzma.LZMAFile(raw), (lzma.LZMAError,)


def _open_zstd(raw: BinaryIO) -> tuple[_Unpacker, Errors]:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd

    return cast(_Unpacker, zstd.ZstdFile(raw)), (zstd.ZstdError,)


_OPENERS: dict[str, Callable[[BinaryIO], tuple[_Unpacker, Errors]]] = {
    "gzip": _open_gzip,
    "bzip2": _open_bzip2,
    "xz": _open_xz,
    "zstd": _open_zstd,
}

COMPRESSION_OF_SUFFIX = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "zstd"}


class ByteStream:
    """The bytes of one source, read in order; use `open_stream`."""

    def __init__(self, source: Source, raw: BinaryIO) -> None:
        self._source = source
        self._raw = raw
        self._unpacker: _Unpacker = raw  # type: ignore[assignment]  # BinaryIO lacks the readinto all of them have
        self._unpacking_errors: Errors = ()
        self._head = b""  # read ahead by `head`, not yet handed out
        self._handed_out = 0
        self._has_failed = False
        self._at_first = _stamp(raw) if source.path is not None else None
        if source.compression:
            self._open_unpacker()

    @property
    def bytes_read(self) -> int:
        """How far reading has come in the file as it is stored."""
        return self._raw.tell() if self._source.compression else self._handed_out

    @property
    def has_changed(self) -> bool:
        """Whether the file is another one by now than when it was looked at: what was read of it may be a mixture."""
        if self._at_first is None or self._source.size is None:
            return False
        size = self._source.size if self._source.span is None else self._source.span.file_size
        return _stamp(self._raw) != self._at_first or self._at_first[0] != size

    def head(self, length: int) -> bytes:
        """The first bytes, which `fill` will hand out nevertheless."""
        buffer = memoryview(bytearray(length))
        self._head = bytes(buffer[: self._read(buffer)])
        return self._head

    def fill(self, buffer: memoryview) -> int:
        """Fill the buffer; fewer bytes than it holds mean that the end was reached."""
        ahead = len(self._head[: len(buffer)])
        buffer[:ahead] = self._head[:ahead]
        self._head = self._head[ahead:]
        filled = ahead + self._read(buffer[ahead:])
        self._handed_out += filled
        return filled

    def blame_damage(self) -> None:
        """Before something is said against the text: a damaged file unpacks to nonsense, and fails a little later."""
        if self._source.compression and not self._has_failed:
            self._read(memoryview(bytearray(READ_ON)))

    def _read(self, buffer: memoryview) -> int:
        filled = 0
        self._has_failed = True
        with sentences(self._source.name, self._source.compression, self._unpacking_errors):
            while filled < len(buffer):
                got = self._unpacker.readinto(buffer[filled:])
                if not got:
                    break
                filled += got
        self._has_failed = False
        return filled

    def _open_unpacker(self) -> None:
        name, compression = self._source.name, self._source.compression
        try:
            self._unpacker, self._unpacking_errors = _OPENERS[compression](self._raw)
        except ImportError as error:
            advice = " Install the package backports.zstd" if compression == "zstd" else " Decompress it first"
            raise CorpusError(f"{name} cannot be read: this Python lacks {compression}.{advice}.") from error


class _OfSpan(io.RawIOBase):
    """The bytes of a span of a file, which is closed with it."""

    def __init__(self, raw: BinaryIO, span: Span) -> None:
        self._raw, self._left = raw, span.stop - span.start
        raw.seek(span.start)

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._raw.fileno()

    def readinto(self, buffer: Any) -> int:
        got = self._raw.readinto(memoryview(buffer)[: self._left])  # type: ignore[attr-defined]  # all of them have it
        self._left -= got or 0
        return got or 0

    def close(self) -> None:
        self._raw.close()
        super().close()


def _stamp(raw: BinaryIO) -> tuple[int, int]:
    """What changes with a file: its size, and when it was written."""
    status = os.fstat(raw.fileno())
    return status.st_size, status.st_mtime_ns


@contextlib.contextmanager
def open_stream(source: Source) -> Iterator[ByteStream]:
    """The bytes of a file or of standard input."""
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
            stream.blame_damage()
            raise


def open_raw(source: Source) -> BinaryIO:
    """A file as it is stored."""
    with sentences(source.name):
        if source.span is not None:
            return cast(BinaryIO, _OfSpan(open_raw(replace(source, span=None)), source.span))
        if source.opens is not None:
            return source.opens()
        assert source.path is not None  # standard input is nobody's to open
        return cast(BinaryIO, open(source.path, "rb", buffering=0))


@contextlib.contextmanager
def sentences(name: str, compression: str = "", unpacking_errors: Errors = ()) -> Iterator[None]:
    """Turn whatever goes wrong with a file into a sentence that names it."""
    try:
        yield
    except FileNotFoundError as error:
        raise CorpusError(f"{name} does not exist.") from error
    except PermissionError as error:
        raise CorpusError(f"{name} cannot be opened: permission denied.") from error
    except IsADirectoryError as error:
        raise CorpusError(f"{name} is a folder, not a file.") from error
    except EOFError as error:
        raise CorpusError(
            f"{name} ends too early: its {compression} data is cut off. Copy or download the file again."
        ) from error
    except OSError as error:
        if error.errno is None and compression:
            raise CorpusError(_damaged(name, compression)) from error
        raise CorpusError(f"{name} cannot be read: {cause_of(error)}.") from error
    except unpacking_errors as error:
        raise CorpusError(_damaged(name, compression)) from error


def _damaged(name: str, compression: str) -> str:
    return f"{name} is not sound {compression} data, or damaged. If it is not compressed, give it another name ending."


def shown(path: Path | str) -> str:
    """A path as it can be shown: what is not valid text, or would act on a terminal, is written as an escape.

    >>> shown("caf\\udce9.txt")
    'caf\\\\udce9.txt'
    """
    return plain(str(path)).replace("\n", "\\n")
