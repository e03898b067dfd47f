"""What `audit` and `trim` share: the criteria, what they are asked with, and the corpus they are asked of."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import get_args

from bpe_core.command_line.arguments import number
from bpe_core.command_line.corpora import reading
from bpe_core.command_line.progress_bar import TerminalBar
from bpe_core.command_line.questions import count_corpus
from bpe_core.counting.words import WordTable
from bpe_core.errors import BpeError
from bpe_core.history.history import History
from bpe_core.insight.audit import CRITERIA, LONG, OF_CORPUS, RARE, Audit, Criterion, TokenPlaces, audit


def criteria_list() -> str:
    """All criteria, a line each, for the end of a help text."""
    return "criteria:\n" + "".join(f"  {name:<12} {sentence}\n" for name, sentence in CRITERIA.items())


def add_limits(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--rare", type=number, default=RARE, metavar="N", help=f"less often than N times is rare (default: {RARE})"
    )
    parser.add_argument(
        "--long", type=number, default=LONG, metavar="N", help=f"more than N characters are very long (default: {LONG})"
    )


def criteria(value: str) -> tuple[Criterion, ...]:
    """An argument that names criteria, a comma between."""
    names = [name.strip() for name in value.split(",")]
    unknown = next((name for name in names if name not in CRITERIA), None)
    if unknown is not None:
        raise argparse.ArgumentTypeError(f"there is no criterion {unknown[:40]!r}; there are {', '.join(CRITERIA)}")
    return tuple(name for name in get_args(Criterion) if name in names)


def tables_of(files: Sequence[str], history: History) -> list[WordTable]:
    """The words of each of these files or folders by itself."""
    found = []
    for file in files:
        with reading([file]) as corpus:
            found.append(count_corpus(corpus, history))
    return found


def audited(
    history: History, tables: Sequence[WordTable], options: argparse.Namespace, wanted: Sequence[Criterion] = ()
) -> Audit:
    """The audit, if all that is wanted of it can be told of these words."""
    needs = [one for one in wanted if one in OF_CORPUS]
    if needs and not tables:
        raise BpeError(f"Which tokens are {needs[0]} can be told on a corpus only: name its files with --corpus.")
    bar = TerminalBar(sys.stderr)
    try:
        places = TokenPlaces.of(tables, history) if tables else None
        found = audit(history, places, rare=options.rare, long=options.long, progress=bar)
    finally:
        bar.clear()
    missing = [one for one in wanted if one not in found.meets]
    if missing:
        why = "name several with --corpus" if missing[0] == "one-file" else "its method joins no pairs"
        raise BpeError(f"Which tokens are {missing[0]} cannot be told here: {why}.")
    return found
