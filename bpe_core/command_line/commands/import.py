"""The command `bpe-explorer import`. It lists the tokenizers in the Hugging Face cache, or describes one tokenizer."""

from __future__ import annotations

import argparse
import json

from bpe_core.delivery.changed_folder import about_others
from bpe_core.delivery.sidecars import sidecars_of
from bpe_core.errors import BpeError, plain
from bpe_core.formats import OpenedTable
from bpe_core.formats.hugging_face_cache import cached_tokenizers, folder
from bpe_core.methods.kit.histories import steps_in_words
from bpe_core.studies.making import open_study
from bpe_core.support.result_cache import cached_results
from bpe_core.support.wording import count_text
from bpe_core.verification.import_check import check_import

examples = """\
examples:
  bpe-explorer import --list
      List the tokenizers in the Hugging Face cache. They open without a connection.

  bpe-explorer import hf:openai-community/gpt2
      Describe the tokenizer: what it holds, what this program does differently, and whether its library makes the
      same ids.

  bpe-explorer look hf:openai-community/gpt2 "the lowest price"
      Every command that takes a file takes a name from the cache, too: why, convert, diff, benchmark, train ...

HF_HUB_CACHE or HF_HOME names the folder of the cache. A tokenizer that is not in it is fetched if you type its name
and the package huggingface_hub is installed.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("table", nargs="?", metavar="TABLE", help="a file, or a name such as hf:owner/name")
    parser.add_argument("--list", action="store_true", help="list the tokenizers in the Hugging Face cache")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.set_defaults(one_of={"table": "TABLE", "list": "--list"})


@cached_results()
def run(options: argparse.Namespace) -> int:
    if options.list and options.table:
        raise BpeError("Name a tokenizer, or give --list without a name.")
    return _list(options.json) if options.list else _describe(options.table, options.json)


def _list(as_json: bool) -> int:
    cached = cached_tokenizers()
    sizes = [tokenizer.file.stat().st_size for tokenizer in cached]
    if as_json:
        rows = zip(cached, sizes, strict=True)
        document = [{"name": tokenizer.typed, "file": str(tokenizer.file), "bytes": size} for tokenizer, size in rows]
        print(json.dumps(document, ensure_ascii=False, indent=1))
        return 0
    width = max((len(tokenizer.typed) for tokenizer in cached), default=0)
    for tokenizer, size in zip(cached, sizes, strict=True):
        print(f"{plain(tokenizer.typed):<{width}}  {plain(tokenizer.file.name)}, {size / 1e6:.1f} MB")
    if not cached:
        print(f"There is no tokenizer in {plain(str(folder()))}. HF_HUB_CACHE or HF_HOME can name another folder.")
    return 0


def _describe(table: str, as_json: bool) -> int:
    study = open_study(table)
    agreement = check_import(table, OpenedTable(study.history, study.format))
    notes = study.notes if agreement is None else (*study.notes, *agreement.notes)
    notes = (*notes, *about_others(sidecars_of(table, study.format), study.history))
    if as_json:
        facts = {"tokens": len(study), "steps": len(study.history), "format": study.format, "notes": notes}
        print(json.dumps({"name": table} | facts, ensure_ascii=False, indent=1))
        return 0
    print(f"{plain(table)}: {steps_in_words(study.history)}, {count_text(len(study), 'token')} ({study.format})")
    print(*(f"- {note}" for note in notes), sep="\n")
    return 0
