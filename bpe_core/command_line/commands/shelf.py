"""The command `bpe-explorer shelf`. It lists tokenizers of well-known models, fetches them, and splits a text."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bpe_core.command_line.arguments import text_argument
from bpe_core.command_line.interruption import interruptible
from bpe_core.errors import BpeError, FormatError, plain
from bpe_core.formats.hugging_face_cache import fetch, offer_of
from bpe_core.formats.shelf import MEGABYTE, OWN_FOLDER, ShelfEntry, entry_named, shelf
from bpe_core.studies.making import open_study
from bpe_core.support.wording import count_text

examples = f"""\
examples:
  bpe-explorer shelf
      List tokenizers of well-known models, and all tokenizers on this computer: place, size and licence.

  bpe-explorer shelf --fetch "Llama 3"
      Fetch a tokenizer into the Hugging Face cache, after a line with its size and its licence.

  bpe-explorer shelf "Tom"
      Show the tokens of a text in each tokenizer on this computer. Nothing is fetched.

A tokenizer is found in the folder of --folder or {OWN_FOLDER}, in the folder `tokenizers` beside the
program, and in the Hugging Face cache.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", nargs="?", type=text_argument, metavar="TEXT", help="the text to split")
    parser.add_argument("--fetch", metavar="NAME", help="fetch this tokenizer of the list first")
    parser.add_argument("--folder", metavar="FOLDER", default="", help="look for tokenizers in this folder, too")
    parser.add_argument("--json", action="store_true", help="print the list, or the tokens, as JSON")


def run(options: argparse.Namespace) -> int:
    if options.folder and not Path(options.folder).is_dir():
        raise FormatError(f"{plain(options.folder)} is not a folder. Name a folder with tokenizers.")
    if options.fetch:
        _fetch(entry_named(shelf(options.folder), options.fetch))
    entries = shelf(options.folder)
    rows = [_row(entry) for entry in entries]
    if options.text is not None:
        rows = [row | _tokens(entry, options.text) for row, entry in zip(rows, entries, strict=True) if row["file"]]
    if options.json:
        print(json.dumps(rows, ensure_ascii=False, indent=1))
    elif options.text is None:
        _print_list(entries)
    else:
        _print_tokens(rows)
    return 0


def _fetch(entry: ShelfEntry) -> None:
    if entry.file is not None:
        sys.stderr.write(f"{plain(entry.title)} is already on this computer: {plain(str(entry.file))}\n")
        return
    offer = offer_of(entry.name)
    size = f"{offer.size / MEGABYTE:,.1f} MB"
    sys.stderr.write(
        f"Fetching {entry.title} ({entry.typed}): {size}, licence {plain(offer.licence) or 'not known'}.\n"
    )
    with interruptible(stopped="The download was stopped. A part of the files may be in the cache.") as interruption:
        fetch(offer, interruption.work)


def _row(entry: ShelfEntry) -> dict[str, Any]:
    return {
        "title": entry.title,
        "name": f"hf:{entry.name}" if entry.name else "",
        "file": None if entry.file is None else str(entry.file),
        "place": entry.place,
        "bytes": entry.bytes,
        "licence": entry.licence,
    }


def _tokens(entry: ShelfEntry, text: str) -> dict[str, Any]:
    """Return a dictionary with the tokens into which one tokenizer splits a text, and with their ids.

    If the tokenizer's file cannot be read, the dictionary holds a sentence under the key `error` instead.
    """
    try:
        study = open_study(entry.typed)
    except BpeError as error:  # one damaged file does not hide the others
        return {"tokens": None, "error": str(error)}
    indices = [span.id for span in study.inside.by_index.tokenizer.token_spans(text)]
    names = study.inside.by_index.texts.text
    ids = [study.inside.by_index.number(index) for index in indices]
    unknown = sum(index == study.history.alphabet.unknown_id for index in indices)
    return {"ids": ids, "tokens": [names[index] for index in indices], "unknown": unknown}


def _print_list(entries: Sequence[ShelfEntry]) -> None:
    width = max(len(plain(entry.title)) for entry in entries)
    for entry in entries:
        place = entry.place or f'not on this computer; fetch it with: shelf --fetch "{entry.title}"'
        facts = (entry.size_in_words, entry.licence, place)
        print(f"{plain(entry.title):<{width}}  {', '.join(filter(None, facts))}")


def _print_tokens(rows: Sequence[dict[str, Any]]) -> None:
    width = max((len(plain(row["title"])) for row in rows), default=0)
    for row in rows:
        if row["tokens"] is None:
            print(f"{plain(row['title']):<{width}}  {row['error']}")
            continue
        unknown = f", {row['unknown']:,} unknown" if row["unknown"] else ""
        count = count_text(len(row["tokens"]), "token")
        print(f"{plain(row['title']):<{width}}  {count}{unknown}: {plain(' | '.join(row['tokens']))}")
    if not rows:
        print("There is no tokenizer on this computer yet. `bpe-explorer shelf` lists those that can be fetched.")
