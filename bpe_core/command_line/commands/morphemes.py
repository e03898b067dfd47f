"""`bpe-explorer morphemes`: how well the cuts of tokenizers agree with the borders of morphemes."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import bpe_core as bpe
from bpe_core.command_line.arguments import number
from bpe_core.command_line.commands.benchmark import add_runs, named_tokenizers
from bpe_core.command_line.interruption import Interruption
from bpe_core.command_line.pictures import add_paper, check_output, write_output
from bpe_core.command_line.progress_bar import TerminalBar
from bpe_core.data_table import ENDINGS
from bpe_core.measures.morphemes import MEANINGS, Agreement, morpheme_agreement, own_lists, read_morphemes

EXAMPLES = """\
examples:
  bpe-explorer morphemes ours.csv theirs.tokenizer.json
      By the program's own lists of English and German words.

  bpe-explorer morphemes ours.csv --sizes 1000 2000 4000 --list turkish.tsv -o agreement.csv
      By your own list, a word a line: the word, a tab, its morphemes with blanks between (unhappy<TAB>un happy).

A word is cut as it is behind a blank, and counts once. Agreement is no quality by itself: a word that is frequent is
better one token, whatever its morphemes.

"""
SHOWN = (
    ("words", "words", "{:,}"),
    ("borders", "borders", "{:,}"),
    ("cuts", "cuts", "{:,}"),
    ("precision", "precision", "{:.3f}"),
    ("recall", "recall", "{:.3f}"),
    ("f1", "F1", "{:.3f}"),
    ("share_whole", "whole", "{:.1%}"),
    ("share_alike", "alike", "{:.1%}"),
)


DRAWN = ("f1", "precision", "recall", "share_whole", "share_alike", "words", "borders", "cuts", "hits")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    told = (f"  {name:<14} {meaning}" for name, meaning in MEANINGS.items())
    parser.epilog = EXAMPLES + "\n".join(("columns:", *told))
    parser.add_argument(
        "tables", nargs="+", metavar="TABLE", help="tokenizers, merge tables or sessions, in any format"
    )
    parser.add_argument("--list", nargs="+", metavar="LIST", help="words with their morphemes; else the program's own")
    parser.add_argument("--sizes", nargs="+", type=number, metavar="N", help="each at these sizes of its vocabulary")
    add_runs(parser)
    parser.add_argument("--json", action="store_true", help="print all columns as JSON")
    what = f"write all rows to a {', '.join(ENDINGS)}; or a picture of one measure, .svg, .pdf or .png"
    parser.add_argument("-o", "--output", type=Path, metavar="OUT", help=what)
    parser.add_argument("--measure", choices=DRAWN, default=DRAWN[0], metavar="COLUMN", help=", ".join(DRAWN))
    add_paper(parser)


def run(options: argparse.Namespace) -> int:
    if options.output is not None:
        check_output(options)
    lists = {path: read_morphemes(path) for path in options.list} if options.list else own_lists()
    tokenizers = named_tokenizers(options)
    bar = TerminalBar(sys.stderr)
    with Interruption("Stopping; nothing is written.") as interruption:
        try:
            found = morpheme_agreement(tokenizers, lists, progress=bar, cancelled=interruption)
        except bpe.Cancelled:
            return interruption.exit_code
        finally:
            bar.clear()
    if options.output is not None:
        write_output(options, "dots", found.table, measure=options.measure)
    if options.json:
        rows = [dict(zip(found.columns, row, strict=True)) for row in found.table.rows()]
        print(json.dumps(rows, ensure_ascii=False))
    elif options.output is not None:
        print(f"Wrote {len(found.table):,} rows to {options.output}.")
    else:
        _tell(found)
    return 0


def _tell(found: Agreement) -> None:
    rows = [dict(zip(found.columns, row, strict=True)) for row in found.table.rows()]
    for name in found.texts:
        print(name)
        print("".join(f"{title:>11}" for _, title, _ in SHOWN))
        for row in rows:
            if row["text"] == name:
                told = ("" if row[column] is None else form.format(row[column]) for column, _, form in SHOWN)
                print("".join(f"{one:>11}" for one in told), row["tokenizer"], sep="  ")
        print()
