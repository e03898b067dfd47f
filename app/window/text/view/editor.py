"""The editor of the text. A user can type, paste and drop text there."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QKeyCombination, QMimeData, QPointF, Qt, Signal
from PySide6.QtGui import (
    QClipboard,
    QContextMenuEvent,
    QDropEvent,
    QGuiApplication,
    QInputMethodEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QTextCursor,
)
from PySide6.QtWidgets import QMenu, QWidget

from app.window.text.text_model import TextChange, TokenAt, TokenTextModel
from app.window.text.view.canvas import TokenCanvas

Key = QKeySequence.StandardKey
Move = QTextCursor.MoveOperation
KEEP = QTextCursor.MoveMode.KeepAnchor
FIND_ANYTHING = QKeyCombination(
    Qt.KeyboardModifier.ControlModifier, Qt.Key.Key_K
)  # it also deletes to the end of a line
MOVE = Qt.DropAction.MoveAction
DELETIONS = {  # each key removes all up to this place
    Key.Backspace: Move.PreviousCharacter,
    Key.Delete: Move.NextCharacter,
    Key.DeleteStartOfWord: Move.PreviousWord,
    Key.DeleteEndOfWord: Move.NextWord,
}
MODIFIERS = {
    Qt.Key.Key_Shift,
    Qt.Key.Key_Control,
    Qt.Key.Key_Meta,
    Qt.Key.Key_Alt,
    Qt.Key.Key_AltGr,
    Qt.Key.Key_CapsLock,
}


class TokenTextEdit(TokenCanvas):
    caret_token_changed = Signal(object)  # the TokenAt after the caret, or None
    caret_placed = Signal(int)  # a byte of the text
    place_clicked = Signal(int)  # the byte of a click that selected nothing
    menu_opening = Signal(object)  # the context menu, for more entries

    def __init__(self, model: TokenTextModel, parent: QWidget | None = None) -> None:
        super().__init__(model, parent)
        self._caret_token: TokenAt | None = None
        self._edited_at = -1  # where the caret was after the last edit
        self._edits_itself = False
        self._commands: dict[QKeySequence.StandardKey, Callable[[], object]] = {
            Key.Undo: self.undo,
            Key.Redo: self.redo,
            Key.Cut: self.cut,
            Key.Copy: self.copy,
            Key.Paste: self.paste,
            Key.SelectAll: self.selectAll,
        }
        self.setReadOnly(False)
        self.setTabChangesFocus(True)
        self.setAccessibleName("Text, coloured by tokens")
        self.setAccessibleDescription("Type or paste a text to see its tokens. Ctrl+Tab writes a tab.")
        self.cursorPositionChanged.connect(self._follow_caret)
        self.token_document.caret = lambda: self.textCursor().position()
        self.token_document.rewriting.connect(self._end_composition)

    # -- public ------------------------------------------------------------------------------

    @property
    def caret(self) -> int:
        """Return the offset of the character after the text cursor."""
        return self.token_document.character_of(self.textCursor().position())

    @property
    def caret_byte(self) -> int:
        return self.model.chunks.byte_of(self.caret)

    def select(self, start: int, stop: int) -> None:
        self._end_composition()
        super().select(start, stop)

    def insert(self, text: str, *, joins: bool = False) -> None:
        """Replace the selection by a text. Successive edits with `joins` are undone together."""
        self._edit(lambda: self.model.replace(*self.selection, text, joins=joins))

    def undo(self) -> None:
        self._edit(self.model.undo.undo)

    def redo(self) -> None:
        self._edit(self.model.undo.redo)

    # -- the model and the caret -----------------------------------------------------------

    def _edit(self, change: Callable[[], None]) -> None:
        self._edits_itself = True
        try:
            change()
        finally:
            self._edits_itself = False

    def _follow_text(self, change: TextChange, is_own: bool) -> None:
        super()._follow_text(change, is_own)
        if not is_own and (self._edits_itself or not change.is_whole):
            end = change.start + len(change.added)
            self.select(end, end)
        self._edited_at = self.textCursor().position()
        self._report_caret()

    def _follow_tokens(self) -> None:
        super()._follow_tokens()
        self._report_caret_token()

    def _follow_caret(self) -> None:
        if self.token_document.is_edited:
            return  # reported when the edit is done
        if self.textCursor().position() != self._edited_at:
            self.model.steps.end_typing()
        self._report_caret()

    def _report_caret(self) -> None:
        self._report_caret_token()
        self.caret_placed.emit(self.caret_byte)

    def _report_caret_token(self) -> None:
        token = self.model.token_at(min(self.caret_byte, self.model.byte_length - 1))
        if token != self._caret_token:
            self._caret_token = token
            self.caret_token_changed.emit(token)

    def _end_composition(self) -> None:
        """End the composition of an input method, because Qt fails if the text around a composition changes."""
        if self.textCursor().block().layout().preeditAreaText():
            QGuiApplication.inputMethod().reset()
            super().inputMethodEvent(QInputMethodEvent())

    # -- keyboard --------------------------------------------------------------------------

    def event(self, event: QEvent) -> bool:
        is_override = event.type() == QEvent.Type.ShortcutOverride
        if is_override and isinstance(event, QKeyEvent) and event.keyCombination() == FIND_ANYTHING:
            event.ignore()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() not in MODIFIERS:
            self._end_composition()
        command = next((key for key in (Key.Undo, Key.Redo) if event.matches(key)), None)
        if command in self._commands:
            self._commands[command]()
        elif event.key() == Qt.Key.Key_Tab and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.insert("\t", joins=True)
        elif not self._delete_by_key(event):
            self._pass_to_qt(event)
            return
        event.accept()

    def _delete_by_key(self, event: QKeyEvent) -> bool:
        """Delete text if the key is a deletion key. Return whether it is one.

        A character is deleted together with its combining marks. A line break that only the display has is skipped, and
        the next character is deleted.
        """
        key = _deletion(event)
        cursor = self.textCursor()
        if key is None:
            return False
        if not cursor.hasSelection():
            cursor.movePosition(DELETIONS[key], KEEP)
            if cursor.selectionEnd() - cursor.selectionStart() == 1 and self._is_in_line(cursor.selectionStart()):
                cursor.movePosition(DELETIONS[key], KEEP)
        cursor.removeSelectedText()
        self.ensureCursorVisible()
        return True

    def _pass_to_qt(self, event: QKeyEvent) -> None:
        """Let Qt handle a key press. An arrow key skips a line break that only the display has."""
        before = self.textCursor().position()
        super().keyPressEvent(event)
        after = self.textCursor().position()
        is_arrow = event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Right)
        if is_arrow and abs(after - before) == 1 and self._is_in_line(min(before, after)):
            super().keyPressEvent(event)

    def _is_in_line(self, position: int) -> bool:
        return self.token_document.breaks_line_at(position)

    # -- what is pasted and dropped --------------------------------------------------------

    def canInsertFromMimeData(self, source: QMimeData, /) -> bool:
        return source.hasText() and not source.hasUrls()  # the window takes files

    def insertFromMimeData(self, source: QMimeData, /) -> None:
        if self.canInsertFromMimeData(source):
            self.insert(source.text())

    def dropEvent(self, event: QDropEvent) -> None:
        if not self.canInsertFromMimeData(event.mimeData()):
            event.ignore()
            return
        place = self.character_at(event.position())
        if event.source() in (self, self.viewport()) and event.dropAction() == MOVE:
            self.move_selection(place)
        else:
            self.select(place, place)
            self.insert(event.mimeData().text())
            self.select(place, self.caret)
        event.acceptProposedAction()
        self.setFocus(Qt.FocusReason.MouseFocusReason)

    def move_selection(self, place: int) -> None:
        """Move the selected text to the offset `place`. The whole range that changes is replaced in a single edit."""
        start, stop = self.selection
        text = self.selected_text()
        if start <= place <= stop:
            return
        chunks = self.model.chunks
        if place < start:
            self._edit(lambda: self.model.replace(place, stop, text + chunks.slice(place, start)))
        else:
            self._edit(lambda: self.model.replace(start, place, chunks.slice(stop, place) + text))
            place -= len(text)
        self.select(place, place + len(text))

    # -- mouse -----------------------------------------------------------------------------

    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        self._select_whole_line()

    def _select_whole_line(self) -> None:
        """Select the whole line if Qt has selected only one block of the line, as after a triple click."""
        start, stop = self.selection
        chunks = self.model.chunks
        first = chunks.chunk_at(start)
        if start == stop or start != chunks.start_of(first) or stop != chunks.start_of(first + 1):
            return
        last = first
        while not chunks.starts_line(first):
            first -= 1
        while last < len(chunks) - 1 and not chunks[last].endswith("\n"):
            last += 1
        self.select(chunks.start_of(first), chunks.start_of(last + 1))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        if event.button() == Qt.MouseButton.LeftButton and not self.textCursor().hasSelection():
            self.place_clicked.emit(self.caret_byte)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        if not self.textCursor().hasSelection() and event.reason() == QContextMenuEvent.Reason.Mouse:
            place = self.character_at(QPointF(event.pos()))
            self.select(place, place)
        menu = self.context_menu()
        self.menu_opening.emit(menu)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(event.globalPos())

    def context_menu(self) -> QMenu:
        menu = QMenu(self)
        is_selected = self.textCursor().hasSelection()
        held: QMimeData | None = QGuiApplication.clipboard().mimeData(QClipboard.Mode.Clipboard)  # None before a copy
        for text, key, can_be_done in (
            ("&Undo", Key.Undo, self.model.undo.canUndo()),
            ("&Redo", Key.Redo, self.model.undo.canRedo()),
            ("Cu&t", Key.Cut, is_selected),
            ("&Copy", Key.Copy, is_selected),
            ("&Paste", Key.Paste, held is not None and self.canInsertFromMimeData(held)),
            ("Select &All", Key.SelectAll, self.model.length > 0),
        ):
            if key in (Key.Cut, Key.SelectAll):
                menu.addSeparator()
            action = menu.addAction(text, QKeySequence(key), self._commands[key])
            action.setEnabled(can_be_done)
        blanks = menu.addAction("Show &Invisible Characters")
        blanks.setCheckable(True)
        blanks.setChecked(self.show_blanks)
        blanks.toggled.connect(self.set_show_blanks)
        return menu


def _deletion(event: QKeyEvent) -> QKeySequence.StandardKey | None:
    is_shift_only = not event.modifiers() & ~Qt.KeyboardModifier.ShiftModifier
    if event.key() == Qt.Key.Key_Backspace and is_shift_only:
        return Key.Backspace  # a standard key on some platforms only
    return next((key for key in DELETIONS if event.matches(key)), None)
