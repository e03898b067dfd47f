"""What the chart of sizes is drawn from: a line for each text of each table, as the window has them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path

from bpe_core.command_line.commands.sizes import curves_of, texts_of
from bpe_core.command_line.questions import count, has_texts, words_or_own
from bpe_core.command_line.tables import open_table
from bpe_core.counting.words import WordTable
from bpe_core.data_table import DataTable
from bpe_core.errors import BpeError
from bpe_core.exact import of_texts
from bpe_core.formats import OpenedTable
from bpe_core.history.history import History
from bpe_core.measures.bits_per_byte import HELD_OUT, TRAINING, BitsPerByte, bits_by_text
from bpe_core.measures.measured_sizes import which_sizes
from bpe_core.measures.size_curves import USUAL_POWER

BITS = "bits_per_byte"


def of_sizes(options: argparse.Namespace) -> DataTable:
    """Every size; of bits per byte those of the text held out, else of a tenth."""
    opened = {table: open_table(table) for table in options.tables}
    found: dict[str, of_texts.Curves] = {}
    bits = {}
    for table, one in opened.items():
        texts, history = _texts(options, one), one.history
        apart = {HELD_OUT + Path(file).name: count([file], history) for file in options.held_out}
        if options.measure == BITS:
            told = bits_by_text(texts, apart, history)
            _tell_which(table, told.values(), history)
            bits.update({_line(name, table, told, opened): numbers for name, numbers in told.items()})
        else:
            texts |= apart
            for name, words in texts.items():
                found[_line(name, table, texts, opened)] = curves_of(words, history, USUAL_POWER, every=True)
    return of_texts.bits(bits) if bits else of_texts.sizes(found)


def _tell_which(table: str, told: Iterable[BitsPerByte], history: History) -> None:
    """Where not every size was measured."""
    for which in dict.fromkeys(which_sizes(one.sizes, history) for one in told):
        if which:
            print(f"{table}: {which}", file=sys.stderr)


def check_lines(options: argparse.Namespace, table: DataTable) -> None:
    """Whether those are there that alone are to be drawn."""
    there = dict.fromkeys(table.columns.get("text", []))
    missing = next((name for name in options.lines if name not in there), None)
    if missing is not None:
        raise BpeError(f"There is no line {missing!r}; the lines are: {', '.join(map(str, there))}."[:290])


def _texts(options: argparse.Namespace, opened: OpenedTable) -> dict[str, WordTable]:
    """What the table was learned from, and what was named."""
    texts = {}
    if options.own and opened.words is None:
        raise BpeError(f"{options.tables[0]} holds no text that it was learned from; leave out --own.")
    if options.own and opened.words is not None:
        texts[TRAINING] = opened.words
    elif not has_texts(options):
        texts[TRAINING] = words_or_own(options, opened, "The chart sizes")
    return texts | (texts_of(options, opened.history) if has_texts(options) else {})


def _line(name: str, table: str, texts: Iterable[str], tables: Iterable[str]) -> str:
    if len([*tables]) == 1:
        return name
    return table if len([*texts]) == 1 else f"{table}: {name}"
