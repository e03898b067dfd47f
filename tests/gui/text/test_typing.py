"""Tests of typing, pasting, dropping and composing. The text contains exactly the input, and undo removes it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent, QInputMethodEvent, QKeySequence, QShortcut
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.window.text.text_model import TextChange
from app.window.text.view.editor import TokenTextEdit
from tests.gui.text.conftest import CTRL, LANGUAGES, SHIFT, Key, press


def test_typed_text_is_inserted_in_the_editor_and_each_edit_is_reported(
    show_editor: Callable[..., TokenTextEdit], qtbot: QtBot
) -> None:
    editor = show_editor()
    changes: list[TextChange] = []
    editor.model.text_changed.connect(changes.append)
    QTest.keyClicks(editor, "low ")
    press(editor, Key.Key_Return)
    press(editor, Key.Key_Tab, CTRL)
    assert editor.model.text() == "low \n\t"
    assert [change.added for change in changes] == ["l", "o", "w", " ", "\n", "\t"]
    assert [change.start for change in changes] == [0, 1, 2, 3, 4, 5]
    assert editor.caret == 6


def test_the_backspace_and_delete_keys_remove_whole_graphemes(show_editor: Callable[..., TokenTextEdit]) -> None:
    editor = show_editor("a👩\u200d👧e\u0301z")
    press(editor, Key.Key_End)
    press(editor, Key.Key_Left)
    press(editor, Key.Key_Backspace)
    assert editor.model.text() == "a👩\u200d👧z"
    press(editor, Key.Key_Home)
    press(editor, Key.Key_Right)
    press(editor, Key.Key_Delete)
    assert editor.model.text() == "az"
    press(editor, Key.Key_Backspace, CTRL)
    assert editor.model.text() == "z"
    press(editor, Key.Key_Delete)
    press(editor, Key.Key_Delete)
    press(editor, Key.Key_Backspace)
    assert editor.model.text() == ""


def test_typing_replaces_the_selection_and_undo_restores_the_selected_text(
    show_editor: Callable[..., TokenTextEdit],
) -> None:
    editor = show_editor("one two three")
    press(editor, Key.Key_Right, CTRL)
    press(editor, Key.Key_Right, CTRL | SHIFT)
    assert editor.selected_text() == "two "
    QTest.keyClicks(editor, "2")
    assert editor.model.text() == "one 2three"
    press(editor, Key.Key_Z, CTRL)
    assert editor.model.text() == "one two three"
    QTest.keySequence(editor, QKeySequence(QKeySequence.StandardKey.Redo))
    assert editor.model.text() == "one 2three"


def test_cutting_and_copying_and_pasting_keep_the_text_exactly(show_editor: Callable[..., TokenTextEdit]) -> None:
    editor = show_editor(LANGUAGES)
    press(editor, Key.Key_A, CTRL)
    press(editor, Key.Key_C, CTRL)
    assert QApplication.clipboard().text() == LANGUAGES
    press(editor, Key.Key_X, CTRL)
    assert editor.model.text() == ""
    press(editor, Key.Key_V, CTRL)
    press(editor, Key.Key_V, CTRL)
    assert editor.model.text() == LANGUAGES * 2


def test_text_composed_by_an_input_method_is_inserted_when_committed(show_editor: Callable[..., TokenTextEdit]) -> None:
    editor = show_editor("ab")
    press(editor, Key.Key_Right)
    before = editor.grab().toImage()
    QApplication.sendEvent(editor, QInputMethodEvent("にほ", []))
    assert editor.model.text() == "ab", "what is being composed is not in the text yet"
    assert editor.textCursor().block().layout().preeditAreaText() == "にほ"
    assert editor.document().toPlainText() == "ab"
    assert editor.grab().toImage() != before, "but it is seen"
    commit = QInputMethodEvent("", [])
    commit.setCommitString("日本")
    QApplication.sendEvent(editor, commit)
    assert editor.model.text() == "a日本b"
    assert editor.document().toPlainText() == "a日本b"
    replacing = QInputMethodEvent("", [])
    replacing.setCommitString("x", -2, 2)
    QApplication.sendEvent(editor, replacing)
    assert editor.model.text() == "axb"
    assert editor.inputMethodQuery(Qt.InputMethodQuery.ImSurroundingText) == "axb"
    assert editor.inputMethodQuery(Qt.InputMethodQuery.ImCursorPosition) == 2


@pytest.mark.parametrize("change", ["key", "undo", "other view", "selection"])
def test_an_input_method_composition_ends_when_the_surrounding_text_changes(
    show_editor: Callable[..., TokenTextEdit], change: str
) -> None:
    editor = show_editor("a\x00b" + " and so on" * 300)
    text = editor.model.text()
    editor.insert("x")
    QApplication.sendEvent(editor, QInputMethodEvent("にほ", []))
    if change == "key":
        press(editor, Key.Key_Delete)
        expected = f"x{text[1:]}"
    elif change == "undo":
        editor.undo()
        expected = text
    elif change == "other view":
        editor.model.replace(0, 4, "")
        expected = text[3:]
    else:
        editor.select(0, 4)
        editor.insert("")
        expected = text[3:]
    editor.viewport().repaint()
    assert editor.model.text() == expected
    assert editor.textCursor().block().layout().preeditAreaText() == ""


def test_repeated_spaces_and_invisible_characters_can_be_typed(
    show_editor: Callable[..., TokenTextEdit],
) -> None:
    editor = show_editor("a  b")
    editor.select(1, 1)
    QTest.keyClicks(editor, " ")
    for committed in ("\u200b", "\u00a0", "\u200d"):
        commit = QInputMethodEvent("", [])
        commit.setCommitString(committed)
        QApplication.sendEvent(editor, commit)
    QTest.keyClicks(editor, "  x")
    assert editor.model.text() == "a \u200b\u00a0\u200d  x  b"
    assert editor.caret == len("a \u200b\u00a0\u200d  x")


def test_editing_keys_change_the_text_even_if_these_keys_are_shortcuts_of_the_window(
    show_editor: Callable[..., TokenTextEdit], qtbot: QtBot
) -> None:
    editor = show_editor("text")
    taken: list[str] = []
    for keys in ("Ctrl+Z", "Ctrl+A", "S", "Ctrl+T"):
        QShortcut(QKeySequence(keys), editor, lambda keys=keys: taken.append(keys))
    press(editor, Key.Key_S)
    press(editor, Key.Key_Z, CTRL)
    press(editor, Key.Key_A, CTRL)
    press(editor, Key.Key_T, CTRL)
    assert taken == ["Ctrl+T"]
    assert editor.selected_text() == "text"


def test_the_editor_inserts_a_dropped_text_and_leaves_a_dropped_file_to_the_window(
    show_editor: Callable[..., TokenTextEdit],
) -> None:
    editor = show_editor("ab")
    data = QMimeData()
    data.setText("dropped")
    event = QDropEvent(
        QPointF(editor.rectangle_of(1).center()),
        Qt.DropAction.CopyAction,
        data,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    editor.dropEvent(event)
    assert editor.model.text() == "adroppedb"
    assert editor.selected_text() == "dropped"
    files = QMimeData()
    files.setUrls([QUrl.fromLocalFile("/some.txt")])
    refused = QDropEvent(
        QPointF(5, 5), Qt.DropAction.CopyAction, files, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    )
    refused.accept()
    editor.dropEvent(refused)
    assert not refused.isAccepted()


@pytest.mark.parametrize(("place", "expected"), [(0, "twoone three"), (13, "one threetwo"), (5, "one two three")])
def test_moving_the_selection_within_the_text_is_one_undo_step(
    show_editor: Callable[..., TokenTextEdit], place: int, expected: str
) -> None:
    editor = show_editor("one two three")
    editor.select_bytes(4, 7)
    editor.move_selection(place)
    assert editor.model.text().replace("  ", " ") == expected
    assert editor.selected_text() == "two"
    if place != 5:
        editor.undo()
    assert editor.model.text() == "one two three"
