"""Measures as columns, a name and an array each: what `pandas.DataFrame` and `polars.DataFrame` take as they are.

>>> rows({"text": ["low", "new"], "tokens": np.array([2, 3])})
[('low', 2), ('new', 3)]
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bpe_core.atomic import write_atomically
from bpe_core.errors import OutputError
from bpe_core.optional import MISSING_PYARROW, pyarrow_or_none

Column = list[str] | npt.NDArray[Any]
Columns = Mapping[str, Column]

ENDINGS = (".csv", ".tsv", ".json", ".parquet")


def values(column: Column) -> list[Any]:
    return column.tolist() if isinstance(column, np.ndarray) else column


def rows(columns: Columns) -> list[tuple[Any, ...]]:
    return list(zip(*map(values, columns.values()), strict=True))


def check_ending(path: Path) -> None:
    """Complain before the work, not after it."""
    if path.suffix.lower() not in ENDINGS:
        raise OutputError(f"Measures are written as {', '.join(ENDINGS)}; end the name {path} in one of them.")
    if path.suffix.lower() == ".parquet" and pyarrow_or_none() is None:
        raise OutputError(f"Writing {path} {MISSING_PYARROW}")


def write_columns(columns: Columns, path: Path) -> None:
    """As the ending of the name says; numbers as numbers, with all their digits."""
    check_ending(path)
    ending = path.suffix.lower()
    with write_atomically(path) as file:
        if ending == ".parquet":
            arrow = pyarrow_or_none()
            arrow.parquet.write_table(arrow.table(dict(columns)), file)
            return
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        if ending == ".json":
            json.dump(as_json(columns), text, ensure_ascii=False, indent=1)
        else:
            writer = csv.writer(text, delimiter="\t" if ending == ".tsv" else ",", lineterminator="\n")
            writer.writerow(columns)
            writer.writerows(rows(columns))
        text.detach()


def as_json(columns: Columns) -> list[dict[str, Any]]:
    """An object a row; what is no number, such as a part of nothing, is null."""
    return [{name: _plain(value) for name, value in zip(columns, row, strict=True)} for row in rows(columns)]


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
