"""A table as a figure: the charts of the window and of the commands, from Python."""

from __future__ import annotations

from inspect import signature
from pathlib import Path
from typing import Any

from bpe_core.atomic import write_atomically
from bpe_core.data_table import HasColumns, table_of
from bpe_core.errors import OutputError
from bpe_core.report.charts import picture
from bpe_core.report.exact_charts import CHARTS
from bpe_core.report.paper import Paper


def draw(
    chart: str,
    table: HasColumns,
    path: Path | str,
    *,
    width: float = 120,
    height: float = 80,
    text_size: float = 8,
    dark: bool = False,
    **choices: Any,
) -> None:
    """Draw "ranks", "lengths", "compression", "sizes", "race", "sweep" ... as .svg, millimetres wide and high.

    `choices` are those of the chart: measure="tokens_per_word", say, of sizes, sweeps and curves.
    """
    if chart not in CHARTS:
        raise OutputError(f"There is no chart {chart!r}; there are {', '.join(CHARTS)}.")
    if Path(path).suffix.lower() != ".svg":
        raise OutputError(
            f"{path}: a figure is drawn as .svg from here; end its name so. .pdf and .png need Qt: keep the table by "
            "write_data, and let `bpe-explorer chart` draw it."
        )
    unknown = [name for name in choices if name not in signature(CHARTS[chart]).parameters]
    if unknown:
        raise OutputError(f"The chart {chart!r} has no choice {unknown[0]!r}.")
    paper = Paper.of_millimetres(width, height, text_size, is_dark=dark)
    try:
        drawn = CHARTS[chart](table_of(table), **choices)
    except (KeyError, IndexError) as error:
        raise OutputError(
            f"The chart {chart!r} cannot be drawn of this table: it has no {error.args[0]!r}. `bpe_core.tables` makes "
            "those of its name; of curves and sweeps `overlay` does."
        ) from error
    with write_atomically(path) as file:
        file.write(picture(drawn, paper))
