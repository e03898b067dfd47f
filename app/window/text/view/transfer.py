"""Text dragged out of the editor, within it, and dropped into it."""

from __future__ import annotations

from typing import Protocol

from PySide6.QtCore import QMimeData, QPointF, Qt
from PySide6.QtGui import QDrag, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QWidget

from app.window.text.view.caret import Caret

_COPY, _MOVE = Qt.DropAction.CopyAction, Qt.DropAction.MoveAction


class Editable(Protocol):
    """What text is dragged from and dropped into."""

    @property
    def caret(self) -> Caret: ...
    def selected_text(self) -> str: ...
    def character_at(self, point: QPointF) -> int: ...
    def insert(self, text: str) -> None: ...
    def caret_moved(self) -> None: ...
    def move_selection(self, place: int) -> None: ...


class DraggedText:
    """Drag and drop for one editor."""

    def __init__(self, editor: Editable, widget: QWidget) -> None:
        self._editor, self._widget = editor, widget
        self._moved_within = False

    def drag(self) -> None:
        """Let the selected text be dragged, within this text or to another program."""
        data = QMimeData()
        data.setText(self._editor.selected_text())
        drag = QDrag(self._widget)
        drag.setMimeData(data)
        self._moved_within = False
        if drag.exec(_COPY | _MOVE, _MOVE) == _MOVE and not self._moved_within:
            self._editor.insert("")

    def consider(self, event: QDragMoveEvent) -> None:
        """Text is welcome; files are for the window around."""
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
        if event.source() is self._widget and event.dropAction() == _MOVE:
            self._moved_within = True
            editor.move_selection(place)
        else:
            editor.caret.go(place)
            editor.insert(event.mimeData().text())
            editor.caret.select(place, editor.caret.position)
            editor.caret_moved()
        event.acceptProposedAction()
        self._widget.setFocus(Qt.FocusReason.MouseFocusReason)


def _is_text(data: QMimeData) -> bool:
    return data.hasText() and not data.hasUrls()
