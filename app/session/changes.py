"""Everything a person changes is a frozen value that is replaced, so that it can be put back.

One kind of command undoes all of them: it remembers the value before and the value after.
"""

from __future__ import annotations

import time
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoCommand, QUndoStack

Value = TypeVar("Value")

JOIN_SECONDS = 0.7  # changes of one kind that follow each other this closely are one step back


class Held(QObject, Generic[Value]):
    """A value of which the session holds the present one; each change can be undone."""

    changed = Signal(object)

    def __init__(self, value: Value, undo: QUndoStack, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._value = value
        self._undo = undo
        self._last: _Replacement | None = None

    @property
    def value(self) -> Value:
        return self._value

    def put(self, value: Value, label: str, *, joins: bool = False) -> None:
        """Replace the value; `label` names the change in the Edit menu."""
        if value == self._value:
            return
        # Not by Qt's own merging of commands: PySide would keep every one that was merged.
        if joins and self._last is not None and self._last.can_go_on(self._undo, label):
            self._last.go_on(value)
        else:
            self._last = _Replacement(self, self._value, value, label)
            self._undo.push(self._last)

    def put_quietly(self, value: Value) -> None:
        """Replace the value without a way back: for what the program does by itself."""
        if value != self._value:
            self._value = value
            self.changed.emit(value)


class _Replacement(QUndoCommand):
    def __init__(self, held: Held[Any], before: Any, after: Any, label: str) -> None:
        super().__init__(label)
        self._held, self._before, self._after, self._label = held, before, after, label
        self._made = time.monotonic()

    def redo(self) -> None:
        self._held.put_quietly(self._after)

    def undo(self) -> None:
        self._held.put_quietly(self._before)

    def can_go_on(self, stack: QUndoStack, label: str) -> bool:
        """Whether a further change of this kind, made now, is still the same step."""
        is_newest = stack.index() == stack.count() and stack.command(stack.index() - 1) is self
        return is_newest and label == self._label and time.monotonic() - self._made < JOIN_SECONDS

    def go_on(self, value: Any) -> None:
        self._after, self._made = value, time.monotonic()
        self.redo()
