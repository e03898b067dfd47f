"""Tests of the question that changes random characters of a text and compares the ids before and after."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bpe_core as bpe
from bpe_core.measures.noise import changed_ids, edit_distance
from bpe_core.text.noise import KINDS, noisy

TEXT = "The café of the lighthouse, said Anna:\nnaïve waves and  eleven ships.\n"
IDS = st.lists(st.integers(0, 5), max_size=12)


@pytest.fixture(scope="module")
def study() -> bpe.Study:
    return bpe.train(TEXT * 3, "gpt2", vocab_size=300)


def plain_distance(before: list[int], after: list[int]) -> int:
    """Compute the Levenshtein distance in plain Python by filling the whole table."""
    table = [[row + column for column in range(len(after) + 1)] for row in range(len(before) + 1)]
    for row, before_id in enumerate(before, 1):
        for column, after_id in enumerate(after, 1):
            replaced = table[row - 1][column - 1] + (before_id != after_id)
            table[row][column] = min(table[row - 1][column] + 1, table[row][column - 1] + 1, replaced)
    return table[-1][-1]


@given(IDS, IDS)
def test_the_edit_distance_of_ids_matches_the_plain_python_algorithm(before: list[int], after: list[int]) -> None:
    assert edit_distance(np.array(before, np.int64), np.array(after, np.int64)) == plain_distance(before, after)


@given(IDS, IDS)
def test_ids_unchanged_by_noise_are_counted_as_the_intersection_of_two_multisets(
    before: list[int], after: list[int]
) -> None:
    changed = changed_ids([(np.array(before, np.int64), np.array(after, np.int64))])
    assert changed.common == sum((Counter(before) & Counter(after)).values())


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_noise_changes_the_text_and_is_repeatable_with_a_seed(kind: str) -> None:
    changed = noisy(TEXT, KINDS[kind], share=1.0, seed=4)
    assert changed != TEXT
    assert changed == noisy(TEXT, KINDS[kind], share=1.0, seed=4)
    assert noisy(TEXT, KINDS[kind], share=0.0, seed=4) == TEXT


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("no diacritics", "The cafe of the lighthouse, said Anna:\nnaive waves and  eleven ships.\n"),
        ("line ends", TEXT.replace("\n", "\r\n")),
        ("capitals", TEXT.upper()),
        ("missing spaces", "Thecaféofthelighthouse,saidAnna:\nnaïvewavesand  elevenships.\n"),
    ],
)
def test_noise_on_100_percent_of_a_text_changes_the_whole_text(kind: str, expected: str) -> None:
    assert noisy(TEXT, KINDS[kind], share=1.0, seed=0) == expected


def test_the_noise_question_counts_the_ids_of_the_changed_text(study: bpe.Study) -> None:
    answer = bpe.noise({"ours": study}, share=1.0, seed=2)
    rows = {row["kind"]: row for row in answer.table.records()}
    assert rows["capitals"]["noisy_tokens"] == len(study.encode((TEXT * 3).upper()))
    assert rows["capitals"]["tokens"] == len(study.encode(TEXT * 3))
    assert answer.figure is not None
    assert [bar.name for bar in answer.figure.bars] == list(KINDS)  # type: ignore[attr-defined]


def test_the_noise_question_changes_the_text_in_the_same_way_for_all_tokenizers(study: bpe.Study) -> None:
    studies = {"ours": study, "letters": study.at(0), "again": study}
    answer = bpe.noise(studies)
    assert list(answer.table.columns["tokenizer"]) == [name for name in studies for _ in KINDS]
    rows = [{**row, "tokenizer": ""} for row in answer.table.records()]
    assert rows[: len(KINDS)] == rows[-len(KINDS) :]
    assert answer.table.records() == bpe.noise(studies).table.records()


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [({"share": 0.0}, "above 0"), ({"share": 2.0}, "at most 1"), ({"characters": 0}, "characters must be at least 1")],
)
def test_impossible_noise_options_are_refused_with_an_error_message(
    study: bpe.Study, wrong: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(bpe.BpeError, match=sentence):
        bpe.noise({"ours": study}, **wrong)


def test_the_noise_question_refuses_empty_texts_with_an_error_message(study: bpe.Study) -> None:
    with pytest.raises(bpe.BpeError, match="nothing to change"):
        bpe.noise({"ours": study.with_texts([""])})
