"""`bpe-explorer sizes`: what each vocabulary size would mean for texts."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

import numpy as np

from bpe_core.command_line.arguments import add_merge_table
from bpe_core.command_line.groups import groups_of
from bpe_core.command_line.progress_bar import TerminalBar
from bpe_core.command_line.questions import add_grouped_corpus, count, counted_words, parts_of, words_of
from bpe_core.command_line.tables import open_table
from bpe_core.counting.words import WordTable
from bpe_core.data_table import DataTable, csv_text
from bpe_core.errors import BpeError
from bpe_core.history.history import History
from bpe_core.learning.methods import METHODS, has_ranks
from bpe_core.measures.bits_per_byte import LIMITS, bits_per_byte, tenth_apart
from bpe_core.measures.measured_sizes import MEASURED, MeasuredSizes, measured_sizes, some_sizes, which_sizes
from bpe_core.measures.size_curves import BYTES, FORMULA, USUAL_POWER, WORDS, SizeCurves, size_curves

EXAMPLES = f"""\
examples:
  bpe-explorer sizes --merges merges.csv --corpus book.txt --held-out other.txt
      For some twenty sizes up to the one learned: bytes per token, tokens per word, how evenly the tokens are used,
      how much of the vocabulary is in use, how much of it is mere scaffold. Half of the size that is marked would
      nearly do: the text would be less than 5 % longer. That does not hang on how far the training went.

  bpe-explorer sizes --merges merges.csv --corpus de.txt fr.txt --each --csv > sizes.csv
      Each file by itself (those of a folder, too), every size, as a table.

{BYTES}

{WORDS}

{FORMULA}

{LIMITS}
"""

COLUMNS = ("vocabulary", "bytes/token", "tokens/word", "Rényi", "in use", "scaffolds")
SHOWN_SIZES = 20
MOST_POWER = 20  # larger ones make numbers that are too large of frequent tokens


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EXAMPLES
    add_merge_table(parser)
    add_grouped_corpus(parser, required=True, purpose="the files the table was learned from, or any others")
    parser.add_argument("--held-out", nargs="+", metavar="FILE", help="texts that were not learned from")
    parser.add_argument("--each", action="store_true", help="each file or group of the corpus by itself")
    parser.add_argument("--power", type=float, default=USUAL_POWER, metavar="ALPHA", help="of the Rényi entropy")
    parser.add_argument(
        "--bits", action="store_true", help="held-out bits per byte of a small model of pairs of tokens"
    )
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument("--csv", action="store_true", help="every size, as CSV")
    shown.add_argument("--json", action="store_true", help="print the sizes shown as JSON")


def run(options: argparse.Namespace) -> int:
    if not 0 < options.power <= MOST_POWER:
        raise BpeError(f"The power must be a number above 0, and {MOST_POWER} at most.")
    history = open_table(options.merges).history
    if options.bits:
        return _tell_bits(options, history)
    texts = texts_of(options, history)
    if options.held_out:
        texts[" ".join(options.held_out)] = count(options.held_out, history)
    curves = {name: curves_of(words, history, options.power, every=options.csv) for name, words in texts.items()}
    if options.csv:
        from bpe_core.exact.of_texts import sizes as exact_sizes  # which print has no use for

        sys.stdout.write(csv_text(exact_sizes(curves)))
    elif options.json:
        print(json.dumps({name: _described(one) for name, one in curves.items()}, ensure_ascii=False, indent=1))
    else:
        for name, one in curves.items():
            _print(name, one)
        usual = METHODS[history.recipe.method].usual_sizes
        print(*(["Usual sizes: " + "; ".join(usual) + "."] if usual else []), sep="")
    return 0


def texts_of(options: argparse.Namespace, history: History) -> dict[str, WordTable]:
    """The words of the corpus that was named, all of it or each part by itself."""
    if options.each:
        return parts_of(options, history)
    return {" ".join(options.corpus or groups_of(options)): words_of(options, history)}


Curves = SizeCurves | MeasuredSizes


def curves_of(words: WordTable, history: History, power: float, *, every: bool) -> Curves:
    """Where texts are cut by ranks all sizes are known at once; otherwise some are measured."""
    if has_ranks(history):
        return size_curves(words, history, power=power)
    from bpe_core.insight.cut_words import CutWords  # with all that cuts texts

    cut = CutWords.of(words, history.recipe, history)
    most = MEASURED if every else SHOWN_SIZES
    bar = TerminalBar(sys.stderr)
    try:
        return measured_sizes(cut, some_sizes(history, most), power=power, progress=bar)
    finally:
        bar.clear()


def _rows(curves: Curves) -> list[np.ndarray[Any, Any]]:
    """A column each; there are no scaffolds where texts are cut otherwise than by ranks."""
    sizes = curves.sizes if isinstance(curves, MeasuredSizes) else curves.vocabulary
    shares = [curves.share_in_use]
    if isinstance(curves, SizeCurves):
        shares.append(curves.share_of_scaffolds)
    return [sizes, curves.bytes_per_token, curves.tokens_per_word, curves.renyi_efficiency, *shares]


def _some_sizes(curves: Curves) -> list[int]:
    """Of those that are known, closer together at the beginning; the one marked among them."""
    if isinstance(curves, MeasuredSizes):
        return list(range(len(curves.sizes)))
    merges = len(curves.tokens) - 1
    spread = np.geomspace(1, merges + 1, SHOWN_SIZES).round().astype(int) - 1
    marked = curves.half_would_do
    return sorted({*spread.tolist(), *([] if marked is None else [marked])})


def _print(name: str, curves: Curves) -> None:
    print(f"{name}  ({curves.bytes:,} bytes, {counted_words(curves.words)})")
    print("".join(f"{title:>13}" for title in COLUMNS[: len(_rows(curves))]))
    for merges in _some_sizes(curves):
        size, *rest = (column[merges] for column in _rows(curves))
        ratios = "".join(f"{number:>13.3f}" for number in rest[:3]) + "".join(f"{part:>13.1%}" for part in rest[3:])
        print(f"{size:>13,}{ratios}{'   half would do' if merges == curves.half_would_do else ''}")
    print()


def _described(curves: Curves) -> dict[str, Any]:
    shown = _some_sizes(curves)
    columns = {title: column[shown].tolist() for title, column in zip(COLUMNS, _rows(curves), strict=False)}
    marked = curves.half_would_do
    half = None if marked is None else int(_rows(curves)[0][marked])
    return {"bytes": curves.bytes, "words": curves.words, "half_would_do": half, **columns}


def _tell_bits(options: argparse.Namespace, history: History) -> int:
    """Of the text held out, or else of each tenth word of the corpus."""
    words = words_of(options, history)
    both = (words, count(options.held_out, history)) if options.held_out else tenth_apart(words)
    bar = TerminalBar(sys.stderr)
    try:
        found = bits_per_byte(*both, history, progress=bar)
    finally:
        bar.clear()
    columns = {"vocabulary": found.sizes, "step": found.steps, "bits_per_byte": found.bits}
    which = which_sizes(found.sizes, history)
    if which and not options.json:
        print(which, file=sys.stderr)
    if options.csv:
        sys.stdout.write(csv_text(DataTable(columns)))
        return 0
    least = int(np.argmin(found.bits))
    places = np.searchsorted(found.sizes, some_sizes(history, SHOWN_SIZES))
    shown = np.unique([least, *np.minimum(places, len(found.sizes) - 1)])
    if options.json:
        some = {name: column[shown].tolist() for name, column in columns.items()}
        print(json.dumps({**some, "measured": len(found.sizes), "of": len(history) + 1}))
    else:
        print(f"{'vocabulary':>13}{'bits/byte':>13}")
        for place in shown.tolist():
            print(f"{found.sizes[place]:>13,}{found.bits[place]:>13.4f}{'   the least' if place == least else ''}")
    return 0
