"""Tests that trainer, history, tokenizer and session work with an unknown method whose steps drop tokens."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import pytest

from bpe_core.counting.count_words import count_words
from bpe_core.counting.words import WordTable
from bpe_core.errors import BpeError, FormatError, NothingToLearn, OutputError
from bpe_core.formats import write_history
from bpe_core.history.history import NOTHING, History
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.methods.kit.trainer import Trainer
from bpe_core.methods.registry import METHODS
from bpe_core.recipes.recipe import Recipe
from bpe_core.session_file.reading import read_session
from bpe_core.session_file.values import SavedRun, SavedSession
from bpe_core.session_file.writing import write_session
from bpe_core.text.corpus import Corpus
from bpe_core.verification.checking import prepare_export
from tests import dropping_method
from tests.core.learning import all_columns, train

TEXT = "the lowest price is lower than the last one, and the lowest is the last"


@pytest.fixture(autouse=True)
def _registered_method(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(METHODS, "dropping", dropping_method.METHOD)


@pytest.fixture
def recipe() -> Recipe:
    return Recipe.preset("words", base="bytes", method="dropping", vocab_size=270, special_tokens=("<end>",))


@pytest.fixture
def history(recipe: Recipe) -> History:
    return train(Corpus.from_texts([TEXT]), recipe)


def test_training_by_a_method_that_drops_tokens_ends_at_the_requested_vocabulary_size(history: History) -> None:
    assert (history.end_reason, history.vocabulary_size) == ("vocabulary full", 270)
    assert {step.right for step in history} == {NOTHING}
    assert all(step.count <= step.runner_up_count for step in history)
    assert all(step.reasons["share"] == step.count / history.tokens_after[step.step - 1] for step in history)
    assert history.tokens_after.tolist() == sorted(history.tokens_after.tolist())


def test_encoding_at_a_step_uses_no_token_that_was_dropped_at_an_earlier_step(history: History) -> None:
    tokenizer = Tokenizer(history)
    for at in range(len(history) + 1):
        ids = tokenizer.encode(TEXT, at=at)
        assert tokenizer.decode(ids) == TEXT.replace(" ", "")  # blanks belong to no word
        assert set(ids) <= set(history.first(at).vocabulary.tolist())
        assert [id for _, _, id in tokenizer.spans(TEXT, at)] == ids
    dropped = tokenizer.encode("lowest<end>", allowed_special="all")
    assert (dropped[-1], tokenizer.is_special(dropped[-1])) == (history.first_special, True)
    with pytest.raises(BpeError, match="only for tokenizers that merge pairs"):
        tokenizer.boundaries(TEXT)


def test_the_reasons_of_a_shortened_history_are_unchanged_and_read_only(history: History) -> None:
    first = history.first(3)
    assert [step.reasons for step in first] == [step.reasons for step in history[:3]]
    assert len(first.reasons["share"]) == 3
    with pytest.raises(ValueError, match="read-only"):
        first.reasons["share"][0] = 0


def test_training_of_a_method_that_drops_tokens_resumes_from_its_history(recipe: Recipe, history: History) -> None:
    words = count_words(Corpus.from_texts([TEXT]), recipe)
    again = Trainer(words, recipe, history=history.first(10))
    again.advance()
    assert all_columns(again.history) == all_columns(history)
    with pytest.raises(NothingToLearn, match="longer than a byte"):
        Trainer(WordTable.from_counts({"a": 2}), recipe)


def test_a_session_file_keeps_the_steps_of_a_method_that_drops_tokens(
    recipe: Recipe, history: History, tmp_path: Path
) -> None:
    path = tmp_path / "dropping.bpex"
    write_session(SavedSession(recipe, runs=(SavedRun(1, recipe, history=history, state="ended"),)), path)
    loaded = read_session(path).runs[0].history
    assert loaded is not None
    assert (loaded.recipe, loaded.alphabet) == (recipe, history.alphabet)
    assert all_columns(loaded) == all_columns(history)
    assert loaded.reasons["share"].tolist() == history.reasons["share"].tolist()


def test_a_history_of_a_method_that_drops_tokens_cannot_be_exported_to_formats_for_merges(
    history: History, tmp_path: Path
) -> None:
    for name, holds in {
        "merges.txt": "only merges of pairs",
        "tokenizer.json": "only merges of pairs, and the tokens of WordPiece and Unigram",
    }.items():
        with pytest.raises(OutputError, match=f"{holds}, but .* Dropping .* used least: save it as a session"):
            write_history(history, tmp_path / name)
    with pytest.raises(OutputError, match="only merges of pairs"):
        prepare_export(history, tmp_path / "table.md")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (
            "UPDATE merges SET left_id = (SELECT left_id FROM merges WHERE step = 1) WHERE step = 5",
            "step 5: the step uses the token 256",
        ),
        (
            "UPDATE merges SET left_id = 9999 WHERE step = 3",
            "step 3: the step merges the token 9999, which does not exist",
        ),
        ("UPDATE runs SET recipe = json_remove(recipe, '$.method')", "step 1: this step does not say which two tokens"),
    ],
)
def test_a_session_file_with_impossible_data_about_dropped_tokens_is_refused(
    damage: str, message: str, recipe: Recipe, history: History, tmp_path: Path
) -> None:
    path = tmp_path / "dropping.bpex"
    write_session(SavedSession(recipe, runs=(SavedRun(1, recipe, history=history, state="ended"),)), path)
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(damage)
    with pytest.raises(FormatError, match=message):
        read_session(path)
