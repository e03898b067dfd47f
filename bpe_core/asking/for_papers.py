"""An answer as a table for a paper: LaTeX with booktabs, or Markdown, with a caption that says what was asked about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bpe_core.asking.answer import Answer, cell_text, heading_of
from bpe_core.history.history import History
from bpe_core.methods.registry import METHODS
from bpe_core.support.version import program_version

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
    """The cells of an answer as a person reads them."""

    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    is_text: Sequence[bool]  # by column; numbers are aligned on the right


def printed(answer: Answer) -> PrintedTable:
    """Return all rows of an answer in the columns for people."""
    names = [name for name in answer.shown_columns if name in answer.columns]
    places = list(range(len(answer.table)) if answer.rows is None else answer.rows)
    columns = [answer.columns[name] for name in names]
    rows = [[cell_text(name, column[place]) for name, column in zip(names, columns, strict=True)] for place in places]
    is_text = [all(isinstance(column[place], str | tuple | None) for place in places) for column in columns]
    return PrintedTable([heading_of(name) for name in names], rows, is_text)


def caption_of(question: str, about: object) -> str:
    """Return a caption: the question, the recipe of each tokenizer with its tie rule, and the version."""
    studies = about if isinstance(about, Mapping) else {} if about is None else {"": about}
    told = [f"{name}: {_recipe(study.history)}" if name else _recipe(study.history) for name, study in studies.items()]
    return " ".join(f"{part}." for part in (question, *told, f"BPE Explorer {program_version()}"))


def _recipe(history: History) -> str:
    recipe = history.recipe
    parts = [METHODS[recipe.method].title, f"{history.vocabulary_size_at(len(history)):,} tokens"]
    parts += [f"pattern {recipe.pattern}", f"minimum frequency {recipe.min_frequency:,}"]
    parts += [f"ties {recipe.ties}"] if recipe.applies("ties") else []
    return ", ".join(parts)


def latex_of(answer: Answer, caption: str) -> str:
    """Return a table in LaTeX, for the package booktabs.

    >>> from bpe_core.support.data_table import DataTable
    >>> print(latex_of(Answer(DataTable({"token": ["a_b"], "count": [1200]})), "Two & more."))
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
    table = printed(answer)
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


def _row(cells: Iterator[str]) -> str:
    return " & ".join(cells) + r" \\"


def in_latex(text: str) -> str:
    """Write a text so that LaTeX shows it as it is.

    >>> in_latex("50% of ␣a_b")
    '50\\\\% of \\\\textvisiblespace{}a\\\\_b'
    """
    return "".join(_IN_LATEX.get(letter, letter) for letter in text)


def markdown_of(answer: Answer, caption: str) -> str:
    """Return a table in Markdown, below its caption.

    >>> from bpe_core.support.data_table import DataTable
    >>> print(markdown_of(Answer(DataTable({"token": ["a|b"], "count": [1200]})), "Two."))
    Two.
    <BLANKLINE>
    | token | count |
    |---|---:|
    | a\\|b | 1,200 |
    <BLANKLINE>
    """
    table = printed(answer)
    rules = "|".join("---" if is_text else "---:" for is_text in table.is_text)
    rows = [_marked(table.headings), f"|{rules}|", *map(_marked, table.rows)]
    return "\n".join((caption, "", *rows)) + "\n"


def _marked(cells: Sequence[str]) -> str:
    escaped = (cell.replace("\\", "\\\\").replace("|", "\\|") for cell in cells)
    return f"| {' | '.join(escaped)} |"
