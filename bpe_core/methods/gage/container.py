"""The format `.gage`. This module compresses a file as Gage's program of 1994 did, and expands it again.

    >>> expand(compress(b"aaabdaaabac" * 30).data) == b"aaabdaaabac" * 30
    True

A `.gage` file is

| bytes | what |
|---|---|
| 8 | `BPEGAGE` and the version, which is 1 |
| 8 | the length of the original in bytes, the highest byte first |
| ... | the blocks as the program of 1994 writes and expands them (`methods/gage/block_form.py`) |
| 4 | the CRC-32 of the original, the highest byte first |
"""

from __future__ import annotations

import io
import os
import zlib
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from bpe_core.errors import Cancelled, CorpusError, FormatError, OutputError
from bpe_core.kernels.readiness import SAMPLE, by_machine_code
from bpe_core.kernels.stored_code import COMPRESSING
from bpe_core.methods.gage.block_form import (
    LONGEST,
    MOST_AT_ONCE,
    SIZE_OF_LENGTH,
    CompressedBlock,
    blocks_of,
    size_of_table,
    write_block,
)
from bpe_core.methods.kit.compressors import opened
from bpe_core.methods.kit.container import Report
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.atomic import write_atomically
from bpe_core.support.limits import check_room
from bpe_core.support.progress import ALONE, Progress, Work
from bpe_core.support.wording import count_text

ENDING = ".gage"
MAGIC = b"BPEGAGE"
VERSION = 1
SIZE_OF_HEAD = 16
SIZE_OF_CHECKSUM = 4
SIZE_OF_NUMBER = 8


def head(length: int) -> bytes:
    return MAGIC + bytes([VERSION]) + length.to_bytes(SIZE_OF_NUMBER, "big")


def checksum(crc: int) -> bytes:
    return crc.to_bytes(SIZE_OF_CHECKSUM, "big")


def refuse_to_overwrite(source: Path, target: Path) -> None:
    """Raise OutputError if the output path is the input file.

    The program reads the input file until the work ends, so the output must not overwrite it.
    """
    if target.exists() and source.exists() and target.samefile(source):
        raise OutputError(f"{target} is the input file; choose another name for the output.")


PIECE = 1 << 18  # about how many bytes are compressed between two reports of progress
MOST_THREADS = 8


ABOUT = (
    "Philip Gage's algorithm of 1994: in each block of 5,000 bytes, unused bytes replace the most frequent pairs. "
    "Files of any kind can be compressed."
)
NOTHING_PAYS = (
    "Nothing was replaced: no pair in any block occurs often enough to save more bytes than its table entry needs."
)


@dataclass(frozen=True)
class CompressedFile:
    data: bytes
    report: Report


# The original of some blocks, their written form, and counts: blocks, pairs, bytes of tables, full blocks.
_Piece = tuple[bytes, bytes, npt.NDArray[np.int64]]


def compress(data: bytes, recipe: Recipe | None = None, *, work: Work = ALONE) -> CompressedFile:
    """Compress bytes in memory. The recipe sets the block size, the minimum count of a pair, and the tie rule."""
    target = io.BytesIO()
    report = _compress(io.BytesIO(data), len(data), target, recipe or Recipe.preset("gage"), work)
    return CompressedFile(target.getvalue(), report)


def compress_file(path: Path | str, output: Path | str, recipe: Recipe | None = None, *, work: Work = ALONE) -> Report:
    """Compress the file `path` into the file `output`. An existing output is replaced only after the work is done."""
    refuse_to_overwrite(Path(path), Path(output))
    with opened(path) as source, write_atomically(output) as target:
        size = os.fstat(source.fileno()).st_size
        return _compress(source, size, target, recipe or Recipe.preset("gage"), work, str(path))


def _compress(source: BinaryIO, size: int, target: BinaryIO, recipe: Recipe, work: Work, name: str = "") -> Report:
    target.write(head(size))
    is_fast = by_machine_code(size, COMPRESSING, work)
    done = crc = written = 0
    counts = np.zeros(4, np.int64)
    for original, compressed, more in _compressed(
        _whole_blocks(source, recipe, PIECE if is_fast else SAMPLE), recipe, is_fast
    ):
        if work.cancelled():
            raise Cancelled("Compressing was stopped.")
        target.write(compressed)
        crc = zlib.crc32(original, crc)
        done = done + len(original)
        written = written + len(compressed)
        counts = counts + more
        work.progress(Progress("compressing", done, size, "bytes", name))
    if done != size:
        raise CorpusError(f"{name} changed from {size:,} to {count_text(done, 'byte')} while it was read.")
    target.write(checksum(crc))
    blocks, pairs, table_bytes, full_blocks = counts.tolist()
    whole = written + SIZE_OF_HEAD + SIZE_OF_CHECKSUM
    return Report(size, whole, blocks, pairs, table_bytes, written - table_bytes - 2 * blocks, full_blocks)


def _whole_blocks(source: BinaryIO, recipe: Recipe, size: int) -> Iterator[bytes]:
    size = max(size, 2 * recipe.block_size)
    held = b""
    while read := source.read(size):
        held += read
        *_, last = blocks_of(
            held, recipe.block_size, recipe.block_bytes
        )  # the last block may continue in the next piece
        if last.start:
            yield held[: last.start]
        held = held[last.start :]
    if held:
        yield held


def _compressed(pieces: Iterator[bytes], recipe: Recipe, is_fast: bool) -> Iterator[_Piece]:
    """Compress parts of a file, and yield the results in the order of the parts.

    If `is_fast` is true, several parts are compressed at the same time, on different cores.
    """
    if not is_fast:
        yield from (_piece(data, recipe, is_fast) for data in pieces)
        return
    threads = min(MOST_THREADS, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2)
    from concurrent.futures import ThreadPoolExecutor  # takes a while to load

    with ThreadPoolExecutor(threads) as pool:
        waiting: deque[Future[_Piece]] = deque()
        for data in pieces:
            waiting.append(pool.submit(_piece, data, recipe, is_fast))
            if len(waiting) > 2 * threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _piece(data: bytes, recipe: Recipe, is_fast: bool) -> _Piece:
    if is_fast:
        from bpe_core.methods.gage.compiled import compressed_blocks  # loads machine code
    else:
        from bpe_core.methods.gage.reference import compressed_blocks  # only samples need this import
    blocks = compressed_blocks(data, recipe)
    tables = sum(size_of_table(block.pairs) for block in blocks)
    counts = np.array([len(blocks), sum(len(block.pairs) for block in blocks), tables, sum(map(_is_full, blocks))])
    return data, b"".join(write_block(block.pairs, block.data) for block in blocks), counts


def _is_full(block: CompressedBlock) -> bool:
    return not block.pairs and len(set(block.data)) == 256


LEAST_BLOCK = 6  # bytes: the shortest table, the length, one byte of data
BYTES_BETWEEN_REPORTS = 1 << 18


def expand(data: bytes, *, work: Work = ALONE) -> bytes:
    """Expand a compressed file that is given as bytes, and return the original bytes."""
    reader = _Reader(io.BytesIO(data), len(data), "The file")
    target = io.BytesIO()
    check_room(2 * reader.length, "Expanding", "Expand it to a file instead.")
    _expand(reader, target, work)
    return target.getvalue()


def expand_file(path: Path | str, output: Path | str, *, work: Work = ALONE) -> int:
    """Expand the file `path` into the file `output` and return the number of bytes written.

    Raise an error if the compressed file is damaged.
    """
    refuse_to_overwrite(Path(path), Path(output))
    with opened(path) as source:
        reader = _Reader(source, os.fstat(source.fileno()).st_size, str(path))
        with write_atomically(output) as target:
            _expand(reader, target, work)
    return reader.length


class _Reader:
    def __init__(self, source: BinaryIO, size: int, name: str) -> None:
        self._source = source
        self._name = name
        self.place = 0
        if not (start := source.read(len(MAGIC) + 1)).startswith(MAGIC):
            raise FormatError(f"{name} was not written by `bpe-explorer compress`: its first bytes are different.")
        self.place = len(start)
        if start[-1:] != bytes([VERSION]):
            raise FormatError(
                f"{name} was written by a newer version of this program. Expand the file with that version."
            )
        self.length = int.from_bytes(self.take(SIZE_OF_NUMBER), "big")
        most = (size - SIZE_OF_HEAD - SIZE_OF_CHECKSUM) // LEAST_BLOCK * LONGEST
        if self.length > max(0, most):
            raise self.wrong(
                f"the file claims that the original is {count_text(self.length, 'byte')} long, but it can hold at most "
                f"{count_text(most, 'byte')}"
            )

    def take(self, count: int) -> bytes:
        taken = self._source.read(count)
        self.place += len(taken)
        if len(taken) < count:
            raise self.wrong("the file ends too early, because it was truncated")
        return taken

    def byte(self) -> int:
        return self.take(1)[0]

    def wrong(self, what: str) -> FormatError:
        return FormatError(f"{self._name} is damaged at byte {self.place:,}: {what}. Nothing was written.")

    def check_end(self, crc: int) -> None:
        if self.take(SIZE_OF_CHECKSUM) != checksum(crc):
            raise self.wrong("the expanded bytes do not have the checksum of the original")
        if self._source.read(1):
            raise self.wrong("bytes follow the end of the compressed data")


def _expand(reader: _Reader, target: BinaryIO, work: Work) -> None:
    done = crc = reported = 0
    while done < reader.length:
        if done - reported >= BYTES_BETWEEN_REPORTS:
            reported = done
            work.progress(Progress("expanding", done, reader.length, "bytes"))
            if work.cancelled():
                raise Cancelled("Expanding was stopped.")
        text = _block(reader, min(LONGEST, reader.length - done))
        target.write(text)
        done = done + len(text)
        crc = zlib.crc32(text, crc)
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
        raise reader.wrong(
            f"a block expands to {count_text(length, 'byte')}, but at most {count_text(most, 'byte')} can follow"
        )
    return b"".join(map(text_of.__getitem__, data))


def _table(reader: _Reader) -> dict[int, tuple[int, int]]:
    pairs: dict[int, tuple[int, int]] = {}
    for byte in _bytes_with_rows(reader):
        left = reader.byte()
        if left != byte:
            pairs[byte] = left, reader.byte()
    return pairs


def _bytes_with_rows(reader: _Reader) -> Iterator[int]:
    byte = 0
    while byte < 256:
        first = reader.byte()
        left_out = max(0, first - MOST_AT_ONCE + 1)
        byte += left_out
        stop = byte + (first + 1 if not left_out else min(1, 256 - byte))
        if byte > 256 or stop > 256:
            raise reader.wrong("a table describes more than 256 bytes")
        yield from range(byte, stop)
        byte = stop


def _text(
    byte: int, pairs: dict[int, tuple[int, int]], known: dict[int, bytes], inside: set[int], reader: _Reader
) -> bytes:
    if byte not in known:
        if byte in inside:
            raise reader.wrong(f"the table of a block replaces the byte 0x{byte:02X} by itself and another byte")
        parts = pairs.get(byte, ())
        texts = [_text(part, pairs, known, inside | {byte}, reader) for part in parts]
        known[byte] = b"".join(texts) if parts else bytes([byte])
        if len(known[byte]) > LONGEST:
            raise reader.wrong(f"the byte 0x{byte:02X} expands to more than a block can hold")
    return known[byte]
