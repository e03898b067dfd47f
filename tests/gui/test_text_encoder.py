"""When a text has to be encoded as a whole, and when a part will do."""

from __future__ import annotations

from app.window.text.encoder import _are_the_same
from bpe_core import History, Recipe, WordTable
from bpe_core.alphabet import Alphabet


def nothing_learned(recipe: Recipe, counts: dict[str, int]) -> History:
    return History.from_pairs(recipe, Alphabet.for_words(WordTable.from_counts(counts), recipe), [])


def test_a_run_with_other_characters_gives_other_tokens_before_its_first_merge() -> None:
    recipe = Recipe.preset("words")
    nobody, low, again = (nothing_learned(recipe, counts) for counts in ({}, {"low": 1}, {"low": 2}))
    assert not _are_the_same(low, nobody)
    assert not _are_the_same(nobody, low)
    assert _are_the_same(low, again)
    assert not _are_the_same(low, None)
