"""The command `bpe-explorer specials`. It lists, renames, adds or removes special tokens, and keeps all ids."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator

from bpe_core.command_line.arguments import number, text_argument
from bpe_core.command_line.writing_tables import OUTPUT, Source, add_checks, format_list, write_and_report
from bpe_core.delivery.sidecars import Sidecars
from bpe_core.editing.specials import change_specials, special_ids
from bpe_core.errors import BpeError
from bpe_core.history.token_texts import quoted
from bpe_core.studies.making import open_study
from bpe_core.studies.study import Study
from bpe_core.support.escaped_bytes import escape

examples = """\
examples:
  bpe-explorer specials folder/
      List the special tokens with their ids, and their roles if the folder names them.

  bpe-explorer specials folder/ --rename '<|reserved_0|>=<|im_start|>' --rename '<|reserved_1|>=<|im_end|>' -o new/
      The ids stay, so a model's embeddings still fit. Roles, chat template and other files of the folder are updated.

  bpe-explorer specials tokenizer.json --add '<|tool|>' --remove '<|old|>' -o new.tokenizer.json
      An added token gets an id after all others. The id of a removed token stays unused.

  bpe-explorer specials vocab-folder/ --rename '[unused5]=[USER]' -o new/
      Make an ordinary token special; it keeps its id. No other token may be made of it.

""" + format_list()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "table", metavar="TABLE", help="a tokenizer or merge table in any format that this program reads, or its folder"
    )
    renaming = "give a token another text; its id stays (may be repeated)"
    add("--rename", action="append", default=[], type=text_argument, metavar="OLD=NEW", help=renaming)
    add("--add", action="append", default=[], type=text_argument, metavar="TEXT", help="add a special token")
    add("--remove", action="append", default=[], type=text_argument, metavar="TEXT", help="remove a special token")
    add("--first-id", type=number, metavar="N", help="the id of the first added token")
    out = f"{OUTPUT}; without -o, the special tokens are only listed"
    add("-o", "--output", dest="out", metavar="OUT", help=out)
    add_checks(parser)


def run(options: argparse.Namespace) -> int:
    study = open_study(options.table)
    source = Source(options.table, study)
    is_change = bool(options.rename or options.add or options.remove)
    if not is_change and options.out is None:
        return _list(study, source.sidecars, as_json=options.json)
    if options.out is None:
        raise BpeError("Say with -o which file or folder to write.")
    if not is_change:
        raise BpeError("Say what to change: --rename OLD=NEW, --add TEXT or --remove TEXT.")
    known = special_ids(study)
    first_id = source.first_free_id if options.first_id is None else options.first_id
    changed = change_specials(
        study,
        rename=dict(_pair(said, known) for said in options.rename),
        add=options.add,
        remove=options.remove,
        first_id=first_id,
    )
    described = {"renamed": dict(changed.renamed), "added": dict(changed.added), "removed": dict(changed.removed)}
    source = Source(options.table, study, changed.renamed)
    return write_and_report(changed.history, options, (*study.notes, *changed.sentences), described, source=source)


def _pair(said: str, known: dict[str, int]) -> tuple[str, str]:
    """Split OLD=NEW into the old text and the new text of a special token.

    Both texts may contain an equals sign. `known` are the special tokens of the table.

    >>> _pair("<a=b>=<c>", {"<a=b>": 1}), _pair("[unused1]=<c>", {})
    (('<a=b>', '<c>'), ('[unused1]', '<c>'))
    """
    places = [place for place, sign in enumerate(said) if sign == "="]
    if not places or said.startswith("="):
        raise BpeError(f"{quoted(said)} has no equals sign between two names: write OLD=NEW.")
    place = next((place for place in places if said[:place] in known), places[0])
    return said[:place], said[place + 1 :]


def _list(study: Study, sidecars: Sidecars, *, as_json: bool) -> int:
    rows = [(id, text, sorted(set(_roles(text, sidecars)))) for text, id in special_ids(study).items()]
    if as_json:
        print(json.dumps([{"id": id, "text": text, "roles": roles} for id, text, roles in rows], ensure_ascii=False))
        return 0
    if not rows:
        print("There are no special tokens.")
    for id, text, roles in rows:
        print(f"{id:>9,}  {escape(text.encode())}{'  ' if roles else ''}{', '.join(roles)}")
    return 0


def _roles(text: str, sidecars: Sidecars) -> Iterator[str]:
    for whole in sidecars.read.values():
        for key, value in whole.items():
            said = value.get("content") if isinstance(value, dict) else value
            if key.endswith("_token") and said == text:
                yield key.removesuffix("_token")
