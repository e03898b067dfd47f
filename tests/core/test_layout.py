"""Tests of the arrays that store the symbols of words.

Each word has the symbols that the alphabet assigns to it.
"""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings

import bpe_core.counting.words
import bpe_core.methods.kit.layout
from bpe_core.counting.words import WordTable
from bpe_core.history.alphabet import Alphabet
from bpe_core.methods.kit.layout import SEPARATOR, lay_out
from bpe_core.recipes.recipe import Recipe
from tests.conftest import EXAMPLES
from tests.core.random_training import recipes, words

SMALL = 5  # bytes looked at together; no character is longer


@given(words=words(), recipe=recipes())
@settings(max_examples=3 * EXAMPLES)
def test_the_symbols_stored_for_each_word_are_those_that_the_alphabet_assigns(words: WordTable, recipe: Recipe) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bpe_core.counting.words, "PART", SMALL)
        patch.setattr(bpe_core.methods.kit.layout, "WORDS_AT_ONCE", 2)
        patch.setattr(bpe_core.methods.kit.layout, "PARTS_A_THREAD", 1)
        alphabet = Alphabet.for_words(words, recipe)
        layout = lay_out(words, alphabet, recipe)
    expected, tokens = [SEPARATOR], 0
    for word, count in words:
        ids = alphabet.symbols_of(word, recipe)
        tokens += count * len(ids)
        kept = [id if alphabet.symbols[id].merges else SEPARATOR for id in ids]
        if alphabet.first_fallback_id is None:
            expected += [*kept, SEPARATOR]
    if alphabet.first_fallback_id is None:  # otherwise an unknown character is one cell but several tokens
        assert layout.symbols.tolist() == expected
        assert [layout.symbols[start - 1] for start in layout.starts.tolist()] == [SEPARATOR] * (len(words) + 1)
    assert layout.tokens == tokens


@given(words=words())
def test_an_alphabet_with_a_limit_keeps_the_most_frequent_characters(words: WordTable) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bpe_core.counting.words, "PART", SMALL)
        alphabet = Alphabet.for_words(words, Recipe(base="characters", alphabet_limit=2, pattern="whitespace"))
    counts: Counter[str] = Counter()
    for word, count in words:
        for character in word.decode():
            counts[character] += count
    best = sorted(counts, key=lambda character: (-counts[character], character))[:2]
    assert [symbol.text.decode() for symbol in alphabet.symbols if symbol.kind == "character"] == sorted(best)


@given(words=words())
def test_a_word_table_returns_the_code_points_and_the_character_lengths_of_its_words(words: WordTable) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bpe_core.counting.words, "PART", SMALL)
        parts = [part.tolist() for part in words.code_points()]
    text = b"".join(word for word, _ in words).decode()
    assert "".join(chr(code) for part in parts for code in part) == text
    lengths = [len(word.decode()) for word, _ in words]
    assert words.lengths_in_characters().tolist() == lengths
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bpe_core.counting.words, "LONG_WORDS", 0)  # as if all words were long
        assert words.lengths_in_characters().tolist() == lengths
