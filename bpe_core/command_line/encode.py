"""`bpe-explorer encode`: a text's tokens by a merge table."""

from __future__ import annotations

import argparse
import json

import bpe_core as bpe
from bpe_core.command_line.arguments import add_merge_table, text_argument, text_or_standard_input
from bpe_core.command_line.steps import token_names, visible
from bpe_core.errors import BpeError
from bpe_core.formats import read_history

SUMMARY = "turn text into tokens by a merge table"

EXAMPLES = """\
examples:
  bpe-explorer encode --merges merges.csv "the lowest price"
      The ids of its tokens, separated by blanks.

  bpe-explorer encode --merges merges.csv --at 500 --pieces "the lowest price"
      The tokens themselves, as the tokenizer stood after 500 merges.

  bpe-explorer encode --merges merges.csv --json < page.txt
      All of standard input, exactly as it is (its last line break too), as JSON.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EXAMPLES
    parser.add_argument("text", nargs="*", type=text_argument, metavar="TEXT", help="if left out: standard input")
    add_merge_table(parser)
    parser.add_argument("--at", type=int, metavar="K", help="use only the first K merges")
    parser.add_argument("--allow-special", action="store_true", help="special tokens in the text stand for themselves")
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument("--pieces", action="store_true", help="print the tokens' texts instead of their ids")
    shown.add_argument("--json", action="store_true", help="print ids and texts as JSON")


def run(options: argparse.Namespace) -> int:
    history = read_history(options.merges)
    if options.at is not None and not 0 <= options.at <= len(history):
        raise BpeError(f"{options.merges} holds {len(history):,} merges; --at must be a number from 0 to that.")
    tokenizer = bpe.Tokenizer(history)
    text = text_or_standard_input(options.text)
    ids = tokenizer.encode(text, at=options.at, allowed_special="all" if options.allow_special else ())
    if options.json:
        names = token_names(history)
        print(json.dumps({"ids": ids, "tokens": [names[id] for id in ids]}, ensure_ascii=False))
    elif options.pieces:
        names = token_names(history)
        print(" | ".join(visible(names[id]) for id in ids))
    else:
        print(*ids)
    return 0
