"""`bpe-explorer why`: for every boundary of a text the reason it stands, or the merge that took it away."""

from __future__ import annotations

import argparse
import json
from typing import Any

from bpe_core.command_line.arguments import add_merge_table, text_argument, text_or_standard_input
from bpe_core.command_line.questions import Names, add_grouped_corpus, add_moment, has_texts, moment, ranked_words
from bpe_core.command_line.tables import open_table
from bpe_core.history.history import History
from bpe_core.insight.explanation import UNKNOWN, explain
from bpe_core.insight.why import Reason, Why, sentence
from bpe_core.learning.methods import has_ranks
from bpe_core.token_texts import shown

EXAMPLES = """\
examples:
  bpe-explorer why "the lowest price" --merges merges.csv
      One line for each place where the text is cut: which tokens meet there, and why they stay apart.

  bpe-explorer why newer --merges merges.csv --at 500 --corpus book.txt
      With the corpus at hand, how often the two stood side by side is told, too.

  bpe-explorer why newer --merges merges.csv --steps
      The encoding of the text, merge by merge.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EXAMPLES
    parser.add_argument("text", nargs="*", type=text_argument, metavar="TEXT", help="if left out: standard input")
    add_merge_table(parser)
    add_moment(parser)
    add_grouped_corpus(parser, required=False, purpose="the files the table was learned from, for the counts of pairs")
    parser.add_argument("--all", action="store_true", help="tell of the boundaries that merges have dissolved, too")
    parser.add_argument("--allow-special", action="store_true", help="special tokens in the text stand for themselves")
    parser.add_argument("--steps", action="store_true", help="show how each word is encoded, merge by merge")
    parser.add_argument("--json", action="store_true", help="print it as JSON")


def run(options: argparse.Namespace) -> int:
    history = open_table(options.merges).history
    at, names = moment(options, history), Names(history)
    text = text_or_standard_input(options.text)
    if not has_ranks(history):
        return _explain(text, history, at, options)
    corpus = ranked_words(options, history) if has_texts(options) else None
    why = Why(text, history, corpus=corpus, allowed_special="all" if options.allow_special else ())
    if options.steps:
        _print_steps(why, text, at, names)
        return 0
    data = text.encode()
    reasons = [(byte, why.at_byte(byte, at)) for byte in range(1, len(data))]
    told = [(byte, reason) for byte, reason in reasons if options.all or reason.kind not in ("joined", "symbol")]
    if options.json:
        print(json.dumps([_described(byte, reason, names) for byte, reason in told], ensure_ascii=False, indent=1))
        return 0
    for byte, reason in told:
        before, after = data[max(0, byte - 12) : byte], data[byte:][:12]
        print(f"{shown(before):>12}|{shown(after):<12}  {sentence(reason, names)}")
    return 0


def _explain(text: str, history: History, at: int, options: argparse.Namespace) -> int:
    """Where a method has no merges by which words are cut, it tells of each place in its own terms."""
    at_byte, data = explain(text, history, "all" if options.allow_special else ()), text.encode()
    told = [(byte, at_byte(byte, at)) for byte in range(1, len(data))]
    told = [(byte, one) for byte, one in told if one.is_cut or one.kind in UNKNOWN or options.all]
    if options.json:
        described = [{"byte": byte, "kind": one.kind, "steps": one.steps, "reason": one.sentence} for byte, one in told]
        print(json.dumps(described, ensure_ascii=False, indent=1))
        return 0
    for byte, one in told:
        before, after = data[max(0, byte - 12) : byte], data[byte:][:12]
        print(f"{shown(before):>12}|{shown(after):<12}  {one.sentence}")
        for way in one.ways if options.steps else ():
            pieces = " | ".join(f"{piece.text} {piece.told}".rstrip() for piece in way.pieces)
            print(f"{way.title:>18}  {pieces}{f' = {way.total}' if way.total else ''}")
    return 0


def _described(byte: int, reason: Reason, names: Names) -> dict[str, Any]:
    return {"byte": byte, "kind": reason.kind, "steps": reason.steps, "reason": sentence(reason, names)}


def _print_steps(why: Why, text: str, at: int, names: Names) -> None:
    byte, length = 0, len(text.encode())
    while byte < length:
        word = why.word_at(byte)
        for step in word.steps(at):
            made = "before any merge" if step.rank is None else f"merge {step.rank + 1:,}"
            print(f"{made:>18}  {' | '.join(names(token.id) for token in step.tokens)}")
        print()
        byte = max(byte + 1, word.stop)
