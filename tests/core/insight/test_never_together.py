"""Tests of the class that decides whether two tokens can be neighbours in a text.

If the verdict on a pair is "never", no short text contains this pair.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise, product
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bpe_core as bpe
from bpe_core.formats import open_table
from bpe_core.insight.characters_by_bytes import CharactersByBytes
from bpe_core.insight.never_together import PairsInTexts, drawn_pairs
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.segmenting.batches import Batch
from bpe_core.verification.sampling import HARD_TEXTS
from tests.conftest import EXPLORES
from tests.core.formats.hugging_face_tokenizers import KINDS, sentencepiece_model
from tests.shared import text_of


@pytest.mark.parametrize(
    ("preset", "letters", "learned"),
    [
        ("raw-bytes", "ab", "aab abab aaab bbaa aabb"),
        ("gpt2", "a '", "a aa aaa aa' 'aa a' '' aa  a"),
        ("gpt2", "s'a", "as's as 'sa sas ss'a 's's"),
    ],
)
def test_the_check_for_possible_neighbours_agrees_with_a_search_through_all_short_texts(
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
def test_neighbour_checks_of_a_character_tokenizer_agree_with_testing_every_short_text(
    preset: str, choices: dict[str, Any], letters: str, learned: str
) -> None:
    study = bpe.train(learned, preset, merges=6, min_frequency=1, **choices)
    kinds = kinds_of_pairs(study, letters, [*range(study.history.first_special)])
    assert {"never", "together"} <= kinds
    assert PairsInTexts(study.inside.by_index.tokenizer).why_not_proved in ("", CHANGED)


@pytest.mark.parametrize("base", ["bytes", "characters"])
def test_tokens_of_two_words_are_neighbours_if_the_pattern_drops_the_space_between_them(base: str) -> None:
    study = bpe.train("ab ab abc", "gpt2", merges=1, pattern="whitespace", base=base, min_frequency=1)
    a, b = study.encode("a b")
    by_index = study.inside.by_index
    verdict = PairsInTexts(by_index.tokenizer).verdict(by_index.of_number(a), by_index.of_number(b))
    assert (verdict.kind, verdict.text) == ("together", "a b")


def test_the_canonical_question_says_if_pairs_were_only_searched_in_sample_texts() -> None:
    text = "the low lower lowest of the lower the lowest of the low " * 5
    study = bpe.train(text, "superbpe", vocab_size=300, transition=30)
    assert (
        "do not show whether the tokens can be neighbours"
        in PairsInTexts(study.inside.by_index.tokenizer).why_not_proved
    )
    answer = bpe.canonical(study, drawn=300)
    assert ("not found" in answer.facts["pairs"]) == ("only looked for in sample texts" in answer.sentences[-1])


LEARNED = "ab ab aab abb ba bab aabb abab ba b a " * 3
MARKED: dict[str, dict[str, Any]] = {
    "sentencepiece-like": {"vocab_size": 14, "unknown": "unk"},
    "wordpiece": {"vocab_size": 14},
    "unigram": {"vocab_size": 9},
    "mingram": {"vocab_size": 9},
    "best": {"vocab_size": 9},
}


@pytest.mark.parametrize("preset", MARKED)
def test_neighbour_checks_with_word_markers_agree_with_testing_every_short_text(
    preset: str,
) -> None:
    study = bpe.train(LEARNED, preset, **{"min_frequency": 1, **MARKED[preset]})
    kinds = kinds_of_pairs(study, "ab ", [*range(study.history.first_special)])
    assert {"never", "together"} <= kinds
    assert PairsInTexts(study.inside.by_index.tokenizer).why_not_proved in ("", CHANGED)


CHANGED = (
    "Some pairs are only looked for in sample texts, because a text is changed before it is split, and it is not known "
    "which texts can be the result."
)
FILES: dict[str, Callable[[], bytes]] = {
    **{name: lambda make=make: json.dumps(make()).encode() for name, make in KINDS.items()},  # type: ignore[misc]
    "SentencePiece bpe": lambda: sentencepiece_model("bpe"),
    "SentencePiece bpe with bytes": lambda: sentencepiece_model("bpe", byte_fallback=True),
    "SentencePiece unigram": lambda: sentencepiece_model("unigram"),
    "SentencePiece unigram with bytes": lambda: sentencepiece_model("unigram", byte_fallback=True),
    "SentencePiece word": lambda: sentencepiece_model("word"),
}
SIGNS = "ab '#!<>s\n\t 1A\u05ce\u0e43é日½"


@pytest.mark.parametrize("kind", FILES)
def test_pairs_reported_as_impossible_neighbours_do_not_occur_in_any_tested_text(kind: str, tmp_path: Path) -> None:
    file = tmp_path / ("a.model" if kind.startswith("SentencePiece") else "tokenizer.json")
    file.write_bytes(FILES[kind]())
    tokenizer = Tokenizer(open_table(file).history)
    texts = some_texts(tokenizer)
    neighbours = neighbours_in(tokenizer.encode_batch(texts))
    neighbours |= neighbours_in(tokenizer.encode_batch(texts, allowed_special="all"))
    pairs = PairsInTexts(tokenizer)
    drawn = Random(3).sample(sorted(neighbours), 300 if EXPLORES else 60)
    wrong = [pair for pair in drawn if pairs.verdict(*pair).kind == "never"]
    assert wrong == []


def neighbours_in(batch: Batch) -> set[tuple[int, int]]:
    ids = batch.ids.tolist()
    return {pair for start, stop in pairwise(batch.offsets.tolist()) for pair in pairwise(ids[start:stop])}


def some_texts(tokenizer: Tokenizer) -> list[str]:
    """Return hard texts, random texts of few characters, and texts put together from random tokens."""
    chance = Random(5)
    number = 1_500 if EXPLORES else 500
    raws = [tokenizer.token_bytes(index) for index in tokenizer.history.vocabulary.tolist()]
    joined = [b"".join(chance.choices(raws, k=chance.randint(2, 4))).decode(errors="ignore") for _ in range(number)]
    return [*HARD_TEXTS, *joined, *("".join(chance.choices(SIGNS, k=6)) for _ in range(number))]


@pytest.mark.parametrize("kind", ["llama 2", "mistral", "gemma", "gpt neox", "bert", "roberta"])
def test_the_neighbour_check_gives_an_answer_for_nearly_all_token_pairs_of_published_tokenizers(
    kind: str, tmp_path: Path
) -> None:
    (tmp_path / "tokenizer.json").write_bytes(FILES[kind]())
    tokenizer = Tokenizer(open_table(tmp_path / "tokenizer.json").history)
    pairs = PairsInTexts(tokenizer)
    verdicts = [(pair, pairs.verdict(*pair)) for pair in drawn_pairs(tokenizer.history, 100)]
    assert sum(verdict.kind == "not found" for _, verdict in verdicts) <= 1
    for pair, verdict in verdicts:
        if verdict.text is not None:
            assert pair in [*pairwise(tokenizer.encode(verdict.text, allowed_special="all"))]


@given(st.binary(min_size=1, max_size=2), st.sets(st.characters(exclude_categories=["Cs"]), max_size=5))
def test_every_character_that_a_search_for_bytes_finds_contains_these_bytes(raw: bytes, known: set[str]) -> None:
    characters = CharactersByBytes(map(ord, known))
    firsts = [*characters.examples(raw)]
    assert all(sign.encode().startswith(raw) and sign not in known for sign in firsts)
    assert all(sign.encode().endswith(raw) for sign in characters.examples(raw, at_end=True))
    assert len(raw) > 1 or characters.can_begin(raw[0]) == bool(firsts)
    if len(raw) > 1:
        inside = [*characters.examples_with(raw)]
        assert all(raw in sign.encode() for sign in inside)
        together = characters.can_end(raw[0]) and characters.can_begin(raw[1])
        assert characters.can_meet(*raw) == (bool(inside) or together)


def kinds_of_pairs(study: bpe.Study, letters: str, tokens: list[int]) -> set[str]:
    """Check the verdict on each pair of `tokens` against all short texts of the characters in `letters`.

    Return the kinds of verdicts.
    """
    tokenizer = study.inside.by_index.tokenizer
    texts = ["".join(text) for length in range(1, 9) for text in product(letters, repeat=length)]
    neighbours = neighbours_in(tokenizer.encode_batch(texts))
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


def test_the_check_for_possible_neighbours_decides_nearly_all_pairs_of_tokens() -> None:
    study = bpe.train(text_of("prose"), "gpt2", vocab_size=500)
    pairs = PairsInTexts(study.inside.by_index.tokenizer)
    kinds = [pairs.verdict(*pair).kind for pair in drawn_pairs(study.history, 200)]
    assert kinds.count("not found") <= 4
    assert kinds.count("never") > 5
