"""Tests of BoundlessBPE.

Both learners make the same steps as the reference implementation, and texts are encoded by the steps in
order.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe_core.errors import BpeError, RecipeError
from bpe_core.figures.figure import BarFigure, TreeFigure
from bpe_core.formats import open_table, write_history
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import NOTHING, History
from bpe_core.history.token_texts import decoded
from bpe_core.methods.boundless import METHOD
from bpe_core.methods.boundless import reference as reference
from bpe_core.methods.boundless.cut import DroppingRuns
from bpe_core.methods.boundless.explain import WhyDroppingInRuns
from bpe_core.methods.kit.layout import lay_out
from bpe_core.methods.kit.learner import Way
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.methods.kit.trainer import Trainer
from bpe_core.questions.paid import Paid
from bpe_core.questions.pairs import Pairs
from bpe_core.questions.supermerges import Supermerges
from bpe_core.questions.tree import Tree
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.compiled_runs import CompiledRuns, RanksOfRuns, RunEncoder
from bpe_core.segmenting.cutting import Cutting
from bpe_core.segmenting.word_runs import STAGE
from bpe_core.splitting.splitter import split_words
from bpe_core.studies.study import Study
from bpe_core.support.progress import Progress
from bpe_core.text.corpus import Corpus
from tests.core.learning import all_columns, learn_in_short_calls, train, words_of
from tests.core.specified_encoder import specified_ranks

TEXT = (
    "By the way, the cat sat on the mat. By the end of the day, on the one hand: the cat; on the other hand: the mat.\n"
    "The end of the story is the end of the cat, by the way... 1234 cats on 12 mats -- at the end of the day.\n"
) * 2
LETTERS = ["ab ", "aab ,\n", "aB '1 \n", "aé漢 \u0301", "on the way, "]
WORDS = st.lists(st.sampled_from(["aa", "aaa", "ab", "the", "then", "he", "B", "12"]), max_size=40).map(" ".join)


@st.composite
def recipes(draw: st.DrawFn, *, drops: bool | None = None) -> Recipe:
    shares = st.sampled_from([1.0, 0.9, 0.8, 0.6, 0.4, 0.2])
    return Recipe.preset(
        "boundless",
        merges=draw(st.integers(1, 50)),
        tau=draw(st.none() | shares if drops is None else shares if drops else st.none()),
        falls_into=draw(st.sampled_from(["bytes", "parts"])),
        min_frequency=draw(st.integers(1, 3)),
    )


def recipe_of(tau: float | None = None, falls_into: str = "bytes") -> Recipe:
    return Recipe.preset("boundless", merges=45, min_frequency=1, tau=tau, falls_into=falls_into)


@cache
def train_boundless(tau: float | None = None, falls_into: str = "bytes") -> History:
    return train(Corpus.from_texts([TEXT]), recipe_of(tau, falls_into))


@pytest.mark.parametrize("way", [METHOD.plain, METHOD.compiled], ids=["plain", "compiled"])
@given(st.data())
def test_every_step_of_boundless_training_matches_the_reference(way: Way, data: st.DataObject) -> None:
    recipe = data.draw(recipes())
    text = data.draw(WORDS | st.text(data.draw(st.sampled_from(LETTERS)), min_size=2, max_size=120))
    words = words_of(text, recipe)
    if len(words) == 0:
        return
    expected = reference.train(words, recipe)
    history = learn_in_short_calls(way.learner, words, recipe, data.draw(st.sampled_from([1, 10_000, 2**60])))
    assert all_columns(history) == all_columns(expected)
    assert {name: column.tolist() for name, column in history.reasons.items()}.items() <= {
        name: column.tolist() for name, column in expected.reasons.items()
    }.items()
    assert (history.end_reason, history.tokens_at_start) == (expected.end_reason, expected.tokens_at_start)


@given(st.text("ab :.'1/\r\n\tAé漢\u0301!\u00a0", max_size=60))
def test_the_boundless_method_groups_neighbouring_words_into_runs_except_words_without_letters(
    text: str,
) -> None:
    runs = list(split_words(text, Recipe.preset("boundless")))
    inside = [[*split_words(run, Recipe(pattern="o200k"))] for run in runs]
    assert [word for words in inside for word in words] == list(split_words(text, Recipe(pattern="o200k")))
    with_letters = [[regex.search(r"[\p{L}\p{M}]", word) is not None for word in words] for words in inside]
    assert all(all(row) for row in with_letters if len(row) > 1)
    assert not any(left[-1] and right[0] for left, right in pairwise(with_letters))


def test_each_merge_across_words_occurs_more_often_than_the_best_merge_within_words_at_that_step() -> None:
    history = train_boundless()
    across = [step for step in history if step.reasons["stage"] == 2]
    assert [decoded(history)[step.index] for step in across][:2] == [b" end of", b" end of the"]
    assert all(step.count > step.reasons["rival"] for step in across)
    assert all(step.count >= step.reasons["rival"] for step in history)


@given(st.data())
@settings(max_examples=30)
def test_boundless_encoding_after_any_step_equals_applying_the_steps_in_order(data: st.DataObject) -> None:
    history = train_boundless(*data.draw(st.sampled_from([(None,), (0.8,), (0.4,), (0.6, "parts")])))
    text = data.draw(
        st.sampled_from([TEXT[:120], "by the end of the day: the cat 12 34\n\nthe mat"]) | st.text() | WORDS
    )
    at, tokenizer = data.draw(st.integers(0, len(history))), Tokenizer(history)
    ids = tokenizer.encode(text, at=at)
    assert ids == reference.encode(text, history, at=at)
    assert tokenizer.segmentation(text).tokens(at).ids.tolist() == ids
    assert tokenizer.decode(ids) == text
    assert {*ids} <= {*history.first(at).vocabulary.tolist()}


@given(st.data())
@settings(max_examples=30)
def test_boundless_kernels_split_texts_as_plain_python_does(data: st.DataObject) -> None:
    history = train_boundless()
    text = data.draw(st.sampled_from([TEXT, "By the end of the story"]) | st.text() | WORDS)
    at, kernels = data.draw(st.integers(0, len(history))), CompiledRuns(history, Cutting(history.recipe))
    assert kernels.ids(text, at).tolist() == reference.encode(text, history, at=at)
    assert kernels.byte_ranks(text).tolist() == Tokenizer(history).boundaries(text).ranks[:-1].tolist()
    words = words_of(text, history.recipe)
    symbols = lay_out(words, history.alphabet, history.recipe).symbols
    assert RanksOfRuns(history).of(symbols).tolist() == specified_ranks(symbols, history).tolist()


@given(st.data(), recipes(), WORDS)
@settings(max_examples=40)
def test_boundless_kernels_and_plain_python_give_the_same_ids_at_any_step(
    data: st.DataObject, recipe: Recipe, learned_from: str
) -> None:
    words = words_of(learned_from, recipe)
    if len(words) == 0:
        return
    history = reference.train(words, recipe)
    kernels, text = RunEncoder(history, Cutting(recipe)), data.draw(WORDS | st.just(learned_from + " aaa" * 9))
    for at in data.draw(st.lists(st.integers(0, len(history)), min_size=1, max_size=4)):
        assert kernels.ids(text, at).tolist() == reference.encode(text, history, at=at)


def test_a_supermerge_joins_only_words_that_are_a_single_token() -> None:
    """The third merge makes the token `abc`, but in the word `abc` the first merge joins the `b` with another letter.

    So the word is not one token, and no supermerge joins it with a neighbour.
    """
    pairs, recipe = [(97, 98), (98, 99), (97, 257), (68, 68), (258, 259), (256, 259)], recipe_of()
    table = History.from_pairs(recipe, Alphabet.of_bytes(), pairs)
    history = History(recipe, table.alphabet, table.columns, reasons={STAGE: np.array([1, 1, 1, 1, 2, 2])})
    assert RunEncoder(history, Cutting(recipe)).ids("abcDD abDD", 6).tolist() == [256, 99, 259, 32, 256, 259]
    assert RunEncoder(history, Cutting(recipe)).ids("abDD", 6).tolist() == [261]
    assert reference.encode("abcDD abDD", history) == [256, 99, 259, 32, 256, 259]
    assert reference.encode("abDD", history) == [261]


@pytest.mark.parametrize("falls_into", ["bytes", "parts"])
def test_boundless_kernels_encode_long_words_as_plain_python_does(falls_into: str) -> None:
    """Tokens of a long word are split and joined again many times, so the kernels must search for pairs again."""
    history = train(Corpus.from_texts(["ababab abba aab abab baab " * 3]), recipe_of(0.2, falls_into))
    kernels, plainly = RunEncoder(history, Cutting(history.recipe)), DroppingRuns(history)
    for word in ("ab" * 300, "a" * 301, "abbaab" * 80, "aab" * 99 + "ba" * 99):
        for at in (5, 20, len(history)):
            assert kernels.ids(word, at).tolist() == plainly.cut(word.encode(), at).ids


@pytest.mark.parametrize("tau", [None, 0.8, 0.4])
def test_encoding_the_corpus_after_a_boundless_step_gives_the_token_count_of_the_history(tau: float | None) -> None:
    history = train_boundless(tau)
    for at in (0, 20, 40, len(history)):
        assert len(Tokenizer(history).encode(TEXT, at=at)) == history.tokens_after[at]
    assert history.vocabulary_size <= 256 + 45
    assert (NOTHING in history.columns.right.tolist()) == (tau is not None)


def test_a_token_dropped_by_the_boundless_method_is_split_again_and_may_be_joined_later() -> None:
    history = train_boundless(0.4)
    texts = decoded(history)
    assert len({*texts}) == len(texts)  # each token has its own text
    joins = [step.index for step in history if step.right != NOTHING]
    assert len({*joins}) < len(joins)  # some are made anew
    drop = next(step for step in history if step.right == NOTHING and step.count)
    before, after = (Tokenizer(history).encode(TEXT, at=at) for at in (drop.step - 1, drop.step))
    assert before.count(drop.left) == drop.count
    assert drop.left not in after


def test_progress_of_boundless_training_with_tau_counts_tokens_instead_of_steps() -> None:
    recipe = recipe_of(0.8).with_changes(merges=20)
    trainer = Trainer(words_of(TEXT, recipe), recipe)
    assert trainer.progress() == Progress("training", 0, 20, "tokens")
    trainer.advance(10)
    assert trainer.progress() == Progress("training", trainer.history.vocabulary_size - 256, 20, "tokens")
    trainer.advance()
    assert trainer.progress().done == trainer.progress().total == trainer.history.vocabulary_size - 256
    assert len(trainer.history) > trainer.progress().done


def test_the_answer_of_the_pairs_question_sorts_boundless_pairs_by_count_and_not_by_stage() -> None:
    answer = Pairs(at=10).answer(Study(train_boundless()).with_texts([TEXT]))
    assert isinstance(answer.figure, BarFigure)
    assert [bar.value for bar in answer.figure.bars] == answer.table.columns["count"]
    assert len({*answer.table.columns["count"]}) > 1


def test_the_merge_tree_of_a_text_contains_a_merge_across_words() -> None:
    table = Tree(text="the end of the day").answer(Study(train_boundless())).table.records()
    supermerge = next(row for row in table if row["text"] == "␣end␣of␣the")
    assert (supermerge["first_symbol"], supermerge["behind_symbol"]) == (3, 14)


DROPPING = [(0.8,), (0.4,), (0.6, "parts")]


@given(st.data())
@settings(max_examples=25)
def test_each_boundless_explanation_names_the_step_that_joined_or_split_the_text_at_the_boundary(
    data: st.DataObject,
) -> None:
    history = train_boundless(*data.draw(st.sampled_from(DROPPING)))
    text = data.draw(
        st.sampled_from(["by the end of the day", "the other hand: 12", "on the mat"]) | st.text("then ,B")
    )
    at, explain = data.draw(st.integers(0, len(history))), WhyDroppingInRuns(text, history, "all").explanation_at

    def starts(steps: int) -> set[int]:
        return {start for start, _, _ in Tokenizer(history).spans(text, steps)}

    for byte in range(1, len(text)):
        explanation = explain(byte, at)
        assert explanation.is_cut == (byte in starts(at))
        for step in explanation.steps if explanation.kind in ("joined", "fell", "later") else ():
            assert (byte in starts(step - 1)) != (byte in starts(step))
            assert f"step {step}" in explanation.sentence.lower()
            if history[step - 1].right == NOTHING:
                assert byte in starts(step)
        if explanation.kind == "fell":
            assert history[explanation.steps[0] - 1].right == NOTHING


@given(st.data())
@settings(max_examples=20)
def test_boundless_trees_show_both_the_current_tokens_and_the_dropped_tokens(data: st.DataObject) -> None:
    history = train_boundless(*data.draw(st.sampled_from(DROPPING)))
    text, at = (
        data.draw(st.sampled_from(["the other hand", " mats", "the end"])),
        data.draw(st.integers(0, len(history))),
    )
    answer = Tree(text=text, at=at).answer(Study(history))
    rows = answer.table.records()
    there = [row for row in rows if row["falls_apart"] is None]
    tokens = [row for row in there if not any(contains(other, row) for other in there)]
    ids = [row["id"] for row in sorted(tokens, key=lambda row: row["first_symbol"])]
    assert ids == Tokenizer(history).encode(text, at=at)
    assert all(row["step"] is None or row["step"] <= at for row in rows)
    assert all(history[row["falls_apart"] - 1].right == NOTHING for row in rows if row["falls_apart"] is not None)
    assert isinstance(answer.figure, TreeFigure)
    assert len(answer.figure.branches) >= len(there)


def contains(outer_row: dict[str, Any], inner_row: dict[str, Any]) -> bool:
    """Return whether the range of the outer row contains the range of the inner row. Equal ranges do not count."""
    edges, inner = ((row["first_symbol"], row["behind_symbol"]) for row in (outer_row, inner_row))
    return edges != inner and edges[0] <= inner[0] and inner[1] <= edges[1]


def test_reasons_name_the_step_that_dropped_a_boundless_token() -> None:
    history = train_boundless(0.4)
    explain = WhyDroppingInRuns("the other hand", history).explanation_at
    assert explain(1, len(history)).sentence == (
        "Step 5 dropped the and split it again here. No later step merges here."
    )
    assert explain(2, len(history)).sentence == (
        "The text is not split here: step 53 joins h + e. Before that, step 5 dropped the and split it again here."
    )
    assert (
        explain(3, 0).sentence
        == "Two words meet here, and no step merges them. Only words that are one token each can be merged."
    )
    long = "the" * 200
    assert WhyDroppingInRuns(long, history).explanation_at(2, 60).kind == "tokens"
    with pytest.raises(BpeError, match="at most 400 bytes"):
        Tree(text=long).answer(Study(history))


def test_boundless_training_can_be_resumed_from_any_step() -> None:
    recipe = recipe_of(0.8)
    words, whole = words_of(TEXT, recipe), train_boundless(0.8)
    for steps in (0, 30, len(whole)):
        trainer = Trainer(words, recipe, history=whole.first(steps))
        trainer.advance()
        assert all_columns(trainer.history) == all_columns(whole)


@pytest.mark.parametrize("choices", [(None,), (0.4,)])
def test_the_first_candidate_of_boundless_training_is_the_pair_of_the_next_step(
    choices: tuple[Any, ...],
) -> None:
    recipe, whole = recipe_of(*choices), train_boundless(*choices)
    supermerge = next(step for step in whole if step.reasons["stage"] == 2)
    drops = [step.step for step in whole if step.right == NOTHING][:1]
    for steps in (0, supermerge.step - 2, supermerge.step - 1, *drops, *(drop - 1 for drop in drops)):
        best, *others = Trainer(words_of(TEXT, recipe), recipe, history=whole.first(steps)).candidates(5)
        assert (best.left, best.right, best.count) == (*whole.pair(steps), whole.columns.count[steps])
        assert others or choices != (None,)
        assert all(candidate.right != NOTHING for candidate in others)


@pytest.mark.parametrize("tau", [0, -0.5, 1.5, float("nan"), "much", True])
def test_a_tau_above_one_is_refused_for_the_boundless_method(tau: object) -> None:
    with pytest.raises(RecipeError, match="tau must be a share above 0 and at most 1"):
        Recipe.preset("boundless", tau=tau)


def test_boundless_training_merges_only_within_words_if_no_words_are_neighbours() -> None:
    history = train(Corpus.from_texts(["abab, abab; abab. 12 12"]), Recipe.preset("boundless", merges=9))
    assert decoded(history)[256:] == [b"ab", b"abab", b" abab", b"12"]
    assert history.columns.count.tolist() == [6, 3, 2, 2]
    assert history.reasons["stage"].tolist() == [1] * 4
    assert history.reasons["rival"].tolist() == [NOTHING] * 4
    assert history.end_reason == "no pairs"


@pytest.mark.parametrize("tau", [None, 0.4])
@pytest.mark.parametrize("name", ["merges.csv", "merges.json", "it.boundless.model"])
def test_written_files_keep_all_steps_of_boundless_training(tmp_path: Path, name: str, tau: float | None) -> None:
    history, path = train_boundless(tau), tmp_path / name
    write_history(history, path)
    loaded = open_table(path).history
    assert loaded.pairs() == history.pairs()
    assert loaded.reasons["stage"].tolist() == history.reasons["stage"].tolist()
    assert loaded.vocabulary.tolist() == history.vocabulary.tolist()
    assert Tokenizer(loaded).encode(TEXT) == Tokenizer(history).encode(TEXT)


def test_the_supermerges_question_compares_the_best_pairs_within_words_and_across_words() -> None:
    study = Study(train_boundless())
    supermerge = next(step for step in train_boundless() if step.reasons["stage"] == 2)
    rows = Supermerges(at=supermerge.step - 1).answer(study).table.records()
    assert [row["count"] for row in rows] == [supermerge.reasons["rival"], supermerge.count]
    assert [row["is_taken"] for row in rows] == [False, True]
    taken = Supermerges().answer(study).columns["taken"]
    assert [stage_name == "across words" for stage_name in taken] == [
        stage == 2 for stage in train_boundless().reasons["stage"].tolist()
    ]


@pytest.mark.parametrize("choices", [(None,), (0.4,), (0.6, "parts")])
def test_the_word_counts_of_each_boundless_step_add_up_to_the_count_of_the_step(choices: tuple[Any, ...]) -> None:
    """A word `aaa` counts once for a+a, because one letter is left over."""
    text = "aaa aaaa aaab baaa aaaaaaa " * 3 + TEXT[:60]
    history = train(Corpus.from_texts([text]), recipe_of(*choices))
    study = Study(history).with_texts([text])
    for step in history:
        assert sum(Paid(step=step.step).answer(study).table.columns["count"]) == step.count
