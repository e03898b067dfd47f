"""A .jsonl file: one JSON object a line, one of its fields the text of a document."""

from __future__ import annotations

import json
from collections.abc import Iterator

from bpe_core.errors import cause_of
from bpe_core.text.reading.blocks import text_blocks
from bpe_core.text.reading.lines import NumberedLines
from bpe_core.text.reading.rows import BadRow, encoded_field, listed, pass_over
from bpe_core.text.reading.skipped import SkipLog
from bpe_core.text.reading.source import DocumentPiece, ReadingOptions, Source
from bpe_core.text.reading.texts import pieces_of


def pieces(source: Source, options: ReadingOptions, size: int, log: SkipLog) -> Iterator[DocumentPiece]:
    """Each row is a document; blank lines are none."""
    lines = NumberedLines(text_blocks(source, options, size, log), source.name)
    for line in lines:
        if line.isspace():
            continue
        try:
            text = encoded_field(field_of(line, options.field), options)
        except BadRow as reason:
            pass_over(source, lines.number, reason, options, log)
            continue
        yield from pieces_of(text, size, lines.bytes_read)


def field_of(line: bytes, field: str) -> str:
    """The text in that field of a row.

    >>> field_of(b'{"text": "low lower"}', "text")
    'low lower'
    """
    try:
        row = json.loads(line.strip().decode())
    except json.JSONDecodeError as error:
        raise BadRow(f"this is not valid JSON from character {error.pos + 1:,} on") from error
    except (ValueError, RecursionError) as error:
        raise BadRow(f"this JSON cannot be read: {cause_of(error)}") from error
    if not isinstance(row, dict):
        raise BadRow(f"a row must be a JSON object such as {{{json.dumps(field)}: ...}}, not {_kind(row)}")
    if field not in row:
        raise BadRow(f'there is no field "{field}"; there is {listed(list(row)) or "nothing"}')
    text = row[field]
    if not isinstance(text, str):
        raise BadRow(f'the field "{field}" holds {_kind(text)}, not text')
    return text


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
