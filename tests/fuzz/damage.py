"""The functions that damage the values in a file but keep the format of the file.

A damaged value is nested too deeply, too large, of a wrong type, missing, or doubled.
"""

from __future__ import annotations

import copy
import json
import random
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Literal

import pyarrow as arrow
from pyarrow import compute

from bpe_core.formats.sentencepiece_fields import varint
from bpe_core.session_file import checksums

DEPTHS = (3, 60, 900, 5_000)


def nested(depth: int) -> Any:
    """Return lists or objects that are nested to a depth.

    The function works without recursion, so any depth is possible.
    """
    value: Any = 7
    for level in range(depth):
        value = {"a": value} if level % 7 == 3 else [value]
    return value


ODD: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2**31, 2**63, -(2**63), 10**40, 0.5, -0.0, 1e308, float("inf"), float("nan")),
    *(
        "",
        " ",
        "a",
        "\0",
        "\ud800",
        "\x85",
        "日本",
        "12",
        "-7",
        "1e9",
        "NaN",
        "x" * 5_000,
        "[",
        "../..",
        "tcp://10.0.0.1:9",
    ),
    *([], {}, [[]], [None], [1, "a"], {"": ""}, {"a": None}, [0] * 300, {str(i): i for i in range(300)}),
)


def odd(chance: random.Random) -> Any:
    return nested(chance.choice(DEPTHS)) if chance.random() < 0.05 else copy.copy(chance.choice(ODD))


def damage_value(value: Any, chance: random.Random, times: int = 3) -> Any:
    """Return a copy of a value with some parts replaced, removed, added, doubled or exchanged."""
    changed = copy.deepcopy(value)
    for _ in range(chance.randint(1, times)):
        changed = _damage_once(changed, chance)
    return changed


def _damage_once(value: Any, chance: random.Random) -> Any:
    holder: Any = None
    place: Any = None
    at = value
    while isinstance(at, (list, dict)) and at and chance.random() < 0.8:
        holder, place = at, chance.choice([*at]) if isinstance(at, dict) else chance.randrange(len(at))
        at = holder[place]
    if holder is None:
        return odd(chance)
    what = chance.randrange(5)
    if what == 0:
        del holder[place]
    elif what == 1 and isinstance(holder, list):
        holder.insert(place, copy.copy(at))
    elif what == 2 and isinstance(holder, dict):
        holder[chance.choice((str(place) + "x", "", "type", "a", str(place).upper()))] = holder.pop(place)
    elif what == 3:
        other = chance.choice([*holder.values()] if isinstance(holder, dict) else holder)
        holder[place] = copy.copy(other)
    else:
        holder[place] = odd(chance)
    return value


def as_json(value: Any, chance: random.Random) -> bytes:
    """Return a value as JSON. If the value is too deep for Python's JSON writer, return a different deep JSON text.

    Some results are encoded in UTF-16 or begin with a byte order mark.
    """
    try:
        text = json.dumps(value, ensure_ascii=chance.random() < 0.5)
    except RecursionError:
        depth = chance.choice(DEPTHS[-2:])
        text = "[" * depth + "]" * depth if chance.random() < 0.5 else '{"a":' * depth + "1" + "}" * depth
    return text.encode(chance.choice(("utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16")), "surrogatepass")


def as_toml(value: Any) -> bytes:
    """Return a value as TOML, with a line for each entry. Values that TOML cannot express are written as strings."""
    value = value if isinstance(value, dict) else {"a": value}
    return "".join(f"{json.dumps(str(key))} = {_toml(entry)}\n" for key, entry in value.items()).encode(
        "utf-8", "surrogatepass"
    )


def _toml(value: Any) -> str:
    try:
        if isinstance(value, dict):
            return "{" + ", ".join(f"{json.dumps(str(key))} = {_toml(entry)}" for key, entry in value.items()) + "}"
        if isinstance(value, (list, tuple)):
            return "[" + ", ".join(map(_toml, value)) + "]"
    except RecursionError:
        return "[" * 2_000 + "]" * 2_000
    if isinstance(value, float):
        return repr(value)
    return json.dumps("null" if value is None else value, ensure_ascii=False)


LARGE = (2**20, 2**26, 2**28, 2**30 - 1, 2**31 - 1, 2**33, 2**40, 2**63 - 1)


def with_large_numbers(data: bytes, chance: random.Random) -> bytes:
    """Return the data of a file with large numbers in place of some bytes.

    A reader may take such a number for the size of a part, although the part would be larger than the file.
    """
    for _ in range(chance.randint(1, 3)):
        number, place = chance.choice(LARGE), chance.randrange(len(data) + 1)
        digits = re.search(rb"\d+", data[place:])
        forms = [varint(number), varint(2 * number), str(number).encode()]
        forms += [number.to_bytes(size, order) for size in (4, 8) for order in _ORDERS if number < 2 ** (8 * size - 1)]
        form = chance.choice(forms)
        if form.isdigit() and digits is not None:
            data = data[: place + digits.start()] + form + data[place + digits.end() :]
        else:
            data = data[:place] + form + data[place + chance.choice((1, len(form), len(form))) :]
    return data


_ORDERS: tuple[Literal["little", "big"], ...] = ("little", "big")


TYPES: tuple[Callable[[], Any], ...] = (
    *(
        arrow.string,
        arrow.large_string,
        arrow.binary,
        arrow.int8,
        arrow.int64,
        arrow.uint64,
        arrow.float64,
        arrow.bool_,
    ),
    *(
        arrow.null,
        arrow.date32,
        lambda: arrow.timestamp("us"),
        lambda: arrow.decimal128(38, 3),
        lambda: arrow.binary(3),
    ),
    lambda: arrow.list_(arrow.int64()),
    lambda: arrow.list_(arrow.list_(arrow.string())),
    lambda: arrow.struct([("a", arrow.int64()), ("b", arrow.string())]),
    lambda: arrow.dictionary(arrow.int8(), arrow.string()),
    lambda: arrow.map_(arrow.string(), arrow.int64()),
)


def damage_table(table: Any, chance: random.Random) -> Any:
    """Return a damaged table. Columns have another type or name, have empty cells, are missing, or occur twice.

    Some tables lose all rows, or all rows but the first. The metadata stays.
    """
    for _ in range(chance.randint(1, 2)):
        what, metadata = chance.randrange(7), table.schema.metadata
        if not table.num_columns or what == 0:
            table = table.select([*range(0 if chance.random() < 0.3 else min(table.num_columns, chance.randint(0, 3)))])
        elif what == 6:
            table = table.slice(0, chance.choice((0, 1)))
        else:
            place = chance.randrange(table.num_columns)
            name = table.column_names[place]
            if what == 1:
                table = table.remove_column(place)
            elif what == 2:
                table = table.append_column(chance.choice((name, "text", "word", "")), table.column(place))
            elif what == 3:
                table = table.rename_columns([chance.choice((name, name, "x")) for name in table.column_names])
            elif what == 4:
                kept = arrow.array([chance.random() < 0.4 for _ in range(len(table))], arrow.bool_())
                table = table.set_column(place, name, compute.if_else(kept, None, table.column(place)))
            else:
                table = table.set_column(place, name, _of_another_type(len(table), chance))
        table = table.replace_schema_metadata(metadata)
    return table


def _of_another_type(rows: int, chance: random.Random) -> Any:
    kind = chance.choice(TYPES)()
    values = [chance.choice(ODD[:20]) for _ in range(rows)]
    try:
        return arrow.array(values, kind)
    except (arrow.ArrowException, TypeError, ValueError, OverflowError):
        like: tuple[Any, ...] = (0, -1, 2**62, "a", b"abc", [1], [["a"]], {"a": 1, "b": "c"}, [("a", 1)], 0.5, True)
    for example in chance.sample(like, len(like)):
        try:
            return arrow.array([example] * rows, kind)
        except (arrow.ArrowException, TypeError, ValueError, OverflowError):
            continue
    return arrow.nulls(rows, kind)


def damage_session(path: Path, chance: random.Random) -> None:
    """Put unusual values into the cells of a session, or delete rows.

    Afterwards all checksums are computed again, so that they do not reveal the damage.
    """
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for _ in range(chance.randint(1, 3)):
            table = chance.choice([name for name in tables if name != checksums.NAME])
            columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
            rows = connection.execute(f"SELECT * FROM {table}").fetchall()
            if not rows:
                continue
            column = chance.randrange(len(columns))
            row = chance.choice(rows)
            where = " AND ".join(f"{name} IS ?" for name in columns)
            try:
                if chance.random() < 0.15:
                    connection.execute(f"DELETE FROM {table} WHERE {where}", row)
                else:
                    value = _cell_value(row[column], chance)
                    connection.execute(f"UPDATE {table} SET {columns[column]} = ? WHERE {where}", (value, *row))
            except (sqlite3.Error, OverflowError, UnicodeEncodeError):
                continue
        for part, run, place, _ in connection.execute("SELECT * FROM checks").fetchall():
            checksums.store_checksum(connection, part, run, place)


def _cell_value(value: Any, chance: random.Random) -> Any:
    if isinstance(value, str) and value[:1] in ("{", "[") and chance.random() < 0.8:
        with suppress(ValueError, RecursionError):  # it was changed before
            return as_json(damage_value(json.loads(value), chance), chance).decode("utf-8", "replace")
    if isinstance(value, bytes) and chance.random() < 0.7:
        cut = chance.randint(0, len(value))
        return value[:cut] + chance.randbytes(chance.choice((0, 1, 8))) + value[cut + chance.choice((0, 1, 8)) :]
    cell = odd(chance)
    return cell if cell is None or isinstance(cell, (int, float, str)) else "[" * chance.choice(DEPTHS)
