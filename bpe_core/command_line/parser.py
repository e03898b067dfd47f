"""The argument parsers and the help of all commands."""

from __future__ import annotations

import argparse
import contextlib
import io
import shutil
import sys
import textwrap
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from bpe_core.command_line.commands import COMMANDS, GROUPS, QUESTIONS_ABOUT
from bpe_core.command_line.declared import DeclaredArguments, shown_name
from bpe_core.command_line.interruption import STYLES
from bpe_core.command_line.named_files import named_file
from bpe_core.errors import LONGEST_SENTENCE, OutputError, plain
from bpe_core.questions import QUESTIONS, description_of, question_named, question_names, questions_by_subject
from bpe_core.session_file import run_of
from bpe_core.support.atomic import path_to_read
from bpe_core.support.paths import real_path
from bpe_core.support.version import PROGRAM, program_version
from bpe_core.support.wording import did_you_mean

WITHOUT_MANIFEST = (
    "bench",
    "completion",
    "decode",
    "doctor",
    "follow",
    "import",
    "presets",
    "repeat",
)  # these commands write no results
# These commands end at once, or show no progress.
WITHOUT_PROGRESS = (*WITHOUT_MANIFEST[1:], "pin", "report", "share", "verify", "words")
ID_MAP = "id_map"
RESULTS = ("output", "out", "watch", "summary", "listed", "page", ID_MAP)  # the arguments that name results
# the placeholders of arguments that name files
FILES = {"FILE", "TABLE", "LIST", "PLAN", "FOLDER", "IN", "A", "B", "RUN", "SESSION_OR_MERGES"}
FILES |= {"MANIFEST", "PATH", "RESULT", "RESULTS", "SESSION"}
RESULT_FILES = {"OUT", "HTML", "JSON", "FILE|PORT"}
# Commands that may replace the files they read; a sweep continues its own table, and refuses any other file.
EDITING = ("branch", "convert", "count", "export", "extend", "merge", "replace", "specials", "sweep", "trim")
DONE = 0
MOST_NARROW = 40  # columns of a terminal, for which lines are wrapped

DESCRIPTION = """\
Watch how a byte-pair-encoding tokenizer is learned, and ask why it splits a text where it does.

Without a command the window opens. With a command, the same engine works in the terminal.
"""

EXAMPLES = """\
a first look:
  bpe-explorer words low lower lowest        watch a few words being merged, step by step
  bpe-explorer presets                       all preset recipes, each explained

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
    """The contents of a command's file: the functions that run the command, and facts about it.

    A question is also a command, so the file of a question declares the same functions and facts.
    """

    # declares the arguments, and explains them in the parser's texts
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]  # returns the exit code
    settle: Callable[[argparse.Namespace], None] = lambda options: None  # chooses the output by default
    # files that are named inside its files
    texts_in: Callable[[argparse.Namespace], Sequence[str]] = lambda options: ()
    examples: str = ""  # for the end of its help
    ends_well: Collection[int] = (DONE,)  # exit codes that report a finding
    steady_with: str = ""  # the option without which a result depends on the speed of the computer
    grows: bool = False  # whether results grow bit by bit; then an old manifest is removed first


def command_named(name: str) -> Command:
    if name in COMMANDS:
        file = vars(import_module(f"bpe_core.command_line.commands.{name}"))
        offered = {field.name: file[field.name] for field in fields(Command) if field.name in file}
        return Command(**offered)
    from bpe_core.command_line import asking  # other commands do not need this module

    question = question_named(question_of(name))
    return Command(
        partial(asking.add_question_arguments, question=question),
        partial(asking.run_question, question),
        examples=question.examples,
        ends_well=(DONE, asking.DIFFERENT),
        steady_with=question.steady_with,
    )


def results_of(options: argparse.Namespace) -> list[str]:
    named = [path for name in RESULTS for path in texts_of(options, name)]
    if getattr(options, "beside", False) and options.output is not None:
        from bpe_core.asking.beside_figure import files_beside  # other commands do not need this module

        named += map(str, files_beside(options.output))
    return named


def files_read_by(options: argparse.Namespace) -> set[str]:
    command = command_named(options.command)
    declared = DeclaredArguments(command.add_arguments).actions
    names = [action.dest for action in declared if names_files(action) and action.dest not in RESULTS]
    paths = {named_file(path)[1] for name in names for path in texts_of(options, name)}
    return {run_of(path)[0] for path in (*paths, *command.texts_in(options))}


def names_files(action: argparse.Action) -> bool:
    shown = action.metavar if isinstance(action.metavar, tuple) else (action.metavar,)
    return any(name in FILES for name in shown)


def complete_replacements(paths: Collection[str]) -> None:
    """Complete the replacement of files that a command reads or writes.

    An earlier command may have been killed while it replaced these files.
    """
    for path in paths:
        if "://" not in path:
            path_to_read(path)


def refuse_empty_names(parser: argparse.ArgumentParser, options: argparse.Namespace, argv: Sequence[str]) -> None:
    """Report an error if the name of a file is an empty string, such as "$OUT" if this variable has no value.

    An empty name would be read as the folder in which the command runs, or no result would be written.
    """
    if not any(word == "" or word.endswith("=") for word in argv):
        return
    for action in declared_by(options.command).actions:
        is_file = names_files(action) or shown_name(action) in RESULT_FILES
        if is_file and action.default != "" and "" in texts_of(options, action.dest):
            parser.error(f"argument {'/'.join(action.option_strings) or shown_name(action)}: the name is empty")


def announce_pipes(read: Collection[str]) -> None:
    """Write to standard error which named pipes are read, because reading waits for a program that writes to them.

    Pipes that the shell makes are left out, such as `<(zcat book.gz)`, because their writers have already begun.
    """
    for path in sorted(read):
        if not path.startswith(("/dev/", "/proc/")) and _is_pipe(path):
            sys.stderr.write(f"{PROGRAM}: Waiting for a program that writes to the pipe {path}.\n")


def _is_pipe(path: str) -> bool:
    try:
        return Path(path).is_fifo()
    except (OSError, ValueError):
        return False


def refuse_to_replace_inputs(options: argparse.Namespace, results: Sequence[str], manifest: Path | None) -> None:
    """Raise an error if a result would replace an input file, or if the manifest would replace a result."""
    manifests = [] if manifest is None else [str(manifest)]
    written = [*manifests, *texts_of(options, ID_MAP)] if options.command in EDITING else [*manifests, *results]
    read = files_read_by(options) if written else ()
    pairs = [(path, other, "the input file") for path in written for other in read]
    pairs += [(path, other, "the result itself") for path in manifests for other in results]
    for path, other, what in pairs:
        if _is_same_file(path, other):
            raise OutputError(f"{path} is {what}. Choose another name for the output.")


def _is_same_file(path: str, other: str) -> bool:
    try:
        return real_path(path) == real_path(other) or (Path(path).is_file() and Path(path).samefile(other))
    except (OSError, ValueError):  # such as a NUL in a name, which is refused when the file is opened
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
            argv = as_question(argv)
            return options_in(parser_for(argv), argv)
    except SystemExit:
        return None


def options_in(parser: argparse.ArgumentParser, argv: Sequence[str]) -> argparse.Namespace:
    """Parse the arguments. If an option is unknown, the error suggests a similar option."""
    options, rest = parser.parse_known_args(argv)
    mistyped = next((word.partition("=")[0] for word in rest if word.startswith("-")), None)
    if mistyped is not None:
        parser.error(_about_option(mistyped, options.command))
    if rest:
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    return options


def _about_option(mistyped: str, command: str) -> str:
    known = declared_by(command).options
    if mistyped in known:
        return f"write {mistyped} behind {command}"
    meant = did_you_mean(mistyped.lstrip("-"), [name.lstrip("-") for name in known])
    return f"{command} has no option {mistyped}{meant.replace('mean ', 'mean --') or f'; {command} --help lists them'}"


def parser_for(argv: Sequence[str]) -> argparse.ArgumentParser:
    """Return a parser with the arguments of the command in `argv`.

    If `argv` does not begin with a name, the parser has the names of all commands. An unknown name is an error.
    """
    parser = _Parser(prog=PROGRAM, description=DESCRIPTION)
    add_general_arguments(parser)
    keywords = {"title": "commands", "help": "one of the groups below", "metavar": "COMMAND", "prog": PROGRAM}
    listed = parser.add_subparsers(dest="command", required=True, parser_class=_CommandParser, **keywords)
    chosen = next((word for word in argv if not word.startswith("-")), None)
    is_known = chosen is not None and chosen == argv[0] and (chosen in COMMANDS or question_of(chosen) in QUESTIONS)
    names = [chosen] if chosen and is_known else [*COMMANDS, *command_questions()]
    if chosen is not None and chosen == argv[0] and not is_known:
        meant = did_you_mean(chosen, names) or f"; {PROGRAM} --help lists them"
        parser.error(f"there is no command {chosen!r}{meant}")
    for name in names:
        command_parser = listed.add_parser(name)
        if name == chosen:
            summary = COMMANDS[name] if name in COMMANDS else description_of(question_of(name)).summary
            command = command_named(name)
            command_parser.description = summary
            command_parser.epilog = command.examples
            command.add_arguments(command_parser)
            add_common_arguments(command_parser, name)
    return parser


def declared_by(command: str) -> DeclaredArguments:
    """Return all arguments of a command."""
    declared = DeclaredArguments(command_named(command).add_arguments)
    add_common_arguments(declared, command)
    return declared


def add_common_arguments(parser: argparse.ArgumentParser | DeclaredArguments, command: str) -> None:
    """Add the arguments that most commands share."""
    if command not in WITHOUT_PROGRESS:
        help = (
            "how to show progress: lines for a log, JSON for a program, or none (default: a bar on a terminal, lines "
            "elsewhere)"
        )
        parser.add_argument("--progress", choices=STYLES, default=STYLES[0], help=help)
    if command not in WITHOUT_MANIFEST:
        help = "write a manifest, which says how the result was made; `repeat JSON` makes the result again and compares"
        parser.add_argument("--manifest", type=Path, metavar="JSON", help=help)


def add_general_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-V", "--version", action=_ShowVersion, nargs=0, help="show the version and the commit")
    help = "load a plug-in from one Python file; you are asked before its code runs, unless --yes is given"
    parser.add_argument("--plugin", metavar="FILE", help=help)  # taken out of the words before


def grouped_commands(width: int) -> Iterator[str]:
    """Yield the lines of the help text that list all commands in groups, each command with its purpose."""
    for title, commands in {**GROUPS, **grouped_questions()}.items():
        yield f"{title.lower()}:"
        for name, summary in commands.items():
            yield from textwrap.wrap(summary, width, initial_indent=f"  {name:<15}", subsequent_indent=" " * 17)
        yield ""


def grouped_questions() -> dict[str, dict[str, str]]:
    """Return a dictionary from the title of each group to the commands and summaries of its questions."""
    asked = map(question_of, command_questions())
    return {
        f"{QUESTIONS_ABOUT} {subject}": {
            command_of(name): f"{described.asks} {described.summary}"
            for name, described in ((name, description_of(name)) for name in names)
        }
        for subject, names in questions_by_subject(asked).items()
    }


class _CommandParser(argparse.ArgumentParser):
    """A parser that shortens long arguments in its error messages, and escapes characters that control the terminal."""

    def __init__(self, **given: Any) -> None:
        width = shutil.get_terminal_size().columns - 2  # argparse would look it up again for each argument
        super().__init__(formatter_class=partial(argparse.RawDescriptionHelpFormatter, width=width), **given)

    def error(self, message: str) -> NoReturn:
        super().error(plain(message, LONGEST_SENTENCE))


class _Parser(_CommandParser):
    """A parser whose help lists all commands in groups.

    The list is made only when somebody asks for the help, because it needs the modules of all questions.
    """

    def format_help(self) -> str:
        width = max(MOST_NARROW, shutil.get_terminal_size().columns - 2)
        self.epilog = "\n".join([*grouped_commands(width), EXAMPLES])
        return super().format_help()


class _ShowVersion(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: Any, **__: Any) -> None:
        print(PROGRAM, program_version())
        parser.exit(DONE)
