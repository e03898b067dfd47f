"""The scripts that complete commands in the shells bash, zsh and fish.

The scripts are made from the arguments of each command. They complete options, the possible values of options, and
names of files.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from bpe_core.command_line.commands import COMMANDS
from bpe_core.command_line.declared import DeclaredArguments
from bpe_core.command_line.parser import (
    RESULTS,
    add_general_arguments,
    command_questions,
    declared_by,
    names_files,
    question_of,
)
from bpe_core.questions import description_of
from bpe_core.support.version import PROGRAM


class CompletedArgument(NamedTuple):
    """The facts about an argument that the completion scripts need."""

    flags: tuple[str, ...]  # empty for a positional argument
    help: str
    takes_value: bool
    values: tuple[str, ...]  # the possible values
    is_file: bool

    @classmethod
    def of(cls, action: argparse.Action) -> CompletedArgument:
        values = tuple(map(str, action.choices or ()))
        is_file = names_files(action) or action.dest in (*RESULTS, "manifest", "plugin")
        help = " ".join((action.help or "").replace("%%", "%").split())
        return cls(tuple(action.option_strings), help, action.nargs != 0, values, is_file)


class CompletedCommand(NamedTuple):
    """The facts about a command and its arguments that the completion scripts need."""

    summary: str
    arguments: Sequence[CompletedArgument]

    @property
    def options(self) -> list[CompletedArgument]:
        return [argument for argument in self.arguments if argument.flags]

    @property
    def flags(self) -> list[str]:
        return [flag for argument in self.options for flag in argument.flags]

    @property
    def words(self) -> list[str]:
        """Return the possible values of the positional arguments."""
        return [value for argument in self.arguments if not argument.flags for value in argument.values]


Commands = Mapping[str, CompletedCommand]  # options by name


def completed_commands() -> Commands:
    asked = {name: description_of(question_of(name)).summary for name in command_questions()}
    return {name: _completed(name, summary) for name, summary in {**COMMANDS, **asked}.items()}


def _completed(name: str, summary: str) -> CompletedCommand:
    declared = declared_by(name)
    declared.add_argument("-h", "--help", action="store_true", help="show this help message and exit")
    return CompletedCommand(summary, [CompletedArgument.of(action) for action in declared.actions])


def _general() -> list[CompletedArgument]:
    declared = DeclaredArguments(add_general_arguments)
    declared.add_argument("-h", "--help", action="store_true", help="show this help message and exit")
    return [CompletedArgument.of(action) for action in declared.actions]


# -- bash ------------------------------------------------------------------------------------


def bash(commands: Commands) -> str:
    values = [
        (f"{name} {flag}", " ".join(option.values))
        for name, command in commands.items()
        for option in command.options
        for flag in option.flags
        if option.values
    ]
    first = " ".join([*commands, *(flag for option in _general() for flag in option.flags)])
    return f"""\
# Made by `{PROGRAM} completion bash`.
_bpe_explorer() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} words=
    if [ "$current" = "=" ]; then current=; elif [ "$before" = "=" ]; then before=${{COMP_WORDS[COMP_CWORD-2]}}; fi
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        words="{first}"
    else
        case "${{COMP_WORDS[1]}} $before" in
{_bash_cases(values)}
        esac
        if [ -z "$words" ]; then
            case "$current" in
            -*)
                case "${{COMP_WORDS[1]}}" in
{_bash_cases([(name, " ".join(command.flags)) for name, command in commands.items()])}
                esac ;;
            *)
                case "${{COMP_WORDS[1]}}" in
{_bash_cases([(name, " ".join(command.words)) for name, command in commands.items() if command.words])}
                esac ;;
            esac
        fi
    fi
    if [ -n "$words" ]; then
        COMPREPLY=($(compgen -W "$words" -- "$current"))
    fi
}}
complete -o default -o bashdefault -F _bpe_explorer {PROGRAM}
"""


def _bash_cases(rows: Sequence[tuple[str, str]]) -> str:
    return "\n".join(f'        "{what}") words="{words}" ;;' for what, words in rows)


# -- zsh -------------------------------------------------------------------------------------


def zsh(commands: Commands) -> str:
    listed = "\n".join(f"    {_quoted(f'{name}:{_plain(command.summary)}')}" for name, command in commands.items())
    cases = "\n".join(
        f"    {name})\n        _arguments -s {' '.join(_zsh_arguments(command.arguments))} ;;"
        for name, command in commands.items()
    )
    return f"""\
#compdef {PROGRAM}
# Made by `{PROGRAM} completion zsh`.
_bpe_explorer() {{
    local -a commands
    commands=(
{listed}
    )
    if (( CURRENT == 2 )); then
        _describe command commands
        _arguments {" ".join(_zsh_arguments(_general()))}
        _files
        return
    fi
    local command=$words[2]
    shift words
    (( CURRENT-- ))
    case $command in
{cases}
    esac
}}
if [ "$funcstack[1]" = "_{PROGRAM}" ]; then
    _bpe_explorer "$@"
else
    compdef _bpe_explorer {PROGRAM}
fi
"""


def _zsh_arguments(arguments: Sequence[CompletedArgument]) -> Iterator[str]:
    places = [argument for argument in arguments if not argument.flags]
    for argument in arguments:
        for flag in argument.flags:
            yield _quoted(f"*{flag}[{_plain(argument.help)}]{_zsh_value(argument) if argument.takes_value else ''}")
    if places:
        yield _quoted(f"*{_zsh_value(places[0])}")


def _zsh_value(argument: CompletedArgument) -> str:
    if argument.values:
        return f":value:({' '.join(argument.values)})"
    return ":file:_files" if argument.is_file else ":value: "


def _plain(text: str) -> str:
    """Escape the characters that would end a description in zsh."""
    return "".join(f"\\{sign}" if sign in "[]:\\" else sign for sign in text)


# -- fish ------------------------------------------------------------------------------------


def fish(commands: Commands) -> str:
    lines = [f"# Made by `{PROGRAM} completion fish`."]
    first = "__fish_use_subcommand"
    lines += [
        f"complete -c {PROGRAM} -n {first} -a {name} -d {_quoted(command.summary)}"
        for name, command in commands.items()
    ]
    lines += [_fish_option(first, option) for option in _general()]
    for name, command in commands.items():
        seen = f"'__fish_seen_subcommand_from {name}'"
        lines += [_fish_option(seen, option) for option in command.options]
        if command.words:
            lines.append(f"complete -c {PROGRAM} -n {seen} -a {_quoted(' '.join(command.words))}")
    return "\n".join(lines) + "\n"


def _fish_option(seen: str, option: CompletedArgument) -> str:
    names = [f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}" for flag in option.flags]
    value = ""
    if option.values:
        value = f" -x -a {_quoted(' '.join(option.values))}"
    elif option.takes_value:
        value = " -r -F" if option.is_file else " -x"
    return f"complete -c {PROGRAM} -n {seen} {' '.join(names)}{value} -d {_quoted(option.help)}"


def _quoted(text: str) -> str:
    """Quote a word for zsh and fish."""
    return "'" + text.replace("'", r"'\''") + "'"


SCRIPTS: dict[str, Callable[[Commands], str]] = {"bash": bash, "zsh": zsh, "fish": fish}
