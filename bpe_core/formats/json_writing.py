"""Write very many rows that are laid out alike, and JSON that holds them.

>>> rows = Rows([Column("- ", np.array([1, 0]), [b"low", b"new"]), Column(": ", np.array([7, 8]))], ";")
>>> laid(rows)
b'- new: 7;- low: 8;'
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bpe_core.formats.byte_level import AT_ONCE
from bpe_core.formats.rows import KERNELS


class Column(NamedTuple):
    """What it says in each row: a number that is not negative, or which of the texts."""

    before: str  # each cell
    values: npt.NDArray[np.int32] | npt.NDArray[np.int64]
    texts: Sequence[bytes] | None = None


class Rows(NamedTuple):
    """As many as each column has values."""

    columns: Sequence[Column]
    behind: str  # each row


def laid(rows: Rows) -> bytes:
    if KERNELS.chooses(len(rows.columns[0].values)):
        from bpe_core.formats.compiled_rows import laid_rows  # loads machine code

        return laid_rows(rows)
    signs = ["%d" if column.texts is None else "%b" for column in rows.columns]
    parts = [column.before.replace("%", "%%") + sign for column, sign in zip(rows.columns, signs, strict=True)]
    template = f"{''.join(parts)}{rows.behind.replace('%', '%%')}".encode()
    return b"".join([template % row for row in zip(*map(_cells, rows.columns), strict=True)])


def _cells(column: Column) -> Sequence[int | bytes]:
    values: list[int] = column.values.tolist()
    return values if column.texts is None else [column.texts[one] for one in values]


BETWEEN = "\0"  # stands in no JSON: there it is written \u0000


class Table(NamedTuple):
    """Lists of a cell of each column, or objects where the columns have keys."""

    columns: Sequence[Column]
    keys: Sequence[str] = ()

    def laid_out(self, line: str, last: str) -> str:
        """The rows with commas between; what stands in a row is on such a line, its end on the last."""
        if not len(self.columns[0].values):
            return ""
        keys = [f"{json.dumps(key, ensure_ascii=False)}: " for key in self.keys] or [""] * len(self.columns)
        opening, closing = "{}" if self.keys else "[]"
        begin = [f"{opening}{line}", *[f",{line}"] * (len(keys) - 1)]
        before = [f"{start}{key}" for start, key in zip(begin, keys, strict=True)]
        columns = [column._replace(before=text) for column, text in zip(self.columns, before, strict=True)]
        behind = f"{last}{closing},{last}"
        return laid(Rows(columns, behind)).decode().removesuffix(f",{last}")


CONTAINERS = (dict, list, tuple, Table)


def encoded(values: Sequence[Any]) -> list[bytes]:
    """Each as JSON; of texts and others that hold nothing more.

    >>> encoded(["a", None, 7])
    [b'"a"', b'null', b'7']
    """
    found: list[bytes] = []
    for start in range(0, len(values), AT_ONCE):  # other threads have their turns between
        some = json.dumps(values[start : start + AT_ONCE], ensure_ascii=False, separators=(BETWEEN, ""))
        found += some[1:-1].encode().split(BETWEEN.encode())
    return found


def laid_out(value: Any, by: int, depth: int = 0) -> str:
    """What `json.dumps(value, ensure_ascii=False, indent=by)` says, in a fraction of its time.

    >>> value = {"merges": [["a", "b"], ["ab", 2]], "vocab": {"a": 0, "b": None}, "many": [{"x": 1}, {"x": "é"}]}
    >>> value |= {"odd": [[], ["a"], {"x": [value.copy()]}], "none": {}}
    >>> [laid_out(value, by) == json.dumps(value, ensure_ascii=False, indent=by) for by in (0, 2)]
    [True, True]
    """
    if not isinstance(value, CONTAINERS) or not value:
        return json.dumps(value, ensure_ascii=False)
    line, last = ("\n" + " " * by * deep for deep in (depth + 1, depth))
    if isinstance(value, Table):
        rows = value.laid_out(line + " " * by, line)
        return f"[{line}{rows}{last}]" if rows else "[]"
    kinds = set(map(type, value.values() if isinstance(value, dict) else value))
    if kinds.isdisjoint(CONTAINERS):
        body = json.dumps(value, ensure_ascii=False, separators=("," + line, ": "))[1:-1]
    elif isinstance(value, dict):
        entries = ((json.dumps(key, ensure_ascii=False), laid_out(one, by, depth + 1)) for key, one in value.items())
        body = ("," + line).join(f"{key}: {one}" for key, one in entries)
    elif (table := _table_of(value, kinds)) is not None:
        body = table.laid_out(line + " " * by, line)
    else:
        body = ("," + line).join(laid_out(one, by, depth + 1) for one in value)
    return f"{{{line}{body}{last}}}" if isinstance(value, dict) else f"[{line}{body}{last}]"


def _table_of(rows: Sequence[Any], kinds: set[type]) -> Table | None:
    """Lists of one length, or objects with the same keys, where nothing in them holds more; None of others."""
    if kinds == {list} and len(set(map(len, rows))) == 1 and rows[0]:
        keys, columns = (), list(zip(*rows, strict=True))
    elif kinds == {dict} and len(set(map(tuple, rows))) == 1 and rows[0]:
        keys, columns = tuple(rows[0]), list(zip(*map(dict.values, rows), strict=True))
    else:
        return None
    if not all(set(map(type, column)).isdisjoint(CONTAINERS) for column in columns):
        return None
    return Table([Column("", np.arange(len(rows)), encoded(column)) for column in columns], keys)
