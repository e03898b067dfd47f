"""The command `bpe-explorer compress`.

It compresses a file with the algorithm of 1994, from which byte-pair encoding comes.
"""

from __future__ import annotations

import argparse
import dataclasses
import json

from bpe_core.command_line.arguments import (
    OwnArguments,
    add_own_choices,
    add_tie_rule,
    changes_in,
    number,
    own_arguments,
    unused_name,
)
from bpe_core.command_line.interruption import interruptible
from bpe_core.errors import plain
from bpe_core.methods.kit.compressors import ZSTD_IS_MISSING, sizes_of_others
from bpe_core.methods.kit.container import Report, compressing_method, container
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.wording import count_text

ENDING = container().ENDING

examples = f"""\
examples:
  bpe-explorer compress book.txt
      Write book.txt{ENDING}. In each block of 5,000 bytes, unused bytes replace the most frequent pairs.

  bpe-explorer compress picture.bmp -o small{ENDING} --block-size 20000
      Use larger blocks: fewer tables, but fewer unused bytes in each block. Any kind of file can be compressed.

`bpe-explorer expand` restores the original, byte for byte. The command also shows the sizes that the compressors
zlib and zstd reach. This program's result is larger, but people can read it.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="the file to compress, of any kind")
    parser.add_argument("-o", "--output", metavar="OUT", help=f"the file to write (default: FILE{ENDING})")
    add_own_choices(parser, _own_arguments())
    parser.add_argument(
        "--min-frequency",
        type=number,
        metavar="N",
        help="replace only pairs that occur at least N times (default: 4)",
    )
    add_tie_rule(parser)
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def _own_arguments() -> OwnArguments:
    return own_arguments("compress", [compressing_method()])


def settle(options: argparse.Namespace) -> None:
    options.output = options.output or unused_name(options.file + ENDING)


def run(options: argparse.Namespace) -> int:
    changes = changes_in(options, ("min_frequency", "ties"), _own_arguments())
    recipe = Recipe.preset(next(iter(compressing_method().presets)), **changes)
    output = options.output
    with interruptible(stopped="Stopped.") as interruption:
        report = container().compress_file(options.file, output, recipe, work=interruption.work)
        others = sizes_of_others(options.file, work=interruption.work)
    if options.json:
        print(json.dumps({"output": output, **dataclasses.asdict(report), "others": others}, ensure_ascii=False))
        return 0
    _print_result(report, others)
    print(f"Wrote {plain(output)}.")
    return 0


def _print_result(report: Report, others: dict[str, int]) -> None:
    rows = {"original": report.original_size, "compressed": report.compressed_size}
    for name, size in (rows | others).items():
        print(f"{name:<12}{size:>14,} bytes  {_share(size, report.original_size)}")
    pairs = count_text(report.replaced_pairs, "pair")
    print(
        f"{_blocks(report.blocks)}, {pairs} replaced; {count_text(report.table_bytes, 'byte is', 'bytes are')} tables, "
        f"and {report.data_bytes:,} are data."
    )
    if report.full_blocks:
        print(f"In {_blocks(report.full_blocks)} all 256 byte values occur, so no byte is free to replace a pair.")
    elif not report.replaced_pairs:
        print(container().NOTHING_PAYS)
    if "zstd" not in others:
        print(ZSTD_IS_MISSING)


def _blocks(count: int) -> str:
    return "1 block" if count == 1 else count_text(count, "block")


def _share(size: int, original: int) -> str:
    return f"{size / original:>7.1%}" if original else ""
