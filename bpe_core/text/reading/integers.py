"""The reader of integer sequences in NumPy files. Each integer becomes a private-use character of Unicode.

A `.npy` file has one sequence, or a table with a sequence in each row. A `.npz` file has one array, and may
also have the array `offsets`. The offsets say where each sequence begins, and where the last sequence ends.
Pickled objects in these files are never loaded.
"""

from __future__ import annotations

import math
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from bpe_core.errors import BpeError, CorpusError, cause_of
from bpe_core.support.arrays import Int64s
from bpe_core.support.limits import check_room
from bpe_core.support.numbered_symbols import LARGEST, WIDTH, characters_of
from bpe_core.text.reading.archives import DAMAGED
from bpe_core.text.reading.opening import ByteStream, open_raw, open_stream
from bpe_core.text.reading.source import Chunk, ReadingOptions, SkipLog, Source

OFFSETS = "offsets"
_ENDING = ".npy"
_SMALLEST_BLOCK = 1_024  # integers
_HEADS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
_HELP = "Save a NumPy array of whole numbers with numpy.save, such as array.astype('uint16')."


def pieces(source: Source, options: ReadingOptions, size: int, log: SkipLog) -> Iterator[Chunk]:
    """Yield each sequence of integers in a file as a document, in chunks of about `size` bytes.

    A document is a text in which one character represents each integer.
    """
    with _open_array(source, log) as (array, ends, bytes_read):
        done = 0
        for numbers in array.blocks(max(size // WIDTH, _SMALLEST_BLOCK)):
            stop = done + len(numbers)
            first, last = np.searchsorted(ends, (done, stop), side="right").tolist()
            inside = ends[first:last]
            ends_document = bool(len(inside)) and int(inside[-1]) == stop
            inner = (inside[: len(inside) - ends_document] - done) * WIDTH
            yield Chunk(characters_of(numbers).data, ends_document, bytes_read(), inner if len(inner) else None)
            done = stop


def check_head(source: Source) -> None:
    """Read the head of a file. Raise CorpusError if the file does not hold sequences of integers."""
    with _open_array(source, SkipLog()):
        pass


@contextmanager
def _open_array(source: Source, log: SkipLog) -> Iterator[tuple[_StoredArray, Int64s, Callable[[], int]]]:
    """Open a file. Yield its array, the end of each sequence, and a function that counts the bytes read so far."""
    name = source.name
    with _sentences(name):
        if source.kind == "npy":
            with open_stream(source) as stream:
                array = _StoredArray.begun(_StreamFile(stream), name)
                yield array, array.ends_of_rows(), lambda: stream.bytes_read
                if stream.has_changed:
                    log.add_change(name)
            return
        with open_raw(source) as raw, zipfile.ZipFile(raw) as archive:
            names = [member.removesuffix(_ENDING) for member in archive.namelist() if member.endswith(_ENDING)]
            values = [member for member in names if member != OFFSETS]
            if len(values) != 1:
                there = ", ".join(f'"{member[:40]}"' for member in names[:8]) or "none"
                raise CorpusError(
                    f'{name} must hold one array of integers, and "{OFFSETS}" if it holds several sequences. It holds '
                    f"these arrays: {there}."
                )
            with archive.open(values[0] + _ENDING) as file:
                array = _StoredArray.begun(file, name)
                ends = array.ends_of_rows()
                if OFFSETS in names:
                    with archive.open(OFFSETS + _ENDING) as other:
                        ends = _checked_offsets(_StoredArray.begun(other, f"{name}, {OFFSETS}"), array)
                yield array, ends, raw.tell


@contextmanager
def _sentences(name: str) -> Iterator[None]:
    try:
        yield
    except BpeError:
        raise
    except DAMAGED as error:
        raise CorpusError(f"{name} is not a NumPy file, or is damaged: {cause_of(error)}. {_HELP}") from error


class _StreamFile:
    """A file object for NumPy that reads from a stream of bytes."""

    def __init__(self, stream: ByteStream) -> None:
        self._stream = stream

    def read(self, size: int) -> bytes:
        buffer = bytearray(size)
        return bytes(buffer[: self._stream.fill(memoryview(buffer))])


@dataclass(frozen=True)
class _StoredArray:
    """An array of integers in a file. Its head has been read, but not its integers."""

    file: Any  # has the method `read`
    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]

    @classmethod
    def begun(cls, file: Any, name: str) -> _StoredArray:
        """Read the header of an array. Raise CorpusError if the array does not hold sequences of integers."""
        read_head = _HEADS.get(np.lib.format.read_magic(file))
        if read_head is None:
            raise CorpusError(f"{name} has a header of an unknown version. {_HELP}")
        shape, by_columns, dtype = read_head(file)
        if dtype.hasobject:
            raise CorpusError(f"{name} holds Python objects, which are never loaded. {_HELP}")
        if dtype.kind not in "iu":
            raise CorpusError(f"{name} holds values of the type {dtype}, but symbols must be integers. {_HELP}")
        if len(shape) not in (1, 2) or (by_columns and min(shape) > 1):
            order = ", stored column by column" if by_columns else ""
            raise CorpusError(
                f"{name} holds an array with {len(shape)} dimensions{order}. Save one sequence, or a table with a "
                "sequence in each row, stored row by row."
            )
        return cls(file, name, dtype, shape)

    def __len__(self) -> int:
        return math.prod(self.shape)

    def ends_of_rows(self) -> Int64s:
        """Return the end of each sequence. An array with one dimension is one sequence."""
        rows, length = (1, *self.shape) if len(self.shape) == 1 else self.shape
        check_room(8 * rows, f"Reading {self.name}", "Save fewer sequences in a file.")
        return np.arange(1, rows + 1) * length

    def blocks(self, most: int) -> Iterator[npt.NDArray[np.integer[Any]]]:
        """Yield the integers in blocks. Raise CorpusError if an integer cannot be a symbol."""
        done = 0
        while done < len(self):
            wanted = min(most, len(self) - done)
            numbers = self._read(wanted, done)
            if numbers.min() < 0 or numbers.max() > LARGEST:
                self._refuse(numbers, done)
            yield numbers
            done += wanted

    def whole(self) -> Int64s:
        check_room(16 * len(self), f"Reading {self.name}", "Save fewer sequences in a file.")
        return self._read(len(self), 0).astype(np.int64)

    def _read(self, wanted: int, done: int) -> npt.NDArray[np.integer[Any]]:
        data = self.file.read(wanted * self.dtype.itemsize)
        if len(data) < wanted * self.dtype.itemsize:
            there = done + len(data) // self.dtype.itemsize
            raise CorpusError(
                f"{self.name} ends after {there:,} of its {len(self):,} integers: it was truncated. Copy or save the "
                "file again."
            )
        return np.frombuffer(data, self.dtype)

    def _refuse(self, numbers: npt.NDArray[np.integer[Any]], done: int) -> NoReturn:
        place = int(np.flatnonzero((numbers < 0) | (numbers > LARGEST))[0])
        raise CorpusError(
            f"{self.name} holds {int(numbers[place]):,} at place {done + place + 1:,}. Symbols are integers from 0 to "
            f"{LARGEST:,}; number the symbols from 0 on."
        )


def _checked_offsets(stored: _StoredArray, values: _StoredArray) -> Int64s:
    """Return the end of each sequence that is not empty. Raise CorpusError if the offsets do not fit the values."""
    offsets = stored.whole() if len(stored.shape) == 1 else np.zeros(0, np.int64)
    fits = len(offsets) > 0 and offsets[0] == 0 and offsets[-1] == len(values) and bool((np.diff(offsets) >= 0).all())
    if not fits or len(values.shape) != 1:
        raise CorpusError(
            f"{values.name}: the offsets do not fit the {len(values):,} integers. Offsets begin with 0, never fall, "
            f"and end with {len(values):,}."
        )
    ends: Int64s = np.unique(offsets)
    return ends[1:]
