"""JSON laid out over lines, of very many entries.

Python's own encoder is fast as long as nothing is indented. So it writes what is alike, with signs between that become
the lines.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any

from bpe_core.formats.in_turns import AT_ONCE

BETWEEN = "\0"  # stands in no JSON: there it is written \u0000
CONTAINERS = (dict, list, tuple)


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
    kinds = set(map(type, value.values() if isinstance(value, dict) else value))
    if kinds.isdisjoint(CONTAINERS):
        body = json.dumps(value, ensure_ascii=False, separators=("," + line, ": "))[1:-1]
    elif isinstance(value, dict):
        entries = ((json.dumps(key, ensure_ascii=False), laid_out(one, by, depth + 1)) for key, one in value.items())
        body = ("," + line).join(f"{key}: {one}" for key, one in entries)
    elif (rows := _rows_alike(value, kinds, line + " " * by, line)) is not None:
        body = ("," + line).join(rows)
    else:
        body = ("," + line).join(laid_out(one, by, depth + 1) for one in value)
    return f"{{{line}{body}{last}}}" if isinstance(value, dict) else f"[{line}{body}{last}]"


def _rows_alike(rows: Sequence[Any], kinds: set[type], line: str, last: str) -> list[str] | None:
    """Lists of one length, or objects with the same keys, where nothing in them holds more; None of others."""
    if kinds == {list} and len(set(map(len, rows))) == 1 and rows[0]:
        template = "[" + ",".join([line + "%s"] * len(rows[0])) + last + "]"
        parts: Callable[[Any], Iterable[Any]] = iter
    elif kinds == {dict} and len(set(map(tuple, rows))) == 1 and rows[0]:
        keys = (json.dumps(key, ensure_ascii=False).replace("%", "%%") for key in rows[0])
        template = "{" + ",".join(line + key + ": %s" for key in keys) + last + "}"
        parts = dict.values
    else:
        return None
    found: list[str] = []
    for start in range(0, len(rows), AT_ONCE):  # other threads have their turns between
        cells = list(chain.from_iterable(map(parts, rows[start : start + AT_ONCE])))
        if not set(map(type, cells)).isdisjoint(CONTAINERS):
            return None
        encoded = json.dumps(cells, ensure_ascii=False, separators=(BETWEEN, ""))[1:-1].split(BETWEEN)
        columns = (encoded[place :: len(rows[0])] for place in range(len(rows[0])))
        found += [template % row for row in zip(*columns, strict=True)]
    return found
