"""A detour: for a while the window shows other texts, another recipe and other runs, as a lesson does.

What the person had is kept, and is what is saved meanwhile. Beginning is one change on the undo stack, so leaving is
undoing everything since; what the person brought along the way, such as a file of their own, stays.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoCommand, QUndoStack

from app.session.changes import Held
from app.session.corpus_texts import CorpusText, CorpusTexts
from app.session.merge_filter import MergeFilter
from app.session.run import Run
from app.session.runs import Runs
from app.session.time import TimeCursor
from bpe_core.recipes.recipe import Recipe


@dataclass(frozen=True)
class Contents:
    sources: CorpusTexts
    recipe: Recipe
    text: str
    filter: MergeFilter
    shown: Run | None
    position: int
    is_live: bool


class Detour(QObject):
    """`kept` is None where there is no detour."""

    changed = Signal()  # it has begun, or is over

    def __init__(
        self,
        sources: Held[CorpusTexts],
        recipe: Held[Recipe],
        text: Held[str],
        chosen_filter: Held[MergeFilter],
        runs: Runs,
        cursor: TimeCursor,
        undo: QUndoStack,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.kept: Contents | None = None
        self._sources, self._recipe, self._text, self._filter = sources, recipe, text, chosen_filter
        self._runs, self._cursor, self._undo = runs, cursor, undo
        self._lent: set[int] = set()  # the numbers of the sources that belong to detours
        self._begun_at = 0  # on the undo stack
        self._leaves_changes = False  # that could be made again, though they belong to no detour any more
        undo.indexChanged.connect(self._forget_changes)

    def go(self, title: str, corpus: str, recipe: Recipe) -> None:
        """Show this corpus and recipe; a detour begins, unless one is under way."""
        if self.kept is None:
            self._begun_at = self._undo.index()
            self._undo.push(_Leaving(self, f"Lesson “{title}”"))
        source = CorpusText(title, text=corpus)
        self._lent.add(source.number)
        self._sources.put_quietly((source,))
        self._recipe.put_quietly(recipe)

    def train(self, merges: int) -> None:
        self._runs.train(self._sources.value, self._recipe.value, merges=merges)

    def end(self) -> None:
        """Put back what the person had, and add what they brought along."""
        if self.kept is None:
            return
        kept, now = self.kept, self._sources.value
        brought = tuple(self.brought(now))
        self._undo.setIndex(self._begun_at)
        if brought:
            adds = any(source.number in self._lent for source in now)  # else they chose something else altogether
            self._sources.put(kept.sources + brought if adds else brought, f"Add {brought[0].name}")

    def forget(self) -> None:
        """Another session is about to be shown: what was kept has been saved as this one."""
        if self.kept is not None:
            self.kept = None
            self.changed.emit()

    def brought(self, sources: CorpusTexts) -> Iterable[CorpusText]:
        return (source for source in sources if source.number not in self._lent)

    def owns(self, run: Run) -> bool:
        """Whether a run has learned from a detour's corpus, so that it goes when the detour ends."""
        return bool(run.sources) and not any(self.brought(run.sources))

    def contents(self) -> Contents:
        """What the person has, be it in front of them or aside."""
        cursor, now = self._cursor, self._sources.value
        if self.kept is not None:
            return replace(self.kept, sources=(*self.kept.sources, *self.brought(now)))
        values = now, self._recipe.value, self._text.value, self._filter.value
        return Contents(*values, self._runs.shown, cursor.position, cursor.live)

    def begin(self) -> None:
        self.kept = self.contents()
        self._filter.put_quietly(MergeFilter())
        self.changed.emit()

    def put_back(self) -> None:
        kept, self.kept = self.kept, None
        if kept is None:
            return
        self._leaves_changes = True
        self._sources.put_quietly(kept.sources)
        self._recipe.put_quietly(kept.recipe)
        self._text.put_quietly(kept.text)
        self._runs.replace_all([run for run in self._runs.all if not self.owns(run)], kept.shown)
        self._filter.put_quietly(kept.filter)
        if not kept.is_live:
            self._cursor.go_to(kept.position)
        self.changed.emit()

    def _forget_changes(self) -> None:
        """What was changed on the way must not be made again on what the person has."""
        if self._leaves_changes and self.kept is None:
            self._leaves_changes = False
            self._undo.push(_Nothing())


class _Leaving(QUndoCommand):
    """Where a detour begins on the undo stack; once undone, it is gone."""

    def __init__(self, detour: Detour, label: str) -> None:
        super().__init__(label)
        self._detour = detour

    def redo(self) -> None:
        self._detour.begin()

    def undo(self) -> None:
        self._detour.put_back()
        self.setObsolete(True)


class _Nothing(QUndoCommand):
    """Takes whatever could be made again off the stack, and itself, too."""

    def __init__(self) -> None:
        super().__init__()
        self.setObsolete(True)
