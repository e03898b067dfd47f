"""The arguments of a command as a list, for code that searches the arguments or writes them to a file."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any

WITHOUT_TERMINAL = partial(argparse.HelpFormatter, width=80)


class DeclaredArguments:
    """A stand-in for a parser. It collects the arguments that a command declares."""

    def __init__(self, declare: Callable[[argparse.ArgumentParser], object]) -> None:
        self.actions: list[argparse.Action] = []
        self.description = self.epilog = ""
        # It knows the name of each argument. Without a width, it would ask for that of the terminal for each argument.
        self._parser = argparse.ArgumentParser(add_help=False, formatter_class=WITHOUT_TERMINAL)
        declare(self)  # type: ignore[arg-type]  # this class has the methods of a parser

    def add_argument(self, *flags: str, **keywords: Any) -> argparse.Action:
        action = self._parser.add_argument(*flags, **keywords)
        self.actions.append(action)
        return action

    def add_argument_group(self, *_: Any, **__: Any) -> DeclaredArguments:
        return self

    def add_mutually_exclusive_group(self, **_: Any) -> DeclaredArguments:
        return self

    def set_defaults(self, **_: Any) -> None:
        """Ignore the defaults, because the list of arguments does not need them."""

    @property
    def options(self) -> list[str]:
        return [name for action in self.actions for name in action.option_strings]


def shown_name(action: argparse.Action) -> str:
    """Return the word that stands for an argument's value in the help, such as FILE.

    If the argument takes several values, return the word for the last value.
    """
    name = action.metavar[-1] if isinstance(action.metavar, tuple) else action.metavar
    return name or action.dest.upper()
