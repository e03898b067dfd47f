"""The table model of merges, and its columns.

An array holds the index of the merge that each row shows. To filter or to sort, a new array is made. So the
table needs no proxy model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from app.session.merge_filter import MergeFilter
from app.session.run import NO_RUN, Run
from app.session.selection import NOTHING as NO_HIGHLIGHT
from app.session.selection import Highlight
from app.session.time import timer
from app.window.parts.wording import STEP_SIGNS, sorted_heading, tip
from bpe_core.history.history import NOTHING, History
from bpe_core.history.token_texts import TokenTexts
from bpe_core.methods.facts import Wording
from bpe_core.methods.kit.method import Method
from bpe_core.methods.kit.reasons import Reason
from bpe_core.methods.registry import METHODS
from bpe_core.questions.steps import steps_table
from bpe_core.recipes.recipe import Recipe
from bpe_core.studies.study import Study
from bpe_core.support.data_table import csv_text

Look = Literal["plain", "fixed", "token", "tie"]  # tokens are in a fixed-width font
Keys = npt.NDArray[Any]


@dataclass(frozen=True)
class Column:
    title: str
    tip: str
    cell: Callable[[History, TokenTexts, int], str]
    key: Callable[[History, TokenTexts], Keys]
    widest: str  # a text that must fit into the column
    is_number: bool = True
    look: Look = "plain"


@lru_cache(maxsize=8)
def columns_of(recipe: Recipe | None) -> tuple[Column, ...]:
    recipe = recipe or Recipe()
    words = METHODS[recipe.method].wording
    single = recipe.single
    tip = f"The number of the {words.step}, counted from 1"
    columns = [Column("Step", tip, lambda h, n, r: f"{r + 1:,}", lambda h, n: np.arange(len(h)), "99,999")]
    if single is None:
        columns += [_token("The new token", "␣tokenizer"), _half("Left", "left"), _half("Right", "right")]
    else:
        columns.append(_token(f"The token that was {words.done}", "− ␣tokenizer"))
    counted = f"How often the {words.choice} occurred in the corpus when it was {words.done}"
    columns.append(_numbers("Count", counted, "9,999,999", lambda h: h.columns.count))
    columns += map(_reason, Method.of(recipe).reasons(recipe))
    if recipe.applies("ties"):
        title = "Runner-up"
        tip = "The second-best pair. The sign = means an equal count, so the tie rule decided"
        if single:
            title = "Next"
            tip = f"The {words.choice} that would have been {words.done} instead"
        columns.append(Column(title, tip, _tie, _tie_key, "= ␣th + ing", is_number=False, look="tie"))
    left = f"The number of tokens in the corpus after this {words.step}"
    columns.append(
        Column("Length", "Bytes in the token", lambda h, n, r: str(n.lengths[h.indices[r]]), _lengths, "999")
    )
    columns.append(_numbers("Tokens left", left, "99,999,999", lambda h: h.columns.tokens_left))
    if single is None:  # unknown if learning begins with seeds
        tip = f"Base symbols per token, on average, after this {words.step}"
        columns.append(Column("Compression", tip, _compression, lambda h, n: -h.columns.tokens_left, "99.999"))
    return tuple(columns)


def _numbers(title: str, tip: str, widest: str, values: Callable[[History], Keys]) -> Column:
    return Column(title, tip, lambda h, n, r: _number(int(values(h)[r])), lambda h, n: values(h), widest)


def _half(title: str, side: str) -> Column:
    def ids(history: History) -> Keys:
        return np.asarray(getattr(history.columns, side))

    return Column(
        title,
        f"The {side} token of the pair",
        lambda h, n, r: _text(n, int(ids(h)[r])),
        lambda h, n: n.places(h.first_special)[ids(h)],
        "␣tokens",
        is_number=False,
        look="fixed",
    )


def _token(meaning: str, widest: str) -> Column:
    return Column(
        "Token",
        f"{meaning}. ␣ is a space, ⏎ a newline, and <0xE2> a byte that is not a character alone",
        lambda h, n, r: STEP_SIGNS.get(int(h.columns.right[r]), "") + n.text[h.indices[r]],
        lambda h, n: n.places(h.first_special)[h.indices],
        widest,
        is_number=False,
        look="token",
    )


def _reason(reason: Reason) -> Column:
    return Column(
        reason.title,
        reason.tip,
        lambda h, n, r: reason.text(int(h.columns.count[r]), {name: h.reasons[name][r] for name in h.reasons}),
        lambda h, n: reason.values(h),
        reason.widest,
        is_number=reason.is_number,
    )


def _number(value: int) -> str:
    return "" if value == NOTHING else f"{value:,}"


def _text(names: TokenTexts, id: int) -> str:
    return "" if id < 0 else names.text[id]


def _tie(history: History, names: TokenTexts, row: int) -> str:
    columns = history.columns
    other = int(columns.runner_up_left[row])
    if other == NOTHING:
        return ""
    pair = " + ".join(filter(None, (names.text[other], _text(names, int(columns.runner_up_right[row])))))
    if row in history.forced:
        return f"forced, not {pair}"
    return f"= {pair}" if history.tied[row] else f"{pair}  {int(columns.runner_up_count[row]):,}"


def _tie_key(history: History, names: TokenTexts) -> npt.NDArray[Any]:
    """Return numbers by which the steps of a history can be sorted.

    Steps with a tie come first. The other steps follow in the order of their lead: by how much the count of the pair
    exceeds the count of the runner-up.
    """
    lead = history.columns.count - history.columns.runner_up_count
    return np.where(history.tied, 0, np.where(lead == 0, 1, lead))


def _lengths(history: History, names: TokenTexts) -> npt.NDArray[Any]:
    return np.array(history.of_steps(names.lengths), np.int64)


def _compression(history: History, names: TokenTexts, row: int) -> str:
    value = float(history.compression[row + 1])
    return f"{value:.3f}" if value > 0 else ""


Order = npt.NDArray[np.int64]


def argsort(keys: npt.NDArray[Any], descending: bool) -> Order:
    """Return the order of the rows when sorted by `keys`. Rows with equal keys stay in the order of steps.

    >>> argsort(np.array([3, 1, 3]), descending=True).tolist()
    [0, 2, 1]
    """
    if not descending:
        return np.argsort(keys, kind="stable")
    return len(keys) - 1 - np.argsort(keys[::-1], kind="stable")[::-1]


Index = QModelIndex | QPersistentModelIndex
Role = Qt.ItemDataRole

REORDER_MILLISECONDS = 250  # seconds between two updates of a sorted table while merges stream
_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)


class MergeTableModel(QAbstractTableModel):
    """A table model of merges, sorted and filtered. Merges after the step shown are dimmed."""

    reordered = Signal()  # filtered, sorted, or another run
    filter_changed = Signal(MergeFilter)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.filter = MergeFilter()
        self.sort_column = 0
        self.sort_descending = False
        self._run: Run | None = None
        self._history: History | None = None
        self._names: TokenTexts | None = None
        self.columns: tuple[Column, ...] = columns_of(None)
        self._order: Order = np.zeros(0, np.int64)
        self._seen = 0  # number of merges that were filtered and sorted
        self._position = 0
        self.highlight: Highlight = NO_HIGHLIGHT
        self._cached_row = lru_cache(maxsize=512)(self._row_texts)
        self._reorder_later = timer(self, REORDER_MILLISECONDS, self._reorder)

    # -- from the session ------------------------------------------------------------------

    def show_run(self, run: Run | None) -> None:
        """Show a run, or no run. Call this again if the recipe of the run has changed."""
        names = run.names if run else None
        if run is self._run and names is self._names:
            return  # only the phase of the run has changed
        self._run = run
        self._names = names
        self._history = run.history if run else None
        self._reorder()

    def grow(self) -> None:
        assert self._run is not None
        self._history = self._run.history
        if self.is_in_step_order:
            self._append()
        elif not self._reorder_later.isActive():
            self._reorder_later.start()

    def set_position(self, position: int) -> None:
        before = self._position
        self._position = position
        first = 0
        last = len(self._order) - 1
        if self.is_in_step_order:
            first, past = sorted((self.row_of(before - 1), self.row_of(position - 1)))
            first = max(0, first)
            last = min(last, past + 1)
        self._repaint(first, last)

    # -- for the views ------------------------------------------------------------

    def set_filter(self, chosen: MergeFilter) -> None:
        if chosen != self.filter:
            self.filter = chosen
            self._reorder()
            self.filter_changed.emit(chosen)

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        before = (self.sort_column, self.sort_descending)
        descending = order == Qt.SortOrder.DescendingOrder
        self.sort_column = column
        self.sort_descending = descending
        if (column, descending) != before:
            self._reorder()
            self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(self.columns) - 1)

    def merge_at(self, row: int) -> int:
        return int(self._order[row])

    def steps_of(self, rows: list[int]) -> list[int]:
        """Return the steps in these rows. Steps are counted from 1."""
        return (self._order[rows] + 1).tolist() if rows else []

    def row_of(self, merge: int) -> int:
        """Return the row of a merge. Return -1 if there is no such row.

        If the filter hides the merge and the table is in the order of steps, return the row of the last visible merge
        before it.
        """
        if self.is_in_step_order:
            return int(np.searchsorted(self._order, np.int64(merge), side="right")) - 1
        rows = np.flatnonzero(self._order == merge)
        return int(rows[0]) if len(rows) else -1

    @property
    def wording(self) -> Wording:
        return NO_RUN if self._run is None else self._run.wording

    @property
    def learned(self) -> int:
        return 0 if self._history is None else len(self._history)

    def as_text(self, rows: list[int], separator: str = "\t", *, headers: bool = True) -> str:
        """Return rows with exact values as text for the clipboard. `separator` is a tab or a comma."""
        if self._history is None or self._names is None or self._run is None:
            return ""
        study = Study(self._history)
        merges = [self.merge_at(row) for row in rows]
        return csv_text(steps_table(study, merges), separator, headers=headers)

    # -- the interface of Qt's models ------------------------------------------------------------------

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self._order)

    def columnCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self.columns)

    def data(self, index: Index, role: int = Role.DisplayRole) -> Any:
        if role == Role.DisplayRole:
            if not index.isValid() or index.row() >= len(self._order):
                return None
            return self._cached_row(int(self._order[index.row()]))[index.column()]
        if role == Role.TextAlignmentRole:
            return _RIGHT if self.columns[index.column()].is_number else _LEFT
        if role == Role.ToolTipRole and index.isValid():
            return tip(str(self.data(index, Role.DisplayRole) or ""))
        return None

    def is_after_step_shown(self, row: int) -> bool:
        return int(self._order[row]) >= self._position

    def is_highlighted(self, row: int) -> bool:
        """Return whether the step in a row made the highlighted token, or joined the highlighted pair."""
        if self._history is None or not self.highlight.tokens:
            return False
        step = self._order[row]
        if self.highlight.is_pair:
            return self._history.pair(int(step)) == self.highlight.tokens
        return int(self._history.indices[step]) == self.highlight.tokens[0]

    def has_highlighted_part(self, row: int) -> bool:
        """Return whether the step in a row joined the highlighted token with another token."""
        if self._history is None or len(self.highlight.tokens) != 1:
            return False
        return self.highlight.tokens[0] in self._history.pair(int(self._order[row]))

    def is_tied(self, row: int) -> bool:
        return self._history is not None and bool(self._history.tied[self._order[row]])

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Role.DisplayRole) -> Any:
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < len(self.columns):
            return None
        if role == Role.DisplayRole:
            title = self.columns[section].title
            return title if section != self.sort_column else sorted_heading(title, from_end=self.sort_descending)
        if role == Role.ToolTipRole:
            return f"{self.columns[section].tip}. Click to sort."
        if role == Role.TextAlignmentRole:
            return _RIGHT if self.columns[section].is_number else _LEFT
        return None

    # -- rows ------------------------------------------------------------------------------

    @property
    def is_in_step_order(self) -> bool:
        return self.sort_column == 0 and not self.sort_descending

    def _append(self) -> None:
        assert self._history is not None
        assert self._names is not None
        fresh = np.arange(self._seen, len(self._history))
        if not self.filter.lets_all_pass:
            fresh = fresh[self.filter.mask(self._names, self._history, self._seen)]
        self._seen = len(self._history)
        if not len(fresh):
            return
        self.beginInsertRows(QModelIndex(), len(self._order), len(self._order) + len(fresh) - 1)
        self._order = np.concatenate((self._order, fresh))
        self.endInsertRows()

    def _reorder(self) -> None:
        self._reorder_later.stop()
        self.beginResetModel()
        self._cached_row.cache_clear()
        columns = columns_of(self._run.recipe if self._run else None)
        if columns != self.columns:
            self.columns = columns
            self.sort_column = 0
            self.sort_descending = False
        self._order = self._sorted_and_filtered()
        self._seen = self.learned
        self.endResetModel()
        self.reordered.emit()

    def _sorted_and_filtered(self) -> Order:
        history = self._history
        names = self._names
        if history is None or names is None:
            return np.zeros(0, np.int64)
        if self.is_in_step_order:
            order = np.arange(len(history))
        else:
            order = argsort(self.columns[self.sort_column].key(history, names), self.sort_descending)
        if self.filter.lets_all_pass:
            return order
        return order[self.filter.mask(names, history, 0)[order]]

    def _row_texts(self, merge: int) -> tuple[str, ...]:
        assert self._history is not None
        assert self._names is not None
        return tuple(column.cell(self._history, self._names, merge) for column in self.columns)

    def _repaint(self, first: int, last: int) -> None:
        if first <= last:
            self.dataChanged.emit(self.index(first, 0), self.index(last, len(self.columns) - 1), [Role.ForegroundRole])
