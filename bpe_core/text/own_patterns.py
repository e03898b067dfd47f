"""What is to be said of a pattern of one's own before anything is split by it."""

from __future__ import annotations

from bpe_core.recipe import Recipe
from bpe_core.text.scanner import why_no_table


def why_slow(recipe: Recipe) -> str:
    """What of the recipe's own pattern only `regex` can do, which takes up to a hundred times as long; else nothing.

    >>> why_slow(Recipe(pattern="custom", custom_pattern=r"(\\w)\\1|\\w"))
    'a reference back to a group'
    """
    if recipe.pattern != "custom" or recipe.splits_by_steps:
        return ""
    return why_no_table(recipe.custom_pattern, recipe.unit)
