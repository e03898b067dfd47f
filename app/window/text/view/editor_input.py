"""Input of the text editor: keys, mouse, input methods, drag and drop."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from PySide6.QtCore import QKeyCombination, QMimeData, QObject, QPointF, Qt, QTimer
from PySide6.QtGui import QDrag, QDragMoveEvent, QDropEvent, QInputMethodEvent, QKeyEvent, QKeySequence, QMouseEvent
from PySide6.QtWidgets import QApplication

from app.session.time import timer
from app.window.text.view.block_layout import utf16_length
from app.window.text.view.caret import Caret, word_around

if TYPE_CHECKING:
    from app.window.text.view.editor import TokenTextEdit

Key = QKeySequence.StandardKey
FIND_ANYTHING = QKeyCombination(Qt.KeyboardModifier.ControlModifier, Qt.Key.Key_K)  # also deletes to the end of a line
Place = Callable[[Caret], int]

_BOTH_MOVES: list[tuple[Key, Key, Place]] = [  # alone, and selecting
    (Key.MoveToNextChar, Key.SelectNextChar, Caret.to_the_right),
    (Key.MoveToPreviousChar, Key.SelectPreviousChar, Caret.to_the_left),
    (Key.MoveToNextWord, Key.SelectNextWord, Caret.word_to_the_right),
    (Key.MoveToPreviousWord, Key.SelectPreviousWord, Caret.word_to_the_left),
    (Key.MoveToStartOfLine, Key.SelectStartOfLine, Caret.row_start),
    (Key.MoveToEndOfLine, Key.SelectEndOfLine, Caret.row_end),
    (Key.MoveToStartOfBlock, Key.SelectStartOfBlock, Caret.line_start),
    (Key.MoveToEndOfBlock, Key.SelectEndOfBlock, Caret.line_end),
    (Key.MoveToStartOfDocument, Key.SelectStartOfDocument, lambda caret: 0),
    (Key.MoveToEndOfDocument, Key.SelectEndOfDocument, lambda caret: caret.flow.chunks.length),
]
MOVES: dict[Key, tuple[Place, bool]] = {  # the place, and whether the way there is selected
    key: (place, selecting) for *keys, place in _BOTH_MOVES for key, selecting in zip(keys, (False, True), strict=True)
}
DELETIONS: dict[Key, Place] = {
    Key.Delete: Caret.after,
    Key.Backspace: Caret.before,  # see `matched`
    Key.DeleteEndOfWord: Caret.word_after,
    Key.DeleteStartOfWord: Caret.word_before,
    Key.DeleteEndOfLine: Caret.line_end,
}
ROWS: dict[Key, tuple[int, bool, bool]] = {  # how many, whether pages are meant, and whether the way is selected
    Key.MoveToNextLine: (1, False, False),
    Key.MoveToPreviousLine: (-1, False, False),
    Key.SelectNextLine: (1, False, True),
    Key.SelectPreviousLine: (-1, False, True),
    Key.MoveToNextPage: (1, True, False),
    Key.MoveToPreviousPage: (-1, True, False),
    Key.SelectNextPage: (1, True, True),
    Key.SelectPreviousPage: (-1, True, True),
}
_COMMANDS = (Key.Undo, Key.Redo, Key.Cut, Key.Copy, Key.Paste, Key.SelectAll)


def matched(event: QKeyEvent, keys: Iterable[Key]) -> Key | None:
    is_shift_only = not event.modifiers() & ~Qt.KeyboardModifier.ShiftModifier
    if event.key() == Qt.Key.Key_Backspace and is_shift_only and Key.Backspace in keys:
        return Key.Backspace  # a standard key on some platforms only
    return next((key for key in keys if event.matches(key)), None)


def is_own(event: QKeyEvent) -> bool:
    """Whether the editor needs a key itself, before the window takes it as a shortcut."""
    if event.keyCombination() == FIND_ANYTHING:
        return False
    if any(matched(event, keys) is not None for keys in (MOVES, DELETIONS, ROWS, _COMMANDS)):
        return True
    types_a_letter = bool(event.text()) and event.text().isprintable()
    return types_a_letter and not event.modifiers() & ~(
        Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier
    )


_SCROLL_MS = 30

Span = tuple[int, int]
Unit = Callable[[int], Span]  # what a click selects around a place


class MouseSelection(QObject):
    """A selection by the left button: by character, word or line, scrolling at the edges."""

    def __init__(self, editor: TokenTextEdit) -> None:
        super().__init__(editor)
        self._editor = editor
        self._unit: Unit | None = None  # set while the button is down and selects
        self._origin: Span = (0, 0)
        self._drag_from: QPointF | None = None
        self._point = QPointF()
        self._last_double = QPointF()
        self._triple = QTimer(self)
        self._triple.setSingleShot(True)
        self._edge = timer(self, _SCROLL_MS, self._go_on_at_edge, repeats=True)

    def press(self, event: QMouseEvent) -> None:
        point, caret = event.position(), self._editor.caret
        place = self._editor.character_at(point)
        if self._triple.isActive() and self._is_near(point, self._last_double):
            self._begin(place, lambda at: line_around(caret, at))
        elif event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self._unit, self._origin = _nothing_around, (caret.anchor, caret.anchor)
            self._extend_to(place)
        elif caret.has_selection and caret.selection[0] <= place < caret.selection[1]:
            self._drag_from = point
        else:
            self._begin(place, _nothing_around)

    def double_click(self, event: QMouseEvent) -> None:
        self._last_double = event.position()
        self._triple.start(QApplication.doubleClickInterval())
        chunks = self._editor.caret.flow.chunks
        self._begin(self._editor.character_at(event.position()), lambda at: word_around(chunks, at))

    def move(self, event: QMouseEvent) -> None:
        self._point = event.position()
        if self._drag_from is not None:
            if not self._is_near(self._point, self._drag_from):
                self._drag_from = None
                self._editor.dragging.drag()
        elif self._unit:
            self._extend_to(self._editor.character_at(self._point))
            if self._editor.beyond_edge(self._point):
                self._edge.start()
            else:
                self._edge.stop()

    def release(self, event: QMouseEvent) -> None:
        if self._drag_from is not None:  # a plain click into the selection
            self._editor.caret.go(self._editor.character_at(event.position()))
            self._editor.caret_moved()
        self._drag_from = self._unit = None
        self._edge.stop()

    def _begin(self, place: int, unit: Unit) -> None:
        self._unit, self._origin = unit, unit(place)
        self._editor.caret.select(*self._origin)
        self._editor.caret_moved()

    def _extend_to(self, place: int) -> None:
        if self._unit is None:
            return
        start, stop = self._unit(place)
        caret = self._editor.caret
        if start < self._origin[0]:
            caret.select(self._origin[1], start)
        else:
            caret.select(self._origin[0], max(stop, self._origin[1]))
        self._editor.caret_moved()

    def _go_on_at_edge(self) -> None:
        distance = self._editor.beyond_edge(self._point)
        if not self._unit or not distance:
            self._edge.stop()
            return
        self._editor.caret.flow.scroll_by(distance)
        self._extend_to(self._editor.character_at(self._point))

    @staticmethod
    def _is_near(one: QPointF, other: QPointF) -> bool:
        return (one - other).manhattanLength() < QApplication.startDragDistance()


def _nothing_around(place: int) -> Span:
    return place, place


def line_around(caret: Caret, place: int) -> Span:
    at = Caret(caret.flow)
    at.go(place)
    return at.line_start(), min(at.line_end() + 1, caret.flow.chunks.length)


SURROUNDING = 256  # characters on each side of the caret


def input_method_answer(query: Qt.InputMethodQuery, caret: Caret) -> object:
    """Answer a question of an input method about the text around the caret; None without an answer."""
    text, asked, at = caret.flow.chunks.slice, Qt.InputMethodQuery, caret.position
    start, stop = max(0, at - SURROUNDING), min(caret.flow.chunks.length, at + SURROUNDING)
    answers: dict[Qt.InputMethodQuery, Callable[[], object]] = {
        asked.ImEnabled: lambda: True,
        asked.ImSurroundingText: lambda: text(start, stop),
        asked.ImCursorPosition: lambda: utf16_length(text(start, at)),
        asked.ImAnchorPosition: lambda: utf16_length(text(start, min(max(caret.anchor, start), stop))),
        asked.ImTextBeforeCursor: lambda: text(start, at),
        asked.ImTextAfterCursor: lambda: text(at, stop),
        asked.ImCurrentSelection: lambda: text(*caret.selection),
    }
    return answers[query]() if query in answers else None


def replaced_characters(event: QInputMethodEvent, caret: Caret) -> tuple[int, int]:
    """Return the characters that a commit of an input method replaces."""
    if not event.replacementLength() and not event.replacementStart():
        return caret.selection
    start = _moved_by_units(caret, caret.position, event.replacementStart())
    return start, _moved_by_units(caret, start, event.replacementLength())


def _moved_by_units(caret: Caret, character: int, units: int) -> int:
    """Return the place some UTF-16 units away, as input methods count."""
    chunks = caret.flow.chunks
    step = 1 if units > 0 else -1
    while units * step > 0 and 0 <= character + min(step, 0) < chunks.length:
        passed = chunks.slice(character + min(step, 0), character + max(step, 0))
        units -= step * utf16_length(passed)
        character += step
    return character


_COPY, _MOVE = Qt.DropAction.CopyAction, Qt.DropAction.MoveAction


class DraggedText:
    def __init__(self, editor: TokenTextEdit) -> None:
        self._editor = editor
        self._moved_within = False

    def drag(self) -> None:
        data = QMimeData()
        data.setText(self._editor.selected_text())
        drag = QDrag(self._editor)
        drag.setMimeData(data)
        self._moved_within = False
        if drag.exec(_COPY | _MOVE, _MOVE) == _MOVE and not self._moved_within:
            self._editor.insert("")

    def consider(self, event: QDragMoveEvent) -> None:
        """Accept text; leave files to the window."""
        if _is_text(event.mimeData()):
            event.acceptProposedAction()
        else:
            event.ignore()

    def drop(self, event: QDropEvent) -> None:
        editor = self._editor
        if not _is_text(event.mimeData()):
            event.ignore()
            return
        place = editor.character_at(event.position())
        if event.source() is editor and event.dropAction() == _MOVE:
            self._moved_within = True
            editor.move_selection(place)
        else:
            editor.caret.go(place)
            editor.insert(event.mimeData().text())
            editor.caret.select(place, editor.caret.position)
            editor.caret_moved()
        event.acceptProposedAction()
        editor.setFocus(Qt.FocusReason.MouseFocusReason)


def _is_text(data: QMimeData) -> bool:
    return data.hasText() and not data.hasUrls()
