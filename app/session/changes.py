"""The undo stack. A change replaces a frozen value, and undoing restores the previous value."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoCommand, QUndoStack
from shiboken6 import isValid

Value = TypeVar("Value")

JOIN_SECONDS = 0.7  # changes of the same kind within this time are undone together


class Steps(QUndoStack):
    """The undo stack, with one step for each change that a user made.

    Undoing or redoing a step may cause further changes. These changes add no step, because a new step would
    delete the steps that can still be redone.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.is_walking = False

    def __del__(self) -> None:
        # The garbage collector could free steps before their stack, which would free them a second time.
        if isValid(self):
            self.blockSignals(True)
            self.clear()

    def take_back(self, step: Step) -> None:
        """Undo a step even if newer steps are above it on the stack. Do nothing if the stack has dropped the step."""
        if isValid(step) and not step.is_undone:
            if self.command(self.index() - 1) is step:
                self.undo()
            else:
                step.undo()
                step.setObsolete(True)

    @contextlib.contextmanager
    def walking(self) -> Iterator[None]:
        before = self.is_walking
        self.is_walking = True
        try:
            yield
        finally:
            self.is_walking = before


class UndoableValue(QObject, Generic[Value]):
    """A value whose changes can be undone."""

    changed = Signal(object)

    def __init__(self, value: Value, undo: Steps, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._value = value
        self._undo = undo
        self._last: _Replacement | None = None

    @property
    def value(self) -> Value:
        return self._value

    def put(self, value: Value, label: str, *, joins: bool = False) -> None:
        """Replace the value, and add a step to the undo stack. `label` names the step in the Edit menu.

        If `joins` is true, then quick changes with the same label become a single step.
        """
        if value == self._value:
            return
        if self._undo.is_walking:
            self.put_quietly(value)
            return
        # Qt could merge commands itself, but PySide would keep each merged one in memory.
        if joins and self._last is not None and self._last.can_go_on(label):
            self._last.go_on(value)
        else:
            self._last = _Replacement(self._undo, self, self._value, value, label)
            self._undo.push(self._last)

    def put_quietly(self, value: Value) -> None:
        """Replace the value without adding a step to the undo stack.

        Use this for changes that the user did not make.
        """
        if value != self._value:
            self._value = value
            self.changed.emit(value)


class Step(QUndoCommand):
    """A change that can be undone. It holds the value before and the value after."""

    def __init__(self, steps: Steps, label: str, act: Callable[[Any], None], before: Any, after: Any) -> None:
        super().__init__(label)
        self._steps = steps
        self._act = act
        self.before = before
        self.after = after
        self.is_undone = False

    def redo(self) -> None:
        self.is_undone = False
        with self._steps.walking():
            self._act(self.after)

    def undo(self) -> None:
        self.is_undone = True
        with self._steps.walking():
            self._act(self.before)


class _Replacement(Step):
    def __init__(self, steps: Steps, held: UndoableValue[Any], before: Any, after: Any, label: str) -> None:
        super().__init__(steps, label, held.put_quietly, before, after)
        self._label = label
        self._made = time.monotonic()

    def can_go_on(self, label: str) -> bool:
        """Return whether a change with this label, made right now, would be joined with this step."""
        steps = self._steps
        is_newest = steps.index() == steps.count() and steps.command(steps.index() - 1) is self
        return is_newest and label == self._label and time.monotonic() - self._made < JOIN_SECONDS

    def go_on(self, value: Any) -> None:
        self.after = value
        self._made = time.monotonic()
        self.redo()
