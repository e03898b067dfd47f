"""Tests of the verdicts on pairs of tokens: no short text contains a pair that is never together."""

from __future__ import annotations

from itertools import pairwise, product

import pytest

import bpe_core as bpe
from bpe_core.insight.never_together import PairsInTexts, drawn_pairs
from tests.shared import text_of


@pytest.mark.parametrize(
    ("preset", "letters", "learned"),
    [
        ("raw-bytes", "ab", "aab abab aaab bbaa aabb"),
        ("gpt2", "a '", "a aa aaa aa' 'aa a' '' aa  a"),
        ("gpt2", "s'a", "as's as 'sa sas ss'a 's's"),
    ],
)
def test_the_check_whether_two_tokens_can_be_neighbours_agrees_with_all_short_texts(
    preset: str, letters: str, learned: str
) -> None:
    study = bpe.train(learned, preset, merges=7, min_frequency=1)
    tokenizer = study.inside.by_index.tokenizer
    texts = ["".join(text) for length in range(1, 9) for text in product(letters, repeat=length)]
    batch = tokenizer.encode_batch(texts)
    neighbours = {
        pair for start, stop in pairwise(batch.offsets.tolist()) for pair in pairwise(batch.ids[start:stop].tolist())
    }
    tokens = [*map(ord, letters), *range(256, study.vocab_size)]
    pairs = PairsInTexts(tokenizer)
    kinds = set()
    for pair in product(tokens, repeat=2):
        verdict = pairs.verdict(*pair)
        kinds.add(verdict.kind)
        assert not (verdict.kind == "never" and pair in neighbours), (pair, verdict)
        if verdict.kind == "together":
            assert verdict.text is not None
            assert pair in [*pairwise(tokenizer.encode(verdict.text))]
        if verdict.kind == "not found":
            assert pair not in neighbours, pair
    assert {"never", "together"} <= kinds


def test_the_check_whether_two_tokens_can_be_neighbours_decides_nearly_all_pairs() -> None:
    study = bpe.train(text_of("prose"), "gpt2", vocab_size=500)
    pairs = PairsInTexts(study.inside.by_index.tokenizer)
    kinds = [pairs.verdict(*pair).kind for pair in drawn_pairs(study.history, 200)]
    assert kinds.count("not found") <= 4
    assert kinds.count("never") > 5
