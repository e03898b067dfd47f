"""The declaration of a recipe's choice: its title, its meaning and its allowed values."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from bpe_core.errors import RecipeError
from bpe_core.support.wording import count_text

LARGEST_NUMBER = 2**63 - 1  # counts have 64 bits
LARGEST_VOCABULARY = 4_000_000
LONGEST_TEXT = 100_000  # characters of a text; longer ones would waste memory


@dataclass(frozen=True)
class Variants:
    """An additional command-line option that sets a choice to one of several named values.

    `values` maps each name to a value. If a command has both this option and the choice's own option, it uses the
    choice's own option. But if the named value is None, the choice becomes None in any case.
    """

    option: str
    values: Mapping[str, Any]
    help: str


@dataclass(frozen=True)
class Argument:
    """An option of a command that sets a choice. Its name is the name of the choice, with dashes for underscores."""

    help: str
    metavar: str = "N"
    whose: str = ""  # what the option belongs to, and which choice makes it apply; empty means its method
    group: str = "when to stop"
    commands: Collection[str] = ("train",)  # the commands that have the option
    option: str = ""  # another name of the option
    zero_is_none: bool = False
    in_shares: bool = False  # whether a percentage is given as a number of equal shares, such as 1.2 for 120
    variants: Variants | None = None


@dataclass(frozen=True, kw_only=True)
class Choice:
    """The declaration of a choice: its default, its meaning, and its allowed values."""

    default: Any = None
    title: str = ""  # the name in forms and reports
    tip: str = ""  # an explanation
    among: Collection[str] = ()  # the allowed texts; empty means any text
    least: int | None = None  # the least number
    most: int = LARGEST_NUMBER
    optional: bool = False  # whether None is allowed instead of a number
    unset: str = ""  # the meaning of None, in words
    unit: str = ""  # the unit written after a number
    is_share: bool = False  # whether it is a number above 0 and up to 1
    applies: Callable[[Any], bool] = lambda recipe: True  # whether it has an effect with the other choices
    goes_without_saying: bool = False  # whether files leave it out at its default, as older programs do not know it

    labels: Mapping[str, tuple[str, str]] = dataclasses.field(
        default_factory=dict
    )  # for some values: a title and an explanation
    argument: Argument | None = None  # the command's option, if it has one

    @property
    def kind(self) -> type:
        """Return the type of the choice's values, which is the type of the default."""
        return type(self.default)

    def check(self, name: str, value: object) -> None:
        """Raise RecipeError if this choice can never have this value, whatever the other choices are."""
        if self.among:
            if not isinstance(value, str) or value not in self.among:
                raise RecipeError(f"{name} cannot be {value!r}; choose one of {', '.join(map(repr, self.among))}.")
        elif self.is_share:
            if value is not None or not self.optional:
                _check_share(name, value)
        elif self.least is not None:
            if value is not None or not self.optional:
                _check_number(name, value, self.least, self.most)
        elif self.kind is bool and not isinstance(value, bool):
            raise RecipeError(f"{name} must be true or false.")
        elif self.kind is str:
            if not isinstance(value, str):
                raise RecipeError(f"{name} must be text.")
            if len(value) > LONGEST_TEXT or not value.isascii():
                refuse_long_text(name, value, LONGEST_TEXT)
                refuse_half_characters(name, value)


def _check_number(name: str, value: object, least: int, most: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool):
        raise RecipeError(f"{name} must be a whole number, not {value!r}.")
    if value < least:
        raise RecipeError(f"{name} must be at least {least}, not {value:,}.")
    if value > most:
        raise RecipeError(f"{name} can be at most {most:,}, not {value:,}.")


def _check_share(name: str, value: object) -> None:
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value <= 1:
        raise RecipeError(f"{name} must be a share above 0 and at most 1, such as 0.9, not {value!r}.")


def refuse_long_text(what: str, text: str, longest: int) -> None:
    if len(text) > longest:
        raise RecipeError(
            f"{what} can have at most {count_text(longest, 'character')}, not {len(text):,}: {text[:40]!r} ..."
        )


def refuse_half_characters(what: str, text: str) -> None:
    """Raise an error for a text with a lone surrogate, which is half of a character.

    JSON can hold it, but UTF-8 cannot.
    """
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        raise RecipeError(f"{what} holds half of a surrogate pair, which is not a character. Remove it: {text!r}.")


def choice(default: Any, title: str = "", tip: str = "", **declared: Any) -> Any:
    """Return a dataclass field that declares a choice of a recipe. `tip` is a sentence that explains the choice."""
    declared_choice = Choice(default=default, title=title, tip=tip, **declared)
    return dataclasses.field(default=default, metadata={"choice": declared_choice})


def choices_of(kind: type) -> Mapping[str, Choice]:
    """Return a dictionary from name to choice, for the choices that a dataclass declares."""
    return {field.name: field.metadata["choice"] for field in dataclasses.fields(kind)}
