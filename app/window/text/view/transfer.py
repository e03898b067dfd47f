"""Text dragged out of the editor, within it, and dropped into it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QMimeData, Qt
from PySide6.QtGui import QDrag, QDragMoveEvent, QDropEvent

if TYPE_CHECKING:  # the editor owns this; the name is needed for its type alone
    from app.window.text.view.editor import TokenTextEdit

_COPY, _MOVE = Qt.DropAction.CopyAction, Qt.DropAction.MoveAction


class DraggedText:
    """Drag and drop for one editor."""

    def __init__(self, editor: TokenTextEdit) -> None:
        self._editor = editor
        self._moved_within = False

    def drag(self) -> None:
        """Let the selected text be dragged, within this text or to another program."""
        editor = self._editor
        data = QMimeData()
        data.setText(editor.selected_text())
        drag = QDrag(editor)
        drag.setMimeData(data)
        self._moved_within = False
        if drag.exec(_COPY | _MOVE, _MOVE) == _MOVE and not self._moved_within:
            editor.insert("")

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
