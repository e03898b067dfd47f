"""Tests of selecting text with the mouse, and of reporting the token under the mouse or at the text cursor."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.window.text.text_model import TokenAt
from app.window.text.view.editor import TokenTextEdit
from tests.gui.text.conftest import Key, middle_of, move, press


def test_dragging_in_the_text_selects_characters_and_reports_their_bytes(
    show_editor: Callable[..., TokenTextEdit], qtbot: QtBot
) -> None:
    editor = show_editor("né two three")
    selections: list[tuple[int, int] | None] = []
    editor.selection_changed.connect(selections.append)
    rows = [editor.rectangle_of(i).center() for i in (0, 6)]
    QTest.mousePress(editor.viewport(), Qt.MouseButton.LeftButton, pos=rows[0])
    for x in range(rows[0].x(), rows[1].x() + 1, 5):
        QTest.mouseMove(editor.viewport(), QPoint(x, rows[0].y()))
        move(editor, QPoint(x, rows[0].y()), Qt.MouseButton.LeftButton)
    move(editor, rows[1], Qt.MouseButton.LeftButton)
    QTest.mouseRelease(editor.viewport(), Qt.MouseButton.LeftButton, pos=rows[1])
    assert editor.selected_text() == "né two"
    assert selections[-1] == (0, 7)
    QTest.mouseClick(editor.viewport(), Qt.MouseButton.LeftButton, pos=rows[0])
    assert selections[-1] is None


def test_a_double_click_selects_a_word_and_a_triple_click_selects_a_line(
    show_editor: Callable[..., TokenTextEdit],
) -> None:
    editor = show_editor("one two three\nnext")
    place = editor.rectangle_of(5).center()
    QTest.mouseClick(editor.viewport(), Qt.MouseButton.LeftButton, pos=place)
    QTest.mouseDClick(editor.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert editor.selected_text() == "two"
    QTest.mouseClick(editor.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert editor.selected_text() == "one two three\n"


def test_the_editor_reports_the_token_under_the_mouse(show_editor: Callable[..., TokenTextEdit]) -> None:
    editor = show_editor("né two\nשלום 😀")
    tokens: list[TokenAt | None] = []
    editor.token_hovered.connect(tokens.append)
    for byte in range(editor.model.byte_length):
        move(editor, middle_of(editor, byte))
        assert tokens[-1] == editor.model.token_at(byte), byte
    move(editor, QPoint(editor.viewport().width() - 2, editor.viewport().height() - 2))
    assert tokens[-1] is None


def test_the_editor_reports_the_token_at_the_caret(show_editor: Callable[..., TokenTextEdit]) -> None:
    editor = show_editor("one two")
    tokens: list[TokenAt | None] = []
    editor.caret_token_changed.connect(tokens.append)
    press(editor, Key.Key_End)
    assert tokens[-1] == editor.model.token_at(6)
    assert editor.model.token_at(6) != editor.model.token_at(0)
