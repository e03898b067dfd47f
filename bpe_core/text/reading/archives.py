"""The reader of archives. Each file in an archive is read according to its file type.

No file is unpacked to the disk.
"""

from __future__ import annotations

import io
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, BinaryIO, NamedTuple, Self, cast

import numpy as np

from bpe_core.errors import CorpusError
from bpe_core.support.limits import MOST_TIMES, is_bomb
from bpe_core.support.wrapped import WrappedFile
from bpe_core.text.reading.opening import ByteStream, NotText, open_raw, open_stream, shown
from bpe_core.text.reading.plain_text import is_plain_text, is_valid_text
from bpe_core.text.reading.source import Chunk, ReadingOptions, SkipLog, Source

MOST_TOGETHER = 500  # members in a chunk; reading them takes some milliseconds
READ_AT_ONCE = 1 << 16  # bytes of an unpacked member; an archive may have very many small members
LONGEST_NOTE = 2**20  # bytes of an archive's description of a member; a name has a few hundred
NOTES = (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK)
DAMAGED = (
    *(tarfile.TarError, zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, ValueError),
    *(IndexError, KeyError, NotImplementedError, RuntimeError, MemoryError),
)

ReadInside = Callable[[Source, ReadingOptions, int, SkipLog], Iterator[Chunk]]
# of the shown name, the member's own name, a function that opens it, and its size if it is known
SourceOf = Callable[[str, str, Callable[[], BinaryIO], int | None], Source]


class Member(NamedTuple):
    """A file in an archive. `problem` says why the file is not read. It is empty if the file is read."""

    name: str
    open: Callable[[], BinaryIO]
    problem: str = ""
    size: int | None = None  # of the unpacked file, if it is small


def pieces(
    source: Source, options: ReadingOptions, size: int, log: SkipLog, inside: ReadInside, source_of: SourceOf
) -> Iterator[Chunk]:
    """Yield the documents of all files in an archive.

    Files without text are reported in the log. Raise CorpusError if no file in the archive has text.
    """
    reason = ""
    has_text = False
    texts = _SmallTexts(size)
    with _sentences(source):
        for member, place in _of_tar(source, log) if source.kind == "tar" else _of_zip(source):
            name = f"{source.name}: {shown(member.name)}"
            inner = source_of(name, member.name, member.open, member.size)
            problem = member.problem or _why_not_read(member.name)
            if not problem and inner.kind in ("tar", "zip", "npy", "npz", "parquet", "arrow"):
                problem = "archives and tables inside an archive are not read; take this file out first"
            try:
                if problem:
                    raise NotText(f"{name}: {problem}.")
                if member.size is not None and member.size <= size and is_plain_text(inner):
                    data = member.open().read()
                    if is_valid_text(data, options.encoding):
                        has_text = True
                        if not texts.has_room(len(data)):
                            yield texts.taken()
                        texts.append(data, place())
                        continue
                    inner = replace(inner, opens=partial(io.BytesIO, data))
                if texts:
                    yield texts.taken()
                for piece in inside(inner, options, size, log):
                    has_text = True
                    yield piece._replace(bytes_read=place())
            except NotText as error:
                reason = reason or str(error)
                log.add(source.name, str(error))
        if texts:
            yield texts.taken()
    if not has_text:
        raise CorpusError(f"There is no text in the archive {source.name}. {reason}".rstrip())


class _SmallTexts:
    """A list of small texts that are passed on as one chunk, because making very many small chunks takes long."""

    def __init__(self, room: int) -> None:
        self._room = room  # bytes of a chunk
        self._texts: list[bytes] = []
        self._size = 0
        self._bytes_read = 0

    def __len__(self) -> int:
        return len(self._texts)

    def has_room(self, size: int) -> bool:
        """Return whether a text of `size` bytes can be added. The first text can always be added."""
        return not self._texts or (len(self._texts) < MOST_TOGETHER and self._size + size <= self._room)

    def append(self, text: bytes, bytes_read: int) -> None:
        self._texts.append(text)
        self._size += len(text)
        self._bytes_read = bytes_read

    def taken(self) -> Chunk:
        """Return all texts as one chunk, and empty the list."""
        ends = np.cumsum([len(text) for text in self._texts[:-1]], dtype=np.int64)
        chunk = Chunk(b"".join(self._texts), True, self._bytes_read, ends if len(ends) else None)
        self._texts = []
        self._size = 0
        return chunk


def _why_not_read(name: str) -> str:
    """Return the reason not to read an archive member if its path leads out of the archive.

    Such a path is probably an attack. Return an empty string for any other path.
    """
    path = name.replace("\\", "/")
    parts = _parts(path)
    leads_out = path.startswith("/") or ".." in parts or (parts and parts[0].endswith(":"))
    return "the path of this file leads out of the archive, so the file is not read" if leads_out else ""


def _parts(path: str) -> list[str]:
    """Split a path into its names. Objects of `pathlib` would be slow for archives with very many files."""
    return [part for part in path.split("/") if part not in ("", ".")]


def _is_hidden(name: str) -> bool:
    parts = _parts(name)
    return any(part.startswith(".") and part != ".." for part in parts) or parts[:1] == ["__MACOSX"]


class _UnpackLimit:
    """A counter of the unpacked bytes of an archive.

    It raises an error if the archive unpacks to far more bytes than compressed texts would.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._bytes = 0

    def add(self, count: int, stored: int) -> None:
        self._bytes += count
        if is_bomb(self._bytes, stored):
            raise CorpusError(
                f"{self._source.name} unpacks to more than {MOST_TIMES} times its size, as archives made to fill a "
                "disk do. If you trust it, unpack it yourself and open the folder."
            )


class _CountingFile(WrappedFile):
    def __init__(self, raw: Any, unpacked: _UnpackLimit, stored: int) -> None:
        super().__init__(raw)
        self._unpacked = unpacked
        self._stored = stored

    def readinto(self, buffer: Any) -> int:
        got = super().readinto(buffer)
        self._unpacked.add(got, self._stored)
        return got


class _Stream:
    def __init__(self, stream: ByteStream, source: Source) -> None:
        self._stream = stream
        self._unpacked = _UnpackLimit(source)
        self._stored = source.size
        self._last = b""
        self._has_ended = False

    def read(self, size: int) -> bytes:
        buffer = memoryview(bytearray(size))
        got = self._stream.fill(buffer)
        self._unpacked.add(got, self._stored or self._stream.bytes_read)
        self._last = bytes(buffer[:got][-tarfile.BLOCKSIZE :]) or self._last
        self._has_ended = got < len(buffer)
        return bytes(buffer[:got])

    @property
    def lacks_its_end(self) -> bool:
        """Return whether the archive was read to its end and has no empty block there."""
        return self._has_ended and any(self._last)


class _TarHeader(tarfile.TarInfo):
    """The header of a file in a tar archive.

    The library reads the text of an extended header into memory. This class raises an error if that text is long.
    """

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        head = super().frombuf(buf, encoding, errors)
        if head.type in NOTES and head.size > LONGEST_NOTE:
            raise tarfile.ReadError("a name or header of a member is too long")
        return head


def _of_tar(source: Source, log: SkipLog) -> Iterator[tuple[Member, Callable[[], int]]]:
    with open_stream(source) as stream:
        whole = _Stream(stream, source)
        archive = tarfile.open(fileobj=cast(BinaryIO, whole), mode="r|", tarinfo=_TarHeader)  # noqa: SIM115  # nothing to close
        while (member := archive.next()) is not None:
            archive.members = []  # type: ignore[attr-defined]  # it would remember them all
            if member.isdir() or _is_hidden(member.name):
                continue
            problem = (
                "" if member.isreg() and not member.issparse() else "this is a link or a device, which is not read"
            )

            def open_member(member: tarfile.TarInfo = member) -> BinaryIO:
                return cast(BinaryIO, archive.extractfile(member))

            yield Member(member.name, open_member, problem), lambda: stream.bytes_read
        if whole.lacks_its_end:
            log.add_missing_end(source.name)


def _of_zip(source: Source) -> Iterator[tuple[Member, Callable[[], int]]]:
    if source.compression:
        raise CorpusError(f"{source.name} is an archive that was compressed a second time; decompress it first.")
    with open_raw(source) as raw, zipfile.ZipFile(raw) as archive:
        unpacked = _UnpackLimit(source)
        done = 0.0
        stored = source.size or raw.seek(0, io.SEEK_END)
        # The names of many small members take more room than their contents, so they count, too.
        of_names = max(0, stored - sum(info.compress_size for info in archive.infolist()))
        of_name = of_names / max(1, len(archive.infolist()))
        for info in archive.infolist():
            done += info.compress_size + of_name
            if info.header_offset < 0:
                raise zipfile.BadZipFile("an earlier part of the archive is missing")
            if info.is_dir() or _is_hidden(info.filename):
                continue

            is_small = info.file_size <= READ_AT_ONCE

            def open_member(info: zipfile.ZipInfo = info, is_small: bool = is_small) -> BinaryIO:
                try:
                    if is_small:
                        data = archive.read(info)
                        unpacked.add(len(data), stored)
                        return io.BytesIO(data)
                    return cast(BinaryIO, _CountingFile(archive.open(info), unpacked, stored))
                except (NotImplementedError, RuntimeError) as error:
                    raise NotText(f"{source.name}: {shown(info.filename)} is compressed in an unknown way.") from error

            size = info.file_size if is_small else None
            yield Member(info.filename, open_member, _problem_of(info), size), partial(min, round(done), stored)


def _problem_of(info: zipfile.ZipInfo) -> str:
    if info.flag_bits & 1:
        return "the file is encrypted; unpack it yourself"
    mode = info.external_attr >> 16
    return (
        "this is a link or a device, which is not read" if mode and stat.S_IFMT(mode) not in (0, stat.S_IFREG) else ""
    )


@contextmanager
def _sentences(source: Source) -> Iterator[None]:
    try:
        yield
    except DAMAGED as error:
        kind = "tar" if source.kind == "tar" else "zip"
        raise CorpusError(
            f"{source.name} is not a valid {kind} archive, or a part of it is missing. Copy or download it again."
        ) from error
