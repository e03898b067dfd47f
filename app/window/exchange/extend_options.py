"""The choices of a user who extends a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from bpe_core.editing.growing import free_numbers, growing_recipe, lists_texts_only
from bpe_core.editing.without_tokens import numbers_of
from bpe_core.errors import BpeError
from bpe_core.formats.rebuilding import LARGEST_NUMBER
from bpe_core.history.history import History
from bpe_core.methods.kit.method import Method
from bpe_core.recipes.choice import LARGEST_VOCABULARY


@dataclass(frozen=True)
class ExtendOptions:
    """The choices that a user has when extending a table: new tokens, their ids, and the rule that chooses pairs."""

    most: int  # tokens
    first_free: int  # id
    largest: int  # id
    rule: OpenChoice | None  # the choice of pairs, if the table leaves it open
    refusal: Callable[[int, int], str]  # the reason why a number of tokens cannot begin at an id
    goes_across: bool = False  # whether new tokens may hold several words


@dataclass(frozen=True)
class OpenChoice:
    """A choice that the user must make, because the opened table lists only tokens and does not record this choice."""

    name: str
    value: str  # the recipe's value
    titles: Mapping[str, str]  # the words for each value


def extend_options(history: History) -> ExtendOptions:
    """Return the choices that a user has when extending a table. Raise BpeError if the table cannot learn
    more tokens.
    """
    growing_recipe(history, 1)
    numbers = numbers_of(history)

    def refusal(by: int, first: int) -> str:
        try:
            free_numbers(numbers, by, first)
        except BpeError as error:
            return str(error)
        return ""

    return ExtendOptions(
        most=LARGEST_VOCABULARY,
        first_free=int(free_numbers(numbers, 1)[0]),
        largest=LARGEST_NUMBER - LARGEST_VOCABULARY,
        rule=_open_choice(history),
        refusal=refusal,
        goes_across=_can_add_second_stage(history),
    )


def _open_choice(history: History) -> OpenChoice | None:
    method = Method.of(history.recipe)
    name = method.choice_to_grow_by
    if not name or not lists_texts_only(history):
        return None
    labels = method.own_choices[name].labels
    titles = {value: explanation.partition(";")[0].rstrip(".") for value, (_, explanation) in labels.items()}
    return OpenChoice(name, getattr(history.recipe, name), titles)


def _can_add_second_stage(history: History) -> bool:
    """Return whether a history can get a second stage, in which it learns superwords."""
    try:
        return growing_recipe(history, 1, across_words=True).method != history.recipe.method
    except BpeError:
        return False
