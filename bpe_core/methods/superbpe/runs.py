"""Functions that find the ordinary words in a run of words, and the superwords that a recipe forbids."""

from __future__ import annotations

from bpe_core.methods.registry import USUAL
from bpe_core.recipes.recipe import Recipe

BLANK = b" "
COLON = b": "


def first_stage_recipe(recipe: Recipe) -> Recipe:
    """Return the recipe of the first stage, which splits a run of words into ordinary words."""
    return recipe.with_changes(method=USUAL, pattern=recipe.words_by, special_tokens=(), whole_characters=False)


def forbidden_content(text: bytes, recipe: Recipe) -> str:
    """Return the reason why the recipe forbids a superword with this text.

    The reason completes a sentence like "A superword must not ...". Return an empty string if the text is allowed.

    >>> [forbidden_content(text, Recipe.preset("superbpe")) for text in (b"by the: way", b"by the way")]
    ['hold a colon and the space after it', '']
    """
    if COLON in text and not recipe.past_colons:
        return "hold a colon and the space after it"
    if recipe.most_words is not None and sum(map(bool, text.split(BLANK))) > recipe.most_words:
        return f"hold more than {recipe.most_words} words"
    return ""
