"""`bpe-explorer export`: write a merge table in the form that another library loads."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import get_args

from bpe_core.command_line.arguments import add_merge_table, text_argument
from bpe_core.command_line.writing_tables import add_writing, format_list, write_and_tell
from bpe_core.delivery.folder import MEANINGS, Delivery, Side, read_template, roles_of
from bpe_core.errors import OutputError
from bpe_core.history.history import History
from bpe_core.studies.making import open_study
from bpe_core.support.found_once import each_found_once

examples = """\
examples:
  bpe-explorer export --merges merges.csv tokenizer.json
      For Hugging Face's tokenizers. The file is read back and 10,000 words are split by both.

  bpe-explorer export --merges merges.csv --at 5000 --to tiktoken small.tiktoken
      Only the first 5,000 merges, as ranks for tiktoken.

  bpe-explorer export --merges merges.csv --to sentencepiece words.model --check-with "my own text"
      Where the real library is installed, it is asked, too.

  bpe-explorer export --merges merges.csv tokenizer/ --pad "<|pad|>" --chat-template chat.jinja
      A folder (its name ends in /) for transformers.AutoTokenizer: tokenizer.json, its configuration, and a README
      that says how to load it. It is checked by loading it, where transformers is installed.

A list with dashes says what the format cannot hold. A file that does not agree is not written
without --anyway; the old one stays as it is.

""" + format_list()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_merge_table(parser)
    parser.add_argument("out", metavar="OUT", help="the file to write, or a folder: its name ends in /")
    add_writing(parser)
    add_delivery(parser)


def add_delivery(parser: argparse.ArgumentParser) -> None:
    about = parser.add_argument_group("of a folder")
    for role, meaning in MEANINGS.items():
        help = f'the token that {meaning}; else one of a usual name, "" for none'
        about.add_argument(f"--{role}", type=text_argument, metavar="TEXT", help=help)
    about.add_argument("--padding-side", choices=get_args(Side), help="where shorter texts are filled up")
    about.add_argument("--chat-template", metavar="FILE", help="a template for chats, as transformers reads it")


@each_found_once()
def run(options: argparse.Namespace) -> int:
    history = open_study(options.merges).history
    return write_and_tell(history, options, delivery=_delivery(options, history))


def _delivery(options: argparse.Namespace, history: History) -> Delivery | None:
    said = {role: getattr(options, role) for role in MEANINGS}
    further = options.padding_side, options.chat_template
    if not (options.out.endswith(("/", os.sep)) or (Path(options.out).is_dir() and not options.to)):
        if any(one is not None for one in (*said.values(), *further)):
            raise OutputError("Roles and chat templates belong to a folder: end the name of what is written in /.")
        return None
    if options.to not in (None, "tokenizer.json"):
        raise OutputError(f"A folder holds a tokenizer.json; leave --to {options.to} away, or name a file.")
    template = "" if options.chat_template is None else read_template(options.chat_template)
    return Delivery(roles_of(history, **said), options.padding_side or "right", template)
