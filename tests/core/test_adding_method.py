"""Tests of a method whose steps add tokens.

Training, saving, questions and lists of steps must work as for other methods.
"""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import pytest

from bpe_core.command_line.steps import step_lines
from bpe_core.counting.count_words import count_words
from bpe_core.errors import FormatError
from bpe_core.formats import read_history, write_history
from bpe_core.history.history import ADDED, History
from bpe_core.lessons.lessons import lessons
from bpe_core.methods.kit.method import Method
from bpe_core.methods.kit.trainer import Trainer
from bpe_core.methods.registry import METHODS, USUAL
from bpe_core.questions.steps import Steps
from bpe_core.questions.token import Token
from bpe_core.recipes.recipe import Recipe
from bpe_core.session_file.reading import read_session
from bpe_core.session_file.values import SavedRun, SavedSession
from bpe_core.session_file.writing import write_session
from bpe_core.studies.study import Study
from bpe_core.studies.texts import texts_of
from bpe_core.text.corpus import Corpus
from tests import adding_method
from tests.core.learning import all_columns, train

TEXT = "the lowest price is lower than the last one, and the lowest is the last"
THERE = "exists already|waits to be added"


@pytest.fixture(autouse=True)
def _registered_method(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(METHODS, "adding", adding_method.METHOD)


@pytest.fixture
def recipe() -> Recipe:
    return Recipe.preset("words", base="bytes", method="adding", vocab_size=263, special_tokens=("<end>",))


@pytest.fixture
def history(recipe: Recipe) -> History:
    return train(Corpus.from_texts([TEXT]), recipe)


@pytest.fixture
def study(history: History) -> Study:
    return Study(history, texts_of([TEXT]), texts_are_own=True)


def test_each_step_of_a_method_that_adds_tokens_adds_the_word_that_saves_the_most_tokens(
    history: History, study: Study
) -> None:
    assert [study.names[step.left] for step in history] == ["lowest", "the", "last", "lower", "price", "one,"]
    assert {step.right for step in history} == {ADDED}
    assert [step.reasons["saves"] for step in history] == history.tokens_saved.tolist() == [10, 8, 6, 4, 4, 3]
    assert (history.end_reason, history.vocabulary_size) == ("vocabulary full", 263)
    assert history.vocabulary_sizes().tolist() == [*range(257, 264)]
    assert [history.step_of_size(size) for size in (257, 260, 263)] == [0, 3, 6]


def test_encoding_at_a_step_uses_no_token_that_is_added_at_a_later_step(history: History, study: Study) -> None:
    for at in range(len(history) + 1):
        then = study.at(at)
        ids = then.encode(TEXT)
        assert ids == study.encode(TEXT, at=at)
        assert then.decode(ids) == TEXT.replace(" ", "")
        assert set(ids) <= set(then.history.vocabulary.tolist())
        assert set(then.history.vocabulary.tolist()) == {*range(256), *(step.left for step in history[:at])}
        assert len(then) == 257 + at
        assert len(ids) == history.tokens_after[at]
    added = history[2].left
    assert (history.row_of(added), history.first(2).row_of(added), history.row_of_drop(added)) == (2, None, None)
    assert (history.parts(added), history.children(added), history.pairs()) == (None, [], [])


def test_training_of_a_method_that_adds_tokens_resumes_from_its_history(recipe: Recipe, history: History) -> None:
    again = Trainer(count_words(Corpus.from_texts([TEXT]), recipe), recipe, history=history.first(2))
    again.advance()
    assert all_columns(again.history) == all_columns(history)


def test_questions_about_steps_and_tokens_are_answered_for_a_method_that_adds_tokens(
    history: History, study: Study
) -> None:
    table = Steps().answer(study).table
    assert list(table.columns["left_text"]) == list(table.columns["token_text"])
    assert set(table.columns["right_text"]) == {None}
    assert next(step_lines(history)).split() == ["1", "+", "lowest", "2", "times,", "saves", "10"]
    life = Token(token="the").answer(study)
    assert list(zip(life.table.columns["after_step"], life.table.columns["count"], strict=True)) == [(2, 4)]
    assert "“the”" in " ".join(life.sentences) or "the" in life.sentences[0]


@pytest.mark.parametrize("name", ["table.csv", "table.json"])
def test_table_files_keep_the_history_of_a_method_that_adds_tokens(name: str, history: History, tmp_path: Path) -> None:
    write_history(history, tmp_path / name)
    assert all_columns(read_history(tmp_path / name)) == all_columns(history)


def save_session(history: History, path: Path) -> Path:
    run = SavedRun(1, history.recipe, history=history, state="ended")
    write_session(SavedSession(history.recipe, runs=(run,)), path)
    return path


def test_a_session_file_keeps_the_steps_of_a_method_that_adds_tokens(history: History, tmp_path: Path) -> None:
    loaded = read_session(save_session(history, tmp_path / "adding.bpex")).runs[0].history
    assert loaded is not None
    assert all_columns(loaded) == all_columns(history)
    assert loaded.vocabulary.tolist() == history.vocabulary.tolist()
    assert loaded.reasons["saves"].tolist() == history.reasons["saves"].tolist()


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (
            "UPDATE merges SET left_id = (SELECT left_id FROM merges WHERE step = 1) WHERE step = 3",
            "step 3: the step adds",
        ),
        ("UPDATE merges SET left_id = 97 WHERE step = 2", "step 2: the step adds"),
        ("UPDATE merges SET right_id = left_id WHERE step = 2", "step 2: the step uses .* added only later"),
        ("UPDATE merges SET right_id = -1 WHERE step = 2", "step 2: this step does not say which two tokens"),
    ],
)
def test_a_session_file_with_impossible_steps_that_add_tokens_is_refused(
    damage: str, message: str, history: History, tmp_path: Path
) -> None:
    path = save_session(history, tmp_path / "adding.bpex")
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(damage)
    with pytest.raises(FormatError, match=message):
        read_session(path)


@pytest.mark.parametrize(
    ("step", "left", "right", "message"),
    [
        (2, "lowest", "", THERE),
        (2, "a", "", THERE),
        (2, "the", "97", "added only later"),
    ],
)
def test_a_csv_table_with_invalid_rows_of_added_tokens_is_refused(
    step: int, left: str, right: str, message: str, history: History, study: Study, tmp_path: Path
) -> None:
    path = tmp_path / "table.csv"
    write_history(history, path)
    lines = path.read_text(encoding="utf-8").splitlines()
    cells = lines[step].split(",")
    cells[1:3] = [str(study.id_of(left)), right]
    lines[step] = ",".join(cells)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    with pytest.raises(FormatError, match=message):
        read_history(path)


def test_a_lesson_of_a_method_is_part_of_the_course_while_the_method_is_registered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = [lesson.name for lesson in lessons()]
    place = names.index("11-adding")
    assert names[place - 1 : place + 2] == ["11-gage", "11-adding", "12-unigram"]
    monkeypatch.delitem(METHODS, "adding")
    assert "11-adding" not in [lesson.name for lesson in lessons()]


def test_each_lesson_that_begins_with_a_method_other_than_bpe_belongs_to_that_method() -> None:
    homes = {lesson: name for name in METHODS.own for lesson in Method.named(name).lessons}
    assert len(homes) == 9
    assert homes == {
        lesson.name: lesson.steps[0].recipe.method for lesson in lessons() if lesson.steps[0].recipe.method != USUAL
    }
