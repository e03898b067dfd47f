"""The scanner's tables of the named patterns, which are stored with the machine code.

It takes longer to make a table than to load the machine code that reads it. A table is stored under a hash of its
pattern and of the release of `regex`, because `regex` defines the classes of characters. With another release, and for
patterns without a name, a table is computed when it is needed.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from functools import lru_cache
from hashlib import sha256
from itertools import product

import numpy as np
import regex

from bpe_core.kernels import stored_code
from bpe_core.recipes.parts import CUSTOM_PATTERN
from bpe_core.recipes.recipe import Recipe
from bpe_core.text.patterns import NAMED_PATTERNS
from bpe_core.text.scanner import table_for
from bpe_core.text.scanner.machine import TABLES_KEPT, ScanTable

UNITS = ("file", "line")


@lru_cache(maxsize=TABLES_KEPT)
def scan_table(recipe: Recipe) -> ScanTable | None:
    """Return the scanner's table for a recipe. Return None if only `regex` can split by the recipe's pattern."""
    if recipe.pattern != CUSTOM_PATTERN:
        return named_table(recipe.pattern, recipe.unit, older=recipe.older_unicode)
    return table_for(recipe.pattern, recipe.unit, recipe.custom_pattern, older=recipe.older_unicode)


@lru_cache(maxsize=TABLES_KEPT)
def named_table(pattern: str, unit: str = "file", *, older: bool = False) -> ScanTable:
    pack = stored_code.pack()
    written = None if pack is None else pack.tables.get(_key(pattern, unit, older))
    table = table_for(pattern, unit, older=older) if written is None else read(written)
    assert table is not None  # every named pattern has a table
    return table


def written_tables() -> Mapping[str, bytes]:
    """Return a dictionary from the hash of each named pattern to its table as bytes."""
    wanted = product(NAMED_PATTERNS, UNITS, (False, True))
    return {_key(*of): written(named_table(of[0], of[1], older=of[2])) for of in wanted}


def _key(pattern: str, unit: str, older: bool) -> str:
    named = NAMED_PATTERNS[pattern]
    content = (named.expression, named.drops_whitespace, unit, older, regex.__version__)
    return sha256(repr(content).encode()).hexdigest()[:32]


def written(table: ScanTable) -> bytes:
    """Return a table as bytes.

    The bytes hold ranges of characters of the same kind, and not the kind of each character.

    >>> table = named_table("gpt2")
    >>> again = read(written(table))
    >>> (again.entries == table.entries).all(), (again.kind_of_code_point == table.kind_of_code_point).all()
    (np.True_, np.True_)
    >>> (again.kinds, again.drops_blanks) == (table.kinds, table.drops_blanks), len(written(table)) < 4_000
    (True, True)
    """
    kinds = table.kind_of_code_point
    starts = np.append(np.int64(0), np.flatnonzero(kinds[1:] != kinds[:-1]) + 1)
    sizes = [len(table.kinds), len(table.entries), len(starts), len(kinds), table.drops_blanks]
    columns = (
        np.array(sizes, "<i4"),
        np.array(table.kinds, "u1"),
        table.entries.astype("<u2"),
        starts.astype("<i4"),
        kinds[starts],
    )
    return zlib.compress(b"".join(column.tobytes() for column in columns))


def read(content: bytes) -> ScanTable:
    data = zlib.decompress(content)
    kinds, entries, ranges, characters, drops_blanks = np.frombuffer(data, "<i4", 5).tolist()
    place = 5 * 4
    all_kinds = np.frombuffer(data, "u1", kinds, place)
    place += kinds
    rows = np.frombuffer(data, "<u2", entries, place).astype(np.uint16)
    place += 2 * entries
    starts = np.frombuffer(data, "<i4", ranges, place)
    place += 4 * ranges
    kind_of_range = np.frombuffer(data, "u1", ranges, place)
    kind_of_code_point = np.repeat(kind_of_range, np.diff(np.append(starts, characters)))
    kind_of_code_point.flags.writeable = False
    return ScanTable(rows, kind_of_code_point, tuple(all_kinds.tolist()), bool(drops_blanks))
