"""Tests of the question about tokens that differ only by a leading space or capital letters.

The answers are compared with the tokens that a search in plain Python finds.
"""

from __future__ import annotations

from collections import Counter

import pytest

import bpe_core as bpe
from bpe_core.questions.twins import Twins
from bpe_core.recipes.recipe import Recipe

SIZES = {"gpt2": 320, "unigram": 38, "sentencepiece-like": 320}
TEXT = ["The the THE the the. The dog, the Dog, a dog; DOG dogs 12 12 12. Ünder ünder under über Über (the (the"] * 3


@pytest.mark.parametrize("preset", ["gpt2", "sentencepiece-like", "bert", "unigram"])
def test_the_twins_question_finds_the_same_families_of_tokens_as_plain_python(preset: str) -> None:
    recipe = Recipe.preset(preset, vocab_size=SIZES.get(preset, 60), min_frequency=1)
    if preset == "bert":
        recipe = recipe.with_changes(lowercase=False, strip_accents=False)
    study = bpe.train(TEXT, recipe)
    for at in (0, len(study.history) // 2, len(study.history)):
        answer = Twins(at).answer(study)
        texts = {}
        for id in study.history.first(at).vocabulary.tolist():
            name = study.inside.by_index.texts.text[id].replace("␣", " ").replace("▁", " ").removeprefix("##")
            if id < study.history.first(at).first_special and name not in (" ", "<unk>", "[UNK]"):
                texts[id] = name
        assert at == 0 or preset != "gpt2" or any(text.startswith(" ") for text in texts.values())
        keys = Counter(text.removeprefix(" ").lower() for text in texts.values() if "<0x" not in text)
        expected = {key: count for key, count in keys.items() if count > 1}
        forms = {str(row["family"]): int(row["forms"]) for row in answer.table.records()}
        assert forms == expected
        assert answer.facts == {"tokens": sum(expected.values()), "places": sum(expected.values()) - len(expected)}


def test_the_twins_question_lists_the_forms_of_a_word() -> None:
    study = bpe.train(TEXT, "gpt2", vocab_size=300, min_frequency=1)
    row = next(row for row in Twins().answer(study).table.records() if row["family"] == "the")
    assert {"the", "The", "␣the"} <= set(str(row["texts"]).split())
    ids = [int(id) for id in str(row["ids"]).split()]
    assert [study.decode([id]).removeprefix(" ").lower() for id in ids] == ["the"] * int(row["forms"])
