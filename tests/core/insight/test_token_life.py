"""Tests of the number of uses of a token over time.

For every method, this number must equal the count of the token in the encoded corpus.
"""

from __future__ import annotations

import pytest

from bpe_core.counting.count_words import count_words
from bpe_core.counting.words import WordTable
from bpe_core.history.history import History
from bpe_core.insight.token_life import use_by_joining, use_by_splitting
from bpe_core.methods.kit.layout import count_symbols
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.methods.kit.trainer import learn
from bpe_core.methods.registry import METHODS
from bpe_core.recipes.presets import PRESETS
from bpe_core.recipes.recipe import Recipe
from bpe_core.text.corpus import Corpus
from tests.core.learning import with_two_languages

TEXT = "the lowest price is lower than the last one, and the lowest of the low is the lowest. " * 2


def learn_by_method(method: str) -> tuple[WordTable, History]:
    name = next(name for name in PRESETS if Recipe.preset(name).method == method)
    recipe = Recipe.preset(name, min_frequency=2, merges=25)
    words = with_two_languages(count_words(Corpus.from_texts([TEXT]), recipe))
    return words, learn(words, recipe)


def count_at(curve: tuple[tuple[int, int], ...], at: int) -> int:
    return next((count for step, count in reversed(curve) if step <= at), 0)


def test_the_use_count_of_a_dropped_token_matches_its_count_in_the_encoded_words() -> None:
    words, history = learn_by_method("unigram")
    tokenizer = Tokenizer(history)
    for token in [*history.indices[::6].tolist(), *history.vocabulary[3:40:5].tolist()]:
        for at in (0, 9, len(history)):
            cut = {word: tokenizer.encode(word.decode(), at=at).count(token) * times for word, times in words}
            use = use_by_splitting(words, history, token, at)
            assert count_at(use.curve, at) == sum(cut.values())
            assert dict(use.words) == {word: times for word, times in cut.items() if times}
        dropped = history.row_of_drop(token)
        if dropped is not None:
            assert count_at(use.curve, dropped + 1) == 0
            assert sum(times for _, times in use.words_at_step) == history.columns.count[dropped]


@pytest.mark.parametrize("method", [name for name in METHODS if name not in ("unigram", "mingram", "best", "picky")])
def test_the_computed_uses_of_a_token_match_its_count_after_each_merge(method: str) -> None:
    words, history = learn_by_method(method)
    symbols = count_symbols(words, history.alphabet, history.recipe)
    for at in (0, 1, 7, len(history)):
        counts = history.first(at).token_counts(symbols)
        for token, count in enumerate(counts.tolist()):
            at_first = int(symbols[token]) if token < len(symbols) else 0
            assert count_at(use_by_joining(history, token, at_first), at) == count
