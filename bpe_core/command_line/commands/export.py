"""The command `bpe-explorer export`. It writes a merge table in the format that another library loads."""

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
    write_and_report,
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
from bpe_core.support.result_cache import cached_results

examples = """\
examples:
  bpe-explorer export --merges merges.csv tokenizer.json
      Write a file for Hugging Face's tokenizers. It is read back, and both tables split 10,000 words to compare them.

  bpe-explorer export --merges merges.csv --at 5000 --to tiktoken small.tiktoken
      Write only the first 5,000 merges, as ranks for tiktoken.

  bpe-explorer export --merges merges.csv --to sentencepiece words.model --check-with "my own text"
      If the library of the format is installed, it splits this text, too, and the ids are compared.

  bpe-explorer export --merges merges.csv tokenizer/ --pad "<|pad|>" --chat-template chat.jinja
      Write a folder (its name ends in /) for transformers.AutoTokenizer: tokenizer.json, its configuration, and a
      README that says how to load it. If transformers is installed, it loads the folder as a check.

  bpe-explorer export --merges folder/ new/ --padding-side left
      If the table's folder has other files for transformers, the new folder keeps them: special token roles, sides
      and chat template stay unless options change them.

  bpe-explorer export --merges run.bpex new/ --like old/
      Keep the other files of old/ for a table that was made from the table in old/, such as a session
      that `extend` has written.

A list with dashes says what the format cannot hold. A file that does not pass the check is not written
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
        help = f'the token that {meaning} (default: a token with a usual name; "" for none)'
        about.add_argument(f"--{role}", type=text_argument, metavar="TEXT", help=help)
    like = "keep the other files of this folder, updated to the new tokens and ids"
    about.add_argument("--like", metavar="FOLDER", help=like)
    about.add_argument("--padding-side", choices=get_args(Side), help="the side on which shorter texts are padded")
    about.add_argument("--chat-template", metavar="FILE", help="a template for chats, as transformers reads it")


@cached_results()
def run(options: argparse.Namespace) -> int:
    study = open_study(options.merges)
    said = {role: getattr(options, role) for role in MEANINGS}
    template = None if options.chat_template is None else read_template(options.chat_template)
    if not is_folder_name(options.out) or (options.to and not options.out.endswith(("/", os.sep))):
        if any(choice is not None for choice in (*said.values(), options.padding_side, template, options.like)):
            raise OutputError(
                "Special token roles and chat templates are written only to a folder. End the name of the output in /."
            )
        return write_and_report(study.history, options, source=Source(options.merges, study))
    source = Source(options.merges, study) if options.like is None else Source(options.like, open_study(options.like))
    if options.like is not None and not source.sidecars:
        raise OutputError(f"The folder of {options.like} holds no other tokenizer files to keep. Leave out --like.")
    if source.sidecars:
        wishes = {f"{role}_token": text or None for role, text in said.items() if text is not None}
        further = {"padding_side": options.padding_side, "chat_template": template}
        wishes |= {name: wish for name, wish in further.items() if wish is not None}
        table = with_special_tokens(
            study.history, Roles(**{role: text or "" for role, text in said.items()}).missing(study.history)
        )
        return write_and_report(table, options, study.notes, source=replace(source, overriding=wishes))
    if options.to not in (None, "tokenizer.json"):
        raise OutputError(
            f"In a folder the table is always written as tokenizer.json. Leave out --to {options.to}, or name a file."
        )
    delivery = Delivery(roles_of(study.history, **said), options.padding_side or "right", template or "")
    return write_and_report(study.history, options, delivery=delivery)
