"""Tests of screen readers: what they can read and do in the token text."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtGui import QAccessible, QAccessibleInterface, QAccessibleTextInterface

from app.window.text.view.canvas import TokenCanvas
from app.window.text.view.editor import TokenTextEdit
from tests.gui.text.conftest import SHIFT, Key, press


def interface_of(view: TokenCanvas) -> QAccessibleInterface:
    interface = QAccessible.queryAccessibleInterface(view)
    assert interface is not None
    return interface


def text_of(view: TokenCanvas) -> QAccessibleTextInterface:
    text = interface_of(view).textInterface()
    assert text is not None
    return text


def test_screen_readers_see_the_token_text_as_a_named_editable_text(show_editor: Callable[..., TokenTextEdit]) -> None:
    interface = interface_of(show_editor("one two"))
    assert interface.role() == QAccessible.Role.EditableText
    assert interface.text(QAccessible.Text.Name) == "Text, coloured by tokens"
    state = interface.state()
    assert state.focused
    assert state.editable
    assert state.multiLine
    assert not state.readOnly


def test_screen_readers_can_read_the_characters_of_the_token_text(show_editor: Callable[..., TokenTextEdit]) -> None:
    text = text_of(show_editor("one tw😀 é\nשלום last"))
    assert text.characterCount() == len("one tw😀 é\nשלום last") + 1, "counted as Qt counts"
    assert text.text(0, text.characterCount()).replace("\u2029", "\n") == "one tw😀 é\nשלום last"
    assert text.text(4, 8) == "tw😀"


def test_screen_readers_can_read_and_set_the_caret_and_the_selection(show_editor: Callable[..., TokenTextEdit]) -> None:
    editor = show_editor("one two three")
    text = text_of(editor)
    assert text.cursorPosition() == 0
    press(editor, Key.Key_Right)
    press(editor, Key.Key_Right)
    assert text.cursorPosition() == 2
    press(editor, Key.Key_Right, SHIFT)
    assert text.selectionCount() == 1
    assert editor.selection == (2, 3)
    text.setCursorPosition(4)
    assert (editor.caret, text.selectionCount()) == (4, 0)
    text.addSelection(4, 7)
    assert editor.selected_text() == "two"
    assert editor.selected_bytes() == (4, 7)


def test_screen_readers_get_the_screen_position_of_each_character(show_editor: Callable[..., TokenTextEdit]) -> None:
    editor = show_editor("one two")
    text = text_of(editor)
    first, second = (text.characterRect(place) for place in (4, 5))
    assert first.left() < second.left()
    screen = editor.viewport().mapToGlobal(editor.rectangle_of(4).topLeft())
    assert abs(first.left() - screen.x()) <= 4


def test_text_written_by_a_screen_reader_can_be_undone(show_editor: Callable[..., TokenTextEdit]) -> None:
    editor = show_editor("one two")
    editing = interface_of(editor).editableTextInterface()
    assert editing is not None
    editing.insertText(3, ",\n")
    assert editor.model.text() == "one,\n two"
    editing.replaceText(0, 3, "1")
    assert editor.model.text() == "1,\n two"
    editing.deleteText(1, 4)
    assert editor.model.text() == "1two"
    while editor.model.undo.canUndo():
        editor.undo()
    assert editor.model.text() == "one two"


def test_screen_readers_can_read_a_token_text_that_is_not_editable(show_editor: Callable[..., TokenTextEdit]) -> None:
    canvas = TokenCanvas(show_editor("one two").model)
    interface = interface_of(canvas)
    assert interface.role() == QAccessible.Role.EditableText
    assert interface.state().readOnly
    assert text_of(canvas).text(4, 7) == "two"
