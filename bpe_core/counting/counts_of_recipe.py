"""The head of a file of counts, which says how a recipe split the texts. A recipe can be recreated from the head.

>>> head = head_by(Recipe.preset("gpt2"), "a fingerprint", ("de", "code"))
>>> why_not_for(head, "counts", Recipe.preset("gpt2", pattern="cl100k"))
'counts was counted with pattern "gpt2", but the recipe has "cl100k". Choose the same value, or count the texts again.'
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from bpe_core.errors import CorpusError, RecipeError
from bpe_core.recipes.parts import SplittingChoices
from bpe_core.recipes.recipe import Recipe
from bpe_core.text.reading.counts_head import CountsHead


def head_by(recipe: Recipe, sources: str, groups: Sequence[str]) -> CountsHead:
    return CountsHead(splitting_by(recipe), sources, tuple(groups))


def splitting_by(recipe: Recipe) -> str:
    """Return the recipe's choices that decide which words a text has, as JSON.

    If the symbols have names, the names are included, because a word holds the numbers of the names, and not the names.
    """
    names = {field.name for field in fields(SplittingChoices)}
    if recipe.base_symbols == "lines":
        names |= {"base", "base_symbols", "symbol_names"}
    values = {name: value for name, value in recipe.to_dict().items() if name in names}
    return json.dumps(values, ensure_ascii=False, sort_keys=True)


def recipe_of(head: CountsHead, name: str) -> Recipe:
    """Return a recipe with the choices that decided how the texts were split, and the default of every other choice."""
    try:
        return Recipe.preset("gpt2").with_changes(**json.loads(head.splitting))
    except (RecipeError, TypeError) as error:
        raise CorpusError(f"{name} was counted with recipe choices that this version does not know: {error}") from error


def why_not_for(head: CountsHead, name: str, recipe: Recipe) -> str:
    """Return a sentence that says why counted words do not fit a recipe, or an empty string if they fit.

    Words fit a recipe if the texts were split with the same choices.
    """
    mine = json.loads(head.splitting)
    its = json.loads(splitting_by(recipe))
    for choice in sorted({*mine, *its}):
        if mine.get(choice) != its.get(choice):
            return (
                f"{name} was counted with {choice.replace('_', ' ')} {_shown(mine.get(choice))}, but the recipe "
                f"has {_shown(its.get(choice))}. Choose the same value, or count the texts again."
            )
    return ""


def _shown(value: Any) -> str:
    said = "the default" if value is None else json.dumps(value, ensure_ascii=False)
    return said if len(said) <= 60 else f"{said[:60]} …"
