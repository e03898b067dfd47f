"""The command `bpe-explorer words`. It shows step by step how a few words are merged."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from bpe_core.command_line.arguments import MOST_DIGITS, add_merge_limits, add_tie_rule, chosen_recipe, text_argument
from bpe_core.command_line.steps import step_lines
from bpe_core.counting.words import WordTable
from bpe_core.formats.rows import merge_rows
from bpe_core.history.history import END_SENTENCES, History
from bpe_core.history.token_texts import TokenTexts, shown
from bpe_core.lessons.bench import Bench
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.methods.kit.trainer import learn
from bpe_core.support.escaped_bytes import escape

examples = """\
examples:
  bpe-explorer words low lower lowest
      Print each merge, why it won, and the words after it.

  bpe-explorer words low=5 lower=2 newest=6 widest=3 --marker symbol --merges 10
      Give words with counts, and end each word with the symbol </w>.

  bpe-explorer words low lower lowest --apply lowly
      Afterwards split another word with the learned merges.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("words", nargs="+", type=text_argument, metavar="WORD[=COUNT]", help="the words to learn from")
    marker = "how to mark the end of a word: not at all, by a separate symbol, or on its last character"
    add("--marker", choices=["none", "symbol", "glued"], default="none", help=marker)
    add_tie_rule(parser)
    add_merge_limits(parser)
    add(
        "--apply",
        action="append",
        default=[],
        type=text_argument,
        metavar="WORD",
        help="split this word with the learned merges",
    )
    add("--json", action="store_true", help="print the merge table as JSON")


def run(options: argparse.Namespace) -> int:
    recipe = chosen_recipe(options, "words")
    counts = count_arguments(options.words)
    words = WordTable.from_counts(counts)
    history = learn(words, recipe)
    states = _states(Bench(words, history))
    write = escape if options.json else shown
    applied = {word: _applied(word, history, write) for word in options.apply}
    if options.json:
        print(json.dumps(_described(history, counts, states, applied), ensure_ascii=False, indent=1))
        return 0
    print(f"start  {next(states)}\n")
    for line, state in zip(step_lines(history), states, strict=True):
        print(f"{line}\n       {state}\n")
    print(END_SENTENCES[history.end_reason])
    for word, pieces in applied.items():
        print(f"{word} → {' '.join(pieces)}{_about_unknown(word, history)}")
    return 0


def count_arguments(arguments: list[str]) -> Counter[str]:
    """Count the words in the arguments. `new=6` means that the word `new` occurs six times.

    >>> count_arguments(["low", "low", "new=6", "a=b", "old=0"])
    Counter({'new': 6, 'low': 2, 'a=b': 1})
    """
    counts: Counter[str] = Counter()
    for argument in arguments:
        word, sign, number = argument.rpartition("=")
        if sign and word and number.isascii() and number.isdigit():
            counts[word] += int(number[:MOST_DIGITS])
        else:
            counts[argument] += 1
    return +counts  # without words whose count is zero


def _applied(word: str, history: History, write: Callable[[bytes], str]) -> list[str]:
    unknown = history.alphabet.unknown_id
    texts = TokenTexts.of(history, write).text
    # one symbol for each character; a marker comes last
    symbols = history.alphabet.symbols_of(word.encode(), history.recipe)
    strangers = (write(character.encode()) for character, id in zip(word, symbols, strict=False) if id == unknown)
    return [next(strangers) if id == unknown else texts[id] for id in Tokenizer(history).encode(word)]


def _about_unknown(word: str, history: History) -> str:
    unknown = [character for character in dict.fromkeys(word) if character.encode() not in history.alphabet.id_of_piece]
    return f"   ({', '.join(unknown)}: not in the words to learn from)" if unknown else ""


def _described(
    history: History, counts: Counter[str], states: Iterator[str], applied: dict[str, list[str]]
) -> dict[str, Any]:
    described = {"words": counts, "start": next(states)}
    merges = [
        {"left": row.left_text, "right": row.right_text, "token": row.token, "count": row.count, "tied": row.tied}
        | {"words": state}
        for row, state in zip(merge_rows(history), states, strict=True)
    ]
    return described | {"merges": merges, "end_reason": history.end_reason, "applied": applied}


def _states(bench: Bench) -> Iterator[str]:
    for at in range(len(bench.history) + 1):
        yield " | ".join(" ".join(word.texts) for word in bench.words_at(at))
