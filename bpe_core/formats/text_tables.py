"""The merge table as JSON, CSV or TSV. A written table can be read again without any loss.

JSON is one object with the recipe, the base symbols and the merges. Each merge has a line. CSV and TSV, for
spreadsheets, begin with the merges. Base symbols and special tokens follow as rows of step 0. The recipe comes last, as
JSON in the column `token`, so a truncated file is noticed. All texts are escaped (see escaped_bytes.py). So a row is
always one line, and an error names the line by the number that an editor shows.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from json.encoder import encode_basestring
from typing import Any, BinaryIO

import numpy as np

from bpe_core.errors import FormatError, damage_error
from bpe_core.formats import merge_table
from bpe_core.formats.base import NO_NUMBER, decoded, ids_beside, reported
from bpe_core.formats.json_reading import Object, parsed_object
from bpe_core.formats.merge_table import NUMBER, Cells, Found, MergeTable, ParsedTable
from bpe_core.formats.rows import COLUMNS_BUT_KIND, Layout, Row, base_rows, merge_rows, rows_by_kernels, special_rows
from bpe_core.history.history import History, Int64s
from bpe_core.support.escaped_bytes import escape, unescape
from bpe_core.support.progress import ProgressReport
from bpe_core.support.wording import count_text

OPENING = b'\n "merges": ['  # the text before the lines of the merges, as this program writes it
CLOSING = b"\n ]\n}\n"  # the text after these lines
BEFORE = '  {"step": ,'  # bytes of a line, besides its values from the first on
LARGEST_WHOLE = 32 * 2**20  # bytes parsed at once; in memory they can become twenty times as many
LARGEST_LINE = 2**20
SIGNATURE = "bpe-explorer merge table"
VERSION = 1
SPECIAL_NUMBERS = "special_numbers"
MOST_SYMBOLS = 100_000  # read all at once; with their scores they take 200 bytes each

_SYMBOL_COLUMNS = ("id", "kind", "token", "bytes")
_encoded = json.JSONEncoder(ensure_ascii=False).encode


class JsonTable(MergeTable):
    name = "json"
    holds_hidden = True

    def holds_joining(self, history: History) -> bool:
        return True

    def impossible(self, history: History) -> list[str]:
        if len(history.alphabet) <= MOST_SYMBOLS:
            return []
        return [
            f"A JSON table of {count_text(len(history.alphabet), 'piece')} is too large to be read again. Choose csv "
            "instead."
        ]

    def write_all(self, history: History, file: BinaryIO, progress: ProgressReport) -> None:
        tokens = history.tokens_at_start if history.tokens_at_start >= 0 else None
        about = {"format": SIGNATURE, "version": VERSION, **merge_table.about_of(history, tokens_at_start=tokens)}
        about |= {} if history.joining is None else {"joining": history.joining.to_dict}
        numbers = ids_beside(history, self.numbers(history))
        known = [] if numbers is None else _with_gaps(numbers)
        about |= {SPECIAL_NUMBERS: known[history.first_special :]} if known else {}
        file.write(json.dumps(about, ensure_ascii=False, indent=1).removesuffix("\n}").encode())
        symbols = [{name: getattr(row, name) for name in _SYMBOL_COLUMNS} for row in base_rows(history.alphabet)]
        if history.scores is not None:
            symbols = [
                symbol | {"scores": some}
                for symbol, some in zip(symbols, merge_table.scores_by_token(history), strict=True)
            ]
        if known:
            symbols = [symbol | {NUMBER: known[id]} for id, symbol in enumerate(symbols)]
        lines = ",".join(f"\n  {_encoded(symbol)}" for symbol in symbols) + "\n " * bool(symbols)
        file.write(f',\n "alphabet": [{lines}],'.encode() + OPENING)
        comma = 1  # before all but the first
        for rows in reported(_json_lines(history, numbers, known), history, progress):
            file.write(rows[comma:])
            comma = 0
        file.write(CLOSING if len(history) else b"]\n}\n")

    def recognizes(self, data: bytes) -> bool:
        return data.lstrip().startswith(b"{") and SIGNATURE.encode() in data

    def as_read(self, row: Row) -> Found:
        return {column: getattr(row, column) for column in COLUMNS_BUT_KIND}

    def parse_parts(self, data: bytes, name: str) -> ParsedTable:
        begin = data.find(OPENING) + len(OPENING)
        is_in_lines = begin >= len(OPENING) and data.startswith((b'\n  {"', b'\r\n  {"', b"]"), begin)
        about = parsed_object(data[:begin] + b"]}" if is_in_lines else data, name, LARGEST_WHOLE)
        if about.get("format") != SIGNATURE:
            raise FormatError(
                f'{name} is not a merge table: it lacks "format": "{SIGNATURE}". '
                "Name a file that this program exported, or a tokenizer.json."
            )
        if about.get("version") != VERSION:
            raise FormatError(
                f"{name} is a merge table of version {about.get('version')!r}; this program reads version {VERSION}."
            )
        merges = [] if is_in_lines else _objects_in(about, "merges", name)
        alphabet = _objects_in(about, "alphabet", name)
        wrong = next((id for id, item in enumerate(alphabet) if item.get("id") != id), None)
        if wrong is not None:
            raise FormatError(
                f"{name}, base symbol {wrong:,}: the id of this base symbol is {alphabet[wrong].get('id')!r}, but "
                "must be its place in the list."
            )
        numbers = None
        if SPECIAL_NUMBERS in about:
            if not isinstance(about[SPECIAL_NUMBERS], list):
                raise FormatError(f'{name}: "{SPECIAL_NUMBERS}" must be a list with the id of each special token.')
            numbers = [item.get(NUMBER) for item in alphabet], about[SPECIAL_NUMBERS]
        columns = [*COLUMNS_BUT_KIND, *merge_table.columns_for(merge_table.checked_kinds(about.get("reasons"), name))]
        columns += [NUMBER] if numbers else []
        return ParsedTable(
            about,
            name,
            [merge_table.symbol_in(item, f"{name}, base symbol {id:,}") for id, item in enumerate(alphabet)],
            lambda: (
                _merge_lines(data, begin, name)
                if is_in_lines
                else ((f"{name}, merge {number:,}", item) for number, item in enumerate(merges, 1))
            ),
            lambda: _json_cells_at_once(data, columns),
            scores=[item.get("scores") for item in alphabet],
            numbers=numbers,
        )


def _with_gaps(numbers: Int64s) -> list[int | None]:
    """Return the ids as a list. The entry of a token without an id is None."""
    return [None if number == NO_NUMBER else number for number in numbers.tolist()]


def _json_lines(history: History, numbers: Int64s | None, known: Sequence[int | None]) -> Iterator[tuple[int, bytes]]:
    """Yield many lines of JSON at a time, together with the number of the last step in them.

    A comma precedes each line. `numbers` holds the ids as an array. `known` holds the ids as a list, with None for a
    missing id.
    """
    reasons = {name: history.reasons[name].tolist() for name in merge_table.columns_for(history.reasons)}
    if not reasons:
        names = [*COLUMNS_BUT_KIND, *([] if numbers is None else [NUMBER])]
        before = {name: f', "{name}": ' + '"' * (name == "bytes") for name in names}
        before |= {"step": ',\n  {"step": ', "length": '", "length": '}
        lines = rows_by_kernels(history, Layout(before, "}", "null", encode_basestring), numbers)
        if lines is not None:
            yield from lines
            return
    for row in merge_rows(history):
        cells = {column: getattr(row, column) for column in COLUMNS_BUT_KIND}
        for name, column in reasons.items():
            value = column[row.step - 1]
            cells[name] = value if math.isfinite(value) else None
        if known and row.id is not None:
            cells[NUMBER] = known[row.id]
        yield row.step, f",\n  {_encoded(cells)}".encode()


def _objects_in(whole: Object, key: str, name: str) -> list[Object]:
    items = whole.get(key)
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise FormatError(f'{name}: "{key}" must be a list of objects.')
    return items


def _merge_lines(data: bytes, begin: int, name: str) -> Iterator[tuple[str, Object]]:
    lines = io.BytesIO(data)  # shares the memory of `data`
    lines.seek(begin)
    comma: bool | None = None  # after the merge before; None: there was none
    for number, line in enumerate(lines, start=data.count(b"\n", 0, begin) + 1):
        where = f"{name}, line {number:,}"
        text = line.strip()
        if text.startswith(b"]"):
            rest = lines.read().strip()
            if (text, rest) == (b"]", b""):
                raise damage_error(f"{name} ends without its last bracket: it was truncated.")
            if comma or (text, rest) not in ((b"]", b"}"), (b"]}", b"")):
                raise FormatError(f"{where}: the list of merges does not end with a closing bracket.")
            return
        if text:
            if comma is False:
                raise FormatError(f"{where}: the comma before this merge is missing.")
            comma = text.endswith(b",")
            yield where, parsed_object(text.removesuffix(b","), name, LARGEST_LINE, number)
    raise damage_error(f"{name} ends within its merges: it was truncated.")


def _json_cells_at_once(data: bytes, names: Sequence[str]) -> Cells | None:
    """Find the values of all merges in a JSON file without reading the merges one by one.

    `names` are the keys that each merge has. Return None if the file has a different layout.
    """
    start = data.find(OPENING) + len(OPENING)
    stop = data.rfind(CLOSING)
    if not len(OPENING) <= start < stop:
        return None
    raw = np.frombuffer(data, np.uint8, count=stop - start, offset=start)
    # A quote inside a text has a backslash before it, and the quote that begins a text has a blank.
    keys = (raw[1:-1] == ord('"')) & (raw[2:] == ord(":")) & (raw[:-2] != ord("\\")) & (raw[:-2] != ord(" "))
    if not merge_table.fill_rows(keys, len(names)):
        return None
    keys_end = (np.flatnonzero(keys) + start + 1).reshape(-1, len(names))
    keys_begin = keys_end - np.array([len(name) for name in names])
    next_line = np.append(keys_begin[1:, 0] - len(',\n  {"'), stop)
    end = np.column_stack([keys_begin[:, 1:] - len(', "'), next_line - len("}")])
    begin = keys_end + len('": ')
    return Cells(data, names, begin, end) if (next_line - begin[:, 0]).max() + len(BEFORE) <= LARGEST_LINE else None


LARGEST_CELL = 16 * 2**20  # characters; only the recipe could be that long
SCORES = "scores"
BETWEEN = ";"
NOT_KNOWN = "nan"
NEWLINE, QUOTE = b'\n"'
_RECIPE = "recipe"
_TIED = Row._fields.index("tied")


class CsvTable(MergeTable):
    name = "csv"
    delimiter = ","

    def write_all(self, history: History, file: BinaryIO, progress: ProgressReport) -> None:
        names = merge_table.columns_for(history.reasons)
        numbers = ids_beside(history, self.numbers(history))
        ends = [*([SCORES] if history.scores is not None else []), *([NUMBER] if numbers is not None else [])]
        header = (*Row._fields, *names, *ends)
        file.write(self.delimiter.join(header).encode() + b"\n")
        before = {name: self.delimiter if place else "" for place, name in enumerate(header)}
        is_plain = not names and history.scores is None
        laid = rows_by_kernels(history, Layout(before, "\n", "", self._quoted), numbers) if is_plain else None
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        writer = csv.writer(text, delimiter=self.delimiter, lineterminator="\n")
        known = [] if numbers is None else _with_gaps(numbers)

        def write(row: Row, reasons: Iterable[object], scores: str = "") -> None:
            said = {SCORES: scores, NUMBER: known[row.id] if known and row.id is not None else None}
            cells = [*row, *map(cell_of, reasons), *(said[name] for name in ends)]
            cells[_TIED] = cell_of(row.tied)  # the writer does the same for all other cells, and faster
            writer.writerow(cells)

        if laid is not None:
            file.writelines(reported(laid, history, progress))
        else:
            columns = [history.reasons[name].tolist() for name in names]
            for row in reported(enumerate(merge_rows(history), 1), history, progress):
                write(row, [column[row.step - 1] for column in columns])
        scores = [] if history.scores is None else merge_table.scores_by_token(history)
        for place, row in enumerate(_step_0_rows(history)):
            some = scores[place] if place < len(scores) else []
            write(row, [None] * len(names), BETWEEN.join(NOT_KNOWN if score is None else repr(score) for score in some))
        text.detach()  # flushes the file, and leaves it open for its owner

    def as_read(self, row: Row) -> Found:
        return {name: cell_of(value) for name, value in row._asdict().items()}

    def value(self, cell: Any) -> Any:
        return merge_table.cell_value(cell)

    def _quoted(self, text: str) -> str:
        if self.delimiter not in text and '"' not in text:
            return text
        return '"' + text.replace('"', '""') + '"'

    @property
    def _header(self) -> bytes:
        return self.delimiter.join(Row._fields).encode()

    def recognizes(self, data: bytes) -> bool:
        return data.removeprefix(b"\xef\xbb\xbf").startswith(self._header)

    def parse_parts(self, data: bytes, name: str) -> ParsedTable:
        if not self.recognizes(data):
            raise FormatError(f"{name}, line 1: the header of a merge table is missing: {self._header.decode()}")
        merges_end = data.find(b"\n0" + self.delimiter.encode()) + 1  # the offset at which the rows of step 0 begin
        if not merges_end:
            raise damage_error(f"{name} ends before its base symbols and its recipe: it was truncated.")
        header_end = data.find(b"\n") + 1
        ((where, columns),) = self._rows(data[:header_end], name, 1)
        first_line = data.count(b"\n", 0, merges_end) + 1
        step_0 = [(at, dict(zip(columns, cells, strict=True)))
                  for at, cells in self._rows(data[merges_end:], name, first_line, len(columns))]  # fmt: skip
        about, at = _about(step_0, name)
        ends = [name for name in (SCORES, NUMBER) if name in columns[len(Row._fields) :]]
        beyond = [*merge_table.columns_for(merge_table.checked_kinds(about.get("reasons"), at)), *ends]
        if columns[len(Row._fields) :] != beyond or (SCORES in ends) != ("scores_since" in about):
            raise FormatError(
                f"{where}: after the columns that every table has, the first row must name "
                f"{', '.join(beyond) or 'no others'}."
            )
        symbols = [(at, row) for at, row in step_0[:-1] if row["kind"] != "special"]
        numbers = merge_table.cell_values([row.get(NUMBER, "") for _, row in step_0[:-1]])

        def check(history: History) -> None:
            should = _step_0_rows(history)
            if len(step_0) != len(should):
                raise FormatError(
                    f"{name} has {count_text(len(step_0), 'row')} of step 0, but its recipe needs {len(should):,}."
                )
            for (at, row_cells), row in zip(step_0, should, strict=True):
                # A former version may have written the recipe with fewer entries.
                self.check_cells(row_cells, row._replace(token=row_cells["token"]) if row.kind == _RECIPE else row, at)

        return ParsedTable(
            about,
            at,
            [merge_table.symbol_in(row, at) for at, row in symbols],
            lambda: (
                (at, dict(zip(columns, cells, strict=True)))
                for at, cells in self._rows(data[header_end:merges_end], name, 2, len(columns))
            ),
            lambda: _csv_cells_at_once(data[:merges_end], header_end, self.delimiter, columns),
            scores=_scores([row.get(SCORES, "") for _, row in symbols]),
            numbers=(numbers[: len(symbols)], numbers[len(symbols) :]) if NUMBER in ends else None,
            check=check,
        )

    def _rows(self, data: bytes, name: str, first: int, width: int | None = None) -> Iterator[tuple[str, list[str]]]:
        # The limit applies to the whole csv module; it is only ever raised.
        csv.field_size_limit(max(csv.field_size_limit(), LARGEST_CELL))
        for number, line in enumerate(io.BytesIO(data), start=first):
            where = f"{name}, line {number:,}"
            text = decoded(line, where, "utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
            try:
                cells = next(csv.reader([text], delimiter=self.delimiter, strict=True), [])
            except csv.Error as error:
                raise FormatError(f"{where}: the quotes or line ends of the row are in the wrong place.") from error
            if width is not None and len(cells) != width:
                raise FormatError(f"{where}: the row has {len(cells)} cells, but should have {width}.")
            yield where, cells


class TsvTable(CsvTable):
    name = "tsv"
    delimiter = "\t"


def cell_of(value: object) -> str:
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _step_0_rows(history: History) -> list[Row]:
    about = escape(json.dumps(merge_table.about_of(history), ensure_ascii=False).encode())
    tokens = history.tokens_at_start if history.tokens_at_start >= 0 else None
    last = Row(step=0, token=about, tokens_left=tokens, kind=_RECIPE)
    return [*base_rows(history.alphabet), *special_rows(history), last]


def _about(step_0: Sequence[tuple[str, Found]], name: str) -> tuple[Object, str]:
    where, last = step_0[-1] if step_0 else (name, {})
    if last.get("kind") != _RECIPE:
        raise damage_error(f"{where}: the last row must hold the recipe; the file was truncated.")
    try:
        about = json.loads(unescape(last["token"]))
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{where}: the recipe is not valid JSON.") from error
    if not isinstance(about, dict) or about.keys() - {"reasons", "scores_since"} != {"recipe", "end_reason"}:
        raise FormatError(f"{where}: the last row must hold the recipe and the reason why training ended.")
    return about | {"tokens_at_start": merge_table.cell_value(last["tokens_left"])}, where


def _scores(cells: Sequence[str]) -> list[list[Any]]:
    several = [cell.split(BETWEEN) if cell else [] for cell in cells]
    meant = iter(merge_table.cell_values(["" if score == NOT_KNOWN else score for some in several for score in some]))
    return [list(islice(meant, len(some))) for some in several]


def _csv_cells_at_once(data: bytes, start: int, delimiter: str, names: Sequence[str]) -> Cells | None:
    raw = np.frombuffer(data, np.uint8, offset=start)
    ends = (raw == ord(delimiter)) | (raw == NEWLINE)
    quotes = raw == QUOTE
    if quotes.any():
        ends &= np.cumsum(quotes, dtype=np.uint8) & 1 == 0  # a separator inside quotes ends no cell
    if len(raw) and not merge_table.fill_rows(ends, len(names)):
        return None
    end = np.flatnonzero(ends) + start
    begin = np.concatenate([[start], end + 1])[:-1]
    return Cells(data, names, begin.reshape(-1, len(names)), end.reshape(-1, len(names)))
