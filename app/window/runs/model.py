"""The runs of a session as a list: nothing that was learned is ever overwritten."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QFont

from app.session.run import Run
from app.session.run_titles import as_tree
from app.session.session import Session
from app.window.parts.throttle import Throttle
from app.window.parts.wording import tip
from app.window.training.status import sentence_of, title_of
from bpe_core.learning.ties import TIE_RULES

Index = QModelIndex | QPersistentModelIndex
Role = Qt.ItemDataRole
REFRESH_MILLISECONDS = 200
MOST_NAMED = 2  # texts in one line
INDENT, BRANCH = "\u2003", "↳\u2002"  # of a run below the one that it goes on from


class RunListModel(QAbstractListModel):
    """One row a run, the newest first, and below each those that go on from it in another way."""

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._rows: list[Run] = []
        self._depths: list[int] = []
        throttle = Throttle(REFRESH_MILLISECONDS, self._refresh, self)
        session.runs.changed.connect(throttle.call)
        session.runs.grew.connect(throttle.call)

    @property
    def shown_row(self) -> int:
        """The row of the run that the window shows; -1 if it shows none."""
        return next((row for row, run in enumerate(self._rows) if run is self._session.runs.shown), -1)

    def number(self, row: int) -> int:
        return self._rows[row].number

    def show(self, row: int) -> None:
        """Let the window show that run."""
        if self._rows[row] is not self._session.runs.shown:
            self._session.runs.show(self._rows[row])

    def take_recipe(self, row: int) -> None:
        """Let the recipe be the one that run learned with; a table that it went on from is not a part of it."""
        run = self._rows[row]
        self._session.recipe.put(run.recipe.with_changes(grown_from=0), f"Use the recipe of run {run.number}")

    def rules(self, row: int) -> list[str]:
        """The other tie rules that the same texts could be learned with."""
        run = self._rows[row]
        others = [name for name, rule in TIE_RULES.items() if rule.fits(run.recipe.base) and name != run.recipe.ties]
        return others if run.sources else []

    def train_again(self, row: int, rule: str) -> None:
        """A new run on the same texts, by the same recipe but for the rule: by it, ids mean other tokens."""
        run = self._rows[row]
        self._session.runs.train(run.sources, run.recipe.with_changes(ties=rule, interventions=(), grown_from=0))

    def _refresh(self) -> None:
        tree = as_tree(self._session.runs.all)
        if [run for run, _ in tree] != self._rows:
            self.beginResetModel()
            self._rows, self._depths = [run for run, _ in tree], [depth for _, depth in tree]
            self.endResetModel()
        elif self._rows:
            self.dataChanged.emit(self.index(0), self.index(len(self._rows) - 1))

    def _indents(self, row: int) -> tuple[str, str]:
        """What stands before the second line of a row, and before its first."""
        depth = self._depths[row]
        return INDENT * depth, INDENT * (depth - 1) + BRANCH if depth else ""

    # What Qt asks for

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = Role.DisplayRole) -> Any:
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        run = self._rows[index.row()]
        if role == Role.DisplayRole:
            indent, branch = self._indents(index.row())
            return f"{branch}{title_of(run, self._rows)}\n{indent}{texts_of(run)}"
        if role in (Role.ToolTipRole, Role.AccessibleDescriptionRole):
            told = f"{title_of(run, self._rows)}\n{texts_of(run, most=20)}\n{sentence_of(run)}"
            told += f"\nGoes on from run {run.parent}." if run.parent is not None else ""
            return tip(told) if role == Role.ToolTipRole else told
        if role == Role.FontRole and run is self._session.runs.shown:
            font = QFont()
            font.setBold(True)
            return font
        return None


def texts_of(run: Run, most: int = MOST_NAMED) -> str:
    """What it learned from, or was made of."""
    if not run.sources and run.parent is not None:
        return run.sentence.partition(". ")[0]
    names = ", ".join(source.name for source in run.sources[:most])
    more = f" and {len(run.sources) - most} more" if len(run.sources) > most else ""
    return f"{names}{more}" or "from elsewhere"
