"""The files that are written next to a figure for a paper.

They hold the rows of the figure, and its caption in LaTeX.
"""

from __future__ import annotations

from pathlib import Path

from bpe_core.support.atomic import write_atomically
from bpe_core.support.data_table import DataTable, write_data
from bpe_core.support.paper_tables import figure_in_latex


def files_beside(path: Path) -> tuple[Path, Path]:
    """Return the files that are written beside a figure: its rows, and its caption."""
    return path.with_suffix(".csv"), path.with_suffix(".tex")


def write_beside_figure(path: Path, table: DataTable, sentence: str, caption: str) -> None:
    """Write two files beside a figure: the rows of its data, and its LaTeX code with a caption.

    The caption in the LaTeX code is `sentence`, which describes the figure, followed by `caption`.
    """
    rows, latex = files_beside(path)
    write_data(table, rows)
    drawing = path.stem if path.suffix.lower() == ".svg" else path.name  # LaTeX needs another kind than SVG
    with write_atomically(latex) as file:
        file.write(figure_in_latex(drawing, f"{sentence} {caption}".strip()).encode())
