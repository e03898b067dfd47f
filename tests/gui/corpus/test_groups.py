"""Tests of groups of texts in the window: making them from folders, renaming, weighting, training and saving."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest
from PySide6.QtCore import QItemSelectionModel, Qt
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot

from app.session import corpus as session_corpus
from app.session.snapshot import restore, snapshot_of
from app.session.studies import parts_of
from app.window.corpus import corpus_panel
from app.window.corpus.groups import GroupRow
from app.window.pages import SIZES
from app.window.questions.words.page import WordsPage
from app.wiring import Program
from bpe_core.counting.count_words import count_words
from bpe_core.counting.words import WordTable
from bpe_core.session_file.reading import read_session
from bpe_core.session_file.writing import write_session
from bpe_core.text.corpus import Corpus
from bpe_core.text.mixture import Group, Mixture, Sample
from resources import parallel_samples
from tests.gui.conftest import WAIT, Train, settle
from tests.gui.small_run import small

EDIT = Qt.ItemDataRole.EditRole


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in (("de/a.txt", "neue neue Worte\n"), ("de/b.txt", "alte Worte\n"), ("code/a.py", "new = old\n")):
        path = tmp_path / "texts" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text * 9)
    return tmp_path / "texts"


def press(program: Program, group: str, title: str) -> None:
    """Choose an entry in the context menu of a group, or in a submenu."""
    program.corpus_panel.list.setCurrentIndex(program.corpus.index(program.corpus.row_of_group(group)))
    menu = program.corpus_panel.group_menu
    menu.aboutToShow.emit()
    inner = [action for inner_menu in menu.findChildren(QMenu) for action in inner_menu.actions()]
    next(action for action in reversed(inner) if action.text() == title).trigger()


def test_corpus_groups_made_from_folders_are_used_in_training_and_saved_and_can_be_undone(
    qtbot: QtBot,
    window_with: Callable[..., Program],
    train: Train,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    program = window_with(folder)
    model, corpus, session = program.corpus, program.session.corpus, program.session
    qtbot.waitUntil(lambda: model.rowCount() == 3, timeout=WAIT)
    corpus.group_by_folders({text.number for text in corpus.texts.value})
    assert [text.group for text in corpus.texts.value] == ["code", "de", "de"]
    assert model.rowCount() == 5
    row = model.row_of_group("de")
    assert model.data(model.index(row), EDIT) == "de = 1 ×"
    assert model.setData(model.index(row), "German = 75%", EDIT)
    of_bytes = Mixture((Group("code", Fraction(1, 4)), Group("German", Fraction(3, 4))), "bytes")
    assert corpus.mixture == of_bytes
    program.form.choose_preset("cl100k")
    assert corpus.mixture.by == "bytes", "another preset mixes as before"
    for line in ("German = much", "German = 300 %", "German = -1"):
        assert not model.setData(model.index(row), line, EDIT)
    press(program, "code", "Leave Out Lines")
    press(program, "German", "50 % of the Lines")
    monkeypatch.setattr(corpus_panel, "ask_for_draw", lambda *_: 7)
    press(program, "German", "Another Random Sample …")
    assert corpus.mixture.of("code").unique == "lines"
    assert corpus.mixture.of("German").sample == Sample(None, Fraction(1, 2), "lines", 7)
    settle(qtbot, program)
    menu = program.corpus_panel.group_menu
    program.corpus_panel.list.setCurrentIndex(model.index(row))
    menu.aboutToShow.emit()
    assert {"Into code", "From Folders", "Shares by Words"} <= {action.text() for action in menu.actions()}
    tip = Qt.ItemDataRole.ToolTipRole  # texts are counted a moment after the recipe has changed
    qtbot.waitUntil(lambda: "counted together with its group" in model.data(model.index(1), tip), timeout=WAIT)
    small(program, 262)
    train(program)
    run = session.runs.shown
    assert run is not None
    groups = {"code": Corpus.from_files(folder / "code"), "German": Corpus.from_files(folder / "de")}
    assert run.words is not None
    assert list(run.words) == list(count_words(Corpus.grouped(groups), run.recipe))
    parts = parts_of(run, corpus.counts, session.runs.mixed)
    assert parts is not None
    assert sorted(WordTable.merged(parts().values())) == sorted(run.words)
    program.actions["sizes"].trigger()
    sizes = program.pages.page(SIZES).model
    sizes.choose("each", True)
    qtbot.waitUntil(lambda: sizes.answer is not None and "German" in sizes.answer.columns["text"], timeout=WAIT)
    assert sizes.answer is not None
    assert [*dict.fromkeys(sizes.answer.columns["text"])] == ["code", "German"]
    program.exchanging.encoding.start([], len(run.history or ()), None, folder.parent / "ids.npy")
    with qtbot.waitSignal(program.exchanging.encoding.finished, timeout=WAIT) as encoded:
        pass
    rows = {name: int(tokens.replace(",", "")) for name, _, tokens, *_ in encoded.args[0]}
    assert rows["all of German"] == rows["a.txt"] + rows["b.txt"]
    _assert_its_words_are_listed(qtbot, program, folder.parent / "words.csv")
    while session.undo.canUndo():
        session.undo.undo()
    assert corpus.mixture == Mixture()
    while session.undo.canRedo():
        session.undo.redo()
    assert [text.group for text in corpus.texts.value] == ["code", "German", "German"]
    _check_saved_groups(program, folder.parent / "kept.bpex")


def _assert_its_words_are_listed(qtbot: QtBot, program: Program, path: Path) -> None:
    page = program.pages[WordsPage]
    model, rows = page.model, page.rows
    program.actions["words"].trigger()
    qtbot.waitUntil(lambda: model.groups == ("code", "German") and rows.rowCount() > 0, timeout=WAIT)
    counts = [int(rows.index(row, 1).data()) for row in range(rows.rowCount())]
    assert counts == sorted(counts, reverse=True)
    for column in (4, 0, 3):
        page.table.sortByColumn(column, Qt.SortOrder.AscendingOrder)
    page.holding.setText("␣ol")
    qtbot.waitUntil(lambda: [rows.index(0, 0).data(), rows.rowCount()] == ["␣old", 1], timeout=WAIT)
    assert "1 of " in page.summary.text()
    assert rows.index(0, 4).data() == "0", "how often it stands in the other group"
    program.charting._write(page.table_function(), page.watched.command, path)
    qtbot.waitUntil(path.is_file, timeout=WAIT)
    assert path.read_text(encoding="utf-8").splitlines()[0] == "text,hex,count,share,count in code,count in German"


def _check_saved_groups(program: Program, path: Path) -> None:
    session = program.session
    now = snapshot_of(session, {})
    write_session(now, path)
    saved = read_session(path)
    assert [source.group for source in saved.sources] == ["code", "German", "German"]
    assert [source.group for source in saved.runs[0].sources] == ["code", "German", "German"]
    assert saved.recipe.mixture == session.recipe.value.mixture == saved.runs[0].recipe.mixture
    restore(session, saved, {})
    assert program.corpus.groups == ("code", "German")


def test_a_user_can_move_corpus_texts_to_other_groups(
    qtbot: QtBot, window_with: Callable[..., Program], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = window_with(*sorted(folder.rglob("*.*")))
    model, corpus = program.corpus, program.session.corpus
    qtbot.waitUntil(lambda: model.rowCount() == 3, timeout=WAIT)
    name = model.add_group([0])
    headings = [model.data(model.index(row), model.EntryRole).group for row in range(5)]
    assert headings == [GroupRow(name), None, GroupRow(""), None, None]
    model.setData(model.index(0), f"{name} = 30 %", EDIT)
    assert corpus.mixture.of("") == Group("", Fraction(7, 10))
    model.move([4], 1)
    assert [text.group for text in corpus.texts.value] == [name, name, ""]
    assert model.shift([0], 1) == [2]
    assert corpus.texts.value[0].group == "", "a group is moved with all that is in it"
    panel = program.corpus_panel
    panel.list.clearSelection()
    for row in (3, 4):
        panel.list.selectionModel().select(model.index(row), QItemSelectionModel.SelectionFlag.Select)
    panel.up_button.click()
    assert [text.group for text in corpus.texts.value] == ["", "", ""], "both went above the row of their group"
    assert len(panel.list.selectedIndexes()) == 2
    program.session.undo.undo()
    model.shift([0], 1)
    corpus.group(model.texts_at([4]), name)
    assert corpus.mixture.of(name).weight == 1, "the only group is all there is"
    corpus.group(model.texts_at(range(4)), "")
    assert corpus.mixture == Mixture()
    assert model.rowCount() == 3
    monkeypatch.setattr(session_corpus, "MOST_LISTED", 2)
    corpus.remove(model.texts_at(range(3)))
    corpus.add_paths([folder])
    qtbot.waitUntil(lambda: model.rowCount() == 1, timeout=WAIT)
    corpus.group_by_folders(model.texts_at([0]))
    qtbot.waitUntil(lambda: model.rowCount() == 4, timeout=WAIT)
    assert [(text.name, text.is_folder) for text in corpus.texts.value] == [("code/", True), ("de/", True)]
    corpus.remove(model.texts_at(range(4)))
    corpus.add_paths([folder / "de", folder / "code"])
    qtbot.waitUntil(lambda: model.rowCount() == 2, timeout=WAIT)
    corpus.group_by_folders({text.number for text in corpus.texts.value})
    assert [(text.name, text.group) for text in corpus.texts.value] == [("de/", "de"), ("code/", "code")]


def test_corpus_groups_become_the_languages_and_development_texts_of_a_parity_aware_run(
    qtbot: QtBot, program: Program, train: Train, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus, model, sentences = program.session.corpus, program.corpus, parallel_samples()
    for name in ("en", "ru", "en dev", "ru dev"):
        corpus.add_text(name, "\n".join(sentences[name[:2]]))
    for text in corpus.texts.value:
        corpus.group({text.number}, text.name)
    titles = [action.text() for action in program.corpus_panel.group_menu.actions()]
    assert "Dev Text of" not in titles, "other methods do not ask for it"
    program.form.choose_method("parity")
    press(program, "en dev", "en")
    press(program, "ru dev", "ru")
    assert corpus.mixture == Mixture((Group("en dev", dev_of="en"), Group("ru dev", dev_of="ru")))
    shown = model.data(model.index(model.row_of_group("ru dev")), model.EntryRole)
    assert shown.facts == "is the dev text of ru"
    model.setData(model.index(model.row_of_group("ru")), "Russian", EDIT)
    assert corpus.mixture.of("ru dev").dev_of == "Russian"
    monkeypatch.setattr(corpus_panel, "ask_for_ratio", lambda *_: 1.5)
    program.corpus_panel.list.setCurrentIndex(model.index(model.row_of_group("en")))
    program.corpus_panel.group_menu.aboutToShow.emit()
    next(item for item in program.corpus_panel.group_menu.actions() if item.text() == "Ratio …").trigger()
    assert "by dev texts or by ratios; remove" in program.messages.sentence.text()
    small(program)
    train(program)
    run = program.session.runs.shown
    assert run is not None
    assert run.words is not None
    assert run.history is not None
    assert [item.name for item in run.words.languages] == ["en", "Russian"]
    assert run.history.reasons["language"][0] == 1
    for name in ("en dev", "ru dev"):
        press(program, name, "None (Learn from It)")
    model.setData(model.index(model.row_of_group("en")), "en = 50 %", EDIT)
    press(program, "en dev", "en")
    weights = [corpus.mixture.of(name).weight for name in ("en", "Russian", "en dev", "ru dev")]
    assert weights[2] == 0
    assert sum(weights) == 1
