"""A measure of many runs over the size of their vocabularies: a curve for those that differ only in their seed.

>>> from bpe_core.sweep.results import WHOLE, table_of
>>> told = [{"recipe": "a", "corpus": "b", "ties": "c", "run": "d", **dict.fromkeys(WHOLE, 1), "vocabulary": size,
...          "size": size, "seed": seed, "tokens_per_word": seed / size} for seed in (1, 3) for size in (10, 20)]
>>> (curve,) = curves_of(table_of(told), "tokens_per_word")
>>> curve.sizes.tolist(), curve.mean.tolist(), curve.low.tolist(), curve.high.tolist()
([10.0, 20.0], [0.2, 0.1], [0.1, 0.05], [0.3, 0.15])
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from bpe_core.data_table import DataTable
from bpe_core.records import dataclass
from bpe_core.sweep.results import WITH_INTERVAL, Row, rows_of, summed

Numbers = npt.NDArray[np.float64]

BAND = (
    "A band lies between the least and the most of several seeds; of a single one, where 95 of 100 draws of as many "
    "documents lie (bootstrap)."
)
NAMED_BY = ("recipe", "corpus", "ties")


@dataclass(frozen=True, eq=False)
class BandedCurve:
    """The mean at each size, and between what the band lies; no number where nothing is known of it."""

    name: str
    sizes: Numbers  # the tokens that there are, as a mean
    mean: Numbers
    low: Numbers
    high: Numbers


def curves_of(table: DataTable, measure: str) -> list[BandedCurve]:
    """In the order of the table, named by what tells them apart."""
    rows = [row for row in rows_of(table) if row[measure] is not None]
    told_apart = _told_apart(rows)
    lines: dict[tuple[str, ...], dict[int, list[Row]]] = {}
    for row in rows:
        of_size = lines.setdefault(tuple(row[name] for name in NAMED_BY), {})
        of_size.setdefault(row["size"], []).append(row)
    found = []
    for key, of_size in lines.items():
        name = ", ".join(text for text, what in zip(key, NAMED_BY, strict=True) if what in told_apart)
        points = [_point(of_size[size], measure) for size in sorted(of_size)]
        found.append(BandedCurve(name, *np.array(points, np.float64).T))
    return found


def _told_apart(rows: Sequence[Row]) -> list[str]:
    """Of recipe, corpus and ties those that tell lines apart which have all before them in common."""
    found = list(NAMED_BY[:1])
    for name in NAMED_BY[1:]:
        with_it = [*found, name]
        if len({tuple(row[one] for one in with_it) for row in rows}) > len(
            {tuple(row[one] for one in found) for row in rows}
        ):
            found = with_it
    return found


def _point(rows: list[Row], measure: str) -> tuple[float, float, float, float]:
    size = summed([row["vocabulary"] for row in rows])[0]
    mean, _, low, high = summed([row[measure] for row in rows])
    if len(rows) > 1:
        return size, mean, low, high
    ends = [rows[0].get(f"{measure}_{end}") for end in ("low", "high")] if measure in WITH_INTERVAL else [None, None]
    return size, mean, *(float("nan") if end is None else float(end) for end in ends)  # type: ignore[return-value]
