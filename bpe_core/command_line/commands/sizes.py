"""`bpe-explorer sizes`: what each vocabulary size would mean for texts."""

from __future__ import annotations

import argparse
import csv
import json
import sys
from typing import Any

import numpy as np

from bpe_core.command_line.arguments import add_merge_table
from bpe_core.command_line.questions import add_corpus, count
from bpe_core.command_line.tables import open_table
from bpe_core.errors import BpeError
from bpe_core.measures.size_curves import FORMULA, USUAL_POWER, SizeCurves, size_curves
from bpe_core.presets import USUAL_SIZES

EXAMPLES = f"""\
examples:
  bpe-explorer sizes --merges merges.csv --corpus book.txt --held-out other.txt
      For some twenty sizes up to the one learned: bytes per token, tokens per word, how evenly the tokens are used,
      how much of the vocabulary is in use, how much of it is mere scaffold. The knee is marked.

  bpe-explorer sizes --merges merges.csv --corpus de.txt fr.txt --each --csv > sizes.csv
      Each file by itself, every size, as a table.

{FORMULA}
"""

COLUMNS = ("vocabulary", "bytes/token", "tokens/word", "Rényi", "in use", "scaffolds")
SHOWN_SIZES = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EXAMPLES
    add_merge_table(parser)
    add_corpus(parser, required=True, purpose="the files the table was learned from, or any others")
    parser.add_argument("--held-out", nargs="+", metavar="FILE", help="texts that were not learned from")
    parser.add_argument("--each", action="store_true", help="each file of the corpus by itself")
    parser.add_argument("--power", type=float, default=USUAL_POWER, metavar="ALPHA", help="of the Rényi entropy")
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument("--csv", action="store_true", help="every size, as CSV")
    shown.add_argument("--json", action="store_true", help="print the sizes shown as JSON")


def run(options: argparse.Namespace) -> int:
    if not 0 < options.power < 100:
        raise BpeError("The power must be a number above 0 and below 100.")
    history = open_table(options.merges).history
    groups = [[file] for file in options.corpus] if options.each else [options.corpus]
    groups += [options.held_out] if options.held_out else []
    curves = {" ".join(files): size_curves(count(files, history), history, power=options.power) for files in groups}
    if options.csv:
        _write_csv(curves)
    elif options.json:
        print(json.dumps({name: _described(one) for name, one in curves.items()}, ensure_ascii=False, indent=1))
    else:
        for name, one in curves.items():
            _print(name, one)
        print("Usual sizes: " + "; ".join(USUAL_SIZES) + ".")
    return 0


def _rows(curves: SizeCurves) -> list[np.ndarray[Any, Any]]:
    return [
        curves.vocabulary,
        curves.bytes_per_token,
        curves.tokens_per_word,
        curves.renyi_efficiency,
        curves.share_in_use,
        curves.share_of_scaffolds,
    ]


def _some_sizes(curves: SizeCurves) -> list[int]:
    """Merges from none to all, closer together at the beginning; the knee among them."""
    merges = len(curves.tokens) - 1
    spread = np.geomspace(1, merges + 1, SHOWN_SIZES).round().astype(int) - 1
    return sorted({*spread.tolist(), curves.knee})


def _print(name: str, curves: SizeCurves) -> None:
    print(f"{name}  ({curves.bytes:,} bytes, {curves.words:,} words)")
    print("".join(f"{title:>13}" for title in COLUMNS))
    for merges in _some_sizes(curves):
        size, *rest = (column[merges] for column in _rows(curves))
        ratios = "".join(f"{number:>13.3f}" for number in rest[:3]) + "".join(f"{part:>13.1%}" for part in rest[3:])
        print(f"{size:>13,}{ratios}{'   knee' if merges == curves.knee else ''}")
    print()


def _described(curves: SizeCurves) -> dict[str, Any]:
    shown = _some_sizes(curves)
    columns = {title: column[shown].tolist() for title, column in zip(COLUMNS, _rows(curves), strict=True)}
    return {"bytes": curves.bytes, "words": curves.words, "knee": int(curves.vocabulary[curves.knee]), **columns}


def _write_csv(curves: dict[str, SizeCurves]) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(("text", "merges", *COLUMNS))
    for name, one in curves.items():
        for merges, row in enumerate(zip(*(column.tolist() for column in _rows(one)), strict=True)):
            writer.writerow((name, merges, *(f"{number:.6g}" for number in row)))
