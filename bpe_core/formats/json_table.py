"""The merge table as one JSON object: recipe, base symbols and merges, a merge a line."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterator, Sequence
from json.encoder import encode_basestring
from typing import BinaryIO

import numpy as np

from bpe_core.errors import FormatError
from bpe_core.formats.base import NO_NUMBER, reported, unless_ids
from bpe_core.formats.json_reading import Object, parsed_object
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
    scores_by_token,
    symbol_in,
)
from bpe_core.formats.rows import COLUMNS_BUT_KIND, Layout, Row, base_rows, merge_rows, rows_by_kernels
from bpe_core.history.history import History, Int64s
from bpe_core.support.progress import ProgressReport

OPENING = b'\n "merges": ['  # where, as this program writes it, the lines of the merges begin
CLOSING = b"\n ]\n}\n"  # how it ends them
BEFORE = '  {"step": ,'  # of a line, beside what its values take from the first on
LARGEST_WHOLE = 32 * 2**20  # bytes parsed at once; in memory they can become twenty times as many
LARGEST_LINE = 2**20
SIGNATURE = "bpe-explorer merge table"
VERSION = 1
SPECIAL_NUMBERS = "special_numbers"
MOST_SYMBOLS = 100_000  # which are read at once; with their scores they take 200 bytes each

_SYMBOL_COLUMNS = ("id", "kind", "token", "bytes")
_encoded = json.JSONEncoder(ensure_ascii=False).encode


class JsonTable(MergeTable):
    name = "json"
    extension = ".json"
    holds_hidden = True

    def holds_joining(self, history: History) -> bool:
        return True

    def impossible(self, history: History) -> list[str]:
        if len(history.alphabet) <= MOST_SYMBOLS:
            return []
        return [f"A JSON table of {len(history.alphabet):,} pieces is too large to be read again; choose csv instead."]

    def write_all(self, history: History, file: BinaryIO, progress: ProgressReport) -> None:
        tokens = history.tokens_at_start if history.tokens_at_start >= 0 else None
        about = {"format": SIGNATURE, "version": VERSION, **about_of(history, tokens_at_start=tokens)}
        about |= {} if history.joining is None else {"joining": history.joining.to_dict}
        numbers = unless_ids(self.numbers(history))
        known = [] if numbers is None else [None if one == NO_NUMBER else one for one in numbers.tolist()]
        about |= {SPECIAL_NUMBERS: known[history.first_special :]} if known else {}
        file.write(json.dumps(about, ensure_ascii=False, indent=1).removesuffix("\n}").encode())
        symbols = [{name: getattr(row, name) for name in _SYMBOL_COLUMNS} for row in base_rows(history.alphabet)]
        if history.scores is not None:
            symbols = [one | {"scores": some} for one, some in zip(symbols, scores_by_token(history), strict=True)]
        if known:
            symbols = [one | {NUMBER: known[id]} for id, one in enumerate(symbols)]
        lines = ",".join(f"\n  {_encoded(one)}" for one in symbols) + "\n " * bool(symbols)
        file.write(f',\n "alphabet": [{lines}],'.encode() + OPENING)
        comma = 1  # which is before all but the first
        for rows in reported(_laid(history, numbers, known), history, progress):
            file.write(rows[comma:])
            comma = 0
        file.write(CLOSING if len(history) else b"]\n}\n")

    def recognizes(self, data: bytes) -> bool:
        return data.lstrip().startswith(b"{") and SIGNATURE.encode() in data

    def as_found(self, row: Row) -> Found:
        return {column: getattr(row, column) for column in COLUMNS_BUT_KIND}

    def taken_apart(self, data: bytes, name: str) -> Told:
        begin = data.find(OPENING) + len(OPENING)
        is_in_lines = begin >= len(OPENING) and data.startswith((b'\n  {"', b'\r\n  {"', b"]"), begin)
        about = parsed_object(data[:begin] + b"]}" if is_in_lines else data, name, LARGEST_WHOLE)
        if about.get("format") != SIGNATURE:
            raise FormatError(f'{name} is not a merge table: it lacks "format": "{SIGNATURE}".')
        if about.get("version") != VERSION:
            raise FormatError(
                f"{name} is a merge table of version {about.get('version')!r}; this program reads version {VERSION}."
            )
        merges = [] if is_in_lines else _objects_in(about, "merges", name)
        alphabet = _objects_in(about, "alphabet", name)
        wrong = next((id for id, item in enumerate(alphabet) if item.get("id") != id), None)
        if wrong is not None:
            raise FormatError(f"{name}, base symbol {wrong:,}: its id is {alphabet[wrong].get('id')!r}.")
        numbers = None
        if SPECIAL_NUMBERS in about:
            if not isinstance(about[SPECIAL_NUMBERS], list):
                raise FormatError(f'{name}: "{SPECIAL_NUMBERS}" must be a number for each special token.')
            numbers = [item.get(NUMBER) for item in alphabet], about[SPECIAL_NUMBERS]
        columns = [*COLUMNS_BUT_KIND, *columns_for(checked_kinds(about.get("reasons"), name))]
        columns += [NUMBER] if numbers else []
        return Told(
            about,
            name,
            [symbol_in(item, f"{name}, base symbol {id:,}") for id, item in enumerate(alphabet)],
            lambda: (
                _merge_lines(data, begin, name)
                if is_in_lines
                else ((f"{name}, merge {number:,}", item) for number, item in enumerate(merges, 1))
            ),
            lambda: _cells_at_once(data, columns),
            scores=[item.get("scores") for item in alphabet],
            numbers=numbers,
        )


def _laid(history: History, numbers: Int64s | None, known: Sequence[int | None]) -> Iterator[tuple[int, bytes]]:
    """Some lines at a time, each behind a comma, and after which step they end."""
    reasons = {name: history.reasons[name].tolist() for name in columns_for(history.reasons)}
    if not reasons:
        names = [*COLUMNS_BUT_KIND, *([] if numbers is None else [NUMBER])]
        before = {name: f', "{name}": ' + '"' * (name == "bytes") for name in names}
        before |= {"step": ',\n  {"step": ', "length": '", "length": '}
        found = rows_by_kernels(history, Layout(before, "}", "null", encode_basestring), numbers)
        if found is not None:
            yield from found
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
            yield where, parsed_object(text.removesuffix(b","), name, LARGEST_LINE, number)
    raise FormatError(f"{name} ends within its merges: it was cut short.")


def _cells_at_once(data: bytes, names: Sequence[str]) -> Cells | None:
    """The values of the merges, each with these keys; None where they are not laid out as this program does it."""
    start, stop = data.find(OPENING) + len(OPENING), data.rfind(CLOSING)
    if not len(OPENING) <= start < stop:
        return None
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
    return Cells(data, names, begin, end) if (next_line - begin[:, 0]).max() + len(BEFORE) <= LARGEST_LINE else None
