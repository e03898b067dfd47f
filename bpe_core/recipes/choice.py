"""The declaration of a recipe's choice: its title, its meaning and its allowed values."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from bpe_core.errors import RecipeError, refuse_half_characters, refuse_long_text

LARGEST_NUMBER = 2**63 - 1  # counts are 64-bit
LARGEST_VOCABULARY = 4_000_000
LONGEST_TEXT = 100_000  # characters of a choice; longer ones would take memory that nobody has asked for


@dataclass(frozen=True)
class Variants:
    """Another option that sets a choice by a word; a word for None sets it whatever else is said."""

    option: str
    values: Mapping[str, Any]
    help: str


@dataclass(frozen=True)
class Argument:
    """The option of a command that sets a choice, which is named like the choice, with dashes."""

    help: str
    metavar: str = "N"
    whose: str = ""  # of what it is, and what to choose for it to mean something; empty: of its method
    group: str = "when to stop"
    commands: Collection[str] = ("train",)  # that take it
    option: str = ""  # another name
    zero_is_none: bool = False
    in_shares: bool = False  # of a percentage: it is given as a number of equal shares, such as 1.2 for 120
    variants: Variants | None = None


@dataclass(frozen=True, kw_only=True)
class Choice:
    """The declaration of a choice: its default, what it means, and the values that it can have."""

    default: Any = None
    title: str = ""  # what it is called in forms and reports
    tip: str = ""  # what it means
    among: Collection[str] = ()  # of these texts, or any if there are none
    least: int | None = None  # of a number
    most: int = LARGEST_NUMBER
    optional: bool = False  # None is allowed in place of a number
    unset: str = ""  # what None means, in words
    unit: str = ""  # written behind a number
    is_share: bool = False  # a number above 0 and up to 1
    applies: Callable[[Any], bool] = lambda recipe: True  # whether it means anything beside the other choices
    goes_without_saying: bool = False  # left out of files at its default: older programs do not know this choice

    labels: Mapping[str, tuple[str, str]] = dataclasses.field(
        default_factory=dict
    )  # for some values: a title and an explanation
    argument: Argument | None = None  # how a command takes it, where it does

    @property
    def kind(self) -> type:
        """Return the type of its values."""
        return type(self.default)

    def check(self, name: str, value: object) -> None:
        """Refuse a value that is wrong whatever the other choices are."""
        if self.among:
            if not isinstance(value, str) or value not in self.among:
                raise RecipeError(f"{name} cannot be {value!r}; it is one of {', '.join(map(repr, self.among))}.")
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


def choice(default: Any, title: str = "", tip: str = "", **declared: Any) -> Any:
    """Declare a field of a recipe together with what is known of it."""
    declared_choice = Choice(default=default, title=title, tip=tip, **declared)
    return dataclasses.field(default=default, metadata={"choice": declared_choice})


def choices_of(kind: type) -> Mapping[str, Choice]:
    """Return the choices that a dataclass declares, by name."""
    return {field.name: field.metadata["choice"] for field in dataclasses.fields(kind)}
