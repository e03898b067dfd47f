"""The merge table as one JSON object: recipe, base symbols and merges, a merge a line.

Where a file gave tokens other numbers than their ids here, each has it as its `number`, too.
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from json.encoder import encode_basestring
from typing import Any, BinaryIO

import numpy as np

from bpe_core.errors import FormatError, TooLarge
from bpe_core.formats.base import (
    NO_NUMBER,
    Beside,
    Format,
    OpenedTable,
    nothing_beside,
    own_numbers,
    unless_ids,
)
from bpe_core.formats.fast_reading import (
    NUMBER,
    Cells,
    PlacedCells,
    add_at_once,
    make_rows,
    numbers_by_kernels,
    read_at_once,
)
from bpe_core.formats.reasons_and_scores import (
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
    Column,
    Layout,
    Row,
    base_rows,
    merge_columns,
    rows_by_kernels,
    too_long_to_show,
)
from bpe_core.history.history import NOTHING, History, Int64s
from bpe_core.history.joining import Joining
from bpe_core.support.honest_text import unescape
from bpe_core.support.progress import Progress, ProgressReport

OPENING = b'\n "merges": ['  # where, as this program writes it, the lines of the merges begin
LARGEST_WHOLE = 32 * 2**20  # bytes parsed at once; in memory they can become twenty times as many
LARGEST_LINE = 2**20
CLOSING = b"\n ]\n}\n"  # how it ends them
BEFORE = '  {"step": ,'  # of a line, beside what its values take from the first on

Object = dict[str, Any]


def taken_apart(data: bytes, name: str) -> tuple[Object, Iterator[tuple[str, Object]]]:
    """Everything but the merges, and the merges one by one with the place to name in errors."""
    begin = data.find(OPENING) + len(OPENING)
    if begin >= len(OPENING) and data.startswith((b'\n  {"', b'\r\n  {"', b"]"), begin):
        return _parsed(data[:begin] + b"]}", name), _merge_lines(data, begin, name)
    whole = _parsed(data, name)
    return whole, _numbered(objects_in(whole, "merges", name), name)


def cells_of_merges(data: bytes, names: Sequence[str], *, only_numbers: bool) -> Cells | None:
    """The values of the merges, each with these keys; None where they are not laid out as this program does it."""
    start, stop = data.find(OPENING) + len(OPENING), data.rfind(CLOSING)
    if not len(OPENING) <= start < stop:
        return None
    if only_numbers and (found := numbers_by_kernels(data, start, stop, b":", names, escape=b"\\")) is not None:
        return found
    raw = np.frombuffer(data, np.uint8, count=stop - start, offset=start)
    # A quote within a text has a backslash before it, and the one with which a text begins a blank.
    keys = (raw[1:-1] == ord('"')) & (raw[2:] == ord(":")) & (raw[:-2] != ord("\\")) & (raw[:-2] != ord(" "))
    if not make_rows(keys, len(names)):
        return None
    keys_end = (np.flatnonzero(keys) + start + 1).reshape(-1, len(names))
    keys_begin = keys_end - np.array([len(name) for name in names])
    next_line = np.append(keys_begin[1:, 0] - len(',\n  {"'), stop)
    end = np.column_stack([keys_begin[:, 1:] - len(', "'), next_line - len("}")])
    begin = keys_end + len('": ')
    return (
        PlacedCells(data, names, begin, end) if (next_line - begin[:, 0]).max() + len(BEFORE) <= LARGEST_LINE else None
    )


def objects_in(whole: Object, key: str, name: str) -> list[Object]:
    items = whole.get(key)
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise FormatError(f'{name}: "{key}" must be a list of objects.')
    return items


def _numbered(items: list[Object], name: str) -> Iterator[tuple[str, Object]]:
    return ((f"{name}, merge {number:,}", item) for number, item in enumerate(items, start=1))


def _merge_lines(data: bytes, begin: int, name: str) -> Iterator[tuple[str, Object]]:
    lines = io.BytesIO(data)  # shares the memory of `data`
    lines.seek(begin)
    comma: bool | None = None  # behind the merge before; None: there was none
    for number, line in enumerate(lines, start=data.count(b"\n", 0, begin) + 1):
        where, text = f"{name}, line {number:,}", line.strip()
        if text.startswith(b"]"):
            if comma or (text, lines.read().strip()) not in ((b"]", b"}"), (b"]}", b"")):
                raise FormatError(f"{where}: the list of merges does not end as it should.")
            return
        if text:
            if comma is False:
                raise FormatError(f"{where}: the comma before this merge is missing.")
            comma = text.endswith(b",")
            yield where, _parsed(text.removesuffix(b","), name, number)
    raise FormatError(f"{name} ends within its merges: it was cut short.")


def _parsed(data: bytes, name: str, line: int | None = None) -> Object:
    limit = LARGEST_WHOLE if line is None else LARGEST_LINE
    where = name if line is None else f"{name}, line {line:,}"
    if len(data) > limit:
        raise TooLarge(f"{where}: {len(data):,} bytes would have to be parsed at once; the limit is {limit:,}.")
    try:
        parsed = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise FormatError(f"{where}: the bytes at place {error.start + 1:,} are not UTF-8.") from error
    except json.JSONDecodeError as error:
        raise FormatError(f"{name}, line {line or error.lineno:,}: this is not valid JSON from here on.") from error
    except (RecursionError, ValueError) as error:  # brackets nested without end, a number of a million digits
        raise FormatError(f"{where}: JSON that no merge table would hold: too deep, or a number too long.") from error
    if not isinstance(parsed, dict):
        raise FormatError(f"{where}: there must be a JSON object, in curly brackets.")
    return parsed


SIGNATURE = "bpe-explorer merge table"
VERSION = 1
SPECIAL_NUMBERS = "special_numbers"
ROWS_BETWEEN_REPORTS = 4_096
MOST_SYMBOLS = 100_000  # which are read at once; with their scores they take 200 bytes each

_TRUTHS = {None: "null", False: "false", True: "true"}
_SYMBOL_COLUMNS = ("id", "kind", "token", "bytes")
_MERGE_COLUMNS = tuple(column for column in Row._fields if column != "kind")


class JsonTable(Format):
    """JSON."""

    name = "json"
    extension = ".json"
    methods = ()
    holds_hidden = True

    def holds_joining(self, history: History) -> bool:
        return True

    def impossible(self, history: History) -> list[str]:
        if len(history.alphabet) <= MOST_SYMBOLS:
            return []
        return [f"A JSON table of {len(history.alphabet):,} pieces is too large to be read again; choose csv instead."]

    def can_hold(self, history: History) -> list[str]:
        return self.impossible(history) + too_long_to_show(history)

    def write_all(self, history: History, file: BinaryIO, progress: ProgressReport) -> None:
        about = {
            "format": SIGNATURE,
            "version": VERSION,
            "recipe": history.recipe.to_dict(),
            "end_reason": history.end_reason,
            "tokens_at_start": history.tokens_at_start if history.tokens_at_start >= 0 else None,
        }
        kinds, since = kinds_of(history), since_of(history)
        about |= {"reasons": kinds} if kinds else {}
        about |= {} if since is None else {"scores_since": since}
        about |= {} if history.joining is None else {"joining": history.joining.to_dict}
        numbers = unless_ids(self.numbers(history))
        known = None if numbers is None else _told(numbers)
        about |= {} if known is None else {SPECIAL_NUMBERS: known[history.first_special :]}
        opening = json.dumps(about, ensure_ascii=False, indent=1).removesuffix("\n}")
        file.write(opening.encode())
        file.write(b',\n "alphabet": [')
        _write_lines(file, _with_numbers(_symbols(history), known))
        file.write(b"]," + OPENING)
        comma = 1  # which stands before all but the first
        for step, rows in _rows_of_merges(history, numbers):
            file.write(rows[comma:])
            comma = 0
            if step % ROWS_BETWEEN_REPORTS == 0:
                progress(Progress("writing", step, len(history), "steps"))
        file.write(b"\n ]\n}\n" if len(history) else b"]\n}\n")
        progress(Progress("writing", len(history), len(history), "steps"))

    def recognizes(self, data: bytes) -> bool:
        return data.lstrip().startswith(b"{") and SIGNATURE.encode() in data

    def open(self, data: bytes, name: str, beside: Beside = nothing_beside) -> OpenedTable:
        found = read_at_once(self, data, lambda: self._opened(data, name, at_once=True))
        found = found or self._opened(data, name, at_once=False)
        assert found is not None  # merge by merge
        return found

    def _opened(self, data: bytes, name: str, *, at_once: bool) -> OpenedTable | None:
        """What the file says merge by merge; or at once, where only what all else follows from is looked at."""
        whole, merges = taken_apart(data, name)
        if whole.get("format") != SIGNATURE:
            raise FormatError(f'{name} is not a merge table: it lacks "format": "{SIGNATURE}".')
        if whole.get("version") != VERSION:
            raise FormatError(
                f"{name} is a merge table of version {whole.get('version')!r}; this program reads version {VERSION}."
            )
        builder = _builder(whole, name)
        of_steps: list[Any] = []
        if at_once:
            numbered = [NUMBER] if SPECIAL_NUMBERS in whole else []
            names = [*_MERGE_COLUMNS, *columns_for(builder.kinds), *numbered]
            cells = cells_of_merges(data, names, only_numbers=not builder.kinds)
            if cells is None or not add_at_once(builder, cells, name):
                return None
            of_steps += [one if one >= 0 else None for one in cells.numbers(NUMBER).tolist()] if numbered else []
        else:
            for where, item in merges:
                _add_merge(builder, item, where)
                of_steps.append(item.get(NUMBER))
        scores = [item.get("scores") for item in objects_in(whole, "alphabet", name)]
        history = builder.finish(whole.get("scores_since"), scores, name)
        if "joining" in whole:
            tokens = len(history.alphabet), history.first_special
            history.joining = Joining.from_dict(whole["joining"], *tokens, name)
        numbers = None
        if SPECIAL_NUMBERS in whole:
            of_symbols = [item.get(NUMBER) for item in objects_in(whole, "alphabet", name)]
            numbers = _numbers(history, of_symbols, of_steps, whole[SPECIAL_NUMBERS], name)
        return OpenedTable(history.numbered(numbers), self.name)

    def numbers(self, history: History) -> Int64s:
        return own_numbers(history)


# --- Writing ----------------------------------------------------------------------------


def _picked(row: Row, columns: Iterable[str]) -> dict[str, Any]:
    return {column: getattr(row, column) for column in columns}


def _symbols(history: History) -> Iterator[dict[str, Any]]:
    scores = scores_by_token(history) if history.scores is not None else None
    for id, row in enumerate(base_rows(history.alphabet)):
        yield _picked(row, _SYMBOL_COLUMNS) | ({} if scores is None else {"scores": scores[id]})


def _rows_of_merges(history: History, numbers: Int64s | None) -> Iterator[tuple[int, bytes]]:
    """Some lines at a time, each behind a comma, and after which step they end."""
    names = [*_MERGE_COLUMNS, *columns_for(history.reasons), *([] if numbers is None else [NUMBER])]
    before = {name: f', "{name}": ' for name in names} | {names[0]: f',\n  {{"{names[0]}": '}
    if not columns_for(history.reasons):
        in_quotes = {name: before[name] + '"' * (name == "bytes") for name in names}
        in_quotes["length"] = f'"{before["length"]}'
        found = rows_by_kernels(history, Layout(in_quotes, "}", "null", encode_basestring), numbers)
        if found is not None:
            yield from found
            return
    known = None if numbers is None else _told(numbers)
    layout = "".join(f"{text}%s" for text in before.values()) + "}"
    for columns in merge_columns(history, encode_basestring):
        rows = zip(*_as_json(columns, history, known), strict=True)
        yield columns[0][-1], "".join([layout % values for values in rows]).encode()


def _told(numbers: Int64s) -> list[int | None]:
    return [None if one == NO_NUMBER else one for one in numbers.tolist()]


def _as_json(columns: list[Column], history: History, known: list[int | None] | None) -> list[Column]:
    """The columns of these rows as their values are written."""
    cells = dict(zip(Row._fields, columns, strict=True))
    steps = slice(cells["step"][0] - 1, cells["step"][-1])
    del cells["kind"]
    cells["bytes"] = [f'"{one}"' for one in cells["bytes"]]
    cells["tied"] = [_TRUTHS[one] for one in cells["tied"]]
    for name in columns_for(history.reasons):
        told = history.reasons[name][steps].tolist()
        cells[name] = [_TRUTHS[one] if isinstance(one, bool) else one if math.isfinite(one) else None for one in told]
    if known is not None:
        cells[NUMBER] = [known[id] for id in cells["id"]]
    return [
        ["null" if one is None else one for one in column] if None in column else column for column in cells.values()
    ]


def _with_numbers(objects: Iterable[dict[str, Any]], known: list[int | None] | None) -> Iterator[dict[str, Any]]:
    for one in objects:
        yield one if known is None else one | {NUMBER: known[one["id"]]}


def _write_lines(file: BinaryIO, objects: Iterable[dict[str, Any]]) -> None:
    """Objects one a line, with commas between."""
    encode = json.JSONEncoder(ensure_ascii=False).encode
    comma = ""
    for one in objects:
        file.write(f"{comma}\n  {encode(one)}".encode())
        comma = ","
    if comma:
        file.write(b"\n ")


# --- Reading ----------------------------------------------------------------------------


def _builder(whole: dict[str, Any], name: str) -> HistoryBuilder:
    recipe = checked_recipe(whole.get("recipe"), name)
    symbols = []
    for id, item in enumerate(objects_in(whole, "alphabet", name)):
        where = f"{name}, base symbol {id:,}"
        if item.get("id") != id:
            raise FormatError(f"{where}: its id is {item.get('id')!r}.")
        symbols.append(checked_symbol(item.get("kind"), _text(item, where), _bytes(item, where), where))
    return HistoryBuilder(
        recipe,
        checked_alphabet(symbols, recipe, name),
        tokens_at_start=_number(whole, "tokens_at_start", name),
        end_reason=checked_end_reason(whole.get("end_reason"), name),
        kinds=checked_kinds(whole.get("reasons"), name),
    )


def _numbers(history: History, symbols: list[Any], steps: list[Any], specials: object, name: str) -> Int64s:
    """By id; a token without one has none."""
    if not isinstance(specials, list) or len(specials) != len(history.recipe.special_tokens):
        raise FormatError(f'{name}: "{SPECIAL_NUMBERS}" must be a number for each special token.')
    found: list[Any] = [None] * history.id_count
    found[: len(symbols)], found[history.first_special :] = symbols, specials
    for id, number in zip(history.ids.tolist(), steps, strict=True):
        found[id] = number
    return checked_numbers([NO_NUMBER if one is None else one for one in found], history.id_count, name)


def _add_merge(builder: HistoryBuilder, item: dict[str, Any], where: str) -> None:
    merge = builder.add(
        _number(item, "left", where),
        _number(item, "right", where),
        count=_number(item, "count", where),
        runner_up=(_number(item, "runner_up_left", where), _number(item, "runner_up_right", where)),
        runner_up_count=_number(item, "runner_up_count", where),
        tokens_left=_number(item, "tokens_left", where),
        reasons={name: checked_number(item.get(name), kind, where) for name, kind in builder.kinds.items()},
        where=where,
    )
    should = _picked(builder.rows.row(merge), _MERGE_COLUMNS)
    for column, value in should.items():
        found = item.get(column)
        if (found is value) or (found == value and type(found) is type(value)):
            continue
        if column in TEXT_COLUMNS and _same_text(found, value):
            continue
        raise FormatError(f'{where}: "{column}" is {str(found)[:80]!r} where {value!r:.80} would be right.')


def _same_text(found: Any, should: Any) -> bool:
    """Two Python versions may differ in what they call printable, and so in what is escaped."""
    try:
        return unescape(found) == unescape(should)
    except (ValueError, TypeError):
        return False


def _number(item: dict[str, Any], key: str, where: str) -> int:
    value = item.get(key)
    if value is None:
        return NOTHING
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise FormatError(f'{where}: "{key}" must be a whole number, not {str(value)[:80]!r}.')
    return value


def _text(item: dict[str, Any], where: str) -> bytes:
    try:
        return unescape(item["token"])
    except (KeyError, TypeError, ValueError) as error:
        raise FormatError(f'{where}: "token" must be a text.') from error


def _bytes(item: dict[str, Any], where: str) -> bytes:
    try:
        return bytes.fromhex(item["bytes"])
    except (KeyError, TypeError, ValueError) as error:
        raise FormatError(f'{where}: "bytes" must be bytes in hex.') from error
