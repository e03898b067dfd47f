"""The command `bpe-explorer export`: write a merge table in the form that another library loads."""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from typing import get_args

from bpe_core.command_line.arguments import add_merge_table, text_argument
from bpe_core.command_line.writing_tables import (
    OUTPUT,
    Source,
    add_writing,
    format_list,
    is_folder_name,
    write_and_tell,
)
from bpe_core.delivery.folder import (
    MEANINGS,
    Delivery,
    Roles,
    Side,
    read_template,
    roles_of,
    with_special_tokens,
)
from bpe_core.errors import OutputError
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

  bpe-explorer export --merges folder/ new/ --padding-side left
      Where the table has files beside it that transformers reads, the new folder keeps them: its roles, sides and
      template stay unless they are given anew.

  bpe-explorer export --merges run.bpex new/ --like old/
      The same for a table that was made of the one in old/, such as a session that `extend` has written.

A list with dashes says what the format cannot hold. A file that does not agree is not written
without --anyway; the old one stays as it is.

""" + format_list()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_merge_table(parser)
    parser.add_argument("out", metavar="OUT", help=OUTPUT)
    add_writing(parser)
    add_delivery(parser)


def add_delivery(parser: argparse.ArgumentParser) -> None:
    about = parser.add_argument_group("of a folder")
    for role, meaning in MEANINGS.items():
        help = f'the token that {meaning}; else one of a usual name, "" for none'
        about.add_argument(f"--{role}", type=text_argument, metavar="TEXT", help=help)
    like = "keep what lies beside the tokenizer in this folder, with the tokens and ids of now"
    about.add_argument("--like", metavar="FOLDER", help=like)
    about.add_argument("--padding-side", choices=get_args(Side), help="where shorter texts are filled up")
    about.add_argument("--chat-template", metavar="FILE", help="a template for chats, as transformers reads it")


@each_found_once()
def run(options: argparse.Namespace) -> int:
    study = open_study(options.merges)
    said = {role: getattr(options, role) for role in MEANINGS}
    template = None if options.chat_template is None else read_template(options.chat_template)
    if not is_folder_name(options.out) or (options.to and not options.out.endswith(("/", os.sep))):
        if any(choice is not None for choice in (*said.values(), options.padding_side, template, options.like)):
            raise OutputError("Roles and chat templates belong to a folder: end the name of what is written in /.")
        return write_and_tell(study.history, options, source=Source(options.merges, study))
    source = Source(options.merges, study) if options.like is None else Source(options.like, open_study(options.like))
    if options.like is not None and not source.sidecars:
        raise OutputError(f"Beside {options.like} there is nothing of a tokenizer that could be kept.")
    if source.sidecars:
        wishes = {f"{role}_token": text or None for role, text in said.items() if text is not None}
        further = {"padding_side": options.padding_side, "chat_template": template}
        wishes |= {name: wish for name, wish in further.items() if wish is not None}
        table = with_special_tokens(
            study.history, Roles(**{role: text or "" for role, text in said.items()}).missing(study.history)
        )
        return write_and_tell(table, options, study.notes, source=replace(source, overriding=wishes))
    if options.to not in (None, "tokenizer.json"):
        raise OutputError(f"A folder holds a tokenizer.json; leave --to {options.to} away, or name a file.")
    delivery = Delivery(roles_of(study.history, **said), options.padding_side or "right", template or "")
    return write_and_tell(study.history, options, delivery=delivery)
