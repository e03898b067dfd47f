"""Runs of words, and the ordinary words inside them."""

from __future__ import annotations

from bpe_core.counting.words import WordTable
from bpe_core.recipes.recipe import Recipe
from bpe_core.text.splitting import Splitter

BLANK = b" "
COLON = b": "


def within(recipe: Recipe) -> Recipe:
    """Return the recipe of the first stage, by which a run of words is split."""
    return recipe.with_changes(method="bpe", pattern=recipe.words_by, special_tokens=(), whole_characters=False)


def words_inside(words: WordTable, recipe: Recipe) -> WordTable:
    """Return the ordinary words of all runs with their counts, in first-seen order."""
    split, counts = Splitter(within(recipe)).words, dict[str, int]()
    for run, count in words:
        for word in split(run.decode()):
            counts[word] = counts.get(word, 0) + count
    return WordTable.from_counts(counts)
