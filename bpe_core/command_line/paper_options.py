"""The options `--latex` and `--markdown` of commands. They print a table for a paper, with a caption."""

from __future__ import annotations

import argparse
import sys

from bpe_core.support.paper_tables import PrintedTable, latex_of, markdown_of


def add_paper_options(parser: argparse._ActionsContainer, what: str) -> None:
    """Add the options `--latex` and `--markdown`, which print a result as a table for a paper.

    `what` names the result in the help of both options, such as "all rows".
    """
    parser.add_argument("--latex", action="store_true", help=f"print {what} as a table in LaTeX, with a caption")
    parser.add_argument("--markdown", action="store_true", help=f"print {what} as a table in Markdown, with a caption")


def is_for_paper(options: argparse.Namespace) -> bool:
    """Return whether the arguments ask for LaTeX or Markdown."""
    return bool(options.latex or options.markdown)


def print_for_paper(table: PrintedTable, caption: str, options: argparse.Namespace) -> None:
    """Print a table as LaTeX or as Markdown, whichever the arguments ask for."""
    write = latex_of if options.latex else markdown_of
    sys.stdout.write(write(table, caption))
