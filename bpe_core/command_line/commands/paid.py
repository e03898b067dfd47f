"""`bpe-explorer paid`: the words and files that a merge's count came from."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import bpe_core as bpe
from bpe_core.command_line.arguments import add_merge_table, number
from bpe_core.command_line.groups import groups_of
from bpe_core.command_line.questions import (
    Names,
    add_grouped_corpus,
    check_step,
    counted_words,
    has_texts,
    parts_of,
    words_or_own,
)
from bpe_core.command_line.tables import open_table
from bpe_core.data_table import ENDINGS, checked_name, write_data
from bpe_core.errors import BpeError, plain
from bpe_core.exact.of_words import held_table
from bpe_core.insight.contributions import Contributions, FileCounts, contributions, split_over_files
from bpe_core.insight.held_words import words_that_paid
from bpe_core.insight.ranked_words import RankedWords
from bpe_core.insight.token_use import use_by_cutting
from bpe_core.token_texts import shown

EXAMPLES = """\
examples:
  bpe-explorer paid --merges merges.csv --corpus a.txt b.txt --step 120
      The words that held the pair when it was merged, and how its count splits over the files.

  bpe-explorer paid --merges merges.csv --group de texts/de --group code src --step 120
      The same over the groups it was learned from, as the table's recipe mixes them.

  bpe-explorer paid --merges book.bpex --step 120 -o paid.csv
      All words that paid, as a table; a session needs no texts for that.
"""

MOST_SHOWN = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EXAMPLES
    add_merge_table(parser)
    add_grouped_corpus(parser, required=False, purpose="the files it was learned from; with -o a session needs none")
    parser.add_argument("--step", type=number, required=True, metavar="N", help="the merge; 1 is the first")
    parser.add_argument("--json", action="store_true", help="print it as JSON, all words included")
    parser.add_argument("-o", "--output", type=Path, metavar="OUT", help=f"all words, as {', '.join(ENDINGS)}")


def run(options: argparse.Namespace) -> int:
    opened = open_table(options.merges)
    history = opened.history
    step = check_step(options.step, history)
    if options.output is not None:
        held = words_that_paid(words_or_own(options, opened, "What paid for a step"), history, step)
        write_data(held_table(held), checked_name(options.output))
        print(f"Wrote {counted_words(len(held))} to {plain(str(options.output))}.")
        return 0
    if not has_texts(options):
        raise BpeError("What paid for a step, told with its files, is about texts: name them with --corpus.")
    parts = parts_of(options, history)
    tables = list(parts.values())
    if not history.only_joins:
        return _before_the_drop(history, step, bpe.WordTable.merged(tables), options)
    ranked = RankedWords.of(bpe.WordTable.merged(tables), history)
    paid = contributions(ranked, step)
    shares = split_over_files(paid, ranked, FileCounts(tables))
    words = [(ranked.words.word(one.word).decode(errors="replace"), one.count) for one in paid.words]
    if options.json:
        told = {
            "step": step,
            "count": paid.count,
            "words": words,
            "groups" if groups_of(options) else "files": list(zip(parts, shares, strict=True)),
        }
        print(json.dumps(told, ensure_ascii=False, indent=1))
        return 0
    pair = Names(history).pair(history.pair(step - 1))
    print(f"step {step:,}: {pair}, {paid.count:,} times in {counted_words(len(words))}")
    _print_shares(paid, words, list(zip(parts, shares, strict=True)))
    return 0


def _before_the_drop(history: bpe.History, step: int, words: bpe.WordTable, options: argparse.Namespace) -> int:
    """The words that held a token when it was dropped: they pay for it."""
    token = int(history.ids[step - 1])
    held = [
        (word.decode(errors="replace"), times)
        for word, times in use_by_cutting(words, history, token, step - 1).words_before
    ]
    total = sum(times for _, times in held)
    if options.json:
        print(json.dumps({"step": step, "count": total, "words": held}, ensure_ascii=False, indent=1))
        return 0
    print(f"step {step:,}: − {Names(history)(token)}, {total:,} times in {counted_words(len(held))}")
    _print_words(held, max(1, total))
    return 0


def _print_shares(paid: Contributions, words: list[tuple[str, int]], files: list[tuple[str, int]]) -> None:
    whole = max(1, paid.count)
    for file, share in files:
        print(f"{share / whole:>7.1%}  {share:>10,}  from {file}")
    _print_words(words, whole)


def _print_words(words: list[tuple[str, int]], whole: int) -> None:
    for word, share in words[:MOST_SHOWN]:
        print(f"{share / whole:>7.1%}  {share:>10,}  {shown(word.encode())}")
    if len(words) > MOST_SHOWN:
        print(f"         and {len(words) - MOST_SHOWN:,} more words")
