"""Tests of the command that answers the questions of an exercise.

The stories that the program makes for this command are tested, too.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

import bpe_core as bpe
from bpe_core.command_line.commands.exercise import ARTICLES, MADE, SIZES, STORIES
from bpe_core.command_line.main import run
from bpe_core.insight.exercise_rules import END, EXERCISES
from bpe_core.studies.handout import recipe_of
from bpe_core.text.articles import articles
from bpe_core.text.stories import stories
from tests.shared import ROOT

TEXTS = {"prose": ROOT / "tests/texts/prose.txt", "code": ROOT / "tests/texts/code.txt"}


def answers_of(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    assert run(["exercise", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_exercise_command_measures_each_tokenizer_on_each_text(capsys: pytest.CaptureFixture[str]) -> None:
    answers = answers_of(capsys, *map(str, TEXTS.values()), "--sizes", "400", "600")
    assert [(row["tokenizer"], row["vocabulary"], row["text"]) for row in answers["rows"]] == [
        ("prose", 400, "prose"),
        ("prose", 400, "code"),
        ("code", 600, "prose"),
        ("code", 600, "code"),
    ]
    for row in answers["rows"]:
        study = bpe.train(TEXTS[row["tokenizer"]], recipe_of(EXERCISES["cs336"], row["vocabulary"]))
        text = TEXTS[row["text"]].read_text(encoding="utf-8")
        assert row["bytes_per_token"] == pytest.approx(len(text.encode()) / len(study.encode(text)))
        assert row["hours_for_825_gb"] == pytest.approx(825e9 / (row["megabytes_per_second"] * 1e6) / 3600)


def test_the_exercise_command_does_not_merge_across_special_tokens_or_count_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = tmp_path / "text.txt"
    text.write_text(f"low lower{END}low lowest{END}" * 20)
    (row,) = answers_of(capsys, str(text), "--sizes", "258")["rows"]
    assert row["bytes_per_token"] == pytest.approx(19 / 15)  # one merge, which occurs four times in 19 bytes


def test_the_exercise_command_says_that_a_text_is_too_small_for_the_vocabulary_size(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = tmp_path / "tiny.txt"
    text.write_text("low lower lowest\n")
    answers = answers_of(capsys, str(text), "--sizes", "10000")
    assert "The text has too few pairs for 10,000 tokens." in answers["sentences"][0]
    assert "The longest token is ␣lowest, with 7 bytes." in answers["sentences"][0]


@pytest.mark.parametrize("exercise", EXERCISES)
def test_merges_learned_with_the_recipe_of_an_exercise_are_graded_as_correct(exercise: str, tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text(stories(20))
    study = bpe.train(path, recipe_of(EXERCISES[exercise], 330))
    study.save(tmp_path / "merges.txt")
    assert bpe.grade(str(tmp_path / "merges.txt"), corpus=path, as_=exercise).facts["verdict"] == "right"


def test_the_exercise_command_writes_a_folder_with_merges_that_are_graded_as_correct(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("bpe_core.command_line.commands.exercise.STORIES", 30)
    monkeypatch.setattr("bpe_core.command_line.commands.exercise.ARTICLES", 10)
    folder = tmp_path / "class"
    said = answers_of(capsys, "--sizes", "400", "--write", str(folder))["sentences"]
    assert said[:2] == [f"{name}: {what}." for name, what in MADE.items()]
    names = {file.name for file in folder.iterdir()}
    assert names >= {"stories.txt", "articles.txt", "stories.merges.txt", "articles.merges.txt", "recipe.json"}
    assert (folder / "stories.txt").read_text() == stories(30)
    assert (folder / "articles.txt").read_text(encoding="utf-8") == articles(10)
    for rules in ("cs336", str(folder / "recipe.json")):
        graded = bpe.grade(str(folder / "stories.merges.txt"), corpus=folder / "stories.txt", as_=rules, vocab_size=400)
        assert graded.facts["verdict"] == "right"
    assert "grade your-merges.txt --corpus stories.txt --as cs336" in (folder / "questions.md").read_text()
    answers = (folder / "answers.md").read_text()
    assert "| stories | 400 |" in answers
    assert MADE["articles"] in answers
    assert hashlib.sha256((folder / "articles.txt").read_bytes()).hexdigest()[:16] in answers


@pytest.mark.parametrize(("words", "sentence"), [(["--sizes", "100"], "A vocabulary of 100 tokens has no merges")])
def test_the_exercise_command_refuses_vocabulary_sizes_that_leave_no_space_for_merges(
    words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["exercise", *words]) != 0
    assert sentence in capsys.readouterr().err


def test_the_exercise_command_refuses_a_folder_that_cannot_be_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "file"
    file.write_text("no folder")
    assert run(["exercise", "--write", str(file)]) != 0
    assert "Could not make the folder" in capsys.readouterr().err


def test_the_exercise_command_does_not_overwrite_the_text_of_the_exercise(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = tmp_path / "text.csv"
    text.write_text("text\nlow lower\n")
    assert run(["exercise", str(text), "--sizes", "260", "-o", str(text)]) != 0
    assert text.read_text() == "text\nlow lower\n"
    assert capsys.readouterr().err


def test_the_exercise_command_refuses_an_empty_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    empty = tmp_path / "empty.txt"
    empty.write_text("")
    assert run(["exercise", str(empty)]) != 0
    assert capsys.readouterr().err


@pytest.mark.parametrize("form", ["--latex", "--markdown"])
def test_the_caption_of_exercise_answers_gives_the_recipe_and_the_checksum_of_each_text(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["exercise", str(TEXTS["prose"]), "--sizes", "300", form]) == 0
    printed = capsys.readouterr().out
    assert "Byte-pair encoding, 300 tokens" in printed
    assert "ties largest-text" in printed
    assert hashlib.sha256(TEXTS["prose"].read_bytes()).hexdigest()[:16] in printed


@pytest.fixture(scope="module")
def built_in() -> dict[str, str]:
    """Return the texts of the exercise command. They are made once for two tests, because that takes seconds."""
    return {"stories": stories(STORIES), "articles": articles(ARTICLES)}


@pytest.mark.parametrize(("name", "size"), [*zip(("stories", "articles"), SIZES, strict=True)])
def test_the_built_in_exercise_texts_are_large_enough_for_the_vocabulary_sizes_of_the_exercise(
    built_in: dict[str, str], name: str, size: int
) -> None:
    study = bpe.train([built_in[name]], recipe_of(EXERCISES["cs336"], size))
    assert len(study) == size


def test_the_built_in_exercise_texts_have_the_same_bytes_in_every_python_version(built_in: dict[str, str]) -> None:
    sums = {name: hashlib.sha256(text.encode()).hexdigest()[:16] for name, text in built_in.items()}
    assert sums == {"stories": "d564dd2a87c63355", "articles": "aec8add0aed5fe4f"}
