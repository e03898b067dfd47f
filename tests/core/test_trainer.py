"""Tests of the trainer's error messages, of pausing and cancelling, and of the choice of a learner."""

from __future__ import annotations

import argparse
import threading
from collections.abc import Iterator

import pytest

from bpe_core.command_line.decisions import Decision, recipe_with_decisions
from bpe_core.counting.words import WordTable
from bpe_core.errors import Cancelled, FormatError, NothingToLearn, RecipeError
from bpe_core.kernels import readiness, stored_code
from bpe_core.methods.bpe import learn as learn_room
from bpe_core.methods.bpe import reference as reference
from bpe_core.methods.kit import trainer
from bpe_core.methods.kit.plain_pairs import PlainLearner
from bpe_core.methods.kit.trainer import Batch, Trainer, learn
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.progress import Progress, Work
from tests.core.learning import all_columns

WORDS = WordTable.from_counts({"low": 5, "lower": 2, "newest": 6, "widest": 3})
RECIPE = Recipe.preset("gpt2", merges=20, min_frequency=1)


@pytest.mark.parametrize("words", [{}, {"a": 3, "b": 1}])
def test_training_on_a_corpus_without_pairs_is_refused(words: dict[str, int]) -> None:
    with pytest.raises(NothingToLearn, match="nothing to learn"):
        Trainer(WordTable.from_counts(words), RECIPE)


def test_training_on_a_corpus_with_only_rare_pairs_makes_no_merges() -> None:
    made = Trainer(WordTable.from_counts({"ab": 1}), RECIPE.with_changes(min_frequency=2))
    assert made.advance() == Batch(0, 0, finished=True)
    assert made.end_reason == "too rare"


def test_an_earlier_history_does_not_change_while_training_goes_on() -> None:
    made = Trainer(WORDS, RECIPE)
    made.advance(max_merges=3)
    early, before = made.history, all_columns(made.history)
    made.advance()
    assert (len(early), all_columns(early)) == (3, before)
    with pytest.raises(ValueError, match="read-only"):
        early.columns.left[0] = 7


def test_every_call_of_advance_learns_at_least_one_merge() -> None:
    made = Trainer(WORDS, RECIPE)
    calls = 0
    while not made.advance(seconds=0.0).finished:
        calls += 1
    assert calls <= len(made.history) == 12


def test_histories_do_not_change_when_the_trainer_enlarges_its_buffers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(trainer, "ROOM_AT_FIRST", 2)
    made = Trainer(WORDS, RECIPE)
    views = [made.history]
    while not made.advance(max_merges=1).finished:
        views.append(made.history)
    whole = reference.train(WORDS, RECIPE)
    assert all_columns(made.history) == all_columns(whole)
    assert all(all_columns(view) == all_columns(whole.first(len(view))) for view in views)


@pytest.fixture
def slow_compiler(monkeypatch: pytest.MonkeyPatch) -> list[Progress]:
    """Make machine code ready only after two progress reports. Return the list of reports."""
    reports: list[Progress] = []
    monkeypatch.delenv("BPE_EXPLORER_PLAIN", raising=False)
    monkeypatch.setattr(readiness, "SAMPLE", 0)
    monkeypatch.setattr(readiness, "prepare", lambda **how: None)
    monkeypatch.setattr(readiness, "is_ready", lambda part="": len(reports) == 2)
    monkeypatch.setattr(readiness, "is_preparing", lambda: len(reports) < 2)
    monkeypatch.setattr(stored_code, "can_be_made", lambda: True)
    return reports


def test_bpe_training_uses_plain_python_while_the_kernels_are_compiled(slow_compiler: list[Progress]) -> None:
    made = Trainer(WORDS, RECIPE, progress=slow_compiler.append)
    # No public attribute tells which of the two learners is used, because both give the same results.
    assert type(made._learner) is PlainLearner
    assert not slow_compiler
    made.advance()
    assert all_columns(made.history) == all_columns(reference.train(WORDS, RECIPE))


def test_wordpiece_training_begins_only_after_kernels_are_compiled(slow_compiler: list[Progress]) -> None:
    learn(WORDS, Recipe.preset("wordpiece", merges=3), progress=slow_compiler.append)
    assert {report.stage for report in slow_compiler[:2]} == {readiness.BEING_MADE}
    assert slow_compiler[-1].stage == "training"


def test_waiting_for_compiled_kernels_in_a_trainer_can_be_cancelled(slow_compiler: list[Progress]) -> None:
    with pytest.raises(Cancelled):
        Trainer(
            WORDS, Recipe.preset("wordpiece"), progress=slow_compiler.append, cancelled=lambda: len(slow_compiler) == 1
        )
    assert len(slow_compiler) == 1


def test_forbidding_a_pair_waits_for_compiled_kernels_and_can_be_cancelled(slow_compiler: list[Progress]) -> None:
    decision = Decision(2, "forbid", "l+o")
    options = argparse.Namespace(forbid=[decision], force=[])
    work = Work(slow_compiler.append, lambda: len(slow_compiler) == 1)
    with pytest.raises(Cancelled):
        recipe_with_decisions(WORDS, Recipe.preset("wordpiece", merges=3), options, work)
    assert {progress.stage for progress in slow_compiler} == {readiness.BEING_MADE}


def test_resuming_training_with_a_history_learned_from_different_words_is_refused() -> None:
    history = reference.train(WORDS, RECIPE)
    others = WordTable.from_counts({"low": 5, "lower": 2, "newest": 6, "widest": 4})
    with pytest.raises(FormatError, match=r"at step 1 the value “count” is 9 in the history, but the words give 10"):
        Trainer(others, RECIPE, history=history)


def test_only_the_size_in_a_recipe_may_change_when_a_run_is_extended() -> None:
    made = Trainer(WORDS, RECIPE.with_changes(merges=4))
    made.advance()
    with pytest.raises(RecipeError, match="only the size"):
        made.extend(RECIPE.with_changes(ties="lowest-ids"))
    with pytest.raises(RecipeError, match="4 merges are learned already"):
        made.extend(RECIPE.with_changes(merges=3))
    made.extend(RECIPE)
    assert made.end_reason == ""
    assert all_columns(made.history.first(4)) == all_columns(reference.train(WORDS, RECIPE).first(4))


def test_stopping_a_training_run_keeps_the_learned_merges(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learn_room, "COMPILED", None)
    monkeypatch.setattr(trainer, "SECONDS_BETWEEN_REPORTS", 0.0)
    monkeypatch.setattr(trainer, "FIRST_WORK", 1)
    monkeypatch.setattr(trainer, "LEAST_WORK", 1)
    reports: list[Progress] = []
    words = {"newest": 6, "widest": 3, "low": 5}
    word_table = WordTable.from_counts(words)
    history = learn(word_table, RECIPE, progress=reports.append, cancelled=lambda: len(reports) >= 3)
    assert history.end_reason == "stopped"
    assert [(progress.stage, progress.done, progress.total) for progress in reports] == [
        ("training", done, 20) for done in (1, 2, 3)
    ]
    whole = reference.train(word_table, RECIPE)
    assert all_columns(history) == all_columns(whole.first(3))


def test_trainers_in_several_threads_do_not_disturb_each_other() -> None:
    expected = all_columns(reference.train(WORDS, RECIPE))
    results: list[dict[str, list[int]]] = []

    def run() -> None:
        made = Trainer(WORDS, RECIPE)
        while not made.advance(max_merges=1).finished:
            pass
        results.append(all_columns(made.history))

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 4


@pytest.fixture(autouse=True)
def _no_second_process() -> Iterator[None]:
    yield
    assert not readiness.is_preparing()


def test_a_recipe_uses_bpe_by_default_and_an_unknown_method_is_refused() -> None:
    assert "method" not in RECIPE.to_dict()  # so that older programs without the choice can open the recipe
    assert Recipe.from_dict({**RECIPE.to_dict(), "method": "bpe"}) == Recipe.from_dict(RECIPE.to_dict()) == RECIPE
    with pytest.raises(RecipeError, match="method cannot be 'guessing'"):
        RECIPE.with_changes(method="guessing")
