"""The table of a sweep, with a row for each run at each vocabulary size.

Each row has the fingerprint of its run: a hash of everything that the result depends on. So the table alone
shows which runs are complete.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bpe_core.errors import FormatError
from bpe_core.measures.measures import OF_SWEEPS
from bpe_core.support.data_table import DataTable, Values, checked_name, read_data
from bpe_core.support.foreign import report_faults

Row = Mapping[str, Any]

TEXTS = ("recipe", "corpus", "ties", "run")
WHOLE = ("seed", "size", "vocabulary", "step", "documents", "bytes", "words", "tokens")
WITH_INTERVAL = ("bytes_per_token", "tokens_per_word")
INTERVALS = tuple(f"{name}_{end}" for name in WITH_INTERVAL for end in ("low", "high"))
COLUMNS = ("recipe", "corpus", "ties", *WHOLE, *OF_SWEEPS, *INTERVALS, "run")
MEANINGS = {
    "recipe, corpus, ties": "The names that the plan gives to the recipe, the corpus and the tie rule",
    "seed": "The seed of the random sample that the run was learned from, or 0 if there was no sample",
    "size": "The requested vocabulary size, and the real size, which is smaller if nothing more can be learned",
    "documents": "The number of documents that were measured. The intervals come from random draws of them",
    "bytes_per_token, tokens_per_word, renyi_efficiency, share_in_use, unknown_share": "See `benchmark --help`",
    "bits_per_byte": "See `sizes --help`",
    "morpheme_precision, morpheme_recall, morpheme_f1": "See `morphemes --help`",
    "..._low, ..._high": "The ends of a 95 % interval over 1,000 random draws of documents (bootstrap)",
    "run": "A fingerprint of all choices of the run. A run whose row exists is not measured again",
}
SUMMED = ("mean", "deviation", "least", "most")
OF_SUMMARY = ("recipe", "corpus", "ties", "size")


def table_of(rows: Iterable[Row]) -> DataTable:
    known = list(rows)
    columns: dict[str, Values] = {}
    for name in COLUMNS:
        values = [row.get(name) for row in known]
        if name in TEXTS:
            columns[name] = values
        elif name in WHOLE:
            columns[name] = np.array(values, np.int64)
        else:
            columns[name] = np.array([math.nan if value is None else value for value in values], np.float64)
    return DataTable(columns)


def remarks_of(table: DataTable) -> list[str]:
    """Return a warning for each recipe that leaves text unencoded.

    The measures of such a recipe look too good, because its tokens cover only a part of the text.

    >>> told = {"corpus": "b", "ties": "c", "run": "d", **dict.fromkeys(WHOLE, 1), "unknown_share": 0.25}
    >>> remarks_of(table_of([{"recipe": "a", **told}, {"recipe": "e", **told, "unknown_share": 0.0}]))[0][:62]
    'a on b cannot encode everything: 25.00% of its tokens are unkn'
    """
    most: dict[str, Row] = {}
    for row in table.records():
        if (row["unknown_share"] or 0) > most.get(row["recipe"], {"unknown_share": 0})["unknown_share"]:
            most[row["recipe"]] = row
    return [
        f"{name} on {row['corpus']} cannot encode everything: {row['unknown_share']:.2%} of its tokens are unknown at "
        f"a vocabulary size of {row['size']:,}, so its other measures look too good."
        for name, row in most.items()
    ]


def read_results(path: Path | str) -> DataTable:
    if not Path(path).exists():
        raise FormatError(f"{path} does not exist. Name the table that a sweep has written.")
    try:
        with report_faults(str(path)):
            table = read_data(checked_name(path), TEXTS)
            return table_of(DataTable({name: table.columns[name] for name in COLUMNS}).records())
    except FormatError as error:
        raise FormatError(f"{path} is not the table of a sweep, or is damaged; name another file.") from error


def summary_of(table: DataTable) -> DataTable:
    """Return a table with one row for each recipe, corpus, tie rule and size. The row summarizes all seeds.

    The columns are the mean, the standard deviation, the smallest and the largest value of each measure. If a row
    stands for one run only, it also has the interval of this run, because one run has no deviation.
    """
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in table.records():
        groups.setdefault(tuple(row[name] for name in OF_SUMMARY), []).append(row)
    columns: dict[str, Values] = {name: [key[place] for key in groups] for place, name in enumerate(OF_SUMMARY)}
    columns["size"] = np.array(columns["size"], np.int64)
    columns["runs"] = np.array([len(rows) for rows in groups.values()], np.int64)
    for name in OF_SWEEPS:
        sums = [summarize([row[name] for row in rows if row[name] is not None]) for rows in groups.values()]
        for place, statistic in enumerate(SUMMED):
            columns[f"{name}_{statistic}"] = np.array([values[place] for values in sums], np.float64)
    for end in INTERVALS:
        of_one = [rows[0][end] if len(rows) == 1 and rows[0][end] is not None else math.nan for rows in groups.values()]
        columns[end] = np.array(of_one, np.float64)
    return DataTable(columns)


def summarize(values: Sequence[float]) -> tuple[float, float, float, float]:
    """Return the mean, the standard deviation, the smallest and the largest of `values`.

    The standard deviation of a single value is NaN.
    """
    if not values:
        return math.nan, math.nan, math.nan, math.nan
    mean = math.fsum(values) / len(values)
    squares = math.fsum((value - mean) ** 2 for value in values)
    deviation = math.sqrt(squares / (len(values) - 1)) if len(values) > 1 else math.nan
    return mean, deviation, min(values), max(values)
