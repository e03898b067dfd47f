"""Runs of words, and the ordinary words inside them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bpe_core.counting.words import WordTable
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.arrays import Int32s, Int64s
from bpe_core.text.splitting import Splitter

BLANK = b" "
COLON = b": "


def within(recipe: Recipe) -> Recipe:
    """Return the recipe of the first stage, by which a run of words is split."""
    return recipe.with_changes(method="bpe", pattern=recipe.words_by, special_tokens=(), whole_characters=False)


def forbidden(text: bytes, recipe: Recipe) -> str:
    """Say what a superword with this text would do that the recipe does not allow; nothing if it may be one.

    >>> forbidden(b"by the: way", Recipe.preset("superbpe")), forbidden(b"by the way", Recipe.preset("superbpe"))
    ('hold a colon and the space behind it', '')
    """
    if COLON in text and not recipe.past_colons:
        return "hold a colon and the space behind it"
    if recipe.most_words is not None and sum(map(bool, text.split(BLANK))) > recipe.most_words:
        return f"hold more than {recipe.most_words} words"
    return ""


class Inside(NamedTuple):
    """The ordinary words of all runs with their counts, in first-seen order; and run by run, which of them it holds."""

    words: WordTable
    rows: Int32s
    first: Int64s  # where those of each run begin, and the end

    @property
    def starts(self) -> Int64s:
        """Where each of them begins in the runs, which lie end to end."""
        lengths = np.diff(self.words.starts)[self.rows]
        starts: Int64s = np.cumsum(lengths) - lengths
        return starts


def inside_of(words: WordTable, recipe: Recipe) -> Inside:
    split, counts, number = Splitter(within(recipe)).words, dict[str, int](), dict[str, int]()
    rows, first = list[int](), [0]
    for run, count in words:
        for word in split(run.decode()):
            counts[word] = counts.get(word, 0) + count
            rows.append(number.setdefault(word, len(number)))
        first.append(len(rows))
    return Inside(WordTable.from_counts(counts), np.array(rows, np.int32), np.array(first, np.int64))


def words_inside(words: WordTable, recipe: Recipe) -> WordTable:
    return inside_of(words, recipe).words
