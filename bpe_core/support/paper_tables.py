"""Functions that write tables and figures for papers: tables in LaTeX (for booktabs) or Markdown, figures in LaTeX.

Each table and each figure has a caption.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_IN_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "␣": r"\textvisiblespace{}",
    "…": r"\ldots{}",
    "→": r"$\rightarrow$",
    "−": r"$-$",
}


@dataclass(frozen=True)
class PrintedTable:
    """A table whose cells are readable texts."""

    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    is_text: Sequence[bool]  # by column; numbers are aligned on the right


def latex_of(table: PrintedTable, caption: str) -> str:
    """Return a table in LaTeX, for the package booktabs.

    >>> print(latex_of(PrintedTable(["token", "count"], [["a_b", "1,200"]], [True, False]), "Two & more."))
    \\begin{table}
      \\centering
      \\caption{Two \\& more.}
      \\begin{tabular}{lr}
        \\toprule
        token & count \\\\
        \\midrule
        a\\_b & 1,200 \\\\
        \\bottomrule
      \\end{tabular}
    \\end{table}
    <BLANKLINE>
    """
    kinds = "".join("l" if is_text else "r" for is_text in table.is_text)
    lines = [
        r"\begin{table}",
        r"  \centering",
        rf"  \caption{{{in_latex(caption)}}}",
        rf"  \begin{{tabular}}{{{kinds}}}",
        r"    \toprule",
        f"    {_row(map(in_latex, table.headings))}",
        r"    \midrule",
        *(f"    {_row(map(in_latex, row))}" for row in table.rows),
        r"    \bottomrule",
        r"  \end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def figure_in_latex(file: str, caption: str) -> str:
    """Return a figure in LaTeX, for the package graphicx. `file` is the name of the file with the drawing.

    >>> print(figure_in_latex("lengths.pdf", "Two & more."))
    \\begin{figure}
      \\centering
      \\includegraphics[width=\\linewidth]{lengths.pdf}
      \\caption{Two \\& more.}
    \\end{figure}
    <BLANKLINE>
    """
    lines = [
        r"\begin{figure}",
        r"  \centering",
        rf"  \includegraphics[width=\linewidth]{{{file}}}",
        rf"  \caption{{{in_latex(caption)}}}",
        r"\end{figure}",
    ]
    return "\n".join(lines) + "\n"


def _row(cells: Iterator[str]) -> str:
    return " & ".join(cells) + r" \\"


def in_latex(text: str) -> str:
    r"""Return a text for LaTeX, with its special characters escaped.

    >>> in_latex("50% of ␣a_b")
    '50\\% of \\textvisiblespace{}a\\_b'
    """
    return "".join(_IN_LATEX.get(letter, letter) for letter in text)


def markdown_of(table: PrintedTable, caption: str) -> str:
    r"""Return a table in Markdown. The caption stands above the table.

    >>> print(markdown_of(PrintedTable(["token", "count"], [["a|b", "1,200"]], [True, False]), "Two."))
    Two.
    <BLANKLINE>
    | token | count |
    |---|---:|
    | a\|b | 1,200 |
    <BLANKLINE>
    """
    rules = "|".join("---" if is_text else "---:" for is_text in table.is_text)
    rows = [_marked(table.headings), f"|{rules}|", *map(_marked, table.rows)]
    return "\n".join((caption, "", *rows)) + "\n"


def _marked(cells: Sequence[str]) -> str:
    escaped = (cell.replace("\\", "\\\\").replace("|", "\\|") for cell in cells)
    return f"| {' | '.join(escaped)} |"
