"""What commands write that draw: a picture of a size that is said, or the table of values that it is drawn from."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from bpe_core.atomic import write_atomically
from bpe_core.data_table import ENDINGS, DataTable, checked_name, is_data, write_data
from bpe_core.errors import OutputError
from bpe_core.optional import renderer_or_none

if TYPE_CHECKING:
    from bpe_core.report.paper import Paper


def add_paper(parser: argparse.ArgumentParser) -> None:
    paper = parser.add_argument_group("the picture")
    paper.add_argument("--width", type=float, default=120, metavar="MM", help="in millimetres (default: 120)")
    paper.add_argument("--height", type=float, default=80, metavar="MM", help="in millimetres (default: 80)")
    paper.add_argument("--text-size", type=float, default=8, metavar="POINTS", help="of its text (default: 8)")
    paper.add_argument("--dark", action="store_true", help="on a dark ground")


def check_output(options: argparse.Namespace) -> None:
    """Refuse what cannot be written before anything is computed."""
    path: Path = options.output
    ending = path.suffix.lower()
    _paper(options)
    if ending in (".pdf", ".png") and renderer_or_none() is None:
        raise OutputError(
            f"{path}: the engine alone draws .svg only, which any browser prints as PDF. The whole program, "
            f"`bpe-explorer {options.command}`, writes .pdf and .png, too."
        )
    if ending in (".svg", ".pdf", ".png"):
        return
    if not is_data(path):
        raise OutputError(
            f"A chart is written as .svg, .pdf, .png, or as {', '.join(ENDINGS)}; end the name {path} in one of them."
        )
    checked_name(path)


def write_output(options: argparse.Namespace, chart: str, table: DataTable, **choices: object) -> None:
    """The chart of this table, or the table, as the name ends."""
    if is_data(options.output):
        write_data(table, options.output)
        return
    from bpe_core.report.charts import picture  # what draws is loaded when there is something to draw
    from bpe_core.report.exact_charts import CHARTS

    drawn = picture(CHARTS[chart](table, **choices), _paper(options))
    renderer = renderer_or_none()
    if options.output.suffix.lower() == ".svg" or renderer is None:
        with write_atomically(options.output) as file:
            file.write(drawn)
    elif missing := renderer(drawn, options.width, options.height, options.output):
        raise OutputError(f"{options.output} was not written; write .svg instead. {missing}")


def _paper(options: argparse.Namespace) -> Paper:
    from bpe_core.report.paper import Paper

    return Paper.of_millimetres(options.width, options.height, options.text_size, is_dark=options.dark)
