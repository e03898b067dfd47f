"""The command `bpe-explorer decode`. It prints the text of token ids."""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import suppress
from typing import get_args

from bpe_core.command_line.arguments import add_merge_table, text_or_standard_input
from bpe_core.errors import BpeError, TooLarge
from bpe_core.methods.kit.tokenizer import Way
from bpe_core.studies.making import open_study
from bpe_core.studies.study import Study

examples = """\
examples:
  bpe-explorer decode --merges merges.csv 78 270 1221
  bpe-explorer encode --merges merges.csv < page.txt | bpe-explorer decode --merges merges.csv
      Restores the page byte for byte, if the recipe keeps every byte.
  bpe-explorer decode --merges llama.model --way library --skip-special 1 450 12482
      Decodes as SentencePiece does.
  bpe-explorer decode --merges merges.csv --offsets 78 270 1221
      Prints a line for each token: the offset of its first character, its id, and its text.

If encoding the text again gives other ids, a line on standard error says so; `canonical` shows all places.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ids", nargs="*", metavar="ID", help="token ids (default: standard input)")
    add_merge_table(parser)
    parser.add_argument(
        "--way",
        choices=get_args(Way),
        default="exact",
        help=(
            "exact: the texts of all tokens, joined; library: the text that the library of the file returns; this "
            "library may leave out a first space and replace unknown characters"
        ),
    )
    parser.add_argument("--skip-special", action="store_true", help="leave out special tokens")
    parser.add_argument(
        "--offsets", action="store_true", help="print the offset in the text at which each token begins, in characters"
    )
    parser.add_argument("--json", action="store_true", help="print the text and its bytes in hex as JSON")


def run(options: argparse.Namespace) -> int:
    ids = [_id(word) for word in text_or_standard_input(options.ids).replace(",", " ").split()]
    study = open_study(options.merges)
    skip = options.skip_special
    if options.offsets and (skip or options.way != "exact"):
        raise BpeError("--offsets works only for all tokens and the exact text. Leave out --way and --skip-special.")
    raw = (
        study.decode_bytes(ids, skip_special=skip)
        if options.way == "exact"
        else study.decode(ids, way=options.way, skip_special=skip).encode()
    )
    if study.history.recipe.base_symbols:
        raw = study.history.recipe.names.names_in(raw.decode(errors="replace")).encode() + b"\n"
    offsets: list[int] = study.decode_with_offsets(ids)[1].tolist() if options.offsets else []
    if options.json:
        placed = {"offsets": offsets} if options.offsets else {}
        print(json.dumps({"text": raw.decode(errors="replace"), "bytes": raw.hex(" "), **placed}, ensure_ascii=False))
        _warn_of_difference(study, ids, options)
        return 0
    if options.offsets:
        for offset, id in zip(offsets, ids, strict=True):
            print(offset, id, study.names[id], sep="\t")
        _warn_of_difference(study, ids, options)
        return 0
    # An id may hold half a character, so the bytes are written unchanged.
    sys.stdout.flush()
    sys.stdout.buffer.write(raw + b"\n" if sys.stdout.isatty() else raw)
    sys.stdout.flush()
    _warn_of_difference(study, ids, options)
    return 0


def _warn_of_difference(study: Study, ids: list[int], options: argparse.Namespace) -> None:
    """Warn on standard error if encoding the decoded text gives different ids.

    Only the text goes to standard output, because scripts read standard output.
    """
    from bpe_core.insight.round_trip import first_difference

    by_index = study.inside.by_index
    indices = study.history.indices_of(ids)
    tokenizer = by_index.tokenizer
    if tokenizer.takes_any_bytes and options.way == "exact":
        given = study.decode_bytes(ids)
        if tokenizer.encode_bytes(given).tolist() == [*indices]:
            return
    kept = [index for index in indices if not (options.skip_special and by_index.tokenizer.is_special(index))]
    with suppress(TooLarge):  # of a text that cannot be encoded again
        sentence = first_difference(study.history, kept, way=options.way, tokenizer=by_index.tokenizer)
        sys.stderr.write(f"{sentence} `canonical` shows all places.\n" if sentence else "")


def _id(word: str) -> int:
    if not (word.isascii() and word.isdigit() and len(word) < 12):
        raise BpeError(f"{word[:40]!r} is not a token id; ids are whole numbers, separated by spaces.")
    return int(word)
