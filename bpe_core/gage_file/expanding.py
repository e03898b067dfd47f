"""From a compressed file back to the original; whatever the file holds, no more than it says is ever made of it."""

from __future__ import annotations

import io
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from bpe_core.errors import Cancelled, FormatError
from bpe_core.gage_file.compressing import (
    MAGIC,
    SIZE_OF_CHECKSUM,
    SIZE_OF_HEAD,
    SIZE_OF_NUMBER,
    VERSION,
    checksum,
    opened,
    refuse_to_overwrite,
)
from bpe_core.learning.gage.block_form import LONGEST, MOST_AT_ONCE, SIZE_OF_LENGTH
from bpe_core.support.atomic import write_atomically
from bpe_core.support.limits import check_room
from bpe_core.support.progress import CancelCheck, Progress, ProgressReport, ignore_progress, never_cancelled

LEAST_BLOCK = 6  # bytes: the shortest table, the length, one byte of data
BYTES_BETWEEN_REPORTS = 1 << 18
STOPPED = "Expanding was stopped."


def expand(
    data: bytes, *, progress: ProgressReport = ignore_progress, cancelled: CancelCheck = never_cancelled
) -> bytes:
    """The original of a file in memory."""
    reader, target = _Reader(io.BytesIO(data), len(data), "The file"), io.BytesIO()
    check_room(2 * reader.length, "Expanding", "Expand it from file to file.")
    _expand(reader, target, progress, cancelled)
    return target.getvalue()


def expand_file(
    path: Path | str,
    output: Path | str,
    *,
    progress: ProgressReport = ignore_progress,
    cancelled: CancelCheck = never_cancelled,
) -> int:
    """The same from file to file; how many bytes were written. Nothing is, unless all of it is right."""
    refuse_to_overwrite(Path(path), Path(output))
    with opened(path) as source:
        reader = _Reader(source, os.fstat(source.fileno()).st_size, str(path))
        with write_atomically(output) as target:
            _expand(reader, target, progress, cancelled)
    return reader.length


class _Reader:
    """The bytes of a file one after the other, after its head; and the sentences for what is wrong with it."""

    def __init__(self, source: BinaryIO, size: int, name: str) -> None:
        self._source, self._name, self.place = source, name, 0
        if not (start := source.read(len(MAGIC) + 1)).startswith(MAGIC):
            raise FormatError(f"{name} is no file that `bpe-explorer compress` has written: it begins otherwise.")
        self.place = len(start)
        if start[-1:] != bytes([VERSION]):
            raise FormatError(f"{name} was written by a newer version of this program; expand it with that one.")
        self.length = int.from_bytes(self.take(SIZE_OF_NUMBER), "big")
        most = (size - SIZE_OF_HEAD - SIZE_OF_CHECKSUM) // LEAST_BLOCK * LONGEST
        if self.length > max(0, most):
            raise self.wrong(f"the original is said to be {self.length:,} bytes long, and no more than {most:,} fit in")

    def take(self, count: int) -> bytes:
        taken = self._source.read(count)
        self.place += len(taken)
        if len(taken) < count:
            raise self.wrong("the file ends in the middle; it was cut short")
        return taken

    def byte(self) -> int:
        return self.take(1)[0]

    def wrong(self, what: str) -> FormatError:
        return FormatError(f"{self._name} is damaged at byte {self.place:,}: {what}. Nothing was written.")

    def check_end(self, crc: int) -> None:
        if self.take(SIZE_OF_CHECKSUM) != checksum(crc):
            raise self.wrong("what comes of it is not the original, by its checksum")
        if self._source.read(1):
            raise self.wrong("the file goes on behind its end")


def _expand(reader: _Reader, target: BinaryIO, progress: ProgressReport, cancelled: CancelCheck) -> None:
    done = crc = told = 0
    while done < reader.length:
        if done - told >= BYTES_BETWEEN_REPORTS:
            told = done
            progress(Progress("expanding", done, reader.length, "bytes"))
            if cancelled():
                raise Cancelled(STOPPED)
        text = _block(reader, min(LONGEST, reader.length - done))
        target.write(text)
        done, crc = done + len(text), zlib.crc32(text, crc)
    reader.check_end(crc)


def _block(reader: _Reader, most: int) -> bytes:
    pairs = _table(reader)
    data = reader.take(int.from_bytes(reader.take(SIZE_OF_LENGTH), "big"))
    if not data:
        raise reader.wrong("a block is empty")
    known: dict[int, bytes] = {}
    text_of = {byte: _text(byte, pairs, known, set(), reader) for byte in set(data)}
    length = sum(len(text) * data.count(byte) for byte, text in text_of.items())
    if length > most:
        raise reader.wrong(f"a block becomes {length:,} bytes, and at most {most:,} can follow")
    return b"".join(map(text_of.__getitem__, data))


def _table(reader: _Reader) -> dict[int, tuple[int, int]]:
    pairs: dict[int, tuple[int, int]] = {}
    for byte in _told(reader):
        left = reader.byte()
        if left != byte:
            pairs[byte] = left, reader.byte()
    return pairs


def _told(reader: _Reader) -> Iterator[int]:
    byte = 0
    while byte < 256:
        first = reader.byte()
        left_out = max(0, first - MOST_AT_ONCE + 1)
        byte += left_out
        stop = byte + (first + 1 if not left_out else min(1, 256 - byte))
        if byte > 256 or stop > 256:
            raise reader.wrong("a table tells of more than 256 bytes")
        yield from range(byte, stop)
        byte = stop


def _text(
    byte: int, pairs: dict[int, tuple[int, int]], known: dict[int, bytes], inside: set[int], reader: _Reader
) -> bytes:
    """What a byte of a block means, remembered in `known`; `inside` are the bytes that it is a part of."""
    if byte not in known:
        if byte in inside:
            raise reader.wrong(f"in its table the byte 0x{byte:02X} stands for itself and more")
        parts = pairs.get(byte, ())
        texts = [_text(part, pairs, known, inside | {byte}, reader) for part in parts]
        known[byte] = b"".join(texts) if parts else bytes([byte])
        if len(known[byte]) > LONGEST:
            raise reader.wrong(f"the byte 0x{byte:02X} stands for more than a block can hold")
    return known[byte]
