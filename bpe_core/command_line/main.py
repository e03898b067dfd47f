"""Chooses the command, and turns whatever goes wrong into a sentence and an exit code.

0    done
1    a request that cannot be fulfilled: the sentence on standard error says why
2    arguments that do not make a command
129  stopped because the terminal was closed
130  stopped by Ctrl-C
141  whoever read our output has closed it
143  stopped by the system, or by `kill`
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import os
import signal
import sys
from collections.abc import Collection, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NoReturn, Protocol, cast

from bpe_core.asking import Question
from bpe_core.command_line.asking import DIFFERENT, add_question_arguments, run_question
from bpe_core.command_line.commands import COMMANDS
from bpe_core.command_line.interruption import Interrupted, Interruption, exit_code
from bpe_core.errors import LONGEST_SENTENCE, BpeError, cause_of, plain
from bpe_core.questions import question_named, question_names

PROGRAM = "bpe-explorer"

WITHOUT = ("decode", "doctor", "presets", "repeat")  # they make nothing to keep

DONE, FAILED, USAGE, PIPE_CLOSED = 0, 1, 2, 141
USUAL_COLUMNS = 80

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


CHART = "chart"  # the former command for figures: `chart race TABLE` asks the question race
FORMER_NAMES = {"sweep": "sweep-results"}


def command_questions() -> list[str]:
    """The questions that are commands under their own names."""
    return [command_of(name) for name in question_names() if command_of(name) not in COMMANDS]


def command_of(question: str) -> str:
    return question.replace("_", "-")


def _as_question(argv: Sequence[str]) -> Sequence[str]:
    if len(argv) < 2 or argv[0] != CHART:
        return argv
    return [FORMER_NAMES.get(argv[1], argv[1]), *argv[2:]]


class Command(Protocol):
    """What the file of a command offers."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the arguments, and teach them in the parser's texts."""

    def run(self, options: argparse.Namespace) -> int:
        """Do it; the exit code."""


def run(argv: Sequence[str]) -> int:
    """Run the command line `argv` (without the program's name); the exit code."""
    _open_what_is_closed()
    _print_what_the_terminal_cannot()
    try:
        with Interruption():
            code = _run(_as_question(argv))
            sys.stdout.flush()
    except BrokenPipeError:
        _forget_standard_output()
        return PIPE_CLOSED
    except OSError as error:
        if error.filename is not None:  # of a file somebody has told by now
            raise
        _forget_standard_output()
        sys.stderr.write(f"{PROGRAM}: Not all of the output could be written: {cause_of(error)}.\n")
        return FAILED
    except Interrupted as stop:
        return stop.exit_code
    except KeyboardInterrupt:
        return exit_code(signal.SIGINT)
    return code


def _run(argv: Sequence[str]) -> int:
    try:
        parser = _parser(argv)
        options = parser.parse_args(argv)
        _require_one_of(parser, options)
    except SystemExit as stop:  # --help, --version, or arguments that argparse has complained about
        return stop.code if isinstance(stop.code, int) else USAGE
    try:
        with _reading_as_said(options):
            if getattr(options, "manifest", None) is None or options.command in WITHOUT:
                return command_named(options.command).run(options)
            return _accounted_for(argv, options)
    except BpeError as error:
        sys.stderr.write(f"{PROGRAM}: {error}\n")
    except MemoryError:
        sys.stderr.write(f"{PROGRAM}: There is not enough memory for this; try a smaller text or vocabulary.\n")
    return FAILED


def _require_one_of(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """Of the arguments of which a command needs any, which no group of argparse can say of several at once."""
    wanted: dict[str, str] = getattr(options, "one_of", {})  # a default that the command has set
    if wanted and not any(getattr(options, name) for name in wanted):
        parser.error(f"the following arguments are required: {' or '.join(wanted.values())}")


def parsed(argv: Sequence[str]) -> argparse.Namespace | None:
    """What these arguments say; nothing where they make no command."""
    try:
        with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
            return _parser(argv := _as_question(argv)).parse_args(argv)
    except SystemExit:
        return None


def _accounted_for(argv: Sequence[str], options: argparse.Namespace) -> int:
    """Do it, and write how it was done when it went well."""
    from bpe_core.command_line.manifest import Account, kept_output, no_input

    parser = argparse.ArgumentParser()
    command = command_named(options.command)
    command.add_arguments(parser)
    settle(options)
    texts_in = getattr(command, "texts_in", None)
    account = Account(argv, options, parser, texts_in(options) if texts_in else ())
    with kept_output() as printed, no_input():
        code = command.run(options)
    if code in ends_well(options.command):
        account.write(printed.getvalue())
    return code


def ends_well(name: str) -> Collection[int]:
    """The codes by which a command tells what it has found."""
    codes: Collection[int] = getattr(command_named(name), "ENDS_WELL", (DONE,))
    return codes


def settle(options: argparse.Namespace) -> None:
    """Of a command that writes where nothing was said: say where."""
    settled = getattr(command_named(options.command), "settle", None)
    if settled is not None:
        settled(options)


def _reading_as_said(options: argparse.Namespace) -> contextlib.AbstractContextManager[None]:
    """Of a command that reads texts, and was told how."""
    if not hasattr(options, "on_bad_row"):
        return contextlib.nullcontext()
    from bpe_core.command_line.corpora import read_as  # its command has loaded it

    return read_as(options)


def command_named(name: str) -> Command:
    """The file of a command; every question is one, too."""
    if name in COMMANDS:
        return cast(Command, importlib.import_module(f"bpe_core.command_line.commands.{name}"))
    return Asking(question_named(name.replace("-", "_")))


class Asking:
    """The command of a question."""

    ENDS_WELL = (DONE, DIFFERENT)

    def __init__(self, question: type[Question]) -> None:
        self._question = question

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add_question_arguments(parser, self._question)

    def run(self, options: argparse.Namespace) -> int:
        return run_question(self._question, options)


def _parser(argv: Sequence[str]) -> argparse.ArgumentParser:
    """Knows the arguments only of the command that is chosen, and of the others no more than their names, for the help
    and for whoever has mistaken one: argparse looks for translations of each of its words anew.
    """
    parser = _Parser(prog=PROGRAM, description=DESCRIPTION, epilog=EXAMPLES, formatter_class=_Formatter)
    parser.add_argument("--version", action=_ShowVersion, nargs=0, help="show the program's version and exit")
    listed = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, title="commands", prog=PROGRAM)
    chosen = next((word for word in argv if not word.startswith("-")), None)
    names = [*COMMANDS, *command_questions()]
    for name in [chosen] if chosen in names and chosen == argv[0] else names:
        summary = COMMANDS[name] if name in COMMANDS else question_named(name.replace("-", "_")).summary()
        command_parser = listed.add_parser(name, help=summary, description=summary, formatter_class=_Formatter)
        if name == chosen:
            command_named(name).add_arguments(command_parser)
            if name not in WITHOUT:
                told = "write how this was made, as JSON; `repeat JSON` makes it again and compares"
                command_parser.add_argument("--manifest", type=Path, metavar="JSON", help=told)
    return parser


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """As wide as the terminal. One is made for each argument; asking for the width loads what unpacks archives."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_columns() - 2)


@cache
def _columns() -> int:
    told = os.environ.get("COLUMNS", "")
    if told.isdecimal() and int(told):
        return int(told)
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns or USUAL_COLUMNS  # type: ignore[union-attr]
    except (AttributeError, ValueError, OSError):  # there is none, or it is closed or no terminal
        return USUAL_COLUMNS


class _Parser(argparse.ArgumentParser):
    """Repeats no argument that would act on the terminal or go on without end."""

    def error(self, message: str) -> NoReturn:
        super().error(plain(message, LONGEST_SENTENCE))


class _ShowVersion(argparse.Action):
    """Looks the version up only when it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any, **__: Any) -> None:
        from importlib import metadata  # takes longer than all the rest of the help

        try:
            version = metadata.version(PROGRAM)
        except metadata.PackageNotFoundError:
            version = "(not installed: run from its sources)"
        print(PROGRAM, version)
        parser.exit(DONE)


def _open_what_is_closed() -> None:
    """Whoever starts the program without an output (`>&-`) wants nothing to be printed."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - as long as the process


def _print_what_the_terminal_cannot() -> None:
    """A terminal that has no `▁` shows its escape instead of ending the program."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]


def _forget_standard_output() -> None:
    """Nobody reads any more: what is still in the buffer must not complain when the process ends."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
