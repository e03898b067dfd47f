"""What a history tells of its corpus agrees with plain recounts."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from bpe_core import Recipe, WordTable, reference
from tests.shared import here, text_of


@pytest.mark.parametrize("merges", [0, 1, 2, 7, 40])
@pytest.mark.parametrize("text", ["aaaa aaa aaaaaaa abab ababab", "the lowest price is lower than the last one"])
def test_token_counts_agree_with_encoding_every_word(text: str, merges: int) -> None:
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


@pytest.mark.parametrize("name", here("poem", "data/raven.txt"))
def test_compression_never_falls_and_ends_where_the_history_does(name: str) -> None:
    words = WordTable.from_counts(Counter(text_of(name).split()))
    history = reference.train(words, Recipe.preset("raw-bytes", vocab_size=None, merges=60))
    curve = history.compression
    assert len(curve) == 61
    assert curve[0] == 1
    assert curve[-1] == history.tokens_at_start / history.columns.tokens_left[-1]
    assert (np.diff(curve) >= 0).all()
