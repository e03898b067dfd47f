"""Build the parsers of all commands and their help."""

from __future__ import annotations

import argparse
import contextlib
import io
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from bpe_core.command_line.commands import COMMANDS
from bpe_core.errors import LONGEST_SENTENCE, OutputError, plain
from bpe_core.questions import QUESTIONS, question_named, question_names, question_summary
from bpe_core.session_file import run_of
from bpe_core.support.version import PROGRAM, program_version

WITHOUT_MANIFEST = ("bench", "decode", "doctor", "import", "presets", "repeat")  # these make nothing to keep
RESULTS = ("output", "out", "summary", "listed")  # the arguments that name what is written
# the placeholders of arguments that name files
FILES = frozenset(["FILE", "TABLE", "LIST", "PLAN", "RESULTS", "FOLDER", "IN", "A", "B", "RUN", "SESSION_OR_MERGES"])
# What these read may be replaced by what they make; a sweep goes on with its own table, and refuses any other.
EDITING = ("branch", "convert", "count", "export", "extend", "merge", "sweep", "trim")
DONE = 0

DESCRIPTION = """\
Watch a byte-pair-encoding tokenizer being learned, and ask why a text is split where it is.

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
    return [command_of(name) for name in question_names() if command_of(name) not in COMMANDS]


def command_of(question: str) -> str:
    return question.replace("_", "-")


def question_of(command: str) -> str:
    return command.replace("-", "_")


def as_question(argv: Sequence[str]) -> Sequence[str]:
    if len(argv) < 2 or argv[0] != CHART:
        return argv
    return [FORMER_NAMES.get(argv[1], argv[1]), *argv[2:]]


@dataclass(frozen=True)
class Command:
    """The functions in the file of a command; a question offers the same."""

    add_arguments: Callable[[argparse.ArgumentParser], None]  # declares them, and explains them in the parser's texts
    run: Callable[[argparse.Namespace], int]  # returns the exit code
    settle: Callable[[argparse.Namespace], None] = lambda options: None  # chooses the output by default
    texts_in: Callable[[argparse.Namespace], Sequence[str]] = lambda options: ()  # files named in its files
    examples: str = ""  # for the end of its help
    ends_well: Collection[int] = (DONE,)  # exit codes that report findings


def command_named(name: str) -> Command:
    if name in COMMANDS:
        file = vars(import_module(f"bpe_core.command_line.commands.{name}"))
        offered = {field.name: file[field.name] for field in fields(Command) if field.name in file}
        return Command(**offered)
    from bpe_core.command_line import asking  # other commands do not need it

    question = question_named(question_of(name))
    return Command(
        partial(asking.add_question_arguments, question=question),
        partial(asking.run_question, question),
        examples=question.examples,
        ends_well=(DONE, asking.DIFFERENT),
    )


def results_of(options: argparse.Namespace) -> list[str]:
    return [path for name in RESULTS for path in texts_of(options, name)]


def files_read_by(options: argparse.Namespace) -> set[str]:
    command, named = command_named(options.command), FileArguments()
    command.add_arguments(named)  # type: ignore[arg-type]  # it takes them as a parser does
    paths = {path for name in named.names for path in texts_of(options, name)}
    return {run_of(path)[0] for path in (*paths, *command.texts_in(options))}


class FileArguments:
    """A stand-in for a parser that keeps which arguments of a command name files to read."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._parser = argparse.ArgumentParser()  # knows the name of each

    def add_argument(self, *flags: str, **told: Any) -> argparse.Action:
        action = self._parser.add_argument(*flags, **told)
        shown = action.metavar if isinstance(action.metavar, tuple) else (action.metavar,)
        if action.dest not in RESULTS and any(name in FILES for name in shown):
            self.names.append(action.dest)
        return action

    def add_argument_group(self, *_: Any, **__: Any) -> FileArguments:
        return self

    def add_mutually_exclusive_group(self, **_: Any) -> FileArguments:
        return self

    def set_defaults(self, **_: Any) -> None:
        """Do without: what is asked here has no defaults."""


def refuse_to_replace_what_is_read(options: argparse.Namespace, results: Sequence[str], told_in: Path | None) -> None:
    """Refuse, too, a manifest in the place of the result that it tells of."""
    told = [] if told_in is None else [str(told_in)]
    written = told if options.command in EDITING else [*told, *results]
    read = files_read_by(options) if written else ()
    pairs = [(path, other, "the file that is read") for path in written for other in read]
    pairs += [(path, other, "the result itself") for path in told for other in results]
    for path, other, what in pairs:
        if _is_same_file(path, other):
            raise OutputError(f"{path} is {what}; choose another name for what is written.")


def _is_same_file(one: str, other: str) -> bool:
    try:
        return os.path.realpath(one) == os.path.realpath(other) or (Path(one).is_file() and Path(one).samefile(other))
    except (OSError, ValueError):  # such as a NUL in a name, which is refused where it is opened
        return False


def texts_of(options: argparse.Namespace, name: str) -> Iterator[str]:
    waiting = [getattr(options, name, None)]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str | Path):
            yield str(value)
        elif isinstance(value, list | tuple):
            waiting += value


def parsed(argv: Sequence[str]) -> argparse.Namespace | None:
    try:
        with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
            return parser_for(argv := as_question(argv)).parse_args(argv)
    except SystemExit:
        return None


def parser_for(argv: Sequence[str]) -> argparse.ArgumentParser:
    """Make a parser with the arguments of the chosen command; the others only have names for the help."""
    parser = _Parser(prog=PROGRAM, description=DESCRIPTION, epilog=EXAMPLES)
    parser.add_argument("--version", action=_ShowVersion, nargs=0, help="show the version and the commit, and exit")
    told = "a plug-in in one Python file; it asks before it runs the file's code, unless --yes is given"
    parser.add_argument("--plugin", metavar="FILE", help=told)  # taken out of the words before
    listed = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, title="commands", prog=PROGRAM)
    chosen = next((word for word in argv if not word.startswith("-")), None)
    is_known = chosen is not None and chosen == argv[0] and (chosen in COMMANDS or question_of(chosen) in QUESTIONS)
    for name in [chosen] if chosen and is_known else [*COMMANDS, *command_questions()]:
        summary = COMMANDS[name] if name in COMMANDS else question_summary(question_of(name))
        command_parser = listed.add_parser(name, help=summary, description=summary)
        if name == chosen:
            command = command_named(name)
            command_parser.epilog = command.examples
            command.add_arguments(command_parser)
            if name not in WITHOUT_MANIFEST:
                told = "write how this was made, as JSON; `repeat JSON` makes it again and compares"
                command_parser.add_argument("--manifest", type=Path, metavar="JSON", help=told)
    return parser


class _Parser(argparse.ArgumentParser):
    """Shortens arguments that an error repeats, and escapes characters that act on the terminal."""

    def __init__(self, **given: Any) -> None:
        super().__init__(formatter_class=argparse.RawDescriptionHelpFormatter, **given)

    def error(self, message: str) -> NoReturn:
        super().error(plain(message, LONGEST_SENTENCE))


class _ShowVersion(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: Any, **__: Any) -> None:
        print(PROGRAM, program_version())
        parser.exit(DONE)
