"""Tests that recipes, sessions, exports and manifests of older versions open unchanged, for each method."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from bpe_core.command_line.main import run
from bpe_core.formats import open_table
from bpe_core.history.history import History
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.methods.kit.trainer import learn
from bpe_core.recipes.recipe import Recipe
from bpe_core.session_file.reading import read_session

ARCHIVE = Path(__file__).with_name("before") / "methods.zip"
with ZipFile(ARCHIVE) as _archive:
    SAID: dict[str, Any] = json.loads(_archive.read("said.json"))
    _NAMES = [Path(name) for name in _archive.namelist()]
MANIFESTS = [name.stem for name in _NAMES if name.parent.name == "manifests" and name.suffix == ".json"]
METHODS: dict[str, dict[str, Any]] = SAID["methods"]
FILES = {path: said for method in METHODS.values() for path, said in method["files"].items()}


@pytest.fixture(scope="module")
def old_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("before")
    with ZipFile(ARCHIVE) as archive:
        archive.extractall(folder)
    return folder


def columns_of(history: History) -> dict[str, list[int]]:
    return {name: getattr(history.columns, name).tolist() for name in ("left", "right", "count", "tokens_left")}


@pytest.mark.parametrize("name", METHODS)
def test_a_recipe_of_an_older_version_is_read_with_the_same_choices(name: str, old_files: Path) -> None:
    recipe = Recipe.from_json((old_files / name / "recipe.json").read_text(encoding="utf-8"))
    choices, stored = recipe.to_dict(), METHODS[name]["recipe"]
    assert {choice: choices[choice] for choice in stored if choice != "mixture"} == {
        choice: value for choice, value in stored.items() if choice != "mixture"
    }


@pytest.mark.parametrize("name", METHODS)
def test_a_session_of_an_older_version_keeps_its_steps_and_splits_texts_as_before(name: str, old_files: Path) -> None:
    saved = read_session(old_files / name / "run.bpex").runs[0]
    history, stored = saved.history, METHODS[name]
    assert history is not None
    assert columns_of(history) == {column: stored[column] for column in ("left", "right", "count", "tokens_left")}
    assert history.end_reason == stored["end"]
    tokenizer = Tokenizer(history)
    for at, ids in stored["ids"].items():
        assert [tokenizer.encode(text, at=int(at)) for text in SAID["texts"]] == ids, at


@pytest.mark.parametrize("name", METHODS)
def test_training_on_the_words_of_an_older_session_gives_the_steps_of_that_session(name: str, old_files: Path) -> None:
    saved = read_session(old_files / name / "run.bpex").runs[0]
    assert saved.words is not None
    assert columns_of(learn(saved.words, saved.recipe)) == {
        column: METHODS[name][column] for column in ("left", "right", "count", "tokens_left")
    }


@pytest.mark.parametrize("file", FILES)
def test_a_file_exported_by_an_older_version_keeps_its_steps_and_splits_texts_as_before(
    file: str, old_files: Path
) -> None:
    opened, stored = open_table(old_files / file), FILES[file]
    history = opened.history
    assert (opened.format, history.recipe.method) == (stored["format"], stored["method"])
    assert (history.columns.left.tolist(), history.columns.right.tolist()) == (stored["left"], stored["right"])
    tokenizer = Tokenizer(history)
    assert [tokenizer.encode(text) for text in SAID["texts"]] == stored["ids"]


# Columns of reasons are now in alphabetical order. All other bytes of these files are the same.
IN_ANOTHER_ORDER = {"boundless", "unigram"}


@pytest.mark.parametrize("name", sorted({*MANIFESTS} - IN_ANOTHER_ORDER))
def test_repeating_a_manifest_of_an_older_version_gives_the_same_bytes(
    name: str, old_files: Path, tmp_path: Path
) -> None:
    shutil.copytree(old_files / "manifests", tmp_path / "manifests")
    assert run(["repeat", str(tmp_path / "manifests" / f"{name}.json")]) == 0


@pytest.mark.parametrize("name", sorted(IN_ANOTHER_ORDER))
def test_the_training_command_of_an_older_version_gives_the_same_table(
    name: str, old_files: Path, tmp_path: Path
) -> None:
    text, result = old_files / "manifests" / "text.txt", tmp_path / "again.csv"
    assert run(["train", str(text), "--preset", name, "--merges", "20", "-o", str(result)]) == 0
    again, then = (open_table(path).history for path in (result, old_files / "manifests" / f"{name}.csv"))
    assert again.recipe == then.recipe
    assert columns_of(again) == columns_of(then)
    assert {reason: str(column.tolist()) for reason, column in again.reasons.items()} == {
        reason: str(column.tolist()) for reason, column in then.reasons.items()
    }
