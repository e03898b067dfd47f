"""`bpe-explorer race`: the counts of chosen pairs through the whole training."""

from __future__ import annotations

import argparse
import json
from typing import Any

import bpe_core as bpe
from bpe_core.command_line.arguments import add_merge_table, number, text_argument
from bpe_core.command_line.questions import Names, add_grouped_corpus, check_step, has_texts, ranked_words
from bpe_core.command_line.tables import open_table
from bpe_core.errors import BpeError
from bpe_core.insight.race import LeadChange, Runner, best_that_never_won, race

EXAMPLES = """\
examples:
  bpe-explorer race --merges merges.csv --corpus book.txt --pair t h --pair h e --step 40
      The pairs t+h and h+e, and the one that was merged at step 40: their counts, who led when, and which merges
      took occurrences away from them.

  bpe-explorer race --merges merges.csv --never-won
      The pairs that came in second and were never merged at all.
"""

MOST_CUTS = 8


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EXAMPLES
    add_merge_table(parser)
    add_grouped_corpus(parser, required=False, purpose="the files the table was learned from")
    parser.add_argument(
        "--pair", nargs=2, action="append", default=[], type=text_argument, metavar=("LEFT", "RIGHT"), help="two tokens"
    )
    parser.add_argument("--step", action="append", default=[], type=number, metavar="N", help="the pair of that merge")
    parser.add_argument("--never-won", action="store_true", help="list the pairs that were only ever second")
    parser.add_argument("--json", action="store_true", help="print it as JSON, every fall of a count included")


def run(options: argparse.Namespace) -> int:
    history = open_table(options.merges).history
    names = Names(history)
    if options.never_won:
        return _never_won(history, names)
    pairs = [(names.id_of(left), names.id_of(right)) for left, right in options.pair]
    pairs += [history.pair(check_step(step, history) - 1) for step in options.step]
    if not pairs or not has_texts(options):
        raise BpeError("Name at least one pair with --pair or --step, and the texts with --corpus.")
    result = race(ranked_words(options, history), pairs)
    if options.json:
        told = {"runners": [_described(one, names) for one in result.runners], "leads": [*map(vars, result.leads)]}
        print(json.dumps(told, ensure_ascii=False, indent=1))
        return 0
    for runner in result.runners:
        _print(runner, names, len(history.alphabet))
    for lead in result.leads:
        print(f"after merge {lead.at:,}: {_leader(lead, result.runners, names)}")
    return 0


def _print(runner: Runner, names: Names, base: int) -> None:
    won = f"merged at step {runner.won_at:,}" if runner.won_at else "never merged"
    print(f"{names.pair(runner.pair)}: {runner.peak:,} times after merge {runner.born:,}, {won}")
    for cut in runner.cuts[:MOST_CUTS]:
        print(f"    merge {cut.step:,} ({names(base + cut.step - 1)}) took {cut.lost:,}")


def _leader(lead: LeadChange, runners: list[Runner], names: Names) -> str:
    if lead.leader is None:
        return "none of them is left"
    runner = runners[lead.leader]
    return f"{names.pair(runner.pair)} leads with {runner.count_at(lead.at):,}"


def _described(runner: Runner, names: Names) -> dict[str, Any]:
    return {
        "pair": [*map(names, runner.pair)],
        "born": runner.born,
        "won_at": runner.won_at,
        "peak": runner.peak,
        "falls": runner.falls.tolist(),
        "counts": runner.counts.tolist(),
    }


def _never_won(history: bpe.History, names: Names) -> int:
    for one in best_that_never_won(history):
        missed = "only the tie rule decided" if one.missed_by == 0 else f"{one.missed_by:,} short"
        print(f"{names.pair(one.pair):<28} second {one.times:,} times, nearest at step {one.closest_step:,} ({missed})")
    return 0
