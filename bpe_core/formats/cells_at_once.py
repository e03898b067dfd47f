"""The cells of all rows of a file at once, by where they begin and end.

What stands in a cell is believed: who asks for numbers gets one wherever a digit stands. So this is for files that are
held against what would be written of them (see written_again.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from bpe_core.formats.beyond_counts import Number, checked_number
from bpe_core.formats.rebuilding import HistoryBuilder
from bpe_core.history.history import NOTHING, Bools, Columns, Int64s
from bpe_core.recipe import LARGEST_VOCABULARY
from bpe_core.records import dataclass

Bytes = npt.NDArray[np.uint8]
MOST_DIGITS = 20
NEWLINE, QUOTE = b'\n"'
ABSENT = ("", "null")
MEANT: dict[str, Callable[[str], Number]] = {
    "b": lambda cell: {"true": True, "false": False}[cell],
    "i": int,
    "f": float,
}


@dataclass(frozen=True, eq=False)
class Cells:
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


def delimited_cells(data: bytes, delimiter: str, names: Sequence[str]) -> Cells | None:
    """Those of the rows below the header, each with as many cells; None where they are not laid out so."""
    below = data.find(b"\n") + 1
    raw = np.frombuffer(data, np.uint8, offset=below)
    ends = (raw == ord(delimiter)) | (raw == NEWLINE)
    quotes = raw == QUOTE
    if quotes.any():
        ends &= np.cumsum(quotes, dtype=np.uint8) & 1 == 0  # what stands within quotes ends no cell
    if not make_rows(ends, len(names)):
        return None
    end = np.flatnonzero(ends) + below
    begin = np.concatenate([[below], end[:-1] + 1])
    return Cells(data, names, begin.reshape(-1, len(names)), end.reshape(-1, len(names)))


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
