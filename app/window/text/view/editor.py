"""The text editor: a canvas with a caret, to type, paste and drop into."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QKeyCombination, QMimeData, QPointF, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import (
    QClipboard,
    QContextMenuEvent,
    QDrag,
    QDragEnterEvent,
    QDragMoveEvent,
    QDropEvent,
    QFocusEvent,
    QGuiApplication,
    QInputMethodEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
)
from PySide6.QtWidgets import QMenu, QWidget

from app.window.text.text_model import TextChange, TokenAt, TokenTextModel
from app.window.text.view.canvas import MARGIN, TokenCanvas
from app.window.text.view.caret import (
    DELETIONS,
    MOVES,
    ROWS,
    Caret,
    Key,
    Place,
    input_method_answer,
    matched,
    replaced_characters,
    types_a_letter,
)
from app.window.text.view.mouse import MouseSelection
from app.window.text.view.painting import ByteSpan, Overlay
from app.window.text.view.palette import TokenPalette

CARET_WIDTH = 2
FIND_ANYTHING = QKeyCombination(
    Qt.KeyboardModifier.ControlModifier, Qt.Key.Key_K
)  # it also deletes to the end of a line
COPY, MOVE = Qt.DropAction.CopyAction, Qt.DropAction.MoveAction


class TokenTextEdit(TokenCanvas):
    caret_token_changed = Signal(object)  # the TokenAt behind the caret, or None
    selection_changed = Signal(object)  # (start, stop) in bytes, or None
    caret_placed = Signal(int)  # a byte of the text
    place_clicked = Signal(int)  # the same, by a click that selected nothing
    menu_opening = Signal(object)  # the context menu, for more entries

    def __init__(self, model: TokenTextModel, parent: QWidget | None = None) -> None:
        super().__init__(model, parent)
        self.caret = Caret(self.flow)
        self._mouse = MouseSelection(self, self)
        self._drops_within = False  # the selection dragged from here
        self._commands: dict[QKeySequence.StandardKey, Callable[[], None]] = {
            Key.Undo: self.undo,
            Key.Redo: self.redo,
            Key.Cut: self.cut,
            Key.Copy: self.copy,
            Key.Paste: lambda: self.paste(),  # drops Qt's argument
            Key.SelectAll: self.select_all,
        }
        self._edits_itself = False
        self._caret_token: TokenAt | None = None
        self._told_selection: ByteSpan | None = None
        self._caret_is_lit = False
        self._blinking = QTimer(self)
        self._blinking.timeout.connect(self._blink)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_InputMethodEnabled)
        self.setAcceptDrops(True)
        self.viewport().setCursor(Qt.CursorShape.IBeamCursor)
        self.setAccessibleName("Text, coloured by tokens")
        self.setAccessibleDescription("Type or paste a text to see its tokens. Ctrl+Tab writes a tab.")

    # -- face ------------------------------------------------------------------------------

    @property
    def caret_byte(self) -> int:
        return self.model.chunks.byte_of(self.caret.position)

    def selected_text(self) -> str:
        return self.model.chunks.slice(*self.caret.selection)

    def selected_bytes(self) -> ByteSpan | None:
        if not self.caret.has_selection:
            return None
        start, stop = self.caret.selection
        return self.model.chunks.byte_of(start), self.model.chunks.byte_of(stop)

    def select_bytes(self, start: int, stop: int) -> None:
        chunks = self.model.chunks
        self.caret.select(chunks.character_of(start), chunks.character_of(stop))
        self.reveal(start)
        self.caret_moved(reveal=False)

    def select_all(self) -> None:
        self.caret.select(0, self.model.length)
        self.caret_moved(reveal=False)

    def insert(self, text: str, *, joins: bool = False) -> None:
        """Replace the selection; edits that `joins` are undone together."""
        self._edit(lambda: self.model.replace(*self.caret.selection, text, joins=joins))

    def undo(self) -> None:
        self._edit(self.model.undo.undo)

    def redo(self) -> None:
        self._edit(self.model.undo.redo)

    def cut(self) -> None:
        if self.caret.has_selection:
            self.copy()
            self.insert("")

    def copy(self) -> None:
        if self.caret.has_selection:
            QGuiApplication.clipboard().setText(self.selected_text())

    def paste(self, mode: QClipboard.Mode = QClipboard.Mode.Clipboard) -> None:
        text = QGuiApplication.clipboard().text(mode)
        if text:
            self.insert(text)

    # -- the model and the caret -----------------------------------------------------------

    def _edit(self, change: Callable[[], None]) -> None:
        self._edits_itself = True
        try:
            change()
        finally:
            self._edits_itself = False

    def _follow_text(self, change: TextChange) -> None:
        super()._follow_text(change)
        self.caret.go(change.start + len(change.added) if self._edits_itself or not change.is_whole else 0)
        self.caret_moved(reveal=self._edits_itself, keeps_undo_step=True)

    def _follow_tokens(self) -> None:
        super()._follow_tokens()
        self._tell_caret_token()

    def caret_moved(self, *, reveal: bool = True, keeps_undo_step: bool = False) -> None:
        if not keeps_undo_step:
            self.model.steps.seal()
        if reveal:
            self.reveal_character(self.caret.position)
        self._light_caret()
        self._tell_caret_token()
        self.caret_placed.emit(self.caret_byte)
        selection = self.selected_bytes()
        if selection != self._told_selection:
            self._told_selection = selection
            self.selection_changed.emit(selection)
        self.updateMicroFocus()
        self.viewport().update()

    def _tell_caret_token(self) -> None:
        token = self.model.token_at(min(self.caret_byte, self.model.byte_length - 1))
        if token != self._caret_token:
            self._caret_token = token
            self.caret_token_changed.emit(token)

    def _light_caret(self) -> None:
        period = QGuiApplication.styleHints().cursorFlashTime()
        self._caret_is_lit = self.hasFocus()
        if self.hasFocus() and period > 0:
            self._blinking.start(period // 2)
        else:
            self._blinking.stop()

    def _blink(self) -> None:
        self._caret_is_lit = not self._caret_is_lit
        self.viewport().update(self.rectangle_of(self.caret.position).adjusted(-1, 0, 1, 0))

    def _paint_caret(self, painter: QPainter, colours: TokenPalette) -> None:
        if self._caret_is_lit:
            place = QRectF(self.rectangle_of(self.caret.position))
            painter.fillRect(QRectF(place.x(), place.y() + 1, CARET_WIDTH, place.height() - 2), colours.ink)

    def _overlay(self) -> Overlay:
        overlay = super()._overlay()
        return Overlay(self.selected_bytes(), overlay.outlined, overlay.show_blanks)

    # -- keyboard --------------------------------------------------------------------------

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and self._needs(event):
            event.accept()
            return True
        return super().event(event)

    def _needs(self, event: QKeyEvent) -> bool:
        """Whether to take a key before the window takes it as a shortcut."""
        if event.keyCombination() == FIND_ANYTHING:
            return False
        return types_a_letter(event) or any(matched(event, keys) for keys in (MOVES, DELETIONS, ROWS, self._commands))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not (self._moves(event) or self._does(event) or self._deletes(event) or self._types(event)):
            super().keyPressEvent(event)
            return
        event.accept()

    def _moves(self, event: QKeyEvent) -> bool:
        key, row_key = matched(event, MOVES), matched(event, ROWS)
        if key is not None:
            place, selecting = MOVES[key]
            self.caret.go(self._place_after(key, place), selecting=selecting)
            self.caret_moved()
        elif row_key is not None:
            count, are_pages, selecting = ROWS[row_key]
            if are_pages:
                count *= max(1, int(self.flow.height / self.flow.setting.row_height) - 1)
                self.flow.scroll_by(count * self.flow.setting.row_height)
            self.caret.go_rows(count, selecting=selecting)
            self.caret_moved()
            self._refresh()
        return key is not None or row_key is not None

    def _place_after(self, key: QKeySequence.StandardKey, place: Place) -> int:
        if self.caret.has_selection and key == Key.MoveToPreviousChar:
            return self.caret.selection[0]
        if self.caret.has_selection and key == Key.MoveToNextChar:
            return self.caret.selection[1]
        return place(self.caret)

    def _does(self, event: QKeyEvent) -> bool:
        key = matched(event, (*self._commands, Key.ZoomIn, Key.ZoomOut))
        if key in self._commands:
            self._commands[key]()
        elif key is not None:
            self.zoom(1 if key == Key.ZoomIn else -1)
        return key is not None

    def _deletes(self, event: QKeyEvent) -> bool:
        key = matched(event, DELETIONS)
        if key is None:
            return False
        if not self.caret.has_selection:
            other = DELETIONS[key](self.caret)
            start, stop = sorted((self.caret.position, other))
            self._edit(lambda: self.model.replace(start, stop, "", joins=True))
        else:
            self.insert("")
        return True

    def _types(self, event: QKeyEvent) -> bool:
        if event.matches(Key.InsertParagraphSeparator) or event.matches(Key.InsertLineSeparator):
            self.insert("\n", joins=True)
            return True
        text = event.text()
        commands = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.MetaModifier
        if event.key() == Qt.Key.Key_Tab and event.modifiers() & commands:  # Tab alone leaves the text
            self.insert("\t", joins=True)
            return True
        is_alt_gr = event.modifiers() & commands and event.modifiers() & Qt.KeyboardModifier.AltModifier
        if not text or not text.isprintable() or (event.modifiers() & commands and not is_alt_gr):
            return False
        self.insert(text, joins=True)
        return True

    # -- input methods ---------------------------------------------------------------------

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        self.flow.composition = None
        if event.commitString() or event.replacementLength():
            start, stop = replaced_characters(event, self.caret)
            self._edit(lambda: self.model.replace(start, stop, event.commitString(), joins=True))
        elif event.preeditString() and self.caret.has_selection:
            self.insert("")
        if event.preeditString():
            self.flow.composition = (self.caret.position, event.preeditString())
        self.caret_moved(keeps_undo_step=True)
        event.accept()

    def inputMethodQuery(self, query: Qt.InputMethodQuery) -> object:
        if query in (Qt.InputMethodQuery.ImCursorRectangle, Qt.InputMethodQuery.ImAnchorRectangle):
            return self.rectangle_of(self.caret.position).translated(self.viewport().pos())
        found = self.font() if query == Qt.InputMethodQuery.ImFont else input_method_answer(query, self.caret)
        return super().inputMethodQuery(query) if found is None else found

    # -- mouse -----------------------------------------------------------------------------

    def character_at(self, point: QPointF) -> int:
        return self.flow.character_at(point.x() - MARGIN, point.y())

    def beyond_edge(self, point: QPointF) -> float:
        """Return how far a point is above (negative) or below the visible text."""
        return min(0.0, point.y()) + max(0.0, point.y() - self.flow.height)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._mouse.press(event)
        elif event.button() == Qt.MouseButton.MiddleButton and QGuiApplication.clipboard().supportsSelection():
            self.caret.go(self.character_at(event.position()))
            self.paste(QClipboard.Mode.Selection)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._mouse.double_click(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._mouse.move(event)
        else:
            super().mouseMoveEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._mouse.release(event)
            if not self.caret.has_selection:
                self.place_clicked.emit(self.caret_byte)
            clipboard = QGuiApplication.clipboard()
            if self.caret.has_selection and clipboard.supportsSelection():
                clipboard.setText(self.selected_text(), QClipboard.Mode.Selection)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        if not self.caret.has_selection and event.reason() == QContextMenuEvent.Reason.Mouse:
            self.caret.go(self.character_at(QPointF(event.pos())))
            self.caret_moved(reveal=False)
        menu = self.context_menu()
        self.menu_opening.emit(menu)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(event.globalPos())

    def context_menu(self) -> QMenu:
        menu = QMenu(self)
        selected = self.caret.has_selection
        held: QMimeData | None = QGuiApplication.clipboard().mimeData()  # None before the first copy
        pasteable = held is not None and held.hasText()
        for text, key, can_be_done in (
            ("&Undo", Key.Undo, self.model.undo.canUndo()),
            ("&Redo", Key.Redo, self.model.undo.canRedo()),
            ("Cu&t", Key.Cut, selected),
            ("&Copy", Key.Copy, selected),
            ("&Paste", Key.Paste, pasteable),
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

    # -- drag and drop ---------------------------------------------------------------------

    def drag(self) -> None:
        """Drag the selected text, and remove it here if it was moved elsewhere."""
        data = QMimeData()
        data.setText(self.selected_text())
        drag = QDrag(self)
        drag.setMimeData(data)
        self._drops_within = False
        if drag.exec(COPY | MOVE, MOVE) == MOVE and not self._drops_within:
            self.insert("")

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        _takes(event)

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        _takes(event)

    def dropEvent(self, event: QDropEvent) -> None:
        if not _takes(event):
            return
        place = self.character_at(event.position())
        if event.source() is self and event.dropAction() == MOVE:
            self._drops_within = True
            self.move_selection(place)
        else:
            self.caret.go(place)
            self.insert(event.mimeData().text())
            self.caret.select(place, self.caret.position)
            self.caret_moved()
        self.setFocus(Qt.FocusReason.MouseFocusReason)

    def move_selection(self, place: int) -> None:
        """Move the selected text in one step, by rewriting the stretch between both places."""
        start, stop = self.caret.selection
        text = self.selected_text()
        if start <= place <= stop:
            return
        chunks = self.model.chunks
        if place < start:
            self._edit(lambda: self.model.replace(place, stop, text + chunks.slice(place, start)))
        else:
            self._edit(lambda: self.model.replace(start, place, chunks.slice(stop, place) + text))
            place -= len(text)
        self.caret.select(place, place + len(text))
        self.caret_moved()

    # -- focus -----------------------------------------------------------------------------

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self._light_caret()
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._light_caret()
        self.viewport().update()


def _takes(event: QDropEvent) -> bool:
    is_text = event.mimeData().hasText() and not event.mimeData().hasUrls()
    event.acceptProposedAction() if is_text else event.ignore()
    return is_text
