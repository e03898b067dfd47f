"""What stands in a single cell of a CSV table, written and read."""

from __future__ import annotations

import json
import math

from bpe_core.errors import FormatError
from bpe_core.formats.beyond_counts import Number, checked_number
from bpe_core.formats.rows import Cell
from bpe_core.history.history import NOTHING
from bpe_core.honest_text import unescape


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
