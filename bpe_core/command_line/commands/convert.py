"""The command `bpe-explorer convert`. It writes a tokenizer file in another format."""

from __future__ import annotations

import argparse

from bpe_core.command_line.writing_tables import OUTPUT, Source, add_writing, format_list, write_and_report
from bpe_core.formats import OpenedTable
from bpe_core.studies.making import open_study
from bpe_core.support.result_cache import cached_results
from bpe_core.verification.import_check import check_import

examples = """\
examples:
  bpe-explorer convert vocab.bpe gpt2.tiktoken
      Write GPT-2's merges as ranks for tiktoken; the vocabulary is read from vocab.json in the same folder.

  bpe-explorer convert cl100k_base.tiktoken merges.csv
      Find the merges from the ranks, and write a table without counts.

  bpe-explorer convert tokenizer.json small.model --to minbpe --at 1000

  bpe-explorer convert hf:openai-community/gpt2 gpt2/ --to tokenizer.json
      Write a folder with the special token roles, sides and chat template of the old folder, and a tokenizer.json.

The format of IN is recognized by its content. A list with dashes names everything that one of the
two formats cannot hold.

""" + format_list()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("input", metavar="IN", help="a tokenizer or merge table in any format that this program reads")
    parser.add_argument("out", metavar="OUT", help=OUTPUT)
    add_writing(parser)


@cached_results()
def run(options: argparse.Namespace) -> int:
    study = open_study(options.input)
    agreement = check_import(options.input, OpenedTable(study.history, study.format))
    notes = study.notes if agreement is None else (*study.notes, *agreement.notes)
    return write_and_report(study.history, options, notes, source=Source(options.input, study))
