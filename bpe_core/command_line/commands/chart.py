"""`bpe-explorer chart`: one of the window's charts as a picture fit for print, or as the exact values behind it."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import numpy.typing as npt

import bpe_core as bpe
from bpe_core.command_line.arguments import number, text_argument
from bpe_core.command_line.charts_of_runs import MEASURES_OF_RUNS, lab, leading, of_blocks, of_many_runs, tree_of
from bpe_core.command_line.pictures import add_paper, check_output, write_output
from bpe_core.command_line.questions import Names, add_grouped_corpus, check_step, has_texts, moment, words_or_own
from bpe_core.command_line.sizes_of_tables import check_lines, of_sizes
from bpe_core.command_line.tables import open_table
from bpe_core.data_table import DataTable
from bpe_core.errors import BpeError, plain
from bpe_core.exact import of_run, of_texts
from bpe_core.exact.tokens import TokenColumns
from bpe_core.formats import OpenedTable
from bpe_core.insight.cut_words import CutWords
from bpe_core.insight.race import most_dramatic, race
from bpe_core.insight.ranked_words import RankedWords
from bpe_core.learning.layout import count_symbols
from bpe_core.learning.methods import Wording, learns_by_ranks
from bpe_core.report.exact_charts import BY_MEASURE, CHARTS, MEASURES
from bpe_core.sweep.results import read_results

EXAMPLES = """\
examples:
  bpe-explorer chart ranks merges.csv --corpus book.txt -o ranks.svg --width 84 --height 60 --text-size 7
      How often each token stands in the text, as a drawing for one column of a paper. Of a session without --corpus
      it is told as the text stood while it was learned, which WordPiece cuts otherwise when it encodes.

  bpe-explorer chart sizes merges.csv --corpus en.txt de.txt --each --measure tokens_per_word -o sizes.svg
  bpe-explorer chart sizes ours.csv theirs.json --corpus en.txt -o both.svg
      Several tables in one drawing; the same for all recipes of a sweep, with the band of its seeds:
  bpe-explorer chart sweep results.parquet --measure tokens_per_word -o sweep.svg

  bpe-explorer chart curves book.bpex --corpus book.txt --measure tokens_per_word -o curves.svg
  bpe-explorer chart lab book.bpex#1 book.bpex#3 -o lab.svg
      The curves of all runs of a session; and two of them as the lab shows them.

  bpe-explorer chart pairs book.bpex --at 500 -o pairs.svg
  bpe-explorer chart tree merges.csv --text lowest --at 500 -o tree.svg
      What could have been joined after 500 merges, and how a word is put together then.

  bpe-explorer chart race merges.csv --corpus book.txt --pair t h --step 7 -o race.csv
      The same charts as in the window; .csv, .tsv, .json and .parquet hold every value that the chart is drawn from.
"""
OTHERS = ("dots", "life")  # which `benchmark` and `morphemes` draw, and `token`
OF_RUNS = [chart for chart in CHARTS if chart not in OTHERS]
RUNNERS = 5
MAY_BE_EMPTY = ("pairs",)  # at the end of a run nothing more can be done, which is an answer
WHAT = "The chart {}"
KNOWN = {**MEASURES, **MEASURES_OF_RUNS}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EXAMPLES
    parser.add_argument(
        "chart",
        choices=OF_RUNS,
        metavar="CHART",
        help=f"{', '.join(OF_RUNS)}; `token` draws the life of one, `benchmark` and `morphemes` dots",
    )
    parser.add_argument(
        "tables",
        nargs="+",
        metavar="TABLE",
        help="a merge table, a session (#N behind it: its run N), or a tokenizer from elsewhere; sizes, curves, lab: "
        "or several; sweep: what `sweep` wrote",
    )
    add_grouped_corpus(parser, required=False, purpose="the texts it is about; a session brings its own")
    parser.add_argument("--at", type=number, metavar="K", help="ranks, lengths, pairs, tree: after the first K steps")
    parser.add_argument("--each", action="store_true", help="sizes: each file or group by itself")
    parser.add_argument("--own", action="store_true", help="sizes: the text that a session was learned from, too")
    parser.add_argument(
        "--held-out",
        nargs="+",
        default=[],
        metavar="FILE",
        help="sizes: a line for each text that was not learned from, and bits per byte of these; curves: measure by "
        "these instead",
    )
    parser.add_argument(
        "--lines", nargs="+", default=[], metavar="NAME", help="sizes: draw only these lines, named as in its table"
    )
    parser.add_argument(
        "--measure",
        choices=KNOWN,
        default="bytes_per_token",
        metavar="MEASURE",
        help=f"{', '.join(BY_MEASURE)}: what is drawn, of {', '.join(KNOWN)}",
    )
    parser.add_argument("--list", metavar="LIST", help="curves: words with their morphemes, or en or de for our own")
    parser.add_argument("--text", type=text_argument, metavar="TEXT", help="tree: a text with the word")
    parser.add_argument("--byte", type=number, default=0, metavar="N", help="tree: where in it, in bytes (0)")
    parser.add_argument(
        "--pair",
        nargs=2,
        action="append",
        default=[],
        type=text_argument,
        metavar=("LEFT", "RIGHT"),
        help="race: two tokens",
    )
    parser.add_argument("--step", action="append", default=[], type=number, metavar="N", help="race: that step's pair")
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="OUT", help="an .svg, .pdf or .png, or a table of values"
    )
    add_paper(parser)


def run(options: argparse.Namespace) -> int:
    check_output(options)
    table = _table(options)
    if not len(table) and options.chart not in MAY_BE_EMPTY:
        raise BpeError(
            f"There is nothing to draw: the chart {options.chart} has no values for this table and these texts."
        )
    about: dict[str, object] = {"measure": options.measure} if options.chart in BY_MEASURE else {}
    if options.chart == "sizes" and options.lines:
        check_lines(options, table)
        about["texts"] = options.lines
    if options.chart == "race":
        about = {"steps": options.steps}
    write_output(options, options.chart, table, **about)
    print(f"Wrote {plain(str(options.output))}.")
    return 0


def _table(options: argparse.Namespace) -> DataTable:
    of_many = {"sizes": of_sizes, "curves": of_many_runs, "lab": lab}.get(options.chart)
    if len(options.tables) > 1 and of_many is None:
        raise BpeError(f"The chart {options.chart} is of one table; name only {options.tables[0]}.")
    of_chart = MEASURES_OF_RUNS if options.chart in ("sweep", "curves") else MEASURES
    if options.measure not in of_chart:
        raise BpeError(f"The chart {options.chart} has no {options.measure}; it has {', '.join(of_chart)}.")
    if options.chart == "sweep":
        return read_results(options.tables[0])
    if of_many is not None:
        return of_many(options)
    options.merges = options.tables[0]
    return _of_one(options, open_table(options.merges))


def _of_one(options: argparse.Namespace, opened: OpenedTable) -> DataTable:
    history = opened.history
    then = history.first(moment(options, history))
    tokens = TokenColumns.for_history(history, opened.numbers)
    if options.chart == "lengths":
        return of_run.lengths(then, TokenColumns.for_history(then))
    if options.chart == "compression":
        return of_run.compression(history, _symbols(options, opened))
    if options.chart == "tree":
        return tree_of(options, history, len(then), tokens)
    words = words_or_own(options, opened, WHAT.format(options.chart))
    if options.chart == "pairs":
        return leading(words, history, len(then), tokens)
    if options.chart == "blocks":
        return of_blocks(words, history, tokens)
    if options.chart == "ranks":
        if then.only_joins and not has_texts(options):  # as they stood there while it was learned
            return of_run.ranks(then.token_counts(count_symbols(words, history.alphabet, history.recipe)), tokens)
        return of_run.ranks(CutWords.of(words, history.recipe, history).counts(len(then)), tokens)
    return _race(options, history, words, tokens)


def _symbols(options: argparse.Namespace, opened: OpenedTable) -> npt.NDArray[np.int64]:
    """How often each base symbol stands in the texts; where pairs are joined the run itself tells enough."""
    history = opened.history
    if history.only_joins:
        return np.zeros(0, np.int64)
    words = words_or_own(options, opened, WHAT.format(options.chart))
    return count_symbols(words, history.alphabet, history.recipe)


def _race(options: argparse.Namespace, history: bpe.History, words: bpe.WordTable, tokens: TokenColumns) -> DataTable:
    options.steps = Wording.of(history.recipe).steps.capitalize()
    if not learns_by_ranks(history):
        raise BpeError(
            "Pairs run against each other only where they are joined one after the other; not in this table."
        )
    names, ranked = Names(history), RankedWords.of(words, history)
    pairs = [(names.id_of(left), names.id_of(right)) for left, right in options.pair]
    pairs += [history.pair(check_step(step, history) - 1) for step in options.step]
    return of_texts.race(race(ranked, pairs or most_dramatic(ranked, RUNNERS)).runners, tokens)
