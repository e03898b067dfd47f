"""Tests of bookmarks and their notes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from app.session.run import Phase
from app.wiring import Program
from bpe_core.session_file.values import Bookmark
from tests.gui.conftest import settle, wait_for_phase

pytestmark = pytest.mark.usefixtures("only_window")


@pytest.fixture
def trained_window(program: Program, train: Callable[[Program], None]) -> Program:
    assert program.form.choose(vocab_size=300)
    train(program)
    return program


def lines(program: Program) -> list[str]:
    model = program.bookmarks
    return [str(model.data(model.index(row))) for row in range(model.rowCount())]


def test_bookmark_actions_are_disabled_if_there_is_no_run(program: Program) -> None:
    for name in ("bookmark", "note", "copy_reference"):
        assert not program.actions[name].isEnabled()


def test_setting_and_removing_bookmarks_can_be_undone_and_redone(qtbot: QtBot, trained_window: Program) -> None:
    cursor, actions = trained_window.session.cursor, trained_window.actions
    for position in (30, 7):
        cursor.go_to(position)
        actions["bookmark"].trigger()
    assert [line.split("\n")[0].split()[:2] for line in lines(trained_window)] == [["Merge", "7"], ["Merge", "30"]]
    assert actions["bookmark"].isChecked()
    cursor.go_to(8)
    assert not actions["bookmark"].isChecked()
    trained_window.window.docks["bookmarks"].raise_()
    panel = trained_window.bookmarks_panel
    place = panel.list.visualRect(trained_window.bookmarks.index(1)).center()
    qtbot.mouseClick(panel.list.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert cursor.position == 30
    actions["bookmark"].trigger()
    assert len(lines(trained_window)) == 1
    actions["undo"].trigger()
    assert len(lines(trained_window)) == 2
    actions["undo"].trigger()
    actions["undo"].trigger()
    assert lines(trained_window) == []
    actions["redo"].trigger()
    assert len(lines(trained_window)) == 1


def test_a_note_of_a_bookmark_can_be_written_and_saved_and_undone(qtbot: QtBot, trained_window: Program) -> None:
    trained_window.session.cursor.go_to(12)
    trained_window.actions["note"].trigger()
    note = trained_window.bookmarks_panel.note
    assert note.isEnabled()
    qtbot.keyClicks(note, "here it begins")
    assert trained_window.session.bookmarks.value == (Bookmark(1, 12, "here it begins"),)
    assert lines(trained_window)[0].endswith("here it begins")
    assert note.toPlainText() == "here it begins"
    trained_window.actions["undo"].trigger()
    assert trained_window.session.bookmarks.value == (Bookmark(1, 12),)
    assert note.toPlainText() == ""


def test_a_copied_reference_to_a_step_leads_back_to_the_run_and_the_step(qtbot: QtBot, trained_window: Program) -> None:
    trained_window.session.cursor.go_to(21)
    trained_window.actions["copy_reference"].trigger()
    assert QGuiApplication.clipboard().text() == "bpe:1#21"
    trained_window.actions["new_run"].trigger()
    wait_for_phase(qtbot, trained_window, Phase.ENDED)
    settle(qtbot, trained_window)
    field = trained_window.bookmarks_panel.reference
    field.setText("bpe:1#21")
    field.returnPressed.emit()
    assert trained_window.session.runs.shown is trained_window.session.runs.all[0]
    assert trained_window.session.cursor.position == 21
    field.setText("33")
    field.returnPressed.emit()
    assert trained_window.session.cursor.position == 33
    for wrong, sentence in (
        ("bpe:7#1", "There is no run 7"),
        ("bpe:1#9999", "has learned 44 merges"),
        ("over there", "Write a merge as"),
    ):
        field.setText(wrong)
        field.returnPressed.emit()
        assert sentence in trained_window.bookmarks_panel.hint.text()
        assert trained_window.session.cursor.position == 33
