"""A JSON table taken in merge by merge, so that a huge or hostile one cannot fill the memory.

As this program writes them, each merge has a line of its own; such files are parsed line by
line. One that another program laid out anew is parsed as a whole, if it is not too large.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from bpe_core.errors import FormatError, TooLarge
from bpe_core.formats.cells_at_once import Cells, PlacedCells, make_rows, numbers_by_kernels

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
