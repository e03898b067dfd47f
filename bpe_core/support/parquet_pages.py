"""The check of the pages of a Parquet file before Arrow reads them.

Arrow allocates memory for any size that the header of a page claims, so a damaged file of a thousand bytes could take
gigabytes. This module reads the headers before Arrow does, and raises an error if a claimed size is impossible. Each
header gives the offset of the next header.
"""

from __future__ import annotations

import io
from typing import BinaryIO, NamedTuple

from bpe_core.support.foreign import DamagedPart
from bpe_core.support.limits import MOST_TIMES
from bpe_core.support.wording import count_text
from bpe_core.support.wrapped import WrappedFile

MARK = b"PAR1"
HARMLESS = 2**26  # bytes that any page may unpack to, and the rows of a batch if each is the longest of a dictionary
_FOOTER_LENGTH = 4  # bytes with the length of the footer
_DICTIONARY = 2  # a kind of page
_INTEGER = 5  # the type of 32-bit numbers in Thrift
_MOST_PARTS = 1_000  # fields of a header, which has some twenty
_LONGEST = 2**24  # bytes of a header; it holds the smallest and the largest value
_DEEPEST = 32


class TooManyRows(Exception):
    """An error that is raised if so many rows are read at a time that they might not fit into memory.

    `Pages.most_rows` says how many rows may be read at a time.
    """


class Pages(WrappedFile):
    """A file object that Arrow reads in place of a Parquet file. It checks each page before Arrow reads the page.

    Arrow reads a column from its first page to its last page. This object hides the footer after Arrow has read it. So
    if the middle of the file is missing, Arrow does not read the footer as a part of a column.
    """

    def __init__(self, raw: BinaryIO) -> None:
        super().__init__(raw)
        self.size = self._end = raw.seek(0, io.SEEK_END)
        self._columns: dict[int, _Column] | None = None  # by the offset up to which each was read
        self._rows = self.most_rows = 0  # rows of a batch: how many are read, and how many may be

    def end_before_footer(self) -> None:
        self.raw.seek(self._end - len(MARK) - _FOOTER_LENGTH)
        self._end -= len(MARK) + _FOOTER_LENGTH + int.from_bytes(self.raw.read(_FOOTER_LENGTH), "little")

    def begin(self, rows: int) -> None:
        """Prepare to read columns from their beginning. Arrow will read `rows` rows at a time."""
        self._columns = {}
        self._rows = rows
        self.most_rows = HARMLESS

    def read(self, size: int = -1) -> bytes:
        place = self.tell()
        left = max(0, self._end - place)
        data: bytes = self.raw.read(left if size < 0 else min(size, left))
        if self._columns is not None and data:
            column = self._columns.pop(place, None) or _Column(place)
            for page in column.pages_in(data):
                self._check(page)
            self._columns[place + len(data)] = column
        return data

    def _check(self, page: Page) -> None:
        where = f"the page at byte {page.place:,} says that it"
        if page.stored > self._end - page.place:
            raise DamagedPart(f"{where} has {count_text(page.stored, 'byte')}, but the file ends earlier")
        if page.unpacked > max(HARMLESS, MOST_TIMES * page.stored):
            raise DamagedPart(
                f"{where} unpacks from {count_text(page.stored, 'byte')} to {count_text(page.unpacked, 'byte')}"
            )
        if page.kind == _DICTIONARY:
            self.most_rows = max(1, min(self.most_rows, HARMLESS // max(1, page.unpacked)))
            if self._rows > self.most_rows:
                raise TooManyRows


class Page(NamedTuple):
    """The values in the header of a Parquet page."""

    place: int  # the offset of the header in the file
    kind: int
    unpacked: int  # bytes
    stored: int


class _Column:
    """A finder of page headers in a column. It receives the bytes of the column in parts of any size."""

    def __init__(self, place: int) -> None:
        self._place = place  # the offset of the next header in the file
        self._held, self._passed = b"", place  # the beginning of a header, and the offset up to which bytes were seen

    def pages_in(self, data: bytes) -> list[Page]:
        self._passed += len(data)
        whole = self._held + data if self._held else data
        begin = self._passed - len(whole)
        self._held = b""
        pages = []
        while self._place < self._passed:
            try:
                header, end = _Compact(whole, self._place - begin).header()
            except IndexError:  # its end comes with the next bytes
                self._held = whole[self._place - begin :]
                if len(self._held) > _LONGEST:
                    raise DamagedPart(_NOT_READ) from None
                break
            except _NoHeader:  # after the last page; if not, Arrow reports it
                self._place = self._passed
                break
            pages.append(Page(self._place, *header))
            self._place = begin + end + header[2]
        return pages


_NOT_READ = "the header of a page is not valid"


class _NoHeader(Exception):
    """An error for bytes that are not the header of a page."""


class _Compact:
    """A reader of Thrift's compact encoding: one byte for each field, and whole numbers in groups of seven bits."""

    def __init__(self, data: bytes, place: int) -> None:
        self._data = data
        self._place = place
        self._parts = 0

    def header(self) -> tuple[tuple[int, int, int], int]:
        """Return the kind, the unpacked size and the stored size of a page, and the offset after its header."""
        header = self._structure(_DEEPEST)
        try:
            kind = header[1]
            unpacked = header[2]
            stored = header[3]
        except KeyError as error:
            raise _NoHeader from error
        if min(unpacked, stored) < 0:
            raise _NoHeader
        return (kind, unpacked, stored), self._place

    def _structure(self, depth: int) -> dict[int, int]:
        """Return a dictionary from field number to value, for the 32-bit integers of a structure.

        If a field is repeated, its last value counts.
        """
        integers: dict[int, int] = {}
        number = 0
        while (head := self._byte()) & 15:
            number = (number + (head >> 4) if head >> 4 else self._signed()) & 0xFFFF
            if head & 15 == _INTEGER:
                integers[number] = self._signed()
            else:
                self._pass_over(head & 15, depth)
        return integers

    def _pass_over(self, kind: int, depth: int) -> None:
        if not depth:
            raise DamagedPart(_NOT_READ)
        if kind in (1, 2):  # booleans, given by the type
            return
        if kind in (4, 5, 6):
            self._unsigned()
        elif kind == 12:
            self._structure(depth - 1)
        elif kind in (9, 10):
            head = self._byte()
            size = self._unsigned() if head >> 4 == 15 else head >> 4
            self._several(size, (head & 15,), depth)
        elif kind == 11:
            size = self._unsigned()
            kinds = self._byte() if size else 0
            self._several(size, (kinds >> 4, kinds & 15), depth)
        elif kind in (3, 7, 8, 13):
            self._pass(self._unsigned() if kind == 8 else {3: 1, 7: 8, 13: 16}[kind])
        else:
            raise _NoHeader

    def _several(self, size: int, kinds: tuple[int, ...], depth: int) -> None:
        for _ in range(min(size, _MOST_PARTS)):
            for kind in kinds:
                self._pass_over(3 if kind in (1, 2) else kind, depth - 1)  # booleans are a byte each here

    def _byte(self) -> int:
        self._pass(1)
        return self._data[self._place - 1]

    def _pass(self, size: int) -> None:
        self._place += size
        self._parts += 1
        if self._parts > _MOST_PARTS:
            raise DamagedPart(_NOT_READ)
        if self._place > len(self._data):
            raise IndexError

    def _unsigned(self) -> int:
        number = 0
        for shift in range(0, 70, 7):
            byte = self._byte()
            number |= (byte & 127) << shift
            if byte < 128:
                return number
        raise _NoHeader

    def _signed(self) -> int:
        """Read a number whose last bit is its sign."""
        number = self._unsigned()
        return number >> 1 ^ -(number & 1)
