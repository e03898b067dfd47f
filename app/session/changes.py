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
_JOINS = 1
_DOES_NOT_JOIN = -1


class Held(QObject, Generic[Value]):
    """A value of which the session holds the present one; each change can be undone."""

    changed = Signal(object)

    def __init__(self, value: Value, undo: QUndoStack, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._value = value
        self._undo = undo

    @property
    def value(self) -> Value:
        return self._value

    def put(self, value: Value, label: str, *, joins: bool = False) -> None:
        """Replace the value; `label` names the change in the Edit menu."""
        if value != self._value:
            self._undo.push(_Replacement(self, self._value, value, label, joins))

    def put_quietly(self, value: Value) -> None:
        """Replace the value without a way back: for what the program does by itself."""
        if value != self._value:
            self._value = value
            self.changed.emit(value)


class _Replacement(QUndoCommand):
    def __init__(self, held: Held[Any], before: Any, after: Any, label: str, joins: bool) -> None:
        super().__init__(label)
        self._held, self._before, self._after = held, before, after
        self._joins = joins
        self._made = time.monotonic()

    def redo(self) -> None:
        self._held.put_quietly(self._after)

    def undo(self) -> None:
        self._held.put_quietly(self._before)

    def id(self) -> int:
        return _JOINS if self._joins else _DOES_NOT_JOIN

    def mergeWith(self, other: QUndoCommand) -> bool:
        if not isinstance(other, _Replacement) or other._held is not self._held or other.text() != self.text():
            return False
        if other._made - self._made >= JOIN_SECONDS:
            return False
        self._after, self._made = other._after, other._made
        return True
