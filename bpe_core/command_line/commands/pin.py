"""The command `bpe-explorer pin`: write down the ids of hard texts, so that `check --pins` finds a later change."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from bpe_core.command_line.arguments import ANY_TABLE, add_json
from bpe_core.studies.pins import Pins

examples = """\
examples:
  bpe-explorer pin tokenizer.json
      Writes tokenizer.pins.json: the ids of 200 texts that are hard to split, from this program and from the
      file's library.

  bpe-explorer check --pins tokenizer.pins.json
      Ends with exit code 3, and lists each text that is split differently now: for the checks of a project.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("table", metavar="TABLE", help=ANY_TABLE)
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help=("the file to write (default: the table's name with .pins.json)"),
    )
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    path = options.output or Path(options.table).with_suffix(".pins.json")
    from bpe_core.studies.making import open_study  # the help needs none

    pins = Pins.of(open_study(options.table))
    pins.write(path)
    if options.json:
        told = {"output": str(path), "texts": len(pins.texts), "libraries": list(pins.ids)}
        print(json.dumps(told, ensure_ascii=False))
        return 0
    print(f"Wrote the ids of {len(pins.texts):,} texts, as {' and '.join(pins.ids)} give them, to {path}.")
    return 0
