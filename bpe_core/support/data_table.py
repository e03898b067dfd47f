"""A table of named columns with exact values, and the files to which a table is written.

Numbers keep all their digits, unknown values stay empty, and no row is left out, so that a reader can compute with
the values.

>>> table = DataTable({"step": np.array([1111, 1112]), "share": np.array([1 / 3, 2.0]), "loser": [None, 7]})
>>> print(csv_text(table), end="")
step,share,loser
1111,0.3333333333333333,
1112,2.0,7
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any, BinaryIO, TextIO

import numpy as np
import numpy.typing as npt

from bpe_core.errors import FormatError, OutputError, TooLarge
from bpe_core.support.atomic import write_atomically
from bpe_core.support.foreign import MOST_VALUES, report_damage, report_faults
from bpe_core.support.optional_packages import MISSING_PYARROW, pyarrow_or_none
from bpe_core.support.progress import CancelCheck, never_cancelled, while_wanted
from bpe_core.support.small_files import read_small_bytes
from bpe_core.support.wording import as_call, count_text

# The values of a column: whole numbers, numbers, texts, booleans, or tuples of these; None for an unknown value.
Values = npt.NDArray[Any] | Sequence[Any]
ROWS_AT_ONCE = 16_384
MOST_SHOWN = 20  # rows in a notebook
ENDINGS = (".csv", ".tsv", ".json", ".parquet")


@dataclass(frozen=True, eq=False, repr=False)
class DataTable:
    """A table of named columns, all of the same length.

    Parameters
    ----------
    columns
        A dictionary from the name of each column to its values. An unknown value is None.

    Examples
    --------
    >>> table = DataTable({"step": [1, 2], "token": ["lo", "low"]})
    >>> len(table), table.records()[1]
    (2, {'step': 2, 'token': 'low'})
    """

    columns: Mapping[str, Values]

    def __post_init__(self) -> None:
        lengths = {name: len(values) for name, values in self.columns.items()}
        assert len(set(lengths.values())) <= 1, lengths

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def __repr__(self) -> str:
        return as_call("DataTable", rows=len(self), columns=tuple(self.columns))

    def _repr_html_(self) -> str:
        """Return the first rows as HTML for a notebook."""
        from bpe_core.support import markup  # only notebooks need it

        first = (["" if value is None else str(value) for value in row] for row in islice(self.rows(), MOST_SHOWN))
        return str(markup.table(self.rows_in_words, tuple(self.columns), first))

    @property
    def rows_in_words(self) -> str:
        """Return a phrase that says how many rows there are, and how many of them a notebook shows."""
        rows = count_text(len(self), "row")
        return rows if len(self) <= MOST_SHOWN else f"{rows}, of which the first {MOST_SHOWN} are shown"

    def rows(self, cancelled: CancelCheck = never_cancelled) -> Iterator[tuple[Any, ...]]:
        for start in while_wanted(range(0, len(self), ROWS_AT_ONCE), cancelled, every=1):
            parts = (_plain(values[start : start + ROWS_AT_ONCE]) for values in self.columns.values())
            yield from zip(*parts, strict=True)

    def records(self) -> list[dict[str, Any]]:
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows()]


def is_data(path: Path | str) -> bool:
    return Path(path).suffix.lower() in ENDINGS


def write_data(table: DataTable, path: Path | str, *, cancelled: CancelCheck = never_cancelled) -> None:
    """Write a table to a file. The ending of the name decides the format.

    Parameters
    ----------
    table
        The named columns. An answer to a question is such a table.
    path
        The name of the file. It ends in .csv, .tsv, .json or .parquet.
    cancelled
        The callback that may cancel the work.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_data(DataTable({"step": [1, 2], "token": ["lo", "low"]}), Path(folder, "steps.csv"))
    ...     print(Path(folder, "steps.csv").read_text(), end="")
    step,token
    1,lo
    2,low
    """
    columns = getattr(table, "columns", None)
    if not isinstance(columns, Mapping):
        raise OutputError(
            f"This is a {type(table).__name__}, not a table of this program; use the data frame's own functions to "
            "write it."
        )
    with write_atomically(checked_name(path)) as file:
        ending = Path(path).suffix.lower()
        if ending == ".parquet":
            _write_parquet(DataTable(columns), file)
            return
        text = io.TextIOWrapper(file, encoding="utf-8", newline="", errors="replace")
        _WRITERS[ending](DataTable(columns), text, cancelled)
        text.detach()


def checked_name(path: Path | str) -> Path:
    """Return the path of the table to write.

    Raise OutputError if the file name extension is unknown, or if a Parquet file is wanted and pyarrow is
    missing.
    """
    if not is_data(path):
        raise OutputError(f"The name {path} must end in one of {', '.join(ENDINGS)}.")
    if Path(path).suffix.lower() == ".parquet" and pyarrow_or_none() is None:
        raise OutputError(f"Parquet {MISSING_PYARROW}")
    return Path(path)


def read_data(path: Path | str, texts: Collection[str]) -> DataTable:
    """Read a table that `write_data` wrote. The columns in `texts` hold texts. All other columns hold numbers."""
    columns = read_plainly(path)
    with report_faults(f"{path} is not a table of columns, or is damaged"):
        return DataTable({name: _read(values, name in texts) for name, values in columns.items()})


def read_plainly(path: Path | str) -> dict[str, list[Any]]:
    """Return the columns of a table as they are stored. In a text file, such as CSV, all values are texts."""
    with report_faults(f"{path} is not a table of columns, or is damaged"):
        return _READERS[checked_name(path).suffix.lower()](Path(path))


def _read(values: Sequence[Any], is_text: bool) -> Values:
    """Return the values of a column. A missing number becomes NaN, and a missing text becomes an empty string."""
    if is_text:
        return ["" if value is None else str(value) for value in values]
    numbers = [math.nan if value is None or value == "" else value for value in values]
    if all(isinstance(value, int) or (isinstance(value, str) and value.lstrip("-").isdecimal()) for value in numbers):
        return np.array([int(value) for value in numbers], np.int64)
    return np.array([float(value) for value in numbers], np.float64)


def _read_separated(path: Path, separator: str) -> dict[str, list[Any]]:
    text = read_small_bytes(path, "the table", FormatError).decode("utf-8")
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True))
    names = rows[0] if rows else []
    return {name: [row[place] for row in rows[1:]] for place, name in enumerate(names)}


def _read_json(path: Path) -> dict[str, list[Any]]:
    rows = json.loads(read_small_bytes(path, "the table", FormatError).decode("utf-8-sig"))
    return {name: [row[name] for row in rows] for name in (rows[0] if rows else ())}


def _read_parquet(path: Path) -> dict[str, list[Any]]:
    from bpe_core.support.parquet_file import ParquetFile  # few tables are read

    with open(path, "rb") as file, report_damage(str(path)):
        table = ParquetFile(file)
        if table.rows * len(table.columns) > MOST_VALUES:
            raise TooLarge(f"{path} has more than {MOST_VALUES:,} values, and a table must not have more.")
        columns: dict[str, list[Any]] = table.read().to_pydict()
    return columns


_READERS: dict[str, Callable[[Path], dict[str, list[Any]]]] = {
    ".csv": lambda path: _read_separated(path, ","),
    ".tsv": lambda path: _read_separated(path, "\t"),
    ".json": _read_json,
    ".parquet": _read_parquet,
}


def csv_text(table: DataTable, separator: str = ",", *, headers: bool = True) -> str:
    """Return the table as text with separators between the values, for files and for the clipboard."""
    text = io.StringIO()
    _write_separated(table, text, never_cancelled, separator, headers=headers)
    return text.getvalue()


def _write_separated(
    table: DataTable, file: TextIO, cancelled: CancelCheck, separator: str = ",", *, headers: bool = True
) -> None:
    # Before Python 3.13 a lone \r within a cell is put in quotes only if it is among the line ends.
    lines = SimpleNamespace(write=lambda row: file.write(row.removesuffix("\r\n") + "\n"))
    writer = csv.writer(lines, delimiter=separator, lineterminator="\r\n")
    if headers:
        writer.writerow(table.columns)
    writer.writerows(map(_cells, table.rows(cancelled)))


def _cells(row: tuple[Any, ...]) -> list[Any]:
    return [", ".join(map(str, cell)) if isinstance(cell, tuple) else cell for cell in row]


def _write_json(table: DataTable, file: TextIO, cancelled: CancelCheck) -> None:
    """Write the rows as a JSON list with one object on each line."""
    names = list(table.columns)
    before = "[\n"
    for row in table.rows(cancelled):
        file.write(before + json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False, allow_nan=False))
        before = ",\n"
    file.write("\n]\n" if len(table) else "[]\n")


_WRITERS: dict[str, Callable[[DataTable, TextIO, CancelCheck], None]] = {
    ".csv": _write_separated,
    ".tsv": lambda table, file, cancelled: _write_separated(table, file, cancelled, "\t"),
    ".json": _write_json,
}


def _write_parquet(table: DataTable, file: BinaryIO) -> None:
    arrow = pyarrow_or_none()  # its name was checked
    columns = {name: arrow.array(_plain(values), _kind(arrow, values)) for name, values in table.columns.items()}
    arrow.parquet.write_table(arrow.table(columns), file)


def _kind(arrow: Any, values: Values) -> Any:
    """Return the Arrow type of a column. The type is the same whether values are missing or not."""
    if isinstance(values, np.ndarray):
        kinds = {"i": arrow.int64, "u": arrow.int64, "b": arrow.bool_, "f": arrow.float64}
        return kinds[values.dtype.kind]() if values.dtype.kind in kinds else arrow.string()
    known = next((value for value in values if value is not None), None)
    if isinstance(known, tuple):
        inside = [value for items in values for value in items or ()]
        return arrow.list_(_kind(arrow, inside) if inside else arrow.string())
    if isinstance(known, bool):
        return arrow.bool_()
    if known is None or isinstance(known, int):
        return arrow.int64()
    return arrow.float64() if isinstance(known, float) else arrow.string()


def _plain(values: Values) -> list[Any]:
    """Return the values as Python values. NaN and infinities become None."""
    plain_values: list[Any] = values.tolist() if isinstance(values, np.ndarray) else list(values)
    if isinstance(values, np.ndarray) and (values.dtype.kind != "f" or np.isfinite(values).all()):
        return plain_values
    return [None if isinstance(value, float) and not math.isfinite(value) else value for value in plain_values]
