"""The merge table as CSV or TSV: opens in any spreadsheet, and can be read back exactly.

First come the merges; behind them base symbols and special tokens as rows of step 0, and last the recipe as JSON in
the column `token`, so that a file that was cut short is noticed. All texts are honest texts (see honest_text.py): a
row is always one line, and line numbers in errors are those of an editor.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, BinaryIO

import numpy as np

from bpe_core.errors import FormatError
from bpe_core.formats.base import NO_NUMBER, reported, unless_ids
from bpe_core.formats.json_reading import Object
from bpe_core.formats.merge_table import (
    NUMBER,
    Cells,
    Found,
    MergeTable,
    Told,
    about_of,
    checked_kinds,
    columns_for,
    make_rows,
    meant,
    scores_by_token,
    symbol_in,
)
from bpe_core.formats.rows import Layout, Row, base_rows, merge_rows, rows_by_kernels, special_rows
from bpe_core.history.history import History
from bpe_core.support.honest_text import escape, unescape
from bpe_core.support.progress import ProgressReport

LARGEST_CELL = 16 * 2**20  # characters; only the recipe could ever be so long
SCORES, BETWEEN, NOT_KNOWN = "scores", ";", "nan"
NEWLINE, QUOTE = b'\n"'
_RECIPE = "recipe"


class CsvTable(MergeTable):
    name = "csv"
    extension = ".csv"
    delimiter = ","

    def write_all(self, history: History, file: BinaryIO, progress: ProgressReport) -> None:
        names, numbers = columns_for(history.reasons), unless_ids(self.numbers(history))
        ends = [*([SCORES] if history.scores is not None else []), *([NUMBER] if numbers is not None else [])]
        header = (*Row._fields, *names, *ends)
        file.write(self.delimiter.join(header).encode() + b"\n")
        before = {name: self.delimiter if place else "" for place, name in enumerate(header)}
        is_plain = not names and history.scores is None
        laid = rows_by_kernels(history, Layout(before, "\n", "", self._quoted), numbers) if is_plain else None
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        writer = csv.writer(text, delimiter=self.delimiter, lineterminator="\n")
        known = [] if numbers is None else [None if one == NO_NUMBER else one for one in numbers.tolist()]

        def write(row: Row, reasons: Iterable[object], scores: str = "") -> None:
            said = {SCORES: scores, NUMBER: known[row.id] if known and row.id is not None else None}
            writer.writerow(map(cell_of, (*row, *reasons, *(said[name] for name in ends))))

        if laid is not None:
            file.writelines(reported(laid, history, progress))
        else:
            columns = [history.reasons[name].tolist() for name in names]
            for row in reported(enumerate(merge_rows(history), 1), history, progress):
                write(row, [column[row.step - 1] for column in columns])
        scores = [] if history.scores is None else scores_by_token(history)
        for place, row in enumerate(_step_0_rows(history)):
            some = scores[place] if place < len(scores) else []
            write(row, [None] * len(names), BETWEEN.join(NOT_KNOWN if one is None else repr(one) for one in some))
        text.detach()  # flushes, and leaves the file open for its owner

    def as_found(self, row: Row) -> Found:
        return {name: cell_of(value) for name, value in row._asdict().items()}

    def value(self, cell: Any) -> Any:
        return meant(cell)

    def _quoted(self, text: str) -> str:
        if self.delimiter not in text and '"' not in text:
            return text
        return '"' + text.replace('"', '""') + '"'

    @property
    def _header(self) -> bytes:
        return self.delimiter.join(Row._fields).encode()

    def recognizes(self, data: bytes) -> bool:
        return data.removeprefix(b"\xef\xbb\xbf").startswith(self._header)

    def taken_apart(self, data: bytes, name: str) -> Told:
        if not self.recognizes(data):
            raise FormatError(f"{name}, line 1: the header of a merge table is missing: {self._header.decode()}")
        merges_end = data.find(b"\n0" + self.delimiter.encode()) + 1  # where the rows of step 0 begin
        if not merges_end:
            raise FormatError(f"{name} ends before its base symbols and its recipe: it was cut short.")
        header_end = data.find(b"\n") + 1
        ((where, columns),) = self._rows(data[:header_end], name, 1)
        first_line = data.count(b"\n", 0, merges_end) + 1
        step_0 = [(at, dict(zip(columns, cells, strict=True)))
                  for at, cells in self._rows(data[merges_end:], name, first_line, len(columns))]  # fmt: skip
        about, at = _about(step_0, name)
        ends = [name for name in (SCORES, NUMBER) if name in columns[len(Row._fields) :]]
        beyond = [*columns_for(checked_kinds(about.get("reasons"), at)), *ends]
        if columns[len(Row._fields) :] != beyond or (SCORES in ends) != ("scores_since" in about):
            raise FormatError(
                f"{where}: behind the columns of every table there must be {', '.join(beyond) or 'none'}."
            )
        symbols = [(at, row) for at, row in step_0[:-1] if row["kind"] != "special"]
        numbers = [meant(row.get(NUMBER, "")) for _, row in step_0[:-1]]

        def check(history: History) -> None:
            should = _step_0_rows(history)
            if len(step_0) != len(should):
                raise FormatError(f"{name}: {len(step_0):,} rows of step 0 where the recipe asks for {len(should):,}.")
            for (at, found), row in zip(step_0, should, strict=True):
                self.check_cells(found, row, at)

        return Told(
            about,
            at,
            [symbol_in(row, at) for at, row in symbols],
            lambda: (
                (at, dict(zip(columns, cells, strict=True)))
                for at, cells in self._rows(data[header_end:merges_end], name, 2, len(columns))
            ),
            lambda: _cells_at_once(data[:merges_end], header_end, self.delimiter, columns),
            scores=[_scores(row.get(SCORES, "")) for _, row in symbols],
            numbers=(numbers[: len(symbols)], numbers[len(symbols) :]) if NUMBER in ends else None,
            check=check,
        )

    def _rows(self, data: bytes, name: str, first: int, width: int | None = None) -> Iterator[tuple[str, list[str]]]:
        # The limit belongs to the csv module as a whole; it only ever grows.
        csv.field_size_limit(max(csv.field_size_limit(), LARGEST_CELL))
        for number, line in enumerate(io.BytesIO(data), start=first):
            where = f"{name}, line {number:,}"
            try:
                text = line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
                cells = next(csv.reader([text], delimiter=self.delimiter, strict=True), [])
            except UnicodeDecodeError as error:
                raise FormatError(f"{where}: the bytes at place {error.start + 1} are not UTF-8.") from error
            except csv.Error as error:
                raise FormatError(f"{where}: its quotes or line ends are out of place.") from error
            if width is not None and len(cells) != width:
                raise FormatError(f"{where}: {len(cells)} cells where there should be {width}.")
            yield where, cells


class TsvTable(CsvTable):
    name = "tsv"
    extension = ".tsv"
    delimiter = "\t"


def cell_of(value: object) -> str:
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _step_0_rows(history: History) -> list[Row]:
    """Base symbols and special tokens; last the recipe, and how many tokens there were before the first merge."""
    about = escape(json.dumps(about_of(history), ensure_ascii=False).encode())
    tokens = history.tokens_at_start if history.tokens_at_start >= 0 else None
    last = Row(step=0, token=about, tokens_left=tokens, kind=_RECIPE)
    return [*base_rows(history.alphabet), *special_rows(history), last]


def _about(step_0: Sequence[tuple[str, Found]], name: str) -> tuple[Object, str]:
    where, last = step_0[-1] if step_0 else (name, {})
    if last.get("kind") != _RECIPE:
        raise FormatError(f"{where}: the last row must hold the recipe; the file was cut short.")
    try:
        about = json.loads(unescape(last["token"]))
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{where}: the recipe is not valid JSON.") from error
    if not isinstance(about, dict) or about.keys() - {"reasons", "scores_since"} != {"recipe", "end_reason"}:
        raise FormatError(f"{where}: the last row must hold the recipe and why training ended.")
    return about | {"tokens_at_start": meant(last["tokens_left"])}, where


def _scores(cell: str) -> list[Any]:
    return [None if one == NOT_KNOWN else meant(one) for one in cell.split(BETWEEN)] if cell else []


def _cells_at_once(data: bytes, start: int, delimiter: str, names: Sequence[str]) -> Cells | None:
    raw = np.frombuffer(data, np.uint8, offset=start)
    ends = (raw == ord(delimiter)) | (raw == NEWLINE)
    quotes = raw == QUOTE
    if quotes.any():
        ends &= np.cumsum(quotes, dtype=np.uint8) & 1 == 0  # what is within quotes ends no cell
    if not make_rows(ends, len(names)):
        return None
    end = np.flatnonzero(ends) + start
    begin = np.concatenate([[start], end[:-1] + 1])
    return Cells(data, names, begin.reshape(-1, len(names)), end.reshape(-1, len(names)))
