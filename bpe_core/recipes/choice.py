"""What is declared of a choice of a recipe: what it is called and means, and which values it can have."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from bpe_core.errors import RecipeError, refuse_half_characters, refuse_long_text

LARGEST_NUMBER = 2**63 - 1  # counts are 64-bit
LONGEST_TEXT = 100_000  # characters of a choice; longer ones would take memory that nobody has asked for


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What is declared of a choice besides its name, its type and its default."""

    title: str = ""  # what it is called in forms and reports
    tip: str = ""  # what it means
    among: Collection[str] = ()  # of these texts, or any if there are none
    least: int | None = None  # of a number
    most: int = LARGEST_NUMBER
    optional: bool = False  # None is allowed in place of a number
    is_share: bool = False  # a number above 0 and up to 1
    applies: Callable[[Any], bool] = lambda recipe: True  # whether it means anything beside the other choices
    goes_without_saying: bool = False  # left out of files at its default: older programs do not know this choice

    def check(self, name: str, value: object, kind: type) -> None:
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
        elif kind is bool and not isinstance(value, bool):
            raise RecipeError(f"{name} must be true or false.")
        elif kind is str:
            if not isinstance(value, str):
                raise RecipeError(f"{name} must be text.")
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
    return dataclasses.field(default=default, metadata={"choice": Choice(title=title, tip=tip, **declared)})
