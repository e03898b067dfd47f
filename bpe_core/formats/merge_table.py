"""The base class of the formats CSV, TSV and JSON: tables that hold the whole history, with one row for each step.

A reader first rebuilds the history from the few columns that determine all others, and writes it as a table again. If
the written table equals the file, every cell is right. Otherwise the file is read row by row to find the error.

The column `number` holds the ids of the tokens. It is written only if the ids differ from the indices.
"""

from __future__ import annotations

import io
import json
import math
from abc import abstractmethod
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from bpe_core.errors import BpeError, FormatError, damage_error
from bpe_core.formats import rebuilding
from bpe_core.formats.base import NO_NUMBER, Beside, Format, Opened, own_numbers
from bpe_core.formats.json_reading import Object
from bpe_core.formats.rows import TEXT_COLUMNS, Row, merge_rows, too_long_to_show
from bpe_core.history.alphabet import Symbol
from bpe_core.history.columns import Scores
from bpe_core.history.history import NOTHING, TIED, Bools, Columns, History, Int64s
from bpe_core.history.joining import MergePriorities
from bpe_core.recipes.choice import LARGEST_VOCABULARY
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.escaped_bytes import unescape

NUMBER = "number"  # the column of the ids that tokens had in the file they came from
MOST_DIGITS = 20
KINDS = ("|b1", "|i1", "<i2", "<i4", "<i8", "<f4", "<f8")  # characters of a number, as numpy writes it
BEYOND = 1e300  # numbers from this one on represent infinity
MOST_REASONS = 20

Number = int | float | bool
Found = Mapping[str, Any]  # the cells of a row by column


def about_of(history: History, **more: object) -> Object:
    about = {"recipe": history.recipe.to_dict(), "end_reason": history.end_reason, **more}
    kinds = {name: column.dtype.newbyteorder("<").str for name, column in history.reasons.items()}
    about |= {"reasons": kinds} if kinds else {}
    return about | ({} if history.scores is None else {"scores_since": [*map(int, history.scores.since)]})


@dataclass(frozen=True)
class ParsedTable:
    """The parsed content of a file, before it is checked."""

    about: Object
    where: str  # the name of that place in errors
    symbols: Sequence[Symbol]
    rows: Callable[[], Iterator[tuple[str, Found]]]  # one step each, with its position
    cells: Callable[[], Cells | None]  # the same as columns; None if rows must be looked at one by one
    scores: Sequence[object] = ()  # of each symbol
    numbers: tuple[Sequence[Any], Sequence[Any]] | None = None  # of base symbols and special tokens, if steps have any
    check: Callable[[History], None] = field(default=lambda history: None)  # the rows of everything but the steps


class MergeTable(Format):
    tables = frozenset[str]()  # of any method
    matches_specials = None  # its recipe says so

    @abstractmethod
    def parse_parts(self, data: bytes, name: str) -> ParsedTable:
        """Parse a whole file, without a check of its values."""

    @abstractmethod
    def as_read(self, row: Row) -> Found:
        """Return the cells of a row in the form in which they are read from a file.

        A row that would be written can then be compared with a row of the file.
        """

    def value(self, cell: Any) -> Any:
        return cell

    def does_otherwise(self, history: History) -> list[str]:
        return too_long_to_show(history)

    def numbers(self, history: History) -> Int64s:
        return own_numbers(history)

    def read_all(self, data: bytes, name: str, beside: Beside) -> Opened:
        parsed = self.parse_parts(data, name)
        history = self.read_at_once(parsed, data, name)
        return self.read_by_rows(parsed, name) if history is None else history, ()

    def read_at_once(self, parsed: ParsedTable, data: bytes, name: str) -> History | None:
        """Read the whole table and return its history.

        Return None if this fails, or if the table written from this history differs from the file.
        """
        try:
            cells = parsed.cells()
            if cells is None:
                return None
            columns = [cells.numbers(column) for column in Columns._fields]
            kinds = checked_kinds(parsed.about.get("reasons"), name)
            reasons = {
                column: checked_column(cell_values(cells.texts(column)), kind, name) for column, kind in kinds.items()
            }
            numbers = [] if parsed.numbers is None else cells.numbers(NUMBER).tolist()
            history = history_of_table(parsed, columns, reasons, numbers, lambda row: name, name)
            comparing = _ComparingFile(data)
            self.write(history, comparing)  # type: ignore[arg-type]
        except (BpeError, _DifferentError, ValueError):
            return None
        return history if comparing.place == len(data) else None

    def read_by_rows(self, parsed: ParsedTable, name: str) -> History:
        """Read the table row by row and return its history.

        The step in a row determines all other cells of the row. If a cell has another value, a FormatError names the
        row.
        """
        kinds = checked_kinds(parsed.about.get("reasons"), parsed.where)
        columns = [array("q") for _ in Columns._fields]
        reasons: dict[str, list[Number]] = {column: [] for column in kinds}
        numbers: list[int] = []
        places: list[str] = []
        for where, cells in parsed.rows():
            for column, values in zip(Columns._fields, columns, strict=True):
                values.append(whole_number(self.value(cells.get(column)), column, where))
            for column, kind in kinds.items():
                reasons[column].append(checked_number(self.value(cells.get(column)), kind, where))
            if parsed.numbers is not None:
                numbers.append(whole_number(self.value(cells.get(NUMBER)), NUMBER, where))
            places.append(where)
        whole = [np.array(values, np.int64) for values in columns]
        history = history_of_table(parsed, whole, reasons, numbers, lambda row: places[min(row, len(places) - 1)], name)
        for (where, cells), row in zip(parsed.rows(), merge_rows(history), strict=True):
            self.check_cells(cells, row, where)
        parsed.check(history)
        return history

    def check_cells(self, cells: Found, row: Row, where: str) -> None:
        for column, should in self.as_read(row).items():
            said = cells.get(column)
            if said is should or (said == should and type(said) is type(should)):
                continue
            if column not in TEXT_COLUMNS or not _same_text(said, should):
                raise FormatError(f'{where}: "{column}" is {str(said)[:80]!r} but must be {should!r:.80}.')


def history_of_table(
    parsed: ParsedTable,
    columns: Sequence[Int64s],
    reasons: Mapping[str, Sequence[Number]],
    numbers: Sequence[int],
    place: rebuilding.Place,
    name: str,
) -> History:
    about = parsed.about
    recipe = rebuilding.checked_recipe(about.get("recipe"), parsed.where)
    kinds = checked_kinds(about.get("reasons"), parsed.where)
    alphabet = rebuilding.checked_alphabet(list(parsed.symbols), recipe, name)
    history = rebuilding.rebuild(
        recipe,
        alphabet,
        columns,
        place,
        name,
        tokens_at_start=whole_number(about.get("tokens_at_start"), "tokens_at_start", parsed.where),
        end_reason=rebuilding.checked_end_reason(about.get("end_reason"), parsed.where),
        reasons={name: np.array(reasons[name], np.dtype(kind).newbyteorder("=")) for name, kind in kinds.items()},
        scores=lambda steps: scores_from(about.get("scores_since"), parsed.scores, steps, recipe, name),
    )
    if "joining" in about:
        history.joining = MergePriorities.from_dict(about["joining"], len(alphabet), history.first_special, name)
    if parsed.numbers is None:
        return history
    of_symbols, of_specials = parsed.numbers
    values: list[Any] = [*of_symbols, *[NO_NUMBER] * (history.first_special - len(alphabet)), *of_specials]
    for id, number in zip(history.indices.tolist(), numbers, strict=True):
        values[id] = number
    return history.numbered(
        rebuilding.checked_numbers(
            [NO_NUMBER if value is None else value for value in values], history.index_count, name
        )
    )


def cell_value(cell: str) -> Any:
    """Return the value of a cell. A cell that is not JSON is a text, and an empty cell is None."""
    try:
        return json.loads(cell) if cell else None
    except (ValueError, RecursionError):
        return cell


_OF_NUMBERS = frozenset("0123456789.eE+-")


def cell_values(cells: Sequence[str]) -> list[Any]:
    """Return the value of each cell, as `cell_value` does.

    If all cells are numbers or empty, they are parsed in one call.

    >>> cell_values(["1", "", "-2.5e3"]), cell_values(["1", "01", "[2]", "x"])
    ([1, None, -2500.0], [1, '01', [2], 'x'])
    """
    if _OF_NUMBERS.issuperset(set[str]().union(*cells)):
        with suppress(ValueError):
            values: list[Any] = json.loads(f"[{','.join(cell or 'null' for cell in cells)}]")
            return values
    return [cell_value(cell) for cell in cells]


def whole_number(value: object, column: str, where: str) -> int:
    """Return the whole number in a cell. Return NOTHING if the cell is empty.

    Raise FormatError for any other value.
    """
    if value is None:
        return NOTHING
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise FormatError(f'{where}: "{column}" must be a whole number, not {str(value)[:80]!r}.')
    if value > rebuilding.LARGEST_COUNT:
        raise FormatError(f"{where}: the count {str(value)[:40]} is too large.")
    return value


def symbol_in(cells: Found, where: str) -> Symbol:
    try:
        text = unescape(cells["token"])
    except (KeyError, TypeError, ValueError) as error:
        raise FormatError(f'{where}: "token" must be a text of whole characters.') from error
    try:
        decoded = bytes.fromhex(cells["bytes"])
    except (KeyError, TypeError, ValueError) as error:
        raise FormatError(f'{where}: "bytes" must be bytes in hex.') from error
    return rebuilding.checked_symbol(cells.get("kind"), text, decoded, where)


def _same_text(text: Any, should: Any) -> bool:
    """Return whether two escaped texts represent the same text.

    The texts may differ because each version of Python escapes the characters that it does not regard as
    printable.
    """
    try:
        return unescape(text) == unescape(should)
    except (ValueError, TypeError):
        return False


class _DifferentError(Exception):
    """An error that is raised at the first written byte that differs from the file."""


class _ComparingFile(io.RawIOBase):
    """A file object that compares written bytes with a given content. It raises an error at the first difference."""

    def __init__(self, data: bytes) -> None:
        self._data = memoryview(data)
        self.place = 0

    def writable(self) -> bool:
        return True

    def write(self, some: Any) -> int:
        begin = self.place
        self.place = self.place + len(some)
        if self._data[begin : self.place] != some:
            raise _DifferentError
        return len(some)


@dataclass(frozen=True, eq=False)
class Cells:
    """The offsets in a file at which each cell begins and ends."""

    data: bytes
    names: Sequence[str]  # the names of the columns
    begin: Int64s  # one row for each row of the file
    end: Int64s

    def numbers(self, name: str) -> Int64s:
        """Return the integers in the cells of a column. A cell without a number gives NOTHING."""
        return numbers_at(np.frombuffer(self.data, np.uint8), self.begin[:, self.names.index(name)])

    def texts(self, name: str) -> list[str]:
        column = self.names.index(name)
        places = zip(self.begin[:, column].tolist(), self.end[:, column].tolist(), strict=True)
        return [self.data[begin:end].decode(errors="replace") for begin, end in places]


def fill_rows(marked: Bools, width: int) -> bool:
    """Return whether the cells of a file fill complete rows of `width` cells.

    `marked` has an item for each byte of the file, and is true for exactly one byte of each cell. Return False
    if there is no cell, or if there are more rows than the largest vocabulary has tokens.
    """
    cells = int(np.count_nonzero(marked))
    return 0 < cells <= LARGEST_VOCABULARY * width and cells % width == 0


def numbers_at(data: npt.NDArray[np.uint8], places: Int64s) -> Int64s:
    """Return the integers that begin at the given offsets. If there is no digit at an offset, its result is NOTHING.

    >>> numbers_at(np.frombuffer(b"12,,7", np.uint8), np.array([0, 3, 4])).tolist()
    [12, -1, 7]
    """
    numbers = np.full(len(places), NOTHING, np.int64)
    which = np.arange(len(places))
    for _ in range(MOST_DIGITS):
        inside = places < len(data)
        which = which[inside]
        places = places[inside]
        digits = data[places] - ord("0")  # anything but a digit is larger than nine
        more = digits <= 9
        which = which[more]
        places = places[more] + 1
        digits = digits[more]
        if not len(which):
            break
        numbers[which] = np.maximum(numbers[which], 0) * 10 + digits
    return numbers


# --- Reasons ----------------------------------------------------------------------------


def columns_for(kinds: Mapping[str, Any]) -> list[str]:
    """Return the name of the column for each reason in `kinds`.

    The column for ties is left out, because every table has it.
    """
    return [name for name in kinds if name != TIED]


def checked_kinds(value: object, where: str) -> dict[str, str]:
    if value is None:
        return {}
    sound = isinstance(value, dict) and len(value) <= MOST_REASONS
    if not sound or not all(kind in KINDS and _may_name(name, kind) for name, kind in value.items()):  # type: ignore[attr-defined]
        raise damage_error(f"{where}: the reasons of the steps are damaged.")
    return dict(value)  # type: ignore[call-overload, no-any-return]


def _may_name(name: object, kind: object) -> bool:
    if not isinstance(name, str) or not name.isidentifier() or len(name) > 40:
        return False
    return kind == "|b1" if name == TIED else name not in Row._fields


def checked_number(value: object, kind: str, where: str) -> Number:
    """Return a JSON value as a number of the NumPy type `kind`. Raise FormatError if the value is not such a number.

    If the type is a float, null becomes NaN.
    """
    if value is None and kind[1] == "f":
        return math.nan
    if kind[1] == "b" and isinstance(value, bool):
        return value
    if kind[1] == "f" and isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value) if abs(value) < BEYOND else math.copysign(math.inf, value)
    if kind[1] == "i" and isinstance(value, int) and not isinstance(value, bool):
        limits = np.iinfo(kind)
        if limits.min <= value <= limits.max:
            return value
    raise FormatError(f"{where}: {str(value)[:40]!r} is not a valid value for the reason of a step.")


def checked_column(values: Sequence[object], kind: str, where: str) -> Sequence[Number]:
    if kind[1] == "f" and set(map(type, values)) == {float} and all(map(BEYOND.__gt__, map(abs, values))):  # type: ignore[arg-type]
        return values  # type: ignore[return-value]  # nearly all
    return [checked_number(value, kind, where) for value in values]


# --- Scores -----------------------------------------------------------------------------


def scores_by_token(history: History) -> list[list[float | None]]:
    """Return the scores of each token, the earliest score first.

    A score has as many digits as its floating-point type needs. Minus infinity becomes a number below all other scores.
    NaN and plus infinity become None.
    """
    by_token: list[list[float | None]] = [[] for _ in history.alphabet.symbols]
    if history.scores is not None:
        alive = np.arange(len(by_token))
        for since, row in zip(history.scores.since, history.scores.rows, strict=True):
            left = np.setdiff1d(alive, history.scores.dropped[:since])
            for id, score in zip(left.tolist(), _as_json(row), strict=True):
                by_token[id].append(score)
    return by_token


def _as_json(scores: npt.NDArray[Any]) -> Iterator[float | None]:
    """Yield the scores as JSON values.

    A token that is never used has the score minus infinity. This score becomes a number below all other scores.
    NaN and plus infinity become None.
    """
    for score in map(float, scores.astype(str).tolist()):
        if math.isfinite(score):
            yield score
        else:
            yield -BEYOND if score < 0 else None


def scores_from(
    since: object, by_token: Sequence[object], columns: Columns, recipe: Recipe, where: str
) -> Scores | None:
    """Rebuild the scores of a history. Return None if the file has no scores.

    `since` holds the steps at which scores were computed. Each token needs a score for each of these steps until it is
    dropped.
    """
    if since is None:
        return None
    damaged = damage_error(f"{where}: the scores of the tokens are damaged.")
    if not isinstance(since, list) or not since or not all(type(steps) is int for steps in since):
        raise damaged
    if since[0] != 0 or since != sorted(since) or since[-1] > len(columns.left) or (columns.right >= 0).any():
        raise damaged
    dropped_at = dict(zip(columns.left.tolist(), range(len(columns.left)), strict=True))
    kind = "<f8" if recipe.sums == "64 bits" else "<f4"
    last = len(columns.left)
    for id, scores in enumerate(by_token):
        if not isinstance(scores, list) or len(scores) != bisect_right(since, dropped_at.get(id, last)):
            raise damaged
    rows = ([scores[place] for scores in by_token if len(scores) > place] for place in range(len(since)))  # type: ignore[arg-type, index]
    numbers = tuple(np.array(checked_column(row, kind, where), kind) for row in rows)
    return Scores(tuple(since), numbers, columns.left.astype(np.int32))
