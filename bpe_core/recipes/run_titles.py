"""The titles of runs. Two different runs get different titles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from bpe_core.recipes.parts import LearningChoices, Normalization, Size, SplittingChoices, Symbols
from bpe_core.recipes.recipe import CHOICES, Recipe, title_of

MOST_NAMED = 2  # the choices that distinguish runs with the same name
SIZES = ("vocab_size", "merges")


class TitledRun(Protocol):
    @property
    def number(self) -> int: ...
    @property
    def recipe(self) -> Recipe: ...
    @property
    def parent(self) -> int | None: ...


TextOf = Callable[[Any, int], str]  # returns the text of a run's token


def name_of(run: TitledRun, runs: Sequence[TitledRun], text_of: TextOf) -> str:
    return f"Run {run.number}: {title_among(run, runs, text_of)}"


def title_among(run: TitledRun, runs: Sequence[TitledRun], text_of: TextOf) -> str:
    """Return the title of a run: the name of its recipe, and the choices that differ from other runs with the same
    name.
    """
    alike = [other for other in runs if other.recipe.name == run.recipe.name and other is not run]
    alike = [other for other in alike if other.parent != run.number]  # its title already names the difference
    return run.recipe.name + "".join(f", {said}" for said in _what_differs(run, alike, text_of))


def _what_differs(run: TitledRun, others: Sequence[TitledRun], text_of: TextOf) -> list[str]:
    recipe = run.recipe
    parts = (LearningChoices, Size, Symbols, SplittingChoices, Normalization)
    recipes = {id(other.recipe): other.recipe for other in others if other.recipe is not recipe}  # runs share recipes
    names = {name for other in recipes.values() for name in recipe.differing(other, *parts)}
    if recipe.grown_from:
        names -= {*SIZES}
    names -= {size for size in SIZES if getattr(recipe, size) is None}  # the other one says how far it goes
    said = [_in_words(recipe, name) for name in CHOICES if name in names]
    return (_steering(run, text_of) + said)[:MOST_NAMED]


def _steering(run: TitledRun, text_of: TextOf) -> list[str]:
    recipe = run.recipe
    said = []
    if recipe.interventions:
        last = recipe.interventions[-1]
        pair = " + ".join(text_of(run, id) for id in last.pair)
        said.append(f"no {pair} from {last.step:,}" if last.act == "forbid" else f"{pair} forced at {last.step:,}")
    return said


def _in_words(recipe: Recipe, name: str) -> str:
    value = getattr(recipe, name)
    title = title_of(name).lower()
    if name in ("ties", "pattern"):  # the names alone would not say what they belong to
        return f"{title} {value}"
    if isinstance(value, bool):
        return title if value else f"not {title}"
    if isinstance(value, tuple):
        return f"{len(value)} {title}" if value else f"no {title}"
    if isinstance(value, int):
        return f"{title} {value:,}"
    return f"no {title}" if value is None else f"{value}"
