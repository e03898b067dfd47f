"""Tests that undo and redo a user's changes in the right order."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.session.merge_filter import MergeFilter
from app.wiring import Program
from bpe_core.lessons.lessons import lessons
from tests.gui.conftest import WAIT, settle

pytestmark = pytest.mark.usefixtures("only_window")


@pytest.fixture
def trained_window(qtbot: QtBot, program: Program, train: Callable[[Program], None]) -> Program:
    assert program.form.choose(vocab_size=300)
    train(program)
    program.session.undo.clear()
    return program


def session_values(program: Program) -> tuple[object, ...]:
    session = program.session
    sources = tuple((source.name, source.encoding) for source in session.corpus.texts.value)
    text = program.token_text.text()
    return sources, session.recipe.value, text, session.filter.value, session.bookmarks.value


def add_text(qtbot: QtBot, program: Program, folder: Path) -> None:
    (folder / "more.txt").write_text("so it was and so it is")
    before = program.session.corpus.texts.value
    program.session.corpus.add_paths([folder / "more.txt"])
    qtbot.waitUntil(lambda: program.session.corpus.texts.value != before, timeout=WAIT)


def reorder(qtbot: QtBot, program: Program, folder: Path) -> None:
    for name in ("another", "yet another"):
        program.session.corpus.add_text(name, "one more")
    *texts, last = program.session.corpus.texts.value
    program.session.corpus.arrange((last, *texts))


def change_reading(qtbot: QtBot, program: Program, folder: Path) -> None:
    numbers = {source.number for source in program.session.corpus.texts.value}
    program.session.corpus.change_reading(numbers, "Change the encoding", encoding="latin-1")


def remove_texts(qtbot: QtBot, program: Program, folder: Path) -> None:
    program.corpus_panel.list.selectAll()
    program.corpus_panel.remove_selected()


def change_recipe(qtbot: QtBot, program: Program, folder: Path) -> None:
    program.recipe_panel.size_box.setValue(310)


def choose_preset(qtbot: QtBot, program: Program, folder: Path) -> None:
    program.form.choose_preset("english")


def type_text(qtbot: QtBot, program: Program, folder: Path) -> None:
    program.text_panel.editor.setFocus()
    qtbot.keyClicks(program.text_panel.editor, "lighthouse")


def delete_text(qtbot: QtBot, program: Program, folder: Path) -> None:
    program.text_panel.editor.selectAll()
    qtbot.keyClick(program.text_panel.editor, Qt.Key.Key_Delete)


def choose_filter(qtbot: QtBot, program: Program, folder: Path) -> None:
    program.merge_panel.ties_only.setChecked(True)


def set_bookmark(qtbot: QtBot, program: Program, folder: Path) -> None:
    program.session.cursor.go_to(7)
    program.actions["bookmark"].trigger()


def write_note(qtbot: QtBot, program: Program, folder: Path) -> None:
    program.session.cursor.go_to(9)
    program.actions["note"].trigger()
    qtbot.keyClicks(program.bookmarks_panel.note, "here")


CHANGES = [
    add_text,
    reorder,
    change_reading,
    change_recipe,
    type_text,
    choose_filter,
    set_bookmark,
    write_note,
    choose_preset,
    delete_text,
    remove_texts,
]


def test_each_kind_of_change_can_be_undone_and_redone(qtbot: QtBot, trained_window: Program, tmp_path: Path) -> None:
    undo, redo = trained_window.actions["undo"], trained_window.actions["redo"]
    before = session_values(trained_window)
    for change in CHANGES:
        trained_window.session.undo.clear()
        change(qtbot, trained_window, tmp_path)
        after = session_values(trained_window)
        assert after != before, change
        assert undo.text() not in ("&Undo", "Undo"), "it says what is taken back"
        for _ in range(2):
            while undo.isEnabled():
                undo.trigger()
            assert session_values(trained_window) == before, change
            while redo.isEnabled():
                redo.trigger()
            assert session_values(trained_window) == after, change
        while undo.isEnabled():
            undo.trigger()


def test_changes_of_all_kinds_are_undone_and_redone_in_order(
    qtbot: QtBot, trained_window: Program, tmp_path: Path
) -> None:
    states = [session_values(trained_window)]
    for change in CHANGES:
        change(qtbot, trained_window, tmp_path)
        states.append(session_values(trained_window))
    met = []
    while trained_window.actions["undo"].isEnabled():
        met.append(session_values(trained_window))
        trained_window.actions["undo"].trigger()
    met.append(session_values(trained_window))
    assert [state for state in met if state in states] == states[::-1]
    while trained_window.actions["redo"].isEnabled():
        trained_window.actions["redo"].trigger()
    assert session_values(trained_window) == states[-1]
    settle(qtbot, trained_window)


def test_typing_after_a_change_of_the_filter_begins_a_new_undo_step(qtbot: QtBot, trained_window: Program) -> None:
    editor, text = trained_window.text_panel.editor, trained_window.token_text.text()
    editor.setFocus()
    qtbot.keyClicks(editor, "ab")
    trained_window.session.filter.put(MergeFilter("e"), "Filter merges")
    qtbot.keyClicks(editor, "cd")
    assert trained_window.token_text.text() == f"abcd{text}"
    qtbot.keyClick(editor, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert trained_window.token_text.text() == f"ab{text}"
    assert trained_window.session.filter.value == MergeFilter("e")
    qtbot.keyClick(editor, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert trained_window.session.filter.value == MergeFilter()
    qtbot.keyClick(editor, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert trained_window.token_text.text() == text
    assert not trained_window.actions["undo"].isEnabled()


def test_undo_after_a_lesson_restores_the_session_and_the_typed_text(qtbot: QtBot, trained_window: Program) -> None:
    editor = trained_window.text_panel.editor
    editor.setFocus()
    qtbot.keyClicks(editor, "before ")
    was = session_values(trained_window)
    trained_window.course.begin(lessons()[0])
    qtbot.waitUntil(lambda: trained_window.token_text.text() != was[2], timeout=WAIT)
    qtbot.keyClicks(editor, "during")
    trained_window.course.leave()
    assert session_values(trained_window) == was
    trained_window.actions["undo"].trigger()
    assert trained_window.token_text.text() == str(was[2]).removeprefix("before ")
