"""`bpe-explorer export`: write a merge table in the form that another library loads."""

from __future__ import annotations

import argparse

from bpe_core.command_line.arguments import add_merge_table
from bpe_core.command_line.tables import open_table
from bpe_core.command_line.writing_tables import add_writing, format_list, write_and_tell

EXAMPLES = """\
examples:
  bpe-explorer export --merges merges.csv tokenizer.json
      For Hugging Face's tokenizers. The file is read back and 10,000 words are cut by both.

  bpe-explorer export --merges merges.csv --at 5000 --to tiktoken small.tiktoken
      Only the first 5,000 merges, as ranks for tiktoken.

  bpe-explorer export --merges merges.csv --to sentencepiece words.model --check-with "my own text"
      Where the real library is installed it is asked, too.

What the format cannot hold is listed with a dash. A file that does not agree is not written,
unless you say --anyway; the old one stays as it is.

"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EXAMPLES + format_list()
    add_merge_table(parser)
    parser.add_argument("out", metavar="OUT", help="the file to write")
    add_writing(parser)


def run(options: argparse.Namespace) -> int:
    opened = open_table(options.merges)
    return write_and_tell(opened.history, options, numbers=opened.numbers)
