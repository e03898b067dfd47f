"""Tests of keys that move the text cursor: by characters, words, rows, lines and pages."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor

from app.window.text.view.editor import TokenTextEdit
from tests.gui.text.conftest import CTRL, LANGUAGES, SHIFT, Key, press


def test_navigation_keys_move_the_caret_to_the_expected_positions(show_editor: Callable[..., TokenTextEdit]) -> None:
    text = "first line here\nsecond\n\nlast one"
    editor = show_editor(text)
    steps: list[tuple[Qt.Key, Qt.KeyboardModifier, int]] = [
        (Key.Key_Right, CTRL, 6),
        (Key.Key_End, Qt.KeyboardModifier.NoModifier, 15),
        (Key.Key_Down, Qt.KeyboardModifier.NoModifier, 22),
        (Key.Key_Down, Qt.KeyboardModifier.NoModifier, 23),
        (Key.Key_Up, Qt.KeyboardModifier.NoModifier, 22),
        (Key.Key_Up, Qt.KeyboardModifier.NoModifier, 15),  # the place where the way began is remembered
        (Key.Key_Home, Qt.KeyboardModifier.NoModifier, 0),
        (Key.Key_Left, Qt.KeyboardModifier.NoModifier, 0),
        (Key.Key_End, CTRL, len(text)),
        (Key.Key_Right, Qt.KeyboardModifier.NoModifier, len(text)),
        (Key.Key_Left, CTRL, text.index("one")),
        (Key.Key_Home, CTRL, 0),
    ]
    for key, modifier, place in steps:
        press(editor, key, modifier)
        assert editor.caret == place, (key, modifier)


def test_the_home_and_end_keys_move_the_caret_within_the_row_of_a_wrapped_line(
    show_editor: Callable[..., TokenTextEdit],
) -> None:
    editor = show_editor("word " * 60)
    rows = editor.visible_blocks()[0].rows
    assert len(rows) > 2
    press(editor, Key.Key_Down)
    press(editor, Key.Key_End)
    assert rows[1].start < editor.caret < rows[1].stop
    press(editor, Key.Key_Home)
    assert editor.caret == rows[1].start


def test_the_left_key_moves_the_caret_forward_in_a_right_to_left_line(
    show_editor: Callable[..., TokenTextEdit],
) -> None:
    editor = show_editor("שלום\nabc")
    press(editor, Key.Key_Left)
    assert editor.caret == 1
    assert editor.rectangle_of(1).left() < editor.rectangle_of(0).left()
    press(editor, Key.Key_Right)
    assert editor.caret == 0
    assert editor.rectangle_of(0).left() > editor.viewport().width() / 2, "the line begins at the right"


def test_page_keys_move_the_caret_and_the_view(show_editor: Callable[..., TokenTextEdit]) -> None:
    editor = show_editor("\n".join(f"line {i}" for i in range(500)))
    for _ in range(3):
        press(editor, Key.Key_PageDown)
    down = editor.caret
    assert editor.verticalScrollBar().value() > 0
    assert editor.viewport().rect().contains(editor.rectangle_of(down).center())
    for _ in range(4):
        press(editor, Key.Key_PageUp, SHIFT)
    assert editor.selection == (0, down)
    assert editor.verticalScrollBar().value() == 0


def test_no_key_moves_the_caret_into_the_middle_of_a_grapheme(show_editor: Callable[..., TokenTextEdit]) -> None:
    editor = show_editor(LANGUAGES, width=220)
    forwards, backwards = [0], [len(LANGUAGES)]
    for key, places, goal in (
        (QTextCursor.MoveOperation.NextCharacter, forwards, len(LANGUAGES)),
        (QTextCursor.MoveOperation.PreviousCharacter, backwards, 0),
    ):
        while places[-1] != goal:
            editor.moveCursor(key)
            places.append(editor.caret)
    assert forwards == sorted(backwards)
    for inside in (LANGUAGES.index("🏽"), LANGUAGES.index("\u0301"), LANGUAGES.index("\u200d")):
        assert inside not in forwards


def test_a_short_text_is_shown_in_the_largest_letters_that_fit_into_the_editor(
    show_editor: Callable[..., TokenTextEdit],
) -> None:
    """A longer text is shown in the usual size. A size that the user chooses is kept."""
    editor = show_editor("a few words", width=500, height=300)
    usual = editor.font().pointSizeF()
    editor.fit_letters()
    assert editor.font().pointSizeF() > 1.5 * usual
    editor.resize(90, 60)
    assert editor.font().pointSizeF() == usual
    editor.resize(500, 300)
    assert editor.verticalScrollBar().maximum() == 0
    assert editor.font().pointSizeF() > 1.5 * usual
    editor.model.set_text("many words " * 500)
    assert editor.font().pointSizeF() == usual
    editor.zoom(1)
    editor.model.set_text("a few words")
    assert editor.font().pointSizeF() == usual + 1
