"""Chooses the command, and turns whatever goes wrong into a sentence and an exit code.

0    done
1    a request that cannot be fulfilled: the sentence on standard error says why
2    arguments that do not make a command
130  stopped by Ctrl-C
141  whoever read our output has closed it
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Sequence
from importlib import metadata
from typing import Any, Protocol

from bpe_core.command_line import (
    convert,
    decode,
    diff,
    encode,
    export,
    paid,
    presets,
    race,
    report,
    sizes,
    ties,
    token,
    train,
    why,
    words,
)
from bpe_core.command_line.interruption import INTERRUPTED
from bpe_core.errors import BpeError

PROGRAM = "bpe-explorer"

DONE, FAILED, USAGE, PIPE_CLOSED = 0, 1, 2, 141

DESCRIPTION = """\
Watch a byte-pair-encoding tokenizer being learned, and ask why a text is cut where it is.

Without a command the window opens. With one, the same engine works in the terminal.
"""

EXAMPLES = """\
a first look:
  bpe-explorer words low lower lowest        watch a few words being merged, step by step
  bpe-explorer presets                       the recipes there are, each explained

from text to tokens:
  bpe-explorer train book.txt --vocab-size 2000 --output merges.csv
  bpe-explorer encode --merges merges.csv "the lowest price"
  bpe-explorer decode --merges merges.csv 78 270 1221
  bpe-explorer export --merges merges.csv tokenizer.json      for another library, checked

questions about a merge table:
  bpe-explorer why "the lowest price" --merges merges.csv
  bpe-explorer token "␣the" --merges merges.csv --corpus book.txt
  bpe-explorer sizes --merges merges.csv --corpus book.txt --held-out other.txt

`bpe-explorer COMMAND --help` tells more about a command.
"""


class Command(Protocol):
    """What the file of a command offers."""

    SUMMARY: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the arguments, and teach them in the parser's texts."""

    def run(self, options: argparse.Namespace) -> int:
        """Do it; the exit code."""


COMMANDS: dict[str, Command] = {
    "train": train,
    "encode": encode,
    "decode": decode,
    "export": export,
    "convert": convert,
    "diff": diff,
    "why": why,
    "ties": ties,
    "token": token,
    "race": race,
    "sizes": sizes,
    "paid": paid,
    "report": report,
    "words": words,
    "presets": presets,
}


def run(argv: Sequence[str]) -> int:
    """Run the command line `argv` (without the program's name); the exit code."""
    _print_what_the_terminal_cannot()
    try:
        code = _run(argv)
        sys.stdout.flush()
    except BrokenPipeError:
        _forget_standard_output()
        return PIPE_CLOSED
    except KeyboardInterrupt:
        return INTERRUPTED
    return code


def _run(argv: Sequence[str]) -> int:
    try:
        options = _parser().parse_args(argv)
    except SystemExit as stop:  # --help, --version, or arguments that argparse has complained about
        return stop.code if isinstance(stop.code, int) else USAGE
    try:
        return COMMANDS[options.command].run(options)
    except BpeError as error:
        sys.stderr.write(f"{PROGRAM}: {error}\n")
    except MemoryError:
        sys.stderr.write(f"{PROGRAM}: There is not enough memory for this; try a smaller text or vocabulary.\n")
    return FAILED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=PROGRAM, description=DESCRIPTION, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--version", action=_ShowVersion, nargs=0, help="show the program's version and exit")
    chosen = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, title="commands")
    for name, command in COMMANDS.items():
        command.add_arguments(
            chosen.add_parser(
                name,
                help=command.SUMMARY,
                description=command.SUMMARY,
                formatter_class=argparse.RawDescriptionHelpFormatter,
            )
        )
    return parser


class _ShowVersion(argparse.Action):
    """Looks the version up only when it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any, **__: Any) -> None:
        try:
            version = metadata.version(PROGRAM)
        except metadata.PackageNotFoundError:
            version = "(not installed: run from its sources)"
        print(PROGRAM, version)
        parser.exit(DONE)


def _print_what_the_terminal_cannot() -> None:
    """A terminal that has no `▁` shows its escape instead of ending the program."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]


def _forget_standard_output() -> None:
    """Nobody reads any more: what is still in the buffer must not complain when the process ends."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
