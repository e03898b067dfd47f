"""Figures from Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bpe_core.errors import OutputError
from bpe_core.figures.painter import picture
from bpe_core.figures.sheet import Paper
from bpe_core.support.atomic import write_atomically

USE = "`draw` takes the answer of a question that has a figure, such as bpe.draw(bpe.race(study), 'race.svg')."


def draw(
    answer: Any,
    path: Path | str | None = None,
    *,
    width: float = 120,
    height: float = 80,
    text_size: float = 8,
    dark: bool = False,
) -> str:
    """Draw the figure of an answer as SVG, millimetres wide and high; write it to a path, if one is given."""
    figure = getattr(answer, "figure", None)
    if figure is None:
        raise OutputError(USE)
    drawn = picture(figure, Paper.of_millimetres(width, height, text_size, is_dark=dark))
    if path is not None:
        if Path(path).suffix.lower() != ".svg":
            raise OutputError(
                f"{path}: Python draws .svg; end the name so. The commands, such as `bpe-explorer race`, draw .pdf and "
                ".png, too."
            )
        with write_atomically(path) as file:
            file.write(drawn)
    return drawn.decode()
