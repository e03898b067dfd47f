"""Tests of the counts and curves that a history stores. Counting again in plain Python gives the same values."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_core.counting.words import WordTable
from bpe_core.history.alphabet import Alphabet, Symbol
from bpe_core.history.history import NOTHING, History
from bpe_core.methods.bpe import reference as reference
from bpe_core.recipes.recipe import Recipe
from tests.core.random_training import merge_tables
from tests.shared import available_texts, text_of


@pytest.mark.parametrize("merges", [0, 1, 2, 7, 40])
@pytest.mark.parametrize("text", ["aaaa aaa aaaaaaa abab ababab", "the lowest price is lower than the last one"])
def test_token_counts_at_a_step_match_the_tokens_of_the_encoded_words(text: str, merges: int) -> None:
    words = WordTable.from_counts(Counter(text.split()))
    recipe = Recipe.preset("raw-bytes", vocab_size=None, merges=40)
    history = reference.train(words, recipe)
    merges = min(merges, len(history))
    symbols = np.bincount(words.text, weights=np.repeat(words.counts, np.diff(words.starts)), minlength=256)
    plain: Counter[int] = Counter()
    for word, count in words:
        for token in reference.encode_word(word, history, at=merges):
            plain[token] += count
    counted = history.first(merges).token_counts(symbols.astype(np.int64))
    assert {token: count for token, count in enumerate(counted.tolist()) if count} == dict(plain)


@pytest.mark.parametrize("name", available_texts("poem", "data/raven.txt"))
def test_the_compression_curve_of_a_history_never_falls(name: str) -> None:
    words = WordTable.from_counts(Counter(text_of(name).split()))
    history = reference.train(words, Recipe.preset("raw-bytes", vocab_size=None, merges=60))
    curve = history.compression
    assert len(curve) == 61
    assert curve[0] == 1
    assert curve[-1] == history.tokens_at_start / history.columns.tokens_left[-1]
    assert (np.diff(curve) >= 0).all()


def a_history_that_drops() -> History:
    """Make a history that starts with the pieces ab (256) and bc (257), joins ab+c, drops bc, and joins abc+ab."""
    seeds = [Symbol(text, text, "seed") for text in (b"ab", b"bc")]
    alphabet = Alphabet((*Alphabet.of_bytes().symbols, *seeds))
    recipe = Recipe.preset("raw-bytes", special_tokens=("<end>",))
    return History.from_pairs(recipe, alphabet, [(256, 99), (257, NOTHING), (258, 256)])


def test_a_dropped_token_keeps_its_index_and_leaves_the_vocabulary() -> None:
    history = a_history_that_drops()
    assert [(step.index, step.right == NOTHING) for step in history] == [(258, False), (257, True), (259, False)]
    assert (history.first_special, history.index_count) == (260, 261)
    assert [history.vocabulary_size_at(steps) for steps in range(5)] == [259, 260, 259, 260, 260]
    assert history.vocabulary.tolist() == [*range(257), 258, 259]
    assert history.first(1).only_joins
    assert history.first(1).vocabulary.tolist() == [*range(259)]


def test_a_history_gives_the_step_and_the_parts_and_the_children_of_each_token() -> None:
    history = a_history_that_drops()
    assert history.pairs() == [(256, 99), (258, 256)]
    assert history.pairs(1) == [(258, 256)]
    assert history.ranks_within([256, 99]) == {(256, 99): 0, (258, 256): 2}  # no dictionary is made yet
    assert history.ranks_within([97, 99, 256]) == {(256, 99): 0, (258, 256): 2}
    assert history.ranks_within([256, 98]) == {}
    assert history.ranks() == {(256, 99): 0, (258, 256): 2}
    assert [history.row_of(token) for token in (255, 257, 258, 259, 260)] == [None, None, 0, 2, None]
    assert [history.parts(token) for token in (257, 259)] == [None, (258, 256)]
    assert history.children(256) == [258, 259]
    assert history.children(257) == []
    assert history.symbols_of(259) == [256, 99, 256]
    assert history.of_steps(range(260), 1) == [257, 259]


@given(history=merge_tables(), chosen=st.sets(st.integers(0, 300), max_size=6))
def test_the_ranks_of_pairs_within_a_word_equal_those_in_the_dictionary_of_all_ranks(
    history: History, chosen: set[int]
) -> None:
    symbols = [id % len(history.alphabet) for id in chosen]
    found = history.ranks_within(symbols)
    of_word = {*symbols}
    for row, pair in enumerate(history.pairs()):
        if of_word.issuperset(pair):
            of_word.add(len(history.alphabet) + row)
    assert found == {pair: row for pair, row in history.ranks().items() if of_word.issuperset(pair)}
    assert history.ranks_within(symbols) is history.ranks()
