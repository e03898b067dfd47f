"""`bpe-explorer diff`: where two tokenizers part ways, and why."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import bpe_core as bpe
from bpe_core.command_line.arguments import number, text_argument
from bpe_core.command_line.tables import open_table
from bpe_core.data_table import ENDINGS, checked_name, write_data
from bpe_core.exact.of_texts import differing
from bpe_core.formats import OpenedTable
from bpe_core.honest_text import escape
from bpe_core.insight.table_comparison import DifferingMerge, TableComparison, compare_tables, compare_texts
from bpe_core.learning.methods import Wording, told_by
from bpe_core.token_texts import TokenTexts, shown

EXAMPLES = """\
examples:
  bpe-explorer diff first.csv second.csv
      The first merge that differs with the likely cause (a tie, a count, the pattern, the
      data), and the tokens that only one of them has.

  bpe-explorer diff book.bpex#1 book.bpex#2 -o differing.csv
      Two runs of a session; and all merges that stand elsewhere, as a table.

  bpe-explorer diff vocab.bpe cl100k_base.tiktoken "isn't 2024 naïve?"
      The same text cut by both; [brackets] mark what they cut differently.

The exit code is 0 where the merges are the same, 3 where they differ.
"""

DIFFERENT = 3
ENDS_WELL = (0, DIFFERENT)
LISTED = 10
LONGEST_LISTED = 200  # bytes of a token


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EXAMPLES
    parser.add_argument("first", metavar="A", help="a tokenizer or merge table in any format")
    parser.add_argument("second", metavar="B", help="another one")
    parser.add_argument("text", nargs="*", type=text_argument, metavar="TEXT", help="a text to cut by both")
    parser.add_argument("--limit", type=number, default=LISTED, metavar="N", help=f"list so many tokens ({LISTED})")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    told = f"write the merges that differ, all of them, to a {', '.join(ENDINGS)}"
    parser.add_argument("-o", "--output", type=Path, metavar="OUT", help=told)


def run(options: argparse.Namespace) -> int:
    if options.output is not None:
        checked_name(options.output)
    one, other = open_table(options.first), open_table(options.second)
    found = compare_tables(one.history, other.history)
    if options.output is not None:
        sides = [(side.history, side.numbers) for side in (one, other)]
        write_data(differing(found.differing, *sides), options.output)
    text = " ".join(options.text)
    if options.json:
        print(json.dumps(_described(found, one, other, text), ensure_ascii=False, indent=1))
    else:
        _tell(found, (one, other), options)
        if text:
            _tell_text(one, other, text, options)
    return 0 if found.cause == "none" else DIFFERENT


# --- For people -------------------------------------------------------------------------


def _tell(found: TableComparison, tables: Sequence[OpenedTable], options: argparse.Namespace) -> None:
    names = (options.first, options.second)
    for name, one in zip(names, tables, strict=True):
        print(f"{name}: {told_by(one.history)}")
    step = steps.pop() if len(steps := {Wording.of(one.history.recipe).step for one in tables}) == 1 else "step"
    if found.first is not None:
        print(f"\nThey part ways at {step} {found.first + 1:,}:")
        for merge in found.differing[:2]:
            print(f"  {_written(merge)}  {_places(merge, step)}")
    is_guess = found.cause not in ("none", "tokens", "not known")
    print(f"Likely cause, {found.cause}: {found.explanation}" if is_guess else found.explanation)
    print(f"\n{found.overlap.in_words}")
    for name, tokens in zip(names, (found.only_in_first, found.only_in_second), strict=True):
        if tokens:
            few = "  ".join(shown(token, LONGEST_LISTED) for token in tokens[: options.limit])
            more = f"  and {len(tokens) - options.limit:,} more" if len(tokens) > options.limit else ""
            print(f"{len(tokens):,} only in {name}: {few}{more}")


def _written(merge: DifferingMerge) -> str:
    return f"{shown(merge.left, LONGEST_LISTED)} + {shown(merge.right, LONGEST_LISTED)}"


def _places(merge: DifferingMerge, step: str) -> str:
    places = [
        f"{step} {place + 1:,} in {name}" if place is not None else f"not in {name}"
        for name, place in (("A", merge.place), ("B", merge.other_place))
    ]
    return ", ".join(places)


def _tell_text(one: OpenedTable, other: OpenedTable, text: str, options: argparse.Namespace) -> None:
    tokenizers = bpe.Tokenizer(one.history), bpe.Tokenizer(other.history)
    found = compare_texts(*tokenizers, text)
    count = len(found.regions)
    print(f"\n{count:,} place{'' if count == 1 else 's'} of the text {'is' if count == 1 else 'are'} cut differently.")
    for name, spans in ((options.first, found.spans), (options.second, found.other_spans)):
        print(f"{name}, {len(spans):,} tokens:\n  {_marked(text.encode(), spans, found.regions)}")


def _marked(raw: bytes, spans: Sequence[tuple[int, int, int]], regions: Sequence[tuple[int, int]]) -> str:
    """The tokens with blanks between, those of differing regions in brackets.

    >>> _marked(b"the ban", [(0, 3, 1), (3, 4, 2), (4, 5, 3), (5, 7, 4)], [(5, 7)])
    'the | ␣ | b | [an]'
    """
    opening, closing = {start for start, _ in regions}, {stop for _, stop in regions}
    pieces = []
    for start, stop, _ in spans:
        if stop > start:
            piece = shown(raw[start:stop])
            pieces.append(("[" if start in opening else "") + piece + ("]" if stop in closing else ""))
    return " | ".join(pieces)


# --- For scripts ------------------------------------------------------------------------


def _described(found: TableComparison, one: OpenedTable, other: OpenedTable, text: str) -> dict[str, Any]:
    described: dict[str, Any] = {
        "merges": found.merges,
        "first_difference": None if found.first is None else found.first + 1,
        "cause": found.cause,
        "explanation": found.explanation,
        "common_tokens": found.common,
        "only_in_first": [escape(token) for token in found.only_in_first],
        "only_in_second": [escape(token) for token in found.only_in_second],
        "differing_merges": [_row(merge) for merge in found.differing],
    }
    if text:
        cuts = compare_texts(bpe.Tokenizer(one.history), bpe.Tokenizer(other.history), text)
        described["text"] = {
            "first": _cut(one, cuts.spans),
            "second": _cut(other, cuts.other_spans),
            "differing_bytes": cuts.regions,
        }
    return described


def _row(merge: DifferingMerge) -> dict[str, Any]:
    step = None if merge.place is None else merge.place + 1
    other_step = None if merge.other_place is None else merge.other_place + 1
    return {"left": escape(merge.left), "right": escape(merge.right), "step": step, "step_in_second": other_step}


def _cut(opened: OpenedTable, spans: Sequence[tuple[int, int, int]]) -> dict[str, Any]:
    names = TokenTexts.of(opened.history, escape).text
    ids = [id for _, _, id in spans]
    return {"ids": opened.numbers_of(ids), "tokens": [names[id] for id in ids]}
