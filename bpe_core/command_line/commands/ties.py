"""`bpe-explorer ties`: which merges a tie decided, and what another rule would have made of it."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpe_core as bpe
from bpe_core.command_line.arguments import add_merge_table, text_argument
from bpe_core.command_line.questions import Names, add_grouped_corpus, add_moment, has_texts, moment, words_of
from bpe_core.command_line.tables import open_table
from bpe_core.data_table import ENDINGS, checked_name, write_data
from bpe_core.errors import BpeError, OutputError, plain
from bpe_core.honest_text import escape
from bpe_core.insight.ties import Tie, ties
from bpe_core.learning.methods import METHODS, Wording
from bpe_core.learning.ties import TIE_RULES
from bpe_core.token_texts import shown

if TYPE_CHECKING:  # loaded by whoever asks what another rule would have made
    from bpe_core.insight.table_comparison import TableComparison

EXAMPLES = """\
examples:
  bpe-explorer ties --merges merges.csv
      Where two pairs were equally frequent: who won, against whom, and when the other got its turn.

  bpe-explorer ties --merges merges.csv --what-if lowest-ids --corpus book.txt --text "the lowest price"
      Learn again under another rule: where the two part, what they have in common, and the text under both.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EXAMPLES
    add_merge_table(parser)
    add_moment(parser)
    parser.add_argument(
        "--what-if", choices=TIE_RULES, metavar="RULE", help=f"learn again under {', '.join(TIE_RULES)}"
    )
    add_grouped_corpus(parser, required=False, purpose="the files the table was learned from; needed for --what-if")
    parser.add_argument("--text", type=text_argument, metavar="TEXT", help="show this text under both rules")
    parser.add_argument("--json", action="store_true", help="print it as JSON")
    parser.add_argument("-o", "--output", type=Path, metavar="OUT", help=f"write the list to a {', '.join(ENDINGS)}")


def run(options: argparse.Namespace) -> int:
    if options.output is not None:
        checked_name(options.output)
    opened = open_table(options.merges)
    history = opened.history
    if options.what_if:
        if options.output is not None:
            raise OutputError("-o writes the list of ties; what another rule makes is printed.")
        if not has_texts(options):
            raise BpeError("To learn again under another rule the texts are needed: give them with --corpus.")
        return _what_if(options, history)
    found, names = ties(history, moment(options, history)), Names(history)
    if options.output is not None:
        from bpe_core.exact.of_run import tie_list  # with what the charts of a run want
        from bpe_core.exact.tokens import TokenColumns

        write_data(tie_list(found, TokenColumns.for_history(history, opened.numbers)), options.output)
    if options.json:
        print(json.dumps([_described(tie, names) for tie in found], ensure_ascii=False, indent=1))
        return 0
    if not history.has_counts:
        raise BpeError(f"{options.merges} holds no counts, so nothing is known about ties.")
    wording = Wording.of(history.recipe)
    if not history.recipe.applies("ties"):
        title = METHODS[history.recipe.method].title
        print(f"{title} has no rule for ties; `bpe-explorer train` lists why each {wording.choice} was {wording.done}.")
        return 0
    if options.output is not None:
        print(f"Wrote {len(found):,} ties to {plain(str(options.output))}.")
        return 0
    for tie in found:
        later = f"{wording.done} at step {tie.loser_step:,}" if tie.loser_step else f"never {wording.done}"
        print(f"{tie.step:>6}  {names.pair(tie.winner):<28} won against {names.pair(tie.loser):<28} {later}")
    of_all = f"{len(found):,} of {moment(options, history):,} {wording.steps}"
    print(f"{of_all} were decided by a tie ({history.recipe.ties}).")
    return 0


def _described(tie: Tie, names: Names) -> dict[str, Any]:
    pairs = {"winner": [*map(names, tie.winner)], "loser": [*map(names, tie.loser)]}
    return {"step": tie.step, **pairs, "count": tie.count, "loser_step": tie.loser_step}


def _what_if(options: argparse.Namespace, history: bpe.History) -> int:
    from bpe_core.insight.table_comparison import compare_tables, compare_texts  # with all that cuts texts

    recipe = history.recipe.with_changes(ties=options.what_if)
    trainer = bpe.Trainer(words_of(options, history), recipe)
    trainer.advance(max_merges=len(history))
    other = trainer.history
    found = compare_tables(history, other)
    if options.json:
        print(json.dumps(_parted_as_json(found), ensure_ascii=False, indent=1))
        return 0
    if found.first is None or found.parted is None:
        print(f"Under {options.what_if} the same {len(other):,} merges are learned.")
    else:
        one, there = (" + ".join(map(shown, pair)) for pair in found.parted)
        print(f"The two part at step {found.first + 1:,}: {one} here, {there} there.")
    print(found.overlap.in_words)
    if options.text:
        cut = compare_texts(bpe.Tokenizer(history), bpe.Tokenizer(other), options.text)
        data = options.text.encode()
        for rule, spans in ((history.recipe.ties, cut.spans), (options.what_if, cut.other_spans)):
            pieces = " | ".join(data[start:stop].decode(errors="replace") for start, stop, _ in spans)
            print(f"{rule:>15}: {pieces}")
    return 0


def _parted_as_json(found: TableComparison) -> dict[str, Any]:
    one, other = found.parted or (None, None)
    return {
        "step": None if found.first is None else found.first + 1,
        "one": one and [*map(escape, one)],
        "other": other and [*map(escape, other)],
        "shared": found.common,
        "only_one": len(found.only_in_first),
        "only_other": len(found.only_in_second),
        "jaccard": found.overlap.jaccard,
        "share_of_one": found.overlap.share_of_first,
        "share_of_other": found.overlap.share_of_second,
    }
