"""A .jsonl file: one JSON object a line, one of its fields the text of a document, or a list of such texts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import chain, islice

from bpe_core.errors import cause_of
from bpe_core.text.reading.blocks import text_blocks
from bpe_core.text.reading.fields import USUAL_NAMES, Steps, chosen, steps_of, text_fields
from bpe_core.text.reading.lines import NumberedLines
from bpe_core.text.reading.rows import LOOKED_AT, BadRow, encoded_field, listed, pass_over
from bpe_core.text.reading.skipped import SkipLog
from bpe_core.text.reading.source import DocumentPiece, ReadingOptions, Source
from bpe_core.text.reading.texts import pieces_of


def pieces(source: Source, options: ReadingOptions, size: int, log: SkipLog) -> Iterator[DocumentPiece]:
    """Each text of a row is a document; blank lines are none."""
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
    """Where texts are in the first rows, or would be if they were not missing; rows that are broken tell nothing."""
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
        raise BadRow(f"a row must be a JSON object such as {_example(field)}, not {_kind(row)}")
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
    """What is found one step further into a row."""
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


def _example(field: str) -> str:
    return f"{{{json.dumps(field)}: ...}}"


def _kind(value: object) -> str:
    if value is None:
        return "null"
    names = {
        bool: "true or false",
        int: "a number",
        float: "a number",
        str: "a text",
        list: "a list",
        dict: "an object",
    }
    return names[type(value)]
