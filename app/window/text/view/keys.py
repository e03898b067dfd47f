"""Which key does what in the text view. Qt knows the keys of each platform by these names."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QKeyCombination, QObject, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence

from app.window.text.view.caret import Caret

Key = QKeySequence.StandardKey
FIND_ANYTHING = QKeyCombination(Qt.KeyboardModifier.ControlModifier, Qt.Key.Key_K)  # deletes to the end of a line, too
Place = Callable[[Caret], int]

MOVES: dict[Key, Place] = {
    Key.MoveToNextChar: Caret.to_the_right,
    Key.MoveToPreviousChar: Caret.to_the_left,
    Key.MoveToNextWord: Caret.word_to_the_right,
    Key.MoveToPreviousWord: Caret.word_to_the_left,
    Key.MoveToStartOfLine: Caret.row_start,
    Key.MoveToEndOfLine: Caret.row_end,
    Key.MoveToStartOfBlock: Caret.line_start,
    Key.MoveToEndOfBlock: Caret.line_end,
    Key.MoveToStartOfDocument: Caret.text_start,
    Key.MoveToEndOfDocument: Caret.text_end,
}
SELECTING_MOVES: dict[Key, Place] = {
    Key.SelectNextChar: Caret.to_the_right,
    Key.SelectPreviousChar: Caret.to_the_left,
    Key.SelectNextWord: Caret.word_to_the_right,
    Key.SelectPreviousWord: Caret.word_to_the_left,
    Key.SelectStartOfLine: Caret.row_start,
    Key.SelectEndOfLine: Caret.row_end,
    Key.SelectStartOfBlock: Caret.line_start,
    Key.SelectEndOfBlock: Caret.line_end,
    Key.SelectStartOfDocument: Caret.text_start,
    Key.SelectEndOfDocument: Caret.text_end,
}
DELETIONS: dict[Key, Place] = {
    Key.Delete: Caret.after,
    Key.Backspace: Caret.before,  # see `matched`
    Key.DeleteEndOfWord: Caret.word_after,
    Key.DeleteStartOfWord: Caret.word_before,
    Key.DeleteEndOfLine: Caret.line_end,
}
ROWS: dict[Key, tuple[int, bool]] = {  # how many rows or pages, and whether the selection goes along
    Key.MoveToNextLine: (1, False),
    Key.MoveToPreviousLine: (-1, False),
    Key.SelectNextLine: (1, True),
    Key.SelectPreviousLine: (-1, True),
}
PAGES: dict[Key, tuple[int, bool]] = {
    Key.MoveToNextPage: (1, False),
    Key.MoveToPreviousPage: (-1, False),
    Key.SelectNextPage: (1, True),
    Key.SelectPreviousPage: (-1, True),
}


def matched(event: QKeyEvent, keys: dict[Key, Place] | dict[Key, tuple[int, bool]]) -> Key | None:
    """The first of the keys that was pressed."""
    is_shift_only = not event.modifiers() & ~Qt.KeyboardModifier.ShiftModifier
    if Key.Backspace in keys and event.key() == Qt.Key.Key_Backspace and is_shift_only:
        return Key.Backspace  # which Qt knows as a standard key on some platforms only
    return next((key for key in keys if event.matches(key)), None)


class OwnKeys(QObject):
    """Keeps the keys that edit text from the window's shortcuts while the editor has the focus."""

    _COMMANDS = (Key.Undo, Key.Redo, Key.Cut, Key.Copy, Key.Paste, Key.SelectAll)

    def __init__(self, editor: QObject) -> None:
        super().__init__(editor)
        editor.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and self._is_own(event):
            event.accept()
            return True
        return super().eventFilter(watched, event)

    def _is_own(self, event: QKeyEvent) -> bool:
        if event.keyCombination() == FIND_ANYTHING:
            return False
        tables = (MOVES, SELECTING_MOVES, DELETIONS, ROWS, PAGES)
        if any(matched(event, table) is not None for table in tables):
            return True
        types_a_letter = bool(event.text()) and event.text().isprintable()
        plain = not event.modifiers() & ~(Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier)
        return (types_a_letter and plain) or any(event.matches(key) for key in self._COMMANDS)
