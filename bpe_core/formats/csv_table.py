"""The merge table as CSV or TSV: opens in any spreadsheet, and can be read back exactly.

It is plain, standard CSV: one header, then rows of equal length, no comment lines, no side
file. First come the merges, so that the second line of the file is the first merge. To read
the table back one needs the base symbols and the recipe as well. They stand behind the
merges as rows of step 0, "what was there before the first step": one a base symbol, one a
special token, and last the recipe as JSON in the column `token`. So each id has its row, a
script that wants merges only keeps `step > 0`, and a file that was cut short is noticed,
because the recipe is missing.

Where a file gave tokens other numbers than the ids of the rows, a last column `number` keeps them.

All texts are honest texts (see honest_text.py), so a row is always one line, and line
numbers in errors are those an editor shows.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import BinaryIO, NoReturn

from bpe_core.errors import FormatError
from bpe_core.formats.base import (
    NO_NUMBER,
    Beside,
    Format,
    OpenedTable,
    nothing_beside,
    own_numbers,
    unless_ids,
)
from bpe_core.formats.fast_reading import NUMBER, add_at_once, delimited_cells, read_at_once
from bpe_core.formats.reasons_and_scores import (
    Number,
    checked_kinds,
    checked_number,
    columns_for,
    kinds_of,
    scores_by_token,
    since_of,
)
from bpe_core.formats.rebuilding import (
    HistoryBuilder,
    checked_alphabet,
    checked_end_reason,
    checked_numbers,
    checked_recipe,
    checked_symbol,
)
from bpe_core.formats.rows import (
    TEXT_COLUMNS,
    Cell,
    Column,
    Layout,
    Row,
    base_rows,
    merge_columns,
    rows_by_kernels,
    special_rows,
    too_long_to_show,
)
from bpe_core.history.history import NOTHING, TIED, History, Int64s
from bpe_core.support.honest_text import escape, unescape
from bpe_core.support.progress import Progress, ProgressReport


def cell_of(value: Cell | float) -> str:
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def reason_in(cell: str, kind: str, where: str) -> Number:
    try:
        value = json.loads(cell) if cell else None
    except (ValueError, RecursionError):
        value = cell
    return checked_number(value, kind, where)


def number_in(cell: str, where: str) -> int:
    if cell == "":
        return NOTHING
    if not (cell.isascii() and cell.isdigit() and len(cell) < 20):
        raise FormatError(f"{where}: {cell[:80]!r} is not a whole number.")
    if int(cell) >= 2**63:
        raise FormatError(f"{where}: a count is {cell}, larger than any can be.")
    return int(cell)


def text_in(cell: str, where: str) -> bytes:
    try:
        return unescape(cell)
    except ValueError as error:
        raise FormatError(f"{where}: the text {cell[:80]!r} holds half a character.") from error


def bytes_in(cell: str, where: str) -> bytes:
    try:
        return bytes.fromhex(cell)
    except ValueError as error:
        raise FormatError(f"{where}: {cell[:80]!r} are not bytes in hex.") from error


ROWS_BETWEEN_REPORTS = 4_096
LARGEST_CELL = 16 * 2**20  # characters; only the recipe could ever be so long
SCORES, BETWEEN, NOT_KNOWN = "scores", ";", "nan"
_RECIPE = "recipe"


class CsvTable(Format):
    """Comma-separated values."""

    name = "csv"
    extension = ".csv"
    methods = ()
    delimiter = ","

    def can_hold(self, history: History) -> list[str]:
        return too_long_to_show(history)

    def write_all(self, history: History, file: BinaryIO, progress: ProgressReport) -> None:
        names = columns_for(history.reasons)
        numbers = unless_ids(self.numbers(history))
        numbered = numbers is not None
        known = None if numbers is None else _number_cells(numbers)
        ends = [*([SCORES] if history.scores is not None else []), *([NUMBER] if numbered else [])]
        header = (*Row._fields, *names, *ends)
        file.write(self.delimiter.join(header).encode() + b"\n")
        for step, rows in self._rows_of_merges(history, header, numbers):
            file.write(rows)
            if step % ROWS_BETWEEN_REPORTS == 0:
                progress(Progress("writing", step, len(history), "steps"))
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        writer = csv.writer(text, delimiter=self.delimiter, lineterminator="\n")
        for row, scores in zip(_step_0_rows(history), _score_cells(history), strict=False):
            writer.writerow((*_for_writer(row), *[""] * len(names), *scores, *_number_cell(row, known)))
        text.detach()  # flushes, and leaves the file open for its owner
        progress(Progress("writing", len(history), len(history), "steps"))

    def _rows_of_merges(
        self, history: History, header: Sequence[str], numbers: Int64s | None
    ) -> Iterator[tuple[int, bytes]]:
        """Some rows at a time, and after which step they end."""
        names = columns_for(history.reasons)
        if not names and history.scores is None:
            before = {name: self.delimiter if place else "" for place, name in enumerate(header)}
            found = rows_by_kernels(history, Layout(before, "\n", "", self._quoted), numbers)
            if found is not None:
                yield from found
                return
        known = None if numbers is None else _number_cells(numbers)
        layout = self.delimiter.join(["%s"] * len(header)) + "\n"
        for rows in self._cells_of_merges(history, names, known):
            yield rows[0][-1], "".join([layout % cells for cells in zip(*rows, strict=True)]).encode()

    def _cells_of_merges(
        self, history: History, names: list[str], known: list[list[str]] | None
    ) -> Iterator[list[Column]]:
        """The columns of some rows at a time, with no quotes to be set any more."""
        ids = Row._fields.index("id")
        for columns in merge_columns(history, self._quoted):
            steps = slice(columns[0][0] - 1, columns[0][-1])
            numbers = [] if known is None else [[known[id][0] for id in columns[ids]]]
            cells = [["" if one is None else one for one in column] if None in column else column for column in columns]
            cells[_TIED] = [_TIED_CELLS[one] for one in columns[_TIED]]
            cells += [[cell_of(one) for one in history.reasons[name][steps].tolist()] for name in names]
            yield [*cells, *([[""] * len(cells[0])] if history.scores is not None else []), *numbers]

    def _quoted(self, text: str) -> str:
        if self.delimiter not in text and '"' not in text:
            return text
        return '"' + text.replace('"', '""') + '"'

    def recognizes(self, data: bytes) -> bool:
        return data.removeprefix(b"\xef\xbb\xbf").startswith(self._header)

    def numbers(self, history: History) -> Int64s:
        return own_numbers(history)

    @property
    def _header(self) -> bytes:
        return self.delimiter.join(Row._fields).encode()

    def open(self, data: bytes, name: str, beside: Beside = nothing_beside) -> OpenedTable:
        found = read_at_once(self, data, lambda: self._opened(data, name, at_once=True))
        found = found or self._opened(data, name, at_once=False)
        assert found is not None  # row by row
        return found

    def _opened(self, data: bytes, name: str, *, at_once: bool) -> OpenedTable | None:
        """What the file says row by row; or at once, where only what other cells follow from is looked at."""
        if not self.recognizes(data):
            raise FormatError(f"{name}, line 1: the header of a merge table is missing: {self._header.decode()}")
        width = data.partition(b"\n")[0].count(self.delimiter.encode()) + 1
        merges_end = data.find(b"\n0" + self.delimiter.encode()) + 1  # where the rows of step 0 begin
        if not merges_end:
            raise FormatError(f"{name} ends before its base symbols and its recipe: it was cut short.")
        first_line = data.count(b"\n", 0, merges_end) + 1
        step_0 = list(self._rows(data[merges_end:], name, first_line, width))
        rows = self._rows(data[:merges_end], name, 1, width)
        where, header = next(rows)
        numbers: list[tuple[str, str]] | None = [] if header[-1] == NUMBER else None
        if numbers is not None:
            header, rows = header[:-1], _without_numbers(rows, numbers)
        in_step_0 = [(where, cells.pop()) for where, cells in step_0] if numbers is not None else []
        builder = _builder(step_0, name)
        since = _since(step_0)
        beyond = [*columns_for(builder.kinds), *([SCORES] if since is not None else [])]
        if header[len(Row._fields) :] != beyond:
            raise FormatError(
                f"{where}: behind the columns of every table there must be {', '.join(beyond) or 'none'}."
            )
        if at_once:
            whole = [*header, *([NUMBER] if numbers is not None else [])]
            found = delimited_cells(data[:merges_end], self.delimiter, whole, only_numbers=not builder.kinds)
            if found is None or not add_at_once(builder, found, name):
                return None
            if numbers is not None:
                numbers += [(name, cell) for cell in found.texts(NUMBER)]
        else:
            for where, cells in rows:
                _add_merge(builder, cells, where)
        scores = (
            [_scores(cells, where) for where, cells in step_0[: len(builder.alphabet)]] if since is not None else []
        )
        history = builder.finish(since, scores, name)
        if not at_once:
            _check_step_0(step_0, history, name)
        found_numbers = None if numbers is None else _numbers(history, numbers, in_step_0[:-1], name)
        return OpenedTable(history.numbered(found_numbers), self.name)

    def _rows(self, data: bytes, name: str, first_line: int, width: int) -> Iterator[tuple[str, list[str]]]:
        """The cells of each line, with the place to name in errors."""
        # The limit belongs to the csv module as a whole; it only ever grows.
        csv.field_size_limit(max(csv.field_size_limit(), LARGEST_CELL))
        for number, line in enumerate(io.BytesIO(data), start=first_line):
            where = f"{name}, line {number:,}"
            try:
                text = line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
                cells = next(csv.reader([text], delimiter=self.delimiter, strict=True), [])
            except UnicodeDecodeError as error:
                raise FormatError(f"{where}: the bytes at place {error.start + 1} are not UTF-8.") from error
            except csv.Error as error:
                raise FormatError(f"{where}: its quotes or line ends are out of place.") from error
            if len(cells) != width:
                raise FormatError(f"{where}: {len(cells)} cells where there should be {width}.")
            yield where, cells


class TsvTable(CsvTable):
    """Tab-separated values."""

    name = "tsv"
    extension = ".tsv"
    delimiter = "\t"


# --- Writing ----------------------------------------------------------------------------


_TIED = Row._fields.index("tied")
_TIED_CELLS = {None: "", False: "false", True: "true"}


def _cells(row: Row) -> list[str]:
    return [value if type(value) is str else cell_of(value) for value in row]


def _for_writer(row: Row) -> list[Cell]:
    """The same for Python's writer, which itself writes a number as text, and None as nothing, much faster."""
    cells: list[Cell] = [*row]
    cells[_TIED] = _TIED_CELLS[row.tied]
    return cells


def _score_cells(history: History) -> Iterator[list[str]]:
    """What stands behind the rows of step 0: the scores of a token, and behind all that are none nothing."""
    if history.scores is None:
        yield from itertools.repeat([])
    for scores in scores_by_token(history):
        yield [BETWEEN.join(NOT_KNOWN if score is None else repr(score) for score in scores)]
    yield from itertools.repeat([""])


def _number_cells(numbers: Int64s) -> list[list[str]]:
    return [[cell_of(None if one == NO_NUMBER else one)] for one in numbers.tolist()]


def _number_cell(row: Row, known: list[list[str]] | None) -> list[str]:
    """The number of the row's token, where numbers are told; the recipe has none."""
    return [] if known is None else [""] if row.id is None else known[row.id]


def _step_0_rows(history: History) -> list[Row]:
    return [*base_rows(history.alphabet), *special_rows(history), _recipe_row(history)]


def _recipe_row(history: History) -> Row:
    """The last row: the recipe, and how many tokens there were before the first merge."""
    about: dict[str, object] = {"recipe": history.recipe.to_dict(), "end_reason": history.end_reason}
    kinds, since = kinds_of(history), since_of(history)
    about |= {"reasons": kinds} if kinds else {}
    about |= {} if since is None else {"scores_since": since}
    tokens = history.tokens_at_start
    return Row(
        step=0,
        token=escape(json.dumps(about, ensure_ascii=False).encode()),
        tokens_left=tokens if tokens >= 0 else None,
        kind=_RECIPE,
    )


# --- Reading ----------------------------------------------------------------------------


def _without_numbers(
    rows: Iterable[tuple[str, list[str]]], numbers: list[tuple[str, str]]
) -> Iterator[tuple[str, list[str]]]:
    """The rows without the numbers of their tokens, which are put down beside."""
    for where, cells in rows:
        numbers.append((where, cells.pop()))
        yield where, cells


def _numbers(history: History, of_steps: list[tuple[str, str]], in_step_0: list[tuple[str, str]], name: str) -> Int64s:
    """By id; a token without one has none."""
    found = [NO_NUMBER] * history.id_count
    others = [*range(len(history.alphabet)), *range(history.first_special, history.id_count)]
    for id, (where, cell) in zip([*history.ids.tolist(), *others], [*of_steps, *in_step_0], strict=True):
        found[id] = number_in(cell, where)
    return checked_numbers(found, history.id_count, name)


def _builder(rows: list[tuple[str, list[str]]], name: str) -> HistoryBuilder:
    """What the rows of step 0 say: the recipe and the base symbols."""
    where, last = rows.pop() if rows else (name, [])
    found = dict(zip(Row._fields, last, strict=False))
    if found.get("kind") != _RECIPE:
        raise FormatError(f"{where}: the last row must hold the recipe; the file was cut short.")
    rows.append((where, last))
    about = _parsed_about(found["token"], where)
    recipe = checked_recipe(about["recipe"], where)
    symbols = [
        checked_symbol(kind, text_in(token, place), bytes_in(hex, place), place)
        for place, (token, hex, kind) in _picked(rows[:-1], "token", "bytes", "kind")
        if kind != "special"
    ]
    return HistoryBuilder(
        recipe,
        checked_alphabet(symbols, recipe, name),
        tokens_at_start=number_in(found["tokens_left"], where),
        end_reason=checked_end_reason(about["end_reason"], where),
        kinds=checked_kinds(about.get("reasons"), where),
    )


def _parsed_about(token: str, where: str) -> dict[str, object]:
    try:
        about = json.loads(text_in(token, where))
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{where}: the recipe is not valid JSON.") from error
    if not isinstance(about, dict) or about.keys() - {"reasons", "scores_since"} != {"recipe", "end_reason"}:
        raise FormatError(f"{where}: the last row must hold the recipe and why training ended.")
    return about


def _picked(rows: Iterable[tuple[str, list[str]]], *columns: str) -> Iterator[tuple[str, list[str]]]:
    places = [Row._fields.index(column) for column in columns]
    return ((where, [cells[place] for place in places]) for where, cells in rows)


def _add_merge(builder: HistoryBuilder, cells: list[str], where: str) -> None:
    row = dict(zip(Row._fields, cells, strict=False))
    names = columns_for(builder.kinds)
    told = dict(zip(names, cells[len(Row._fields) :], strict=False))
    told |= {TIED: row["tied"]} if TIED in builder.kinds else {}
    merge = builder.add(
        number_in(row["left"], where),
        number_in(row["right"], where),
        count=number_in(row["count"], where),
        runner_up=(number_in(row["runner_up_left"], where), number_in(row["runner_up_right"], where)),
        runner_up_count=number_in(row["runner_up_count"], where),
        tokens_left=number_in(row["tokens_left"], where),
        reasons={name: reason_in(told[name], kind, where) for name, kind in builder.kinds.items()},
        where=where,
    )
    _check_cells(cells, builder.rows.row(merge), where)


def _check_step_0(rows: list[tuple[str, list[str]]], history: History, name: str) -> None:
    should = _step_0_rows(history)
    if len(rows) != len(should):
        raise FormatError(f"{name}: {len(rows):,} rows of step 0 where the recipe asks for {len(should):,}.")
    for (where, cells), row in zip(rows, should, strict=True):
        _check_cells(cells, row, where)


def _check_cells(cells: list[str], row: Row, where: str) -> None:
    """Everything a row says must be what its merge gives: whatever was changed by hand is noticed."""
    for column, found, should in zip(Row._fields, cells[: len(Row._fields)], _cells(row), strict=True):
        if found == should or (column in TEXT_COLUMNS and _same_text(found, should)):
            continue
        _refuse(column, found, should, where)


def _same_text(found: str, should: str) -> bool:
    """Two Python versions may differ in what they call printable, and so in what is escaped."""
    try:
        return unescape(found) == unescape(should)
    except ValueError:
        return False


def _refuse(column: str, found: str, should: str, where: str) -> NoReturn:
    raise FormatError(f"{where}: the column {column} says {found[:80]!r} where {should[:80]!r} would be right.")


def _since(step_0: list[tuple[str, list[str]]]) -> object:
    """After how many steps scores were set; None if there are none."""
    where, last = step_0[-1]
    return _parsed_about(last[Row._fields.index("token")], where).get("scores_since")


def _scores(cells: list[str], where: str) -> list[Number]:
    found = cells[-1].split(BETWEEN) if cells[-1] else []
    return [reason_in("" if cell == NOT_KNOWN else cell, "<f4", where) for cell in found]
