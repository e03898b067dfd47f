"""What commands write that draw: a picture of a size that is said, or the table of values that it is drawn from."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from bpe_core.asking import Answer
from bpe_core.errors import OutputError
from bpe_core.support.atomic import write_atomically
from bpe_core.support.data_table import ENDINGS, checked_name, is_data, write_data
from bpe_core.support.optional_packages import renderer_or_none

if TYPE_CHECKING:
    from bpe_core.figures.sheet import Paper


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


def write_output(options: argparse.Namespace, answer: Answer) -> None:
    """Write the figure of an answer, or its table, as the name ends."""
    path: Path = options.output
    if is_data(path):
        write_data(answer.table, path)
        return
    if answer.figure is None or not len(answer.table):
        raise OutputError(
            f"{path} was not written: there is nothing to draw here. A table holds all rows: name a .csv."
        )
    from bpe_core.figures.painter import picture  # which an answer in the terminal does not need

    drawn = picture(answer.figure, _paper(options))
    renderer = renderer_or_none()
    if path.suffix.lower() == ".svg" or renderer is None:
        with write_atomically(path) as file:
            file.write(drawn)
    elif missing := renderer(drawn, options.width, options.height, path):
        raise OutputError(f"{path} was not written; write .svg instead. {missing}")


def _paper(options: argparse.Namespace) -> Paper:
    from bpe_core.figures.sheet import Paper

    return Paper.of_millimetres(options.width, options.height, options.text_size, is_dark=options.dark)
