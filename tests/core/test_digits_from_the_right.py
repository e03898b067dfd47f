"""Tests of the pattern that groups digits in threes from the right.

It splits all text except numbers in the same way as the pattern cl100k.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bpe_core as bpe
from bpe_core.command_line.main import run
from bpe_core.counting.count_words import count_unmixed
from bpe_core.formats import write_history
from bpe_core.recipes.recipe import Recipe
from bpe_core.splitting.splitter import part_without_table, split_words
from bpe_core.text.corpus import Corpus
from bpe_core.text.patterns import SPELLED_OUT

RECIPE, OTHER = Recipe.preset("gpt2", pattern="digits-right"), Recipe.preset("cl100k")


@given(st.text("0123456789٣", max_size=20))
def test_the_digits_right_pattern_splits_a_number_into_groups_of_three_from_the_right(digits: str) -> None:
    first = len(digits) % 3
    groups = [digits[:first], *(digits[place : place + 3] for place in range(first, len(digits), 3))]
    assert list(split_words(digits, RECIPE)) == [group for group in groups if group]


@given(st.text("ab 1234.,'\n\tÄ漢s", max_size=40))
def test_the_digits_right_pattern_splits_everything_except_digits_like_the_cl100k_pattern(text: str) -> None:
    ours, theirs = ([word for word in split_words(text, recipe) if not word.isdecimal()] for recipe in (RECIPE, OTHER))
    assert ours == theirs
    assert "".join(split_words(text, RECIPE)) == text


@pytest.mark.parametrize("by_kernels", [True, False])
@given(st.text("ab 0123456789٣²½.,'\n\tÄ漢s", max_size=60), st.sampled_from(["file", "line"]))
def test_counting_and_splitting_with_the_digits_right_pattern_give_the_same_words(
    by_kernels: bool, text: str, unit: str
) -> None:
    """The scanner counts numbers as whole words. The counter splits the numbers afterwards."""
    assert not part_without_table(RECIPE)
    recipe = RECIPE.with_changes(unit=unit)
    words = Counter(word.encode() for word in split_words(text, recipe))
    assert list(count_unmixed(Corpus.from_texts([text]), recipe, by_kernels=by_kernels)) == list(words.items())


def test_the_digits_right_pattern_is_stored_as_an_expression_and_selected_by_its_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (RECIPE.pattern, RECIPE.custom_pattern) == ("custom", SPELLED_OUT["digits-right"].expression)
    assert Recipe.from_json(RECIPE.to_json()) == RECIPE
    (tmp_path / "a.txt").write_text("1234567 1234567 234567 567\n" * 3)
    arguments = ["--pattern", "digits-right", "--merges", "4", "--quiet"]
    assert run(["train", str(tmp_path / "a.txt"), *arguments]) == 0
    assert "56 + 7 → 567" in capsys.readouterr().out


def test_numbers_split_by_the_digits_right_pattern_get_the_same_ids_in_the_tokenizers_library(tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    study = bpe.train(["1234567 was 234567, 567 of 1,234,567; it's 12345678 12 in 2024\n\n"] * 3, RECIPE, merges=30)
    write_history(study.history, tmp_path / "tokenizer.json")
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    for text in ("1234567 567 12 1234 it's  9876543210\n 1", "a1b22c333d4444e55555"):
        assert theirs.encode(text).ids == study.encode(text)
