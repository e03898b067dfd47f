"""A .jsonl file: one JSON object a line, with the text of a document, or a list of texts, in one of its fields."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import chain, islice

from bpe_core.errors import cause_of
from bpe_core.text.reading.plain_text import text_blocks
from bpe_core.text.reading.rows import (
    LOOKED_AT,
    USUAL_NAMES,
    BadRow,
    NumberedLines,
    Steps,
    chosen,
    encoded_field,
    listed,
    pass_over,
    steps_of,
    text_fields,
)
from bpe_core.text.reading.source import Chunk, ReadingOptions, SkipLog, Source
from bpe_core.text.reading.utf8 import pieces_of


def pieces(source: Source, options: ReadingOptions, size: int, log: SkipLog) -> Iterator[Chunk]:
    """Read each text of a row as a document; blank lines are skipped."""
    lines = NumberedLines(text_blocks(source, options, size, log), source.name)
    numbered = ((lines.number, line) for line in lines if not line.isspace())
    first = list(islice(numbered, LOOKED_AT))
    fields = fields_of(line for _, line in first)
    field = chosen(options.field, fields, source.name) if fields else options.field or USUAL_NAMES[0]
    steps = steps_of(field)
    for number, line in chain(first, numbered):
        try:
            texts = [encoded_field(text, options) for text in texts_of(line, field, steps)]
        except BadRow as reason:
            pass_over(source, f"line {number:,}", reason, options, log)
            continue
        for text in texts:
            yield from pieces_of(text, size, lines.bytes_read)


def fields_of(lines: Iterable[bytes]) -> tuple[str, ...]:
    """Where the first rows have texts, or would have them; broken rows are ignored."""
    found: dict[str, None] = {}
    for line in lines:
        try:
            row = _parsed(line)
        except BadRow:
            continue
        if isinstance(row, dict):
            found |= dict.fromkeys(name for name in USUAL_NAMES if name in row)
            found |= dict.fromkeys(text_fields(row))
    return tuple(found)


def texts_of(line: bytes, field: str, steps: Steps) -> list[str]:
    """The texts in that field of a row.

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
        return json.loads(line.strip().decode())
    except json.JSONDecodeError as error:
        raise BadRow(f"this is not valid JSON from character {error.pos + 1:,} on") from error
    except (ValueError, RecursionError) as error:
        raise BadRow(f"this JSON cannot be read: {cause_of(error)}") from error


def _below(value: object, step: str | None, before: Steps) -> list[object]:
    where = f' in "{_written(before)}"' if before else ""
    if step is None:
        if not isinstance(value, list):
            raise BadRow(f'"{_written(before)}" holds {_kind(value)}, not a list')
        return value
    if not isinstance(value, dict):
        raise BadRow(f'there is no field "{step}"{where}, which holds {_kind(value)}')
    if step not in value:
        raise BadRow(f'there is no field "{step}"{where}; there is {listed(list(value)) or "nothing"}')
    return [value[step]]


def _written(steps: Steps) -> str:
    return "".join("[]" if step is None else f".{step}" for step in steps).removeprefix(".")


def _kind(value: object) -> str:
    names = {bool: "true or false", str: "a text", list: "a list", dict: "an object", type(None): "null"}
    return names.get(type(value), "a number")
