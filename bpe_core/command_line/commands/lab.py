"""`bpe-explorer lab`: two to four tokenizers side by side, at one size of their vocabularies."""

from __future__ import annotations

import argparse
import json
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np

import bpe_core as bpe
from bpe_core.command_line.arguments import number, text_argument
from bpe_core.command_line.corpora import add_reading
from bpe_core.command_line.questions import count, counted_words
from bpe_core.command_line.tables import open_table
from bpe_core.data_table import ENDINGS, checked_name, write_data
from bpe_core.errors import BpeError, plain
from bpe_core.exact.of_words import differing_table
from bpe_core.honest_text import escape
from bpe_core.insight.cut_words import CutWords, whose_words
from bpe_core.insight.differing_words import DifferingWord, differing_words
from bpe_core.insight.parallel_cuts import ParallelCuts, parallel_cuts
from bpe_core.insight.vocabulary_overlap import Overlap, Vocabularies
from bpe_core.measures.measured_sizes import MeasuredSizes, measured_sizes
from bpe_core.measures.size_curves import FORMULA
from bpe_core.records import dataclass
from bpe_core.segmenting.segmentation import Tokens
from bpe_core.token_texts import quoted, shown

EXAMPLES = f"""\
examples:
  bpe-explorer lab gpt2.csv unigram.json --size 4000 --text "the lowest price"
      The same text cut by both with 4,000 tokens: what is joined has grown so far, what is dropped has shrunk so
      far. A double bar is a cut that not all have.

  bpe-explorer lab a.csv b.csv c.csv --corpus book.txt
      Each as it is in its file: what their vocabularies have in common, how they compress the corpus, and the words
      they cut most differently, by how often these occur. Its words are those that the first one splits it into.

{FORMULA}
"""

LETTERS = "ABCD"
AGREED, OWN = " | ", " ‖ "  # between two tokens: a cut that all have, or one that some have
LISTED = 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EXAMPLES
    parser.add_argument("tables", nargs="+", metavar="TABLE", help="two to four tokenizers or tables, in any format")
    parser.add_argument("--size", type=number, metavar="N", help="of all vocabularies (else each as in its file)")
    parser.add_argument("--text", type=text_argument, default="", metavar="TEXT", help="a text to cut by all")
    told = "texts to measure and compare them by; without, the words of a run in a session, if one is given"
    parser.add_argument("--corpus", nargs="+", metavar="FILE", help=told)
    add_reading(parser)
    parser.add_argument("--limit", type=number, default=LISTED, metavar="N", help=f"list so many words ({LISTED})")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    told = f"write all words that are cut differently to a {', '.join(ENDINGS)}"
    parser.add_argument("-o", "--output", type=Path, metavar="OUT", help=told)


@dataclass(frozen=True)
class Found:
    """All that is told."""

    tables: list[str]
    histories: list[bpe.History]
    at: list[int]
    texts: list[Tokens]  # the tokens of the text
    cuts: ParallelCuts
    overlaps: list[tuple[int, int, Overlap]]  # of two tables by their indices
    measured: list[MeasuredSizes]  # each at its step; nothing without a corpus
    words: list[DifferingWord]


def run(options: argparse.Namespace) -> int:
    if not 2 <= len(options.tables) <= len(LETTERS):
        raise BpeError(f"The lab holds two to four tokenizers, not {len(options.tables):,}; name as many files.")
    if options.output is not None:
        checked_name(options.output)
    found = _found(options)
    if options.output is not None:
        write_data(differing_table(found.words, LETTERS[: len(found.tables)]), options.output)
        print(f"Wrote {len(found.words):,} words to {plain(str(options.output))}.")
        return 0
    if options.json:
        print(json.dumps(_described(found), ensure_ascii=False, indent=1))
        return 0
    for letter, table, history, step in zip(LETTERS, found.tables, found.histories, found.at, strict=False):
        size = f"{history.vocabulary_size_at(step):,} tokens after step {step:,} of {len(history):,}"
        print(f"{letter}  {table}: {size}")
    if options.text:
        _tell_text(options.text.encode(), found)
    _tell_overlaps(found.overlaps)
    if found.measured:
        _tell_measured(found.measured)
        _tell_words(found.words)
    return 0


def _found(options: argparse.Namespace) -> Found:
    opened = [open_table(table) for table in options.tables]
    histories = [one.history for one in opened]
    at = [len(one) if options.size is None else one.step_of_size(options.size) for one in histories]
    both = list(zip(histories, at, strict=True))
    texts = [bpe.Tokenizer(history).segmentation(options.text).tokens(step) for history, step in both]
    cuts = parallel_cuts(texts, len(options.text.encode()))
    vocabularies = Vocabularies.of(histories)
    overlaps = [(one, other, vocabularies.overlap(one, other, at)) for one, other in combinations(range(len(at)), 2)]
    measured: list[MeasuredSizes] = []
    words: list[DifferingWord] = []
    place = 0 if options.corpus else whose_words([(one.words, one.history.recipe) for one in opened])
    if place is not None:
        table = count(options.corpus, histories[place]) if options.corpus else opened[place].words
        assert table is not None  # for it has the words that all are compared by
        cut = [CutWords.of(table, histories[place].recipe, history) for history in histories]
        sizes = [np.array([history.vocabulary_size_at(step)]) for history, step in both]
        measured = [measured_sizes(one, size) for one, size in zip(cut, sizes, strict=True)]
        words = differing_words(cut, at, options.limit if options.output is None else len(table))
    elif options.output is not None:
        raise BpeError("Which words are cut differently is told of texts: name them with --corpus.")
    return Found(options.tables, histories, at, texts, cuts, overlaps, measured, words)


# --- For people -------------------------------------------------------------------------


def _tell_text(data: bytes, found: Found) -> None:
    stretches = len(found.cuts.stretches)
    told = "No place" if not stretches else f"{stretches:,} place{'s' if stretches > 1 else ''}"
    print(f"\n{told} of the text {'are' if stretches > 1 else 'is'} cut differently.")
    for index, tokens in enumerate(found.texts):
        unknown = np.count_nonzero(tokens.ids == found.histories[index].alphabet.unknown_id)
        told = f"  ({unknown:,} unknown)" if unknown else ""
        print(f"{LETTERS[index]} {len(tokens.spans()):>6,}  {_marked(data, found.cuts, index)}{told}")


def _marked(data: bytes, cuts: ParallelCuts, index: int) -> str:
    """The text with a bar wherever one cuts it, a double one where not all do."""
    differing = set(cuts.differing.tolist())
    places = cuts.places[cuts.has[index]].tolist()
    told = [shown(data[: places[0] if places else None])]
    for place, stop in pairwise([*places, len(data)]):
        told += [OWN if place in differing else AGREED, shown(data[place:stop])]
    return "".join(told)


def _tell_overlaps(overlaps: list[tuple[int, int, Overlap]]) -> None:
    print("\nTokens in both vocabularies:")
    for one, other, found in overlaps:
        a, b = LETTERS[one], LETTERS[other]
        shares = f"{found.share_of_first:.1%} of {a}, {found.share_of_second:.1%} of {b}"
        print(f"{a} and {b} {found.common:>8,}  {shares}, Jaccard {found.jaccard:.3f}")


def _tell_measured(measured: list[MeasuredSizes]) -> None:
    print(f"\n{measured[0].bytes:,} bytes, {counted_words(measured[0].words)}:")
    print("".join(f"{title:>14}" for title in ("tokens", "tokens/word", "bytes/token", "Rényi")))
    for letter, one in zip(LETTERS, measured, strict=False):
        ratios = (one.tokens_per_word[0], one.bytes_per_token[0], one.renyi_efficiency[0])
        print(f"{letter}{one.tokens[0]:>13,}" + "".join(f"{ratio:>14.3f}" for ratio in ratios))


def _tell_words(words: list[DifferingWord]) -> None:
    print("\nWords that are cut most differently:" if words else "\nAll words are cut alike.")
    for one in words:
        print(f"{quoted(one.word)}, {one.count:,} times")
        for place in range(len(one.cut_by_each)):
            print(f"  {LETTERS[place]}  {one.shown_as_cut(place, AGREED)}")


# --- For scripts ------------------------------------------------------------------------


def _described(found: Found) -> dict[str, Any]:
    tables: list[dict[str, Any]] = [
        {"table": table, "step": step, "vocabulary": history.vocabulary_size_at(step)}
        | {"ids": tokens.spans()[:, 2].tolist()}
        for table, history, step, tokens in zip(found.tables, found.histories, found.at, found.texts, strict=True)
    ]
    for table, one in zip(tables, found.measured, strict=False):
        table["corpus"] = {
            "tokens": int(one.tokens[0]),
            "bytes": one.bytes,
            "words": one.words,
            "renyi_efficiency": float(one.renyi_efficiency[0]),
        }
    return {
        "tables": tables,
        "differing_bytes": found.cuts.stretches.tolist(),
        "overlaps": [
            {"tables": [one, other], "common": both.common, "jaccard": both.jaccard}
            for one, other, both in found.overlaps
        ],
        "words": [{"word": escape(one.word), "count": one.count, "cuts": one.cut_by_each} for one in found.words],
    }
