"""Tests of run titles: if runs have the same name, their titles say how they differ."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from bpe_core.recipes.recipe import Recipe
from bpe_core.recipes.run_titles import title_among


@dataclass
class LearnedRun:
    number: int
    recipe: Recipe
    parent: int | None = None


RUNS = [
    LearnedRun(1, Recipe.preset("gpt2", vocab_size=512)),
    LearnedRun(2, Recipe.preset("gpt2", merges=160)),
    LearnedRun(3, Recipe.preset("gpt2", vocab_size=300)),
]


@pytest.mark.parametrize(
    ("runs", "titles"),
    [
        (RUNS[:1], ["gpt2"]),
        (RUNS[:2], ["gpt2, vocabulary 512", "gpt2, steps 160"]),
        (RUNS[::2], ["gpt2, vocabulary 512", "gpt2, vocabulary 300"]),
    ],
)
def test_run_titles_differ_by_vocabulary_size_or_number_of_steps_as_given_in_the_recipe(
    runs: list[LearnedRun], titles: list[str]
) -> None:
    assert [title_among(run, runs, lambda run, id: "") for run in runs] == titles
