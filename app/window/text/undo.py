"""Undo and redo of a text: what was removed and what was added, keystrokes joined into steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from PySide6.QtGui import QUndoCommand

from app.session.changes import Steps

REMEMBERED_CHARACTERS = 64 * 2**20  # the oldest edits beyond this are forgotten


@dataclass(frozen=True)
class Edit:
    """At character `start`, `removed` was replaced by `added`.

    >>> Edit(3, "old", "new").reversed()
    Edit(start=3, removed='new', added='old')
    """

    start: int
    removed: str = ""
    added: str = ""

    def reversed(self) -> Edit:
        return Edit(self.start, self.added, self.removed)

    def joined(self, later: Edit) -> Edit | None:
        if self.removed and not self.added and later.removed and not later.added:
            if later.start == self.start:  # Delete, again and again
                return replace(self, removed=self.removed + later.removed)
            if later.start + len(later.removed) == self.start:  # Backspace
                return Edit(later.start, later.removed + self.removed)
        goes_on = later.start == self.start + len(self.added) and not later.removed
        starts_word = self.added[-1:].isspace() and not later.added[:1].isspace()
        if self.added and goes_on and not starts_word and "\n" not in later.added:
            return replace(self, added=self.added + later.added)
        return None


class TextSteps:
    """Puts the edits of a text on a stack, on which other changes may be, too."""

    def __init__(self, stack: Steps, change: Callable[[Edit], None]) -> None:
        self._stack, self._change = stack, change
        self._known: list[_Step] = []
        self._is_sealed = False

    def seal(self) -> None:
        self._is_sealed = True

    def forget(self) -> None:
        """Let the steps that were made do nothing any more: the text is another one."""
        for step in self._known:
            step.edit = Edit(0)
        self._known.clear()

    def make(self, edit: Edit, *, joins: bool) -> None:
        """Change the text; an edit that `joins` becomes part of the last step if it continues it."""
        stack = self._stack
        if stack.is_walking:
            self._change(edit)
            return
        newest = stack.command(stack.count() - 1) if joins and not self._is_sealed else None
        whole = newest.edit.joined(edit) if isinstance(newest, _Step) and not stack.canRedo() else None
        if isinstance(newest, _Step) and whole is not None:
            newest.edit = whole
            self._change(edit)
        else:
            self._known = [*(step for step in self._known if not step.is_undone), _Step(self, edit)]
            stack.push(self._known[-1])
            self._forget_the_oldest()
        self._is_sealed = not joins

    def walk(self, edit: Edit) -> None:
        self._is_sealed = True
        if edit.removed != edit.added:
            with self._stack.walking():
                self._change(edit)

    def _forget_the_oldest(self) -> None:
        size = sum(len(step.edit.removed) + len(step.edit.added) for step in self._known)
        while size > REMEMBERED_CHARACTERS and len(self._known) > 1:
            oldest = self._known.pop(0)
            size -= len(oldest.edit.removed) + len(oldest.edit.added)
            oldest.edit = Edit(0)


class _Step(QUndoCommand):
    def __init__(self, steps: TextSteps, edit: Edit) -> None:
        super().__init__("Edit the text")
        self._steps, self.edit, self.is_undone = steps, edit, False

    def redo(self) -> None:
        self.is_undone = False
        self._steps.walk(self.edit)

    def undo(self) -> None:
        self.is_undone = True
        self._steps.walk(self.edit.reversed())
