"""`bpe-explorer token`: the life of one token."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from bpe_core.command_line.arguments import add_merge_table, text_argument
from bpe_core.command_line.pictures import add_paper, check_output, write_output
from bpe_core.command_line.questions import (
    Names,
    add_grouped_corpus,
    add_moment,
    count_corpus,
    counted_words,
    has_texts,
    moment,
    reading_texts,
    words_or_own,
)
from bpe_core.command_line.tables import open_table
from bpe_core.data_table import ENDINGS, DataTable, checked_name, is_data, write_data
from bpe_core.errors import BpeError, plain
from bpe_core.exact.of_texts import life as exact_life
from bpe_core.exact.of_words import held_table
from bpe_core.exact.tokens import TokenColumns
from bpe_core.formats import OpenedTable
from bpe_core.history.history import History
from bpe_core.insight.contexts import Context, contexts
from bpe_core.insight.held_words import Held, words_holding
from bpe_core.insight.ranked_words import RankedWords
from bpe_core.insight.reachability import Reachability, reachability
from bpe_core.insight.token_life import TokenLife, token_life
from bpe_core.insight.token_use import use_by_cutting, use_by_joining
from bpe_core.learning.layout import count_symbols
from bpe_core.learning.methods import Method, Wording, learns_by_ranks
from bpe_core.token_texts import shown

EXAMPLES = """\
examples:
  bpe-explorer token "␣the" --merges merges.csv --corpus book.txt
      Its parts and what was made of it, how often it occurs, in which words and lines, and whether it is a mere
      scaffold that larger tokens have used up.

  bpe-explorer token "#260" --merges merges.csv --at 300 --json --corpus book.txt
      The token with the id 260 as of merge 300.

  bpe-explorer token "␣the" --merges book.bpex -o life.svg --width 84 --height 60
      How often it stood in the texts when, as a drawing (.pdf, .png) or as a table (.csv, .parquet ...).
"""

MOST_SHOWN = 12
WHAT = "The life of a token"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EXAMPLES
    parser.add_argument("token", type=text_argument, metavar="TOKEN", help="as the merge table writes it, or #ID")
    add_merge_table(parser)
    add_grouped_corpus(
        parser, required=False, purpose="the files the table was learned from; with -o a session needs none"
    )
    add_moment(parser)
    parser.add_argument("--json", action="store_true", help="print it as JSON")
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="OUT",
        help=f"how often it stood there when, as .svg, .pdf or .png, or as {', '.join(ENDINGS)}",
    )
    parser.add_argument(
        "--words", action="store_true", help="with -o: write all words that hold it instead, with how often"
    )
    add_paper(parser)


def run(options: argparse.Namespace) -> int:
    if options.output is not None:
        check_output(options)
    opened = open_table(options.merges)
    history, tokens = opened.history, TokenColumns.for_history(opened.history, opened.numbers)
    at, names = moment(options, history), Names(history)
    token = names.id_of(options.token)
    if options.words:
        words = words_or_own(options, opened, WHAT)
        return _write_words(words_holding(words, history, token, at), options)
    if not learns_by_ranks(history):
        return _tell_use(opened, token, at, names, options, tokens)
    if options.output is not None:
        life = token_life(RankedWords.of(words_or_own(options, opened, WHAT), history), token, at)
        before = () if life.before is None else life.before.stairs(life.curve.born)
        return _write(exact_life(token, life.curve.stairs(), before, tokens), history, at, options)
    if not has_texts(options):
        raise BpeError(f"{WHAT}, told with its lines, is about texts: name them with --corpus.")
    with reading_texts(options) as corpus:
        ranked = RankedWords.of(count_corpus(corpus, history), history)
    life = token_life(ranked, token, at)
    reached = reachability(history, token, at, corpus=ranked)
    with reading_texts(options, corpus.skipped) as again:
        lines = contexts(again, ranked, token, at, most=MOST_SHOWN)
    if options.json:
        print(json.dumps(_described(life, reached, lines, ranked, names), ensure_ascii=False, indent=1))
    else:
        _print(life, reached, lines, ranked, names)
    return 0


def _write(table: DataTable, history: History, at: int, options: argparse.Namespace) -> int:
    """Drawn as the window draws it, or its counts."""
    steps, is_log = Wording.of(history.recipe).steps.capitalize(), not Method.of(history.recipe).drops
    write_output(options, "life", table, steps=steps, end=len(history), at=at, is_log=is_log)
    rows = f"{len(table):,} rows to " if is_data(options.output) else ""
    print(f"Wrote {rows}{plain(str(options.output))}.")
    return 0


def _write_words(held: Held, options: argparse.Namespace) -> int:
    if options.output is None:
        raise BpeError("All words that hold a token are written into a file: name it with -o.")
    write_data(held_table(held), checked_name(options.output))
    print(f"Wrote {counted_words(len(held))} to {plain(str(options.output))}.")
    return 0


def _tell_use(
    opened: OpenedTable, token: int, at: int, names: Names, options: argparse.Namespace, tokens: TokenColumns
) -> int:
    """Where pairs are not joined word by word: how often it stood there when, and in which words."""
    history, words = opened.history, words_or_own(options, opened, WHAT)
    if history.only_joins:
        symbols = count_symbols(words, history.alphabet, history.recipe)
        curve = use_by_joining(history, token, int(symbols[token]) if token < len(symbols) else 0)
        held: list[tuple[bytes, int]] = []
    else:
        use = use_by_cutting(words, history, token, at)
        curve, held = use.curve, use.words
    if options.output is not None:
        return _write(exact_life(token, curve, (), tokens), history, at, options)
    count_now = next((count for step, count in reversed(curve) if step <= at), 0)
    reached, steps = reachability(history, token, at), Wording.of(history.recipe).steps
    if options.json:
        told = {"id": token, "token": names(token), "at": at, "count": count_now, "curve": curve}
        listed = [[word.decode(errors="replace"), count] for word, count in held]
        print(json.dumps({**told, "words": listed}, ensure_ascii=False, indent=1))
        return 0
    print(f"{names(token)}  (id {token})")
    print(f"occurs     {count_now:,} times after {at:,} {steps}; {max(count for _, count in curve):,} at most")
    for step, count in curve[:MOST_SHOWN]:
        print(f"           {count:,} times from step {step:,} on")
    if held:
        print(f"in words   {_listed([f'{shown(word)} {count:,}' for word, count in held])}")
    print(_reach_sentence(reached, names))
    return 0


def _print(life: TokenLife, reached: Reachability, lines: list[Context], ranked: RankedWords, names: Names) -> None:
    made = (
        "a base symbol" if life.parts is None else f"step {life.step:,}: {names.pair(life.parts)}{_new(life, ranked)}"
    )
    print(f"{names(life.token)}  (id {life.token}, {made})")
    print(f"occurs     {life.count_now:,} times after {life.at:,} merges; {life.peak:,} at its peak")
    if life.is_scaffold:
        print("           a scaffold: larger tokens have taken all of it")
    for cut in life.curve.cuts[:MOST_SHOWN]:
        print(f"           merge {cut.step:,} ({names(ranked.base + cut.step - 1)}) took {cut.lost:,}")
    print(f"in tokens  {_listed([names(child) for child in life.children])}")
    print(f"in words   {_listed([f'{_word(ranked, one.word)} {one.count:,}' for one in life.words])}")
    print(f"{_reach_sentence(reached, names)}")
    for hit in lines:
        place = f"{hit.source}:{'row ' if hit.is_row else ''}{hit.line}"
        print(f"{place}: {hit.text[: hit.start]}[{hit.text[hit.start : hit.stop]}]{hit.text[hit.stop :]}")


def _new(life: TokenLife, ranked: RankedWords) -> str:
    """Where a table was extended, whether a token came with that."""
    grown_from = ranked.history.recipe.grown_from
    return f", new behind the table's own {grown_from:,} steps" if 0 < grown_from < (life.step or 0) else ""


def _listed(texts: list[str]) -> str:
    rest = f" … and {len(texts) - MOST_SHOWN:,} more" if len(texts) > MOST_SHOWN else ""
    return ", ".join(texts[:MOST_SHOWN]) + rest if texts else "none"


def _word(ranked: RankedWords, word: int) -> str:
    return shown(ranked.words.word(word))


def _reach_sentence(reached: Reachability, names: Names) -> str:
    if reached.kind == "reachable":
        return f"reachable  by the text {reached.witness!r}"
    if reached.kind == "not learned yet":
        return "It is not learned yet."
    if len(reached.pieces) > 1:
        return f"unreachable: its own text falls into {' | '.join(map(names, reached.pieces))}"
    return "unreachable: no text holds these bytes" if reached.kind == "unreachable" else "no text was found for it"


def _described(
    life: TokenLife, reached: Reachability, lines: list[Context], ranked: RankedWords, names: Names
) -> dict[str, Any]:
    return {
        "id": life.token,
        "token": names(life.token),
        "step": life.step,
        "parts": None if life.parts is None else [*map(names, life.parts)],
        "children": [*map(names, life.children)],
        "at": life.at,
        "count": life.count_now,
        "peak": life.peak,
        "born": life.curve.born,
        "falls": [[cut.step, cut.lost] for cut in life.curve.cuts],
        "scaffold": life.is_scaffold,
        "words": [[ranked.words.word(one.word).decode(errors="replace"), one.count] for one in life.words],
        "reachability": {"kind": reached.kind, "witness": reached.witness, "pieces": [*map(names, reached.pieces)]},
        "contexts": [vars(hit) for hit in lines],
    }
