"""Tests that files of older versions are read correctly.

The files are sessions and exports (see tests/core/before/README.md).
"""

from __future__ import annotations

import io
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from bpe_core.formats import FORMATS, open_table
from bpe_core.history.history import History
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.methods.kit.trainer import Trainer
from bpe_core.recipes.recipe import Recipe
from bpe_core.session_file.reading import read_session
from bpe_core.session_file.values import SavedRun, SavedSession
from bpe_core.session_file.writing import write_session
from tests.core.learning import all_columns

BEFORE = Path(__file__).with_name("before")
SAID: dict[str, Any] = json.loads((BEFORE / "meaning.json").read_text("utf-8"))
FILES: dict[str, Any] = SAID["files"]
MADE_BY_PYARROW = "parquet"  # pyarrow versions write different bytes


def check_recipe(recipe: Recipe, stored: dict[str, Any]) -> None:
    """Check that the recipe has every choice that the older version stored. The recipe may have more choices."""
    choices = recipe.to_dict()
    assert {name: choices[name] for name in stored} == stored


def check_history(history: History | None, stored: dict[str, Any]) -> None:
    assert history is not None
    check_recipe(history.recipe, stored["recipe"])
    symbols = b"".join(symbol.text for symbol in history.alphabet.symbols)
    assert symbols == (stored["symbols"].encode() or bytes(range(256)))
    assert all_columns(history) == stored["columns"]
    assert (history.tokens_at_start, history.end_reason) == (stored["tokens_at_start"], stored["end_reason"])
    tokenizer = Tokenizer(history)
    for at, ids in stored["ids"].items():
        assert [tokenizer.encode(text, at=int(at), allowed_special="all") for text in SAID["texts"]] == ids, at


# --- Exports ----------------------------------------------------------------------------


@cache
def history_of(name: str) -> History:
    """Read a table that an older version wrote with all columns, and return its history."""
    return open_table(BEFORE / f"{name}.table.csv").history


@pytest.mark.parametrize("name", SAID["histories"])
def test_training_gives_the_same_history_as_in_an_older_version(name: str) -> None:
    check_history(history_of(name), SAID["histories"][name])


TOLD_SINCE = {"pieces.tokenizer.json": 1}  # that a ▁ in a text itself is taken otherwise by the file's library


@pytest.mark.parametrize("name", [name for name in FILES if "pairs" in FILES[name]])
def test_a_tokenizer_file_of_an_older_version_opens_with_the_same_merges_and_ids(name: str) -> None:
    opened, stored = open_table(BEFORE / name), FILES[name]
    columns = opened.history.columns
    assert opened.format == stored["format"]
    assert [[left, right] for left, right in zip(columns.left.tolist(), columns.right.tolist(), strict=True)] == (
        stored["pairs"]
    )
    assert opened.history.has_counts == stored["has_counts"]
    assert len(opened.notes) == stored["notes"] + TOLD_SINCE.get(name, 0)
    tokenizer = Tokenizer(opened.history)
    ids = [tokenizer.encode(text, allowed_special="all") for text in SAID["texts"]]
    assert [opened.numbers_of(numbers) for numbers in ids] == stored["numbers"]


@pytest.mark.parametrize("name", [name for name in FILES if FILES[name]["format"] != MADE_BY_PYARROW])
def test_a_tokenizer_file_is_written_with_the_same_bytes_as_in_an_older_version(name: str) -> None:
    history, format = history_of(FILES[name]["history"]), FORMATS[FILES[name]["format"]]
    file = io.BytesIO()
    format.write(history, file)
    assert file.getvalue() == (BEFORE / name).read_bytes()
    companions = format.companions(BEFORE / name)
    assert [path.name for path in companions] == FILES[name]["beside"]
    for path, write in companions.items():
        beside = io.BytesIO()
        write(history, beside)
        assert beside.getvalue() == path.read_bytes()


def test_every_stored_file_of_an_older_version_has_a_test() -> None:
    known = {beside for stored in FILES.values() for beside in stored["beside"]}
    known |= {*FILES, "methods.zip", "session.bpex", "meaning.json", "README.md"}
    assert {path.name for path in BEFORE.iterdir()} == known
    assert {stored["format"] for stored in FILES.values()} <= set(FORMATS)


# --- The session ------------------------------------------------------------------------


def check_session(session: SavedSession) -> None:
    stored = SAID["session"]
    check_recipe(session.recipe, stored["recipe"])
    assert session.text == stored["text"]
    sources = [
        [source.name, source.path is not None, len(source.text) if source.text is not None else False]
        for source in session.sources
    ]
    assert sources == stored["sources"]
    assert [[mark.run, mark.merge, mark.note] for mark in session.bookmarks] == stored["bookmarks"]
    assert dict(session.filter) == stored["filter"]
    assert [session.view.shown_run, session.view.position, session.view.is_live] == stored["view"]
    assert len(session.runs) == len(stored["runs"])
    for run, of_run in zip(session.runs, stored["runs"], strict=True):
        check_run(run, of_run)


def check_run(run: SavedRun, stored: dict[str, Any]) -> None:
    assert [run.number, run.state, run.sentence] == [stored["number"], stored["state"], stored["sentence"]]
    assert [source.name for source in run.sources] == stored["sources"]
    check_history(run.history, stored["history"])
    assert [int(run.symbol_counts.sum()), int(run.symbol_counts.max(initial=0))] == stored["symbol_counts"]
    words = run.words
    assert (words and [len(words), words.total, words.total_bytes]) == stored["words"]
    numbers = None if run.history is None else run.history.numbers
    assert (None if numbers is None else [numbers[:3].tolist(), numbers[-3:].tolist()]) == stored["numbers"]


def test_a_session_of_an_older_version_keeps_its_content() -> None:
    check_session(read_session(BEFORE / "session.bpex"))


def test_a_session_of_an_older_version_keeps_its_content_when_saved_again(tmp_path: Path) -> None:
    write_session(read_session(BEFORE / "session.bpex"), tmp_path / "again.bpex")
    check_session(read_session(tmp_path / "again.bpex"))


def test_a_paused_run_of_an_older_session_ends_with_the_same_merges() -> None:
    (run,) = (run for run in read_session(BEFORE / "session.bpex").runs if run.state == "paused")
    assert run.words is not None
    trainer = Trainer(run.words, run.recipe)
    while not trainer.advance().finished:
        pass
    assert all_columns(trainer.history) == SAID["session"]["paused_at_its_end"]
