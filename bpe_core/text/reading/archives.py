"""The reader of archives. Each member is read as a file of its kind. No member is unpacked to disk."""

from __future__ import annotations

import io
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, BinaryIO, NamedTuple, Self, cast

from bpe_core.errors import CorpusError
from bpe_core.support.limits import MOST_TIMES, is_bomb
from bpe_core.support.wrapped import WrappedFile
from bpe_core.text.reading.opening import ByteStream, NotText, open_raw, open_stream, shown
from bpe_core.text.reading.source import Chunk, ReadingOptions, SkipLog, Source

LONGEST_NOTE = 2**20  # bytes of an archive's description of a member; a name has a few hundred
NOTES = (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK)
DAMAGED = (
    *(tarfile.TarError, zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, ValueError),
    *(IndexError, KeyError, NotImplementedError, RuntimeError, MemoryError),
)

ReadInside = Callable[[Source, ReadingOptions, int, SkipLog], Iterator[Chunk]]
# of the shown name, the member's own name, and a function that opens it
SourceOf = Callable[[str, str, Callable[[], BinaryIO]], Source]


class Member(NamedTuple):
    """A file in an archive. `problem` is the reason why the file is not read, if there is a reason."""

    name: str
    open: Callable[[], BinaryIO]
    problem: str = ""


def pieces(
    source: Source, options: ReadingOptions, size: int, log: SkipLog, inside: ReadInside, source_of: SourceOf
) -> Iterator[Chunk]:
    """Yield the documents of all members of an archive.

    Members without text are reported in the log. Raise CorpusError if no member holds text.
    """
    reason = ""
    has_text = False
    with _sentences(source):
        for member, place in _of_tar(source, log) if source.kind == "tar" else _of_zip(source):
            name = f"{source.name}: {shown(member.name)}"
            inner = source_of(name, member.name, member.open)
            problem = member.problem or _why_not_wanted(member.name)
            if not problem and inner.kind in ("tar", "zip", "npy", "npz", "parquet", "arrow"):
                problem = "archives and tables inside an archive are not read; take this file out first"
            try:
                if problem:
                    raise NotText(f"{name}: {problem}.")
                for piece in inside(inner, options, size, log):
                    has_text = True
                    yield piece._replace(bytes_read=place())
            except NotText as error:
                reason = reason or str(error)
                log.add(source.name, str(error))
    if not has_text:
        raise CorpusError(f"There is no text in the archive {source.name}. {reason}".rstrip())


def _why_not_wanted(name: str) -> str:
    """Return the reason not to read a member whose path leads out of the archive.

    Return an empty text for any other path. A path that leads out of the archive is probably an attack.
    """
    path = name.replace("\\", "/")
    parts = _parts(path)
    leads_out = path.startswith("/") or ".." in parts or (parts and parts[0].endswith(":"))
    return "the path of this file leads out of the archive, so the file is not read" if leads_out else ""


def _parts(path: str) -> list[str]:
    """Return the names in a path. A path object would take long for many members."""
    return [part for part in path.split("/") if part not in ("", ".")]


def _is_hidden(name: str) -> bool:
    parts = _parts(name)
    return any(part.startswith(".") and part != ".." for part in parts) or parts[:1] == ["__MACOSX"]


class _UnpackLimit:
    """A counter of the unpacked bytes of an archive.

    It raises an error if the archive unpacks to far more bytes than compressed texts can.
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
        """Return whether the archive was read to its end but lacks the empty block at its end."""
        return self._has_ended and any(self._last)


class _Head(tarfile.TarInfo):
    """The header of a member in a tar archive.

    The library reads the whole text of an extended header into memory, so this class raises an error if that text is
    long.
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
        archive = tarfile.open(fileobj=cast(BinaryIO, whole), mode="r|", tarinfo=_Head)  # noqa: SIM115  # nothing to close
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

            def open_member(info: zipfile.ZipInfo = info) -> BinaryIO:
                try:
                    return cast(BinaryIO, _CountingFile(archive.open(info), unpacked, stored))
                except (NotImplementedError, RuntimeError) as error:
                    raise NotText(f"{source.name}: {shown(info.filename)} is compressed in an unknown way.") from error

            yield Member(info.filename, open_member, _problem_of(info)), partial(min, round(done), stored)


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
