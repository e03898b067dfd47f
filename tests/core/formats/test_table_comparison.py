"""Tests of the comparison of two tables: it reports the first different merge, the cause, and texts that the tables
split differently.
"""

from __future__ import annotations

from typing import Any

from bpe_core.history.history import History
from bpe_core.insight.table_comparison import compare_tables
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.recipes.recipe import Recipe
from bpe_core.text.corpus import Corpus
from tests.core.learning import train

TEXT = "the lowest price is lower than the last one, and the lower the better, is it not? thin then that\n" * 3


def learn_table(text: str = TEXT, **choices: Any) -> History:
    return train(Corpus.from_texts([text]), Recipe.preset("gpt2", **{"merges": 40, **choices}))


def without_counts(history: History) -> History:
    pairs = zip(history.columns.left.tolist(), history.columns.right.tolist(), strict=True)
    return History.from_pairs(history.recipe, history.alphabet, list(pairs))


def test_comparing_a_table_with_itself_finds_no_difference() -> None:
    comparison = compare_tables(learn_table(), learn_table())
    assert (comparison.first, comparison.cause, comparison.differing) == (None, "none", [])
    assert comparison.only_in_first == comparison.only_in_second == []


def test_comparing_a_table_with_its_own_first_merges_reports_only_the_different_length() -> None:
    comparison = compare_tables(learn_table(), learn_table(merges=10))
    assert (comparison.first, comparison.cause, comparison.merges) == (None, "length", (40, 10))
    assert len(comparison.only_in_first) == 30


def test_comparing_tables_names_a_different_tie_rule_as_the_cause() -> None:
    first, second = learn_table(), learn_table(ties="smallest-text")
    comparison = compare_tables(first, second)
    assert comparison.first is not None
    assert comparison.cause == "tie"
    assert int(first.columns.count[comparison.first]) == int(second.columns.count[comparison.first])
    assert "first-seen" in comparison.explanation
    assert "smallest-text" in comparison.explanation


def test_comparing_tables_of_two_methods_with_the_same_tie_rule_names_the_method_as_the_cause() -> None:
    first, second = learn_table(ties="smallest-text"), learn_table()
    recipe = first.recipe.with_changes(method="parity")
    comparison = compare_tables(first, History.from_pairs(recipe, second.alphabet, list(second.pairs())))
    assert comparison.first is not None
    assert first[comparison.first].tied
    assert comparison.cause == "method"
    assert "Parity-aware BPE" in comparison.explanation


def test_comparing_tables_names_a_different_pattern_as_the_cause() -> None:
    comparison = compare_tables(learn_table(), learn_table(pattern="none"))
    assert comparison.cause == "pattern"
    assert "“gpt2”" in comparison.explanation


def test_comparing_tables_names_a_different_training_text_as_the_cause() -> None:
    comparison = compare_tables(learn_table(), learn_table("other words altogether, and more of other words\n" * 5))
    assert comparison.cause == "data"


def test_comparing_tables_names_different_base_symbols_as_the_cause() -> None:
    comparison = compare_tables(learn_table(), train(Corpus.from_texts([TEXT]), Recipe.preset("words", merges=40)))
    assert comparison.cause == "base symbols"


def test_comparing_tables_trained_with_different_minimum_counts_finds_only_a_different_length() -> None:
    assert compare_tables(learn_table(), learn_table(min_frequency=8)).cause == "length"


def test_comparing_tables_without_counts_names_no_cause_of_a_difference() -> None:
    other = learn_table(ties="smallest-text")
    comparison = compare_tables(without_counts(learn_table()), without_counts(other))
    assert comparison.cause == "not known"


def test_comparing_tables_reports_different_merges_with_their_steps() -> None:
    first, second = learn_table(), learn_table(ties="smallest-text")
    comparison = compare_tables(first, second)
    for merge in comparison.differing:
        for history, place in ((first, merge.place), (second, merge.other_place)):
            if place is not None:
                texts = Tokenizer(history).token_bytes(len(history.alphabet) + place)
                assert texts == merge.left + merge.right
    earliest = [min(p for p in (merge.place, merge.other_place) if p is not None) for merge in comparison.differing]
    assert earliest == sorted(earliest)
    assert earliest[0] == comparison.first
