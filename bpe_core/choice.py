"""One choice of a recipe: what is declared of it beside its name, its type and its default."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, Literal

from bpe_core.errors import RecipeError, refuse_half_characters, refuse_long_text
from bpe_core.records import dataclass

LARGEST_NUMBER = 2**63 - 1  # counts are 64-bit
LONGEST_TEXT = 100_000  # characters of a choice: beyond, work takes memory that nobody has asked for

# Of a mixture; whoever asks for help wants to know these, and loads no fractions for it.
By = Literal["times", "bytes", "words"]  # what its weights are: factors, or shares by either
Of = Literal["documents", "lines"]  # what is taken of a group by chance


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What is declared of a choice beside its name, its type and its default."""

    tip: str = ""  # what it means
    among: Collection[str] = ()  # of these texts, or any if there are none
    least: int | None = None  # of a number
    most: int = LARGEST_NUMBER
    optional: bool = False  # a number that need not be said
    applies: Callable[[Any], bool] = lambda recipe: True  # whether it has a meaning beside the other choices
    goes_without_saying: bool = False  # at its default: programs of before do not know this choice

    def check(self, name: str, value: object, kind: type) -> None:
        """Refuse what this choice cannot be, whatever the others are."""
        if self.among:
            if value not in tuple(self.among):
                raise RecipeError(f"{name} cannot be {value!r}; it is one of {', '.join(map(repr, self.among))}.")
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
