"""The command `bpe-explorer merge`. It combines two merge tables into one table that keeps the ids of the first
table."""

from __future__ import annotations

import argparse

from bpe_core.command_line.corpora import add_corpus, named_texts
from bpe_core.command_line.interruption import interruptible
from bpe_core.command_line.writing_tables import Source, add_checks, add_output, format_list, write_and_report
from bpe_core.editing.putting_together import put_together
from bpe_core.editing.trimming import costs
from bpe_core.studies.making import open_study
from bpe_core.support.escaped_bytes import escape

examples = """\
examples:
  bpe-explorer merge tokenizer.json danish.csv -o both.tokenizer.json
      Keep all tokens of the first table with their ids, and add those that only the second table has.

  bpe-explorer merge tokenizer.json danish.csv --corpus danish.txt -o both.tokenizer.json
      Also count the tokens of this text with both tables together, and with the first table alone.

  bpe-explorer merge folder/ danish.csv -o new/
      Write a folder like the folder of the first table: all files keep special token roles, sides and chat template.

The merges of the first table come first, so no text has more tokens than before. A token of the second table
that cannot be made after these merges is left out and listed.

""" + format_list()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("first", metavar="A", help="the table whose ids stay")
    parser.add_argument("second", metavar="B", help="the table to add: its tokens that A lacks get new ids after A's")
    add_corpus(parser, "files or folders whose tokens are counted with table A alone and with both tables together")
    add_output(parser)
    add_checks(parser)


def run(options: argparse.Namespace) -> int:
    study = open_study(options.first)
    first = study.history
    other = open_study(options.second).history
    with interruptible() as interruption:
        merged = put_together(first, other, progress=interruption.work.progress)
        notes = merged.sentences
        if options.corpus:
            words = named_texts(options.corpus).words(first.recipe, interruption.work)
            notes.append(f"The corpus becomes {costs(words, first, merged.history)}.")
    described = {
        "from_first": merged.from_first,
        "from_second": merged.new_tokens,
        "shared": merged.shared,
        "left_out": [escape(text) for text in merged.left_out],
    }
    return write_and_report(merged.history, options, tuple(notes), described, source=Source(options.first, study))
