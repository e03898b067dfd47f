"""Read a table that this program wrote without checking each cell.

Only the columns that all others follow from are taken. The table is then written again: if the bytes are the same,
every cell is right. Otherwise the file is read row by row, which finds the place of the error.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from bpe_core.errors import BpeError
from bpe_core.formats.base import Format, OpenedTable
from bpe_core.formats.reasons_and_scores import Number, checked_number
from bpe_core.formats.rebuilding import HistoryBuilder
from bpe_core.formats.rows import KERNELS
from bpe_core.history.history import NOTHING, Bools, Columns, Int64s
from bpe_core.recipes.recipe import LARGEST_VOCABULARY


class _OtherwiseError(Exception):
    """What is written is not what stands there."""


class _Beside(io.RawIOBase):
    """A file that is written only as long as it is what stands there already."""

    def __init__(self, data: bytes) -> None:
        self._data, self.place = memoryview(data), 0

    def writable(self) -> bool:
        return True

    def write(self, some: Any) -> int:
        begin, self.place = self.place, self.place + len(some)
        if self._data[begin : self.place] != some:
            raise _OtherwiseError
        return len(some)


def read_at_once(format: Format, data: bytes, believed: Callable[[], OpenedTable | None]) -> OpenedTable | None:
    """What a file says, believed first, if it is what would be written of that; None where rows must be looked at."""
    try:
        found = believed()
        if found is None:
            return None
        beside = _Beside(data)
        format.write(found.history, beside)  # type: ignore[arg-type]
    except (BpeError, _OtherwiseError):
        return None
    return found if beside.place == len(data) else None


Bytes = npt.NDArray[np.uint8]
MOST_DIGITS = 20
NUMBER = "number"  # the column of those that the file gave tokens from which a table came
NEWLINE, QUOTE = b'\n"'
ABSENT = ("", "null")
MEANT: dict[str, Callable[[str], Number]] = {
    "b": lambda cell: {"true": True, "false": False}[cell],
    "i": int,
    "f": float,
}


class Cells(Protocol):
    """Those of all rows, column by column."""

    def numbers(self, name: str) -> Int64s:
        """Of each the whole number with which it begins, or NOTHING."""

    def texts(self, name: str) -> list[str]:
        """What stands in each."""


@dataclass(frozen=True, eq=False)
class PlacedCells:
    """Those of each row are a row here, too."""

    data: bytes
    names: Sequence[str]  # of the columns
    begin: Int64s
    end: Int64s

    def numbers(self, name: str) -> Int64s:
        return numbers_at(np.frombuffer(self.data, np.uint8), self.begin[:, self.names.index(name)])

    def texts(self, name: str) -> list[str]:
        column = self.names.index(name)
        places = zip(self.begin[:, column].tolist(), self.end[:, column].tolist(), strict=True)
        return [self.data[begin:end].decode(errors="replace") for begin, end in places]


@dataclass(frozen=True, eq=False)
class OnlyNumbers:
    """Of a table of which nothing else is asked."""

    found: Mapping[str, Int64s]

    def numbers(self, name: str) -> Int64s:
        return self.found[name]

    def texts(self, name: str) -> list[str]:
        return [str(one) if one >= 0 else "" for one in self.found[name].tolist()]


def numbers_by_kernels(
    data: bytes, start: int, stop: int, separators: bytes, names: Sequence[str], *, escape: bytes = b""
) -> OnlyNumbers | None:
    """All that the steps of a table are rebuilt from: of rows whose cells have these names.

    Each row stands behind a line feed, each cell behind a separator. None where there are few, or not so many cells.
    """
    rows = data.count(b"\n", start, stop)
    if not KERNELS.chooses(rows) or not rows <= min(LARGEST_VOCABULARY, (stop - start) // len(names)):
        return None
    from bpe_core.formats.compiled_rows import numbers_of  # loads machine code

    wanted = [name for name in names if name in (*Columns._fields, NUMBER)]
    column_of = [wanted.index(name) if name in wanted else NOTHING for name in names]
    found = numbers_of(data, start, stop, separators, escape, column_of, rows)
    return None if found is None else OnlyNumbers(dict(zip(wanted, found, strict=True)))


def delimited_cells(data: bytes, delimiter: str, names: Sequence[str], *, only_numbers: bool) -> Cells | None:
    """Those of the rows below the header, each with as many cells; None where they are not laid out so."""
    below = data.find(b"\n") + 1
    if only_numbers:
        separators = f"{delimiter}\n".encode()
        if (found := numbers_by_kernels(data, below - 1, len(data) - 1, separators, names)) is not None:
            return found
    raw = np.frombuffer(data, np.uint8, offset=below)
    ends = (raw == ord(delimiter)) | (raw == NEWLINE)
    quotes = raw == QUOTE
    if quotes.any():
        ends &= np.cumsum(quotes, dtype=np.uint8) & 1 == 0  # what stands within quotes ends no cell
    if not make_rows(ends, len(names)):
        return None
    end = np.flatnonzero(ends) + below
    begin = np.concatenate([[below], end[:-1] + 1])
    return PlacedCells(data, names, begin.reshape(-1, len(names)), end.reshape(-1, len(names)))


def make_rows(found: Bools, width: int) -> bool:
    """Whether so many cells make rows of this width, and no more than a table can have, whatever the file's size."""
    cells = int(np.count_nonzero(found))
    return 0 < cells <= LARGEST_VOCABULARY * width and cells % width == 0


def numbers_at(data: Bytes, places: Int64s) -> Int64s:
    """The whole number that begins at each of these places, NOTHING where no digit stands there.

    >>> numbers_at(np.frombuffer(b"12,,7", np.uint8), np.array([0, 3, 4])).tolist()
    [12, -1, 7]
    """
    found = np.full(len(places), NOTHING, np.int64)
    which = np.arange(len(places))
    for _ in range(MOST_DIGITS):
        inside = places < len(data)
        which, places = which[inside], places[inside]
        digits = data[places] - ord("0")  # what is no digit is beyond nine
        more = digits <= 9
        which, places, digits = which[more], places[more] + 1, digits[more]
        if not len(which):
            break
        found[which] = np.maximum(found[which], 0) * 10 + digits
    return found


def add_at_once(builder: HistoryBuilder, cells: Cells, where: str) -> bool:
    """Append the steps that these rows tell; False where they must be looked at one by one."""
    columns = [cells.numbers(name) for name in Columns._fields]
    try:
        reasons = {
            name: [checked_number(_meant(cell, kind), kind, where) for cell in cells.texts(name)]
            for name, kind in builder.kinds.items()
        }
    except (KeyError, ValueError):
        return False
    return builder.add_at_once(columns, reasons)


def _meant(cell: str, kind: str) -> Number | None:
    return None if cell in ABSENT else MEANT[kind[1]](cell)
