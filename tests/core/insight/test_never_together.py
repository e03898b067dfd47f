"""Tests of the verdicts on pairs of tokens: no short text contains a pair that is never together."""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any

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
    kinds = kinds_of_pairs(study, letters, [*map(ord, letters), *range(256, study.vocab_size)])
    assert {"never", "together"} <= kinds


@pytest.mark.parametrize(
    ("preset", "choices", "letters", "learned"),
    [
        ("gpt2", {"base": "characters"}, "ab x", "aab abab aaab bbaa aabb ab"),  # x is unknown
        ("clean-words", {}, "ab ", "aab abab aaab bbaa aabb ab"),
        ("gpt2", {"base": "characters"}, "a '", "a aa aaa aa' 'aa a' '' aa  a"),
    ],
)
def test_pairs_of_tokenizers_of_characters_are_decided_in_agreement_with_all_short_texts(
    preset: str, choices: dict[str, Any], letters: str, learned: str
) -> None:
    study = bpe.train(learned, preset, merges=6, min_frequency=1, **choices)
    kinds = kinds_of_pairs(study, letters, [*range(study.history.first_special)])
    assert {"never", "together"} <= kinds
    assert PairsInTexts(study.inside.by_index.tokenizer).can_prove


@pytest.mark.parametrize("base", ["bytes", "characters"])
def test_tokens_of_two_words_are_neighbours_if_the_pattern_drops_the_space_between_them(base: str) -> None:
    study = bpe.train("ab ab abc", "gpt2", merges=1, pattern="whitespace", base=base, min_frequency=1)
    a, b = study.encode("a b")
    by_index = study.inside.by_index
    verdict = PairsInTexts(by_index.tokenizer).verdict(by_index.of_number(a), by_index.of_number(b))
    assert (verdict.kind, verdict.text) == ("together", "a b")


def test_pairs_of_a_tokenizer_without_proofs_are_said_to_be_looked_for_in_samples() -> None:
    study = bpe.train("low lower lowest newer wider " * 5, "wordpiece", vocab_size=40)
    assert not PairsInTexts(study.inside.by_index.tokenizer).can_prove
    assert "only looked for in sample texts" in bpe.canonical(study, drawn=50).sentences[-1]


def kinds_of_pairs(study: bpe.Study, letters: str, tokens: list[int]) -> set[str]:
    """Check the verdict on each pair of tokens against all short texts of these letters. Return the kinds of
    verdicts."""
    tokenizer = study.inside.by_index.tokenizer
    texts = ["".join(text) for length in range(1, 9) for text in product(letters, repeat=length)]
    batch = tokenizer.encode_batch(texts)
    neighbours = {
        pair for start, stop in pairwise(batch.offsets.tolist()) for pair in pairwise(batch.ids[start:stop].tolist())
    }
    pairs = PairsInTexts(tokenizer)
    kinds: set[str] = set()
    for pair in product(tokens, repeat=2):
        verdict = pairs.verdict(*pair)
        kinds.add(verdict.kind)
        assert not (verdict.kind == "never" and pair in neighbours), (pair, verdict)
        if verdict.kind == "together":
            assert verdict.text is not None
            assert pair in [*pairwise(tokenizer.encode(verdict.text))]
        if verdict.kind == "not found":
            assert pair not in neighbours, pair
    return kinds


def test_the_check_whether_two_tokens_can_be_neighbours_decides_nearly_all_pairs() -> None:
    study = bpe.train(text_of("prose"), "gpt2", vocab_size=500)
    pairs = PairsInTexts(study.inside.by_index.tokenizer)
    kinds = [pairs.verdict(*pair).kind for pair in drawn_pairs(study.history, 200)]
    assert kinds.count("not found") <= 4
    assert kinds.count("never") > 5
