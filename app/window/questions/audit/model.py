"""The audit of a run's tokens as a table: which of them are listed, in which order."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt, Signal

from app.session.manifests import EACH, RESULT, SESSION
from app.session.run import Run
from app.session.session import Session
from app.window.parts.watched import Exact, Watched
from app.window.parts.wording import count_text, tip
from app.window.questions.audit.corpus_tables import CorpusTables, corpus_tables
from app.worker.job import Task
from bpe_core.history.history import History
from bpe_core.insight.audit import CRITERIA as CRITERIA
from bpe_core.insight.audit import ORDERS, Audit, AuditRow, AuditRows, Criterion, TokenPlaces, audit, table_of
from bpe_core.support.progress import Progress, Work, while_wanted

REDRAW_MILLISECONDS = 300
TITLES: dict[Criterion, str] = {
    "scaffold": "Scaffolds",
    "unreachable": "Unreachable",
    "unused": "Unused",
    "rare": "Rare",
    "one-file": "From one file",
    "broken": "Broken characters",
    "long": "Very long",
    "mixed": "Mixed scripts",
}
COLUMNS = ("Id", "Token", "Characters", "Count", "What", "Why")
TIPS = (
    "The number of the token",
    "What is written on it, as the table of merges writes it",
    "How many characters it has; of one that is cut, each byte is one",
    "How often it stands in the corpus when all is learned",
    "Which criteria it meets",
    "Why no text becomes it, or the only file that it stands in",
)
RESTING = "Tokens are looked at when the run rests."
NOTHING_YET = "Train, or open a tokenizer, to look at its tokens."
NUMBERS = (0, 2, 3)  # columns that are numbers

Index = QModelIndex | QPersistentModelIndex
Role = Qt.ItemDataRole


class AuditModel(QAbstractTableModel, Watched):
    """One row a token that meets what is asked for."""

    changed = Signal()  # what was found, or how far it is
    failed = Signal(str)

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.session = session
        self.found: Audit | None = None
        self.run: Run | None = None  # that it was found of
        self.places: TokenPlaces | None = None
        self.tables: CorpusTables | None = None
        self.criterion: Criterion | None = None  # None: all that meet any
        self.progress = self.trouble = ""
        self._rows: AuditRows | None = None
        self._ids: list[int] = []
        self._cells: dict[int, tuple[str, ...]] = {}  # of rows that were shown
        self._sorted = (0, False)  # by which column, and whether from its end
        self._asked: Hashable = None
        self._runs, self._corpus, self._aside = session.runs, session.corpus, session.aside
        self.refresh_on(REDRAW_MILLISECONDS, session.runs.changed, session.corpus.texts.changed)

    # -- asking ----------------------------------------------------------------------------

    def refresh(self) -> None:
        run = self._runs.shown
        if run is None or run.history is None or run.is_busy or not run.history.id_count:
            if run is not self.run:
                self._forget()
            return
        sources = self._corpus.texts.value if run.words is None else ()
        key = (run.stamp, len(run.history), run.words is None, sources)
        if key != self._asked:
            self._forget()
            self._asked = key
            self._ask(run, run.history)

    def _ask(self, run: Run, history: History) -> None:
        tables = corpus_tables(run, self._corpus, self._runs.mixed)
        self.progress = "Looking at the tokens …"

        def work(task: Task) -> tuple[CorpusTables, Audit, AuditRows]:
            known = tables(task)
            places = None
            if known.tables:
                places = TokenPlaces.of(known.tables, history, cancelled=task.cancelled)
            found = audit(history, places, work=Work(task.report, task.cancelled))
            return known, found, AuditRows(history, found, known.names)

        self._aside.ask("audit", work, lambda answer: self._take(run, answer), self._fail, self._tell_progress)
        self.changed.emit()

    def _take(self, run: Run, answer: tuple[CorpusTables, Audit, AuditRows]) -> None:
        self.tables, self.found, self._rows = answer
        self.run, self.places, self.progress = run, self.found.places, ""
        if self.criterion not in self.found.meets:
            self.criterion = None
        self._list()

    def _fail(self, sentence: str) -> None:
        self._forget()
        self.trouble = sentence
        self.changed.emit()
        self.failed.emit(sentence)

    def _tell_progress(self, progress: Progress) -> None:
        share = f" {progress.done / progress.total:.0%}" if progress.total else ""
        self.progress = f"{progress.stage.capitalize()} …{share}"
        self.changed.emit()

    def stop(self) -> None:
        """Nobody wants to wait; asking again begins anew."""
        self._aside.cancel("audit")
        self._asked, self.progress = None, ""
        self.trouble = "Stopped. Show another page and come back to look again."
        self.changed.emit()

    def _forget(self) -> None:
        self.beginResetModel()
        self._aside.cancel("audit")
        self.found = self.run = self.places = self.tables = self._rows = None
        self._asked, self.progress, self.trouble, self._ids, self._cells = None, "", "", [], {}
        self.endResetModel()
        self.changed.emit()

    # -- what is listed --------------------------------------------------------------------

    def choose(self, criterion: Criterion | None) -> None:
        """List those that meet it; None: all that meet any."""
        self.criterion = criterion
        self._list()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        self._sorted = column, order == Qt.SortOrder.DescendingOrder
        self._list()

    def _list(self) -> None:
        self.beginResetModel()
        self._cells = {}
        self._ids = []
        if self.found is not None:
            listed = self.found.ids(*([self.criterion] if self.criterion else self.found.meets))
            assert self._rows is not None
            column, from_end = self._sorted
            self._ids = self._rows.in_order(listed, ORDERS[column], from_end=from_end)
        self.endResetModel()
        self.changed.emit()

    def ids_of(self, rows: Sequence[int]) -> list[int]:
        """The tokens in these rows, by our ids."""
        return [self._ids[row] for row in rows]

    @property
    def ids(self) -> list[int]:
        """All that are listed."""
        return list(self._ids)

    @property
    def choices(self) -> list[tuple[Criterion | None, str, str]]:
        """The criteria that are known, each with its title and how many meet it, and what it means."""
        if self.found is None:
            return [(None, "All criteria", "")]
        totals = self.found.totals
        every = (None, f"All criteria ({len(self.found.ids(*totals)):,})", "All tokens that meet any of them")
        return [every, *((one, f"{TITLES[one]} ({totals[one]:,})", CRITERIA[one]) for one in totals)]

    @property
    def summary(self) -> str:
        if self.trouble or self.progress:
            return self.trouble or self.progress
        run = self._runs.shown
        if self.found is None:
            busy = run is not None and run.is_busy
            return RESTING if busy else NOTHING_YET
        about = f"{count_text(len(self._ids), 'token')} of {len(self.found.lengths):,}"
        if self.places is None:
            return f"{about}. With a text in the corpus it is told how they are used, too."
        return f"{about}, on {count_text(self.places.file_count, 'text')} of the corpus"

    # -- the table -------------------------------------------------------------------------

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self._ids)

    def columnCount(self, parent: Index = QModelIndex()) -> int:
        return len(COLUMNS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Role.DisplayRole) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Role.DisplayRole:
            return COLUMNS[section]
        return tip(TIPS[section]) if role == Role.ToolTipRole else None

    def data(self, index: Index, role: int = Role.DisplayRole) -> Any:
        if role == Role.DisplayRole:
            return self._row(index.row())[index.column()]
        if role == Role.ToolTipRole:
            return tip(self._row(index.row())[index.column()])
        if role == Role.TextAlignmentRole and index.column() in NUMBERS:
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        return None

    def _row(self, row: int) -> tuple[str, ...]:
        known = self._cells.get(row)
        if known is None:
            assert self._rows is not None
            known = self._cells[row] = self._told(self._rows.row(self._ids[row]))
        return known

    @staticmethod
    def _told(row: AuditRow) -> tuple[str, ...]:
        times = "" if row.times is None else f"{row.times:,}"
        return str(row.id), row.token, str(row.characters), times, ", ".join(row.criteria), row.reason or row.only_in

    @property
    def command(self) -> tuple[str, ...]:
        only = () if self.criterion is None else ("--only", self.criterion)
        column, from_end = self._sorted
        by = ORDERS[column]
        reverse = ("--reverse",) if from_end != (by == "length") else ()  # of which the longest are asked for first
        names = () if self.tables is None else self.tables.names
        has_own = self.run is not None and self.run.words is not None and len(names) < 2
        return (
            "audit",
            SESSION,
            *only,
            "--sort",
            by,
            *reverse,
            "-o",
            RESULT,
            *(() if has_own or not names else (EACH,)),
        )

    def exact(self) -> Exact:
        rows, ids = self._rows, self.ids
        return lambda cancelled: table_of(() if rows is None else map(rows.row, while_wanted(ids, cancelled)))
