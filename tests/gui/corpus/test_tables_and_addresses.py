"""Tests of tables, word lists and addresses in the corpus, and of the choice of a column."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import fsspec
import pyarrow as arrow
import pytest
from pyarrow import parquet
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QInputDialog, QMenu
from pytestqt.qtbot import QtBot

from app.settings import RECENT_FILES
from app.window.corpus.corpus_list import Entry
from app.window.corpus.corpus_panel import WORD_LIST
from app.wiring import Program
from bpe_core.counting.to_files import CountingOrder, count_to_file
from bpe_core.recipes.recipe import Recipe
from bpe_core.text.corpus import Corpus
from tests.gui.conftest import WAIT, settle
from tests.gui.sessions.saving import answer, open_session, save_as

ADDRESS = "memory://bucket/poems.jsonl"


@pytest.fixture
def bucket() -> Iterator[None]:
    memory = fsspec.filesystem("memory")
    memory.pipe("/bucket/poems.jsonl", b'{"body": "low lower lowest"}\n')
    yield
    memory.store.clear()


def entries(program: Program) -> list[Entry]:
    model = program.corpus
    return [model.data(model.index(row), model.EntryRole) for row in range(model.rowCount())]


def offered(menu: QMenu) -> dict[str, QAction]:
    menu.aboutToShow.emit()
    return {action.text(): action for action in menu.actions()}


def test_the_text_column_of_a_table_file_is_guessed_and_can_be_changed(
    qtbot: QtBot, program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, words = tmp_path / "a.parquet", tmp_path / "words.tsv"
    parquet.write_table(arrow.table({"title": ["one two"], "doc": [{"summary": "low lower lowest low"}]}), path)
    words.write_text("low\t5\n lower\t2\n", encoding="utf-8")
    program.opening.open_paths([path])
    qtbot.waitUntil(lambda: "several columns" in program.messages.sentence.text(), timeout=WAIT)
    assert entries(program)[0].is_failed
    asked = []

    def choose(*given: object) -> tuple[str, bool]:
        asked.append(given[3])
        return "doc.summary", True

    monkeypatch.setattr(QInputDialog, "getItem", choose)
    answer(program, "Choose a Column …")
    assert asked == [["title", "doc.summary"]]
    settle(qtbot, program)
    assert entries(program)[0].facts.endswith("column “doc.summary”")
    assert entries(program)[0].state.startswith("4 words")
    panel = program.corpus_panel
    panel.list.setCurrentIndex(program.corpus.index(0))
    menu = offered(panel.columns_menu)
    assert [text for text, action in menu.items() if action.isChecked()] == ["doc.summary"]
    menu["title"].trigger()
    settle(qtbot, program)
    assert entries(program)[0].state.startswith("2 words")
    program.actions["undo"].trigger()

    program.opening.open_paths([words])
    qtbot.waitUntil(lambda: len(entries(program)) == 2, timeout=WAIT)
    settle(qtbot, program)
    assert "a list of words" not in entries(program)[1].facts
    panel.list.setCurrentIndex(program.corpus.index(1))
    offered(panel.columns_menu)[WORD_LIST].trigger()
    settle(qtbot, program)
    panel.list.setCurrentIndex(program.corpus.index(1))
    assert offered(panel.columns_menu)[WORD_LIST].isChecked()
    assert entries(program)[1].facts.endswith("a list of words")
    assert entries(program)[1].state == "7 words, 2 distinct"

    saved = tmp_path / "one.bpex"
    save_as(qtbot, program, saved, monkeypatch)
    kept = [(text.column, text.word_list) for text in program.session.corpus.texts.value]
    program.session.corpus.remove({text.number for text in program.session.corpus.texts.value})
    open_session(qtbot, program, saved)
    assert [(text.column, text.word_list) for text in program.session.corpus.texts.value] == kept
    assert kept == [("doc.summary", None), ("", True)]


def test_an_address_typed_by_the_user_is_read_but_an_address_from_a_session_file_is_not(
    qtbot: QtBot, program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bucket: None
) -> None:
    typed = iter([("poems", True), (ADDRESS, True)])
    monkeypatch.setattr(QInputDialog, "getText", lambda *_: next(typed))
    program.actions["open_address"].trigger()
    assert program.messages.sentence.text().startswith("“poems” is not an address")
    program.actions["open_address"].trigger()
    settle(qtbot, program)
    (entry,) = entries(program)
    assert (entry.source.name, entry.state) == ("poems.jsonl", "3 words, 3 distinct")
    assert entry.facts.endswith("column “body”")
    assert program.settings.get(RECENT_FILES)[0] == ADDRESS
    saved = tmp_path / "one.bpex"
    save_as(qtbot, program, saved, monkeypatch)
    program.session.corpus.remove({entry.source.number})
    open_session(qtbot, program, saved)
    qtbot.waitUntil(lambda: entries(program)[0].is_failed, timeout=WAIT)
    assert "an address from a session file" in entries(program)[0].state
    program.opening.open_named([ADDRESS])  # as the list of recent files does
    settle(qtbot, program)
    assert [entry.state for entry in entries(program)] == ["3 words, 3 distinct"]


def test_a_file_of_word_counts_by_group_becomes_corpus_groups(
    qtbot: QtBot, program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups = {"de": Corpus.from_texts(["neu neu low"]), "code": Corpus.from_texts(["low low"])}
    path, folder = tmp_path / "counts.parquet", tmp_path / "counts"
    count_to_file(Corpus.grouped(groups), Recipe.preset("gpt2"), CountingOrder(str(path)))
    count_to_file(Corpus.from_texts(["low lower"]), Recipe.preset("gpt2"), CountingOrder(str(folder)))
    program.opening.open_paths([path, folder])
    qtbot.waitUntil(lambda: len(entries(program)) == 6, timeout=WAIT)
    settle(qtbot, program)
    states = [(entry.title, entry.state) for entry in entries(program)]
    assert [state for title, state in states if title.startswith("counts")] == [
        "3 words, 3 distinct",
        "2 words, 2 distinct",
        "2 words, 2 distinct",
    ]
    assert program.corpus.groups == ("de", "code")
    texts = program.session.corpus.texts.value
    assert [(text.name, text.group) for text in texts] == [
        ("counts.parquet, de", "de"),
        ("counts.parquet, code", "code"),
        ("counts", ""),
    ]
    assert "Most frequent: “neu” 1, “␣neu” 1, “␣low” 1" in [entry.words for entry in entries(program)]
    saved = tmp_path / "counts.bpex"
    save_as(qtbot, program, saved, monkeypatch)
    open_session(qtbot, program, saved)
    assert [text.column for text in program.session.corpus.texts.value] == ["count in de", "count in code", "count"]
    program.session.recipe.put(Recipe.preset("cl100k"), "another recipe")
    qtbot.waitUntil(lambda: "Choose the same value, or count" in entries(program)[1].state, timeout=WAIT)
