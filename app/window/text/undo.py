"""Edits of the text among all that a person changes, so that one Undo takes back whatever was last."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtGui import QUndoCommand

from app.session.changes import Steps
from app.window.text.model import TokenTextModel


class TextUndo(QObject):
    """Adds a step for each that the text remembers by itself, and tells the text where one ends."""

    def __init__(self, text: TokenTextModel, steps: Steps, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._text, self._steps = text, steps
        self._newest = 0  # behind which step the text's newest one stands
        text.step_made.connect(self._add)
        steps.indexChanged.connect(self._seal)

    def _add(self) -> None:
        if not self._steps.is_walking:
            self._newest = self._steps.index() + 1
            self._steps.push(_TextStep(self._steps, self._text))

    def _seal(self, index: int) -> None:
        """What is typed after something else was changed is a step of its own."""
        if index != self._newest:
            self._text.seal_undo()


class _TextStep(QUndoCommand):
    """Leads to before or behind the step that the text has just made."""

    def __init__(self, steps: Steps, text: TokenTextModel) -> None:
        super().__init__("Edit the text")
        self._steps, self._text, self._position = steps, text, text.undo_position

    def redo(self) -> None:
        with self._steps.walking():
            while self._text.undo_position < self._position and self._text.can_redo:
                self._text.redo()

    def undo(self) -> None:
        with self._steps.walking():
            while self._text.undo_position >= self._position and self._text.can_undo:
                self._text.undo()
