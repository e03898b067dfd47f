"""A table as a figure: the charts of the window and of the commands, from Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bpe_core.atomic import write_atomically
from bpe_core.data_table import DataTable
from bpe_core.errors import OutputError
from bpe_core.report.charts import picture
from bpe_core.report.exact_charts import CHARTS
from bpe_core.report.paper import Paper


def draw(
    chart: str,
    table: DataTable,
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
    paper = Paper.of_millimetres(width, height, text_size, is_dark=dark)
    with write_atomically(path) as file:
        file.write(picture(CHARTS[chart](table, **choices), paper))
