"""A reader of tables in text files.

The first row of a .csv or .tsv file names the columns. A .jsonl file has a JSON object in each line. One column or
field holds the texts. A field of JSON may also hold lists of texts.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import NamedTuple

import numpy as np

from bpe_core.errors import CorpusError, EncodingError, cause_of
from bpe_core.support.arrays import Bytes, Int64s
from bpe_core.support.foreign import parsed_json
from bpe_core.support.wording import count_text
from bpe_core.text.reading.plain_text import NumberedLines, numbered_lines
from bpe_core.text.reading.rows import (
    LOOKED_AT,
    USUAL_NAMES,
    BadRow,
    Steps,
    choose_field,
    first_names,
    report_bad_row,
    steps_of,
    text_fields,
)
from bpe_core.text.reading.source import Chunk, Kind, ReadingOptions, SkipLog, Source
from bpe_core.text.reading.utf8 import encode_utf8, pieces_of

LARGEST_FIELD = 64 * 1024 * 1024  # characters; a quote that is never closed would take the rest of the file


def csv_pieces(source: Source, options: ReadingOptions, size: int, log: SkipLog) -> Iterator[Chunk]:
    """Yield the text of each row as a document. A text in quotes may have several lines."""
    with numbered_lines(source, options, size, log) as lines:
        rows = Rows(lines, source.kind, source.name)
        fields = csv_fields(rows.header, rows.ahead)
        field = choose_field(options.field, fields, source.name) if fields else options.field or USUAL_NAMES[0]
        if field not in rows.header:
            named = first_names(rows.header) or "none"
            raise CorpusError(
                f'{source.name} has no column "{field}"; its first row names {named}. Choose one of them.'
            )
        column = rows.header.index(field)
        columns = len(rows.header)
        for row in rows:
            try:
                if row.problem is not None:
                    raise row.problem
                if len(row.values) not in (0, columns):
                    raise BadRow(
                        f"this row has {count_text(len(row.values), 'column')}, but the first row names {columns:,}"
                    )
                text = encode_utf8(row.values[column], options.on_invalid) if row.values else b""
            except (BadRow, EncodingError) as reason:
                report_bad_row(source, f"line {row.line:,}", reason, options, log)
                continue
            yield from pieces_of(text, size, lines.bytes_read)


def csv_fields(header: Sequence[str], rows: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return the columns that may hold texts.

    A column is left out if its first rows contain only numbers, unless its name is usual for texts.

    >>> csv_fields(["id", "body"], [["1", "low"], ["2", "7"]])
    ('body',)
    """
    full = [row for row in rows if len(row) == len(header)]
    numbers = {i for i in range(len(header)) if full and all(_is_number(row[i]) for row in full)}
    return tuple(name for i, name in enumerate(header) if i not in numbers or name.casefold() in USUAL_NAMES)


def examine_table(head: str, kind: Kind, name: str) -> tuple[list[str], list[list[str]]]:
    end = head.rfind("\n") + 1 or len(head)
    try:
        rows = Rows((line.encode() for line in io.StringIO(head[:end], newline="")), kind, name)
        return rows.header, rows.ahead
    except CorpusError:
        return [], []


def _is_number(value: str) -> bool:
    try:
        float(value or "0")
    except ValueError:
        return False
    return True


class Row(NamedTuple):
    line: int
    values: list[str]
    problem: BadRow | None = None


class Rows:
    """The rows of a table after its header.

    The first rows are read in advance. `ahead` holds the valid rows among them.
    """

    def __init__(self, lines: Iterable[bytes], kind: Kind, name: str) -> None:
        # The limit belongs to the whole process, so it is only ever raised.
        csv.field_size_limit(max(csv.field_size_limit(), LARGEST_FIELD))
        rows = _read((line.decode() for line in lines), "\t" if kind == "tsv" else ",")
        first = next(rows, Row(1, []))
        if first.problem is not None:
            raise CorpusError(f"{name}, line {first.line:,}: {first.problem}.") from first.problem
        self.header = first.values
        ahead = list(islice(rows, LOOKED_AT))
        self.ahead = [row.values for row in ahead if row.values]
        self._rows = chain(ahead, rows)

    def __iter__(self) -> Iterator[Row]:
        return self._rows


def _read(lines: Iterable[str], delimiter: str) -> Iterator[Row]:
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        line = reader.line_num + 1
        try:
            yield Row(line, next(reader))
        except StopIteration:
            return
        except csv.Error as error:
            upto = f" (up to line {reader.line_num:,}: is a quote not closed?)" if reader.line_num > line else ""
            problem = BadRow(f"this row cannot be read{upto}: its quotes or line ends are in the wrong place")
            problem.__cause__ = error
            yield Row(line, [], problem)


def json_pieces(source: Source, options: ReadingOptions, size: int, log: SkipLog) -> Iterator[Chunk]:
    """Read a file with a JSON object in each line, and yield each text as a document. Blank lines are skipped.

    Python reads the first rows to choose the field that holds the texts. Compiled code reads most of the other rows,
    and leaves difficult rows to Python.
    """
    with numbered_lines(source, options, size, log) as lines:
        numbered = ((lines.number, line) for line in lines if not line.isspace())
        rows = list(islice(numbered, LOOKED_AT))
        fields = json_fields(line for _, line in rows)
        field = choose_field(options.field, fields, source.name) if fields else options.field or USUAL_NAMES[0]
        steps = steps_of(field)
        has_ordinary_rows = steps == (field,)
        while rows:
            for number, line in rows:
                try:
                    texts = [encode_utf8(text, options.on_invalid) for text in texts_of(line, field, steps)]
                except (BadRow, EncodingError) as reason:
                    report_bad_row(source, f"line {number:,}", reason, options, log)
                    continue
                for text in texts:
                    yield from pieces_of(text, size, lines.bytes_read)
            if has_ordinary_rows:
                yield from texts_of_ordinary_rows(lines, field, size)
            rows = list(islice(numbered, LOOKED_AT))


# copies the texts of a field, as `kernels/json_rows.py` says
TakeTexts = Callable[[Bytes, int, Bytes, int, Bytes, Int64s], tuple[int, int, int]]

_SHORTEST_ROW = 9  # bytes with a text that is not empty: {"":"a"} and a line end
_SPARE = 32  # bytes after the last text, which machine code may overwrite
_machine_code: list[TakeTexts] = []


def use_compiled_rows(take_texts: TakeTexts) -> None:
    """Use the compiled function `take_texts` for rows of JSON from now on.

    The module that compiles the function makes this call when it is imported.
    """
    _machine_code[:] = [take_texts]


def texts_of_ordinary_rows(lines: NumberedLines, field: str, size: int) -> Iterator[Chunk]:
    """Read the next rows with compiled code, and yield their texts. Stop before a row that this code cannot read.

    The compiled code also checks that the rows are valid UTF-8.
    """
    name = np.frombuffer(bytearray(field, "utf-8", "surrogatepass"), np.uint8)
    while _machine_code and lines.has_more():
        start = lines.place
        left = len(lines.block) - start
        out = np.empty(left + _SPARE, np.uint8)
        ends = np.empty(left // _SHORTEST_ROW + 1, np.int64)
        data = np.frombuffer(lines.block, np.uint8)
        place, count, texts = _machine_code[0](data, start, name, size, out, ends)
        if place == start:
            return
        lines.move_to(place, count)
        if texts:
            yield Chunk(out[: ends[texts - 1]].data, True, lines.bytes_read, ends[: texts - 1])


def json_fields(lines: Iterable[bytes]) -> tuple[str, ...]:
    """Return the names of the fields that hold texts in the first rows of a JSON file.

    A field with a common name, such as `text`, is included whatever it holds. Bad rows are ignored.
    """
    names: dict[str, None] = {}
    for line in lines:
        try:
            row = _parsed(line)
        except BadRow:
            continue
        if isinstance(row, dict):
            names |= dict.fromkeys(name for name in USUAL_NAMES if name in row)
            names |= dict.fromkeys(text_fields(row))
    return tuple(names)


def texts_of(line: bytes, field: str, steps: Steps) -> list[str]:
    """Return the texts in a field of a row. `steps` is the result of `steps_of` for the field.

    >>> texts_of(b'{"turns": [{"text": "low"}, {"text": "lower"}]}', "turns[].text", steps_of("turns[].text"))
    ['low', 'lower']
    """
    row = _parsed(line)
    if not isinstance(row, dict):
        raise BadRow(f"a row must be a JSON object such as {{{json.dumps(field)}: ...}}, not {_kind(row)}")
    if field in row:  # a name that holds a dot itself
        steps = (field,)
    values: list[object] = [row]
    for place, step in enumerate(steps):
        values = [below for value in values for below in _below(value, step, steps[:place])]
    for value in values:
        if not isinstance(value, str):
            raise BadRow(f'the field "{field}" holds {_kind(value)}, not text')
    return [value for value in values if isinstance(value, str)]


def _parsed(line: bytes) -> object:
    try:
        return parsed_json(line.strip().decode())
    except json.JSONDecodeError as error:
        raise BadRow(f"this is not valid JSON from character {error.pos + 1:,} on") from error
    except (ValueError, RecursionError) as error:
        raise BadRow(f"this JSON cannot be read: {cause_of(error)}") from error


def _below(value: object, step: str | None, before: Steps) -> list[object]:
    whole = f'"{_written(before)}"' if before else "the row"
    where = f" in {whole}" if before else ""
    if step is None:
        if not isinstance(value, list):
            raise BadRow(f'"{_written(before)}" holds {_kind(value)}, not a list')
        return value
    if not isinstance(value, dict):
        raise BadRow(f'there is no field "{step}"{where}, because {whole} holds {_kind(value)}')
    if step not in value:
        others = f"only {first_names(list(value))}" if value else "and no other field"
        raise BadRow(f'there is no field "{step}"{where}, {others}')
    return [value[step]]


def _written(steps: Steps) -> str:
    return "".join("[]" if step is None else f".{step}" for step in steps).removeprefix(".")


def _kind(value: object) -> str:
    names = {bool: "true or false", str: "a text", list: "a list", dict: "an object", type(None): "null"}
    return names.get(type(value), "a number")
