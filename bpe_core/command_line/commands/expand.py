"""The command `bpe-explorer expand`. It restores a file that `compress` has compressed."""

from __future__ import annotations

import argparse
import json

from bpe_core.command_line.arguments import unused_name
from bpe_core.command_line.interruption import interruptible
from bpe_core.errors import OutputError, plain
from bpe_core.methods.kit.container import container
from bpe_core.support.wording import count_text

ENDING = container().ENDING

examples = f"""\
examples:
  bpe-explorer expand book.txt{ENDING}
      Write book.txt, if no such file exists yet.

  bpe-explorer expand book.txt{ENDING} -o again.txt
      Write another file. Nothing is written unless the checksum of the original agrees.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a file written by `compress`")
    parser.add_argument("-o", "--output", metavar="OUT", help=f"the file to write (default: FILE without {ENDING})")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def settle(options: argparse.Namespace) -> None:
    options.output = options.output or unused_name(_name_of_original(options.file))


def run(options: argparse.Namespace) -> int:
    output = options.output
    with interruptible() as interruption:
        size = container().expand_file(options.file, output, work=interruption.work)
    if options.json:
        print(json.dumps({"output": output, "size": size}, ensure_ascii=False))
    else:
        print(f"Wrote {count_text(size, 'byte')} to {plain(output)}; the checksum agrees.")
    return 0


def _name_of_original(file: str) -> str:
    if not file.endswith(ENDING) or file == ENDING:
        raise OutputError(f"{file} does not end in {ENDING}, so name the file to write with -o.")
    return file.removesuffix(ENDING)
