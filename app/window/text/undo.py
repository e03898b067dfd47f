"""Undo and redo of a text: what was removed and what was added, keystrokes joined into steps."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace

REMEMBERED_CHARACTERS = 64 * 2**20  # the oldest edits beyond this are forgotten


@dataclass(frozen=True)
class Edit:
    """At character `start`, `removed` was replaced by `added`.

    >>> Edit(3, "old", "new").reversed()
    Edit(start=3, removed='new', added='old')
    """

    start: int
    removed: str
    added: str

    def reversed(self) -> Edit:
        return Edit(self.start, self.added, self.removed)

    @property
    def size(self) -> int:
        return len(self.removed) + len(self.added)

    def joined(self, later: Edit) -> Edit | None:
        if self.removed and not self.added and later.removed and not later.added:
            if later.start == self.start:  # Delete, again and again
                return replace(self, removed=self.removed + later.removed)
            if later.start + len(later.removed) == self.start:  # Backspace
                return Edit(later.start, later.removed + self.removed, "")
        goes_on = later.start == self.start + len(self.added) and not later.removed
        starts_word = self.added[-1:].isspace() and not later.added[:1].isspace()
        if self.added and goes_on and not starts_word and "\n" not in later.added:
            return replace(self, added=self.added + later.added)
        return None


class EditHistory:
    """The edits to undo, and the undone ones to redo."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self._done: deque[Edit] = deque()
        self._undone: list[Edit] = []
        self._size = 0
        self._sealed = True
        self.position = 0  # steps made and not taken back, forgotten ones included

    @property
    def can_undo(self) -> bool:
        return bool(self._done)

    @property
    def can_redo(self) -> bool:
        return bool(self._undone)

    def seal(self) -> None:
        """Let the next edit be a step of its own, for instance because the caret was moved."""
        self._sealed = True

    def record(self, edit: Edit, *, joins: bool) -> None:
        """Remember an edit; one that `joins` becomes part of the last if it continues it."""
        self._undone.clear()
        last = self._done[-1] if self._done and joins and not self._sealed else None
        whole = last.joined(edit) if last else None
        if whole and last:
            self._done[-1] = whole
            self._size += whole.size - last.size
        else:
            self._done.append(edit)
            self._size += edit.size
            self.position += 1
        self._sealed = not joins
        while self._size > REMEMBERED_CHARACTERS and len(self._done) > 1:
            self._size -= self._done.popleft().size

    def undo(self) -> Edit | None:
        """Return the edit that takes back the last one."""
        if not self._done:
            return None
        edit = self._done.pop()
        self._undone.append(edit)
        self._size -= edit.size
        self._sealed = True
        self.position -= 1
        return edit.reversed()

    def redo(self) -> Edit | None:
        """Return the edit that was taken back last."""
        if not self._undone:
            return None
        edit = self._undone.pop()
        self._done.append(edit)
        self._size += edit.size
        self._sealed = True
        self.position += 1
        return edit
