"""The texts of the corpus as a list, each with what is known about it, and their totals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PySide6.QtCore import QAbstractListModel, QMimeData, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from app.session.corpus import SessionCorpus
from app.session.corpus_texts import CorpusText, CorpusTexts
from app.session.counts import LONG_WORD, Counted, CountFailed, Outcome
from app.window.parts.throttle import Throttle
from app.window.parts.wording import count_text, duration_text, size_text, tip

Index = QModelIndex | QPersistentModelIndex
Role = Qt.ItemDataRole

MOVED_ROWS = "application/x-bpe-explorer-texts"
LONG_SHARE = 0.2  # of the bytes in overlong words, before the person is told


@dataclass(frozen=True)
class Entry:
    """What is shown about one text."""

    source: CorpusText
    facts: str  # size, encoding, words
    state: str
    fraction: float | None = None  # of the counting, while it is under way
    is_failed: bool = False
    warning: str = ""


class CorpusListModel(QAbstractListModel):
    """One row a text. Rows can be dragged to another place."""

    totals_changed = Signal()
    EntryRole = Role.UserRole + 1

    def __init__(self, corpus: SessionCorpus, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._corpus = corpus
        self._sources: CorpusTexts = ()
        self._sizes: dict[int, int] = {}  # by the numbers of the texts, in bytes
        self._outcomes: list[Outcome | None] = []
        self._throttle = Throttle(60, self.refresh, self)
        corpus.texts.changed.connect(self.refresh)
        corpus.counts.changed.connect(self._throttle.call)

    def refresh(self) -> None:
        """After another recipe was chosen, say; each text is looked at only when it is drawn."""
        fresh = self._corpus.texts.value
        self._outcomes = [self._corpus.outcome_as_wanted(source) for source in fresh]
        if fresh == self._sources:
            if fresh:
                self.dataChanged.emit(self.index(0), self.index(len(fresh) - 1))
        else:
            self.beginResetModel()
            self._sources = fresh
            self._sizes = {source.number: self._sizes.get(source.number, source.size or 0) for source in fresh}
            self.endResetModel()
        self.totals_changed.emit()

    @property
    def is_counting(self) -> bool:
        return self._corpus.counts.busy

    @property
    def warning(self) -> str:
        counted = (outcome for outcome in self._outcomes if isinstance(outcome, Counted))
        return next(filter(None, (_warning(one, self._corpus.splits) for one in counted)), "")

    def totals(self) -> str:
        """One line about all texts."""
        if not self._sources:
            return "No texts yet"
        counted = [outcome for outcome in self._outcomes if isinstance(outcome, Counted)]
        in_folders = [outcome for outcome in counted if outcome.files > 1]
        texts = len(self._sources) + sum(outcome.files - 1 for outcome in in_folders)
        size = sum(self._sizes.values()) + sum(outcome.size for outcome in in_folders)
        parts = [count_text(texts, "text"), size_text(size)]
        words = sum(outcome.words for outcome in counted)
        if words:
            parts.append(count_text(words, "word"))
        return " · ".join(parts)

    def source_at(self, row: int) -> CorpusText:
        return self._sources[row]

    # What a person does

    def add_paths(self, paths: Sequence[Path]) -> None:
        self._corpus.add_paths(paths)

    def add_text(self, name: str, text: str) -> None:
        self._corpus.add_text(name, text)

    def remove(self, rows: Sequence[int]) -> None:
        self._corpus.remove({self.source_at(row).number for row in rows})

    def move(self, row: int, place: int) -> None:
        self._corpus.move(self.source_at(row).number, place)

    def read_as(self, rows: Sequence[int], encoding: str | None) -> None:
        """Read files in another encoding; None finds it out."""
        self._corpus.read_as({self.source_at(row).number for row in rows}, encoding)

    def add_address(self, address: str) -> None:
        self._corpus.add_address(address)

    def columns_of(self, rows: Sequence[int]) -> tuple[tuple[str, ...], str, bool]:
        """Of these tables, as far as one has looked: the columns that could hold their texts, the one that does.

        And whether they are lists of words with their counts instead.
        """
        outcomes = [self._corpus.outcome_as_wanted(self.source_at(row)) for row in rows]
        reads = [outcome.read for outcome in outcomes if outcome is not None]
        columns = tuple(dict.fromkeys(column for read in reads for column in read.columns))
        taken = {read.column for read in reads}
        are_lists = bool(reads) and all(read.is_word_list for read in reads)
        return columns, taken.pop() if len(taken) == 1 else "", are_lists

    def row_of(self, number: int) -> int | None:
        """Where the text with that number stands."""
        return next((row for row, source in enumerate(self._sources) if source.number == number), None)

    def take_column(self, rows: Sequence[int], column: str) -> None:
        self._corpus.take_column({self.source_at(row).number for row in rows}, column)

    def take_as_words(self, rows: Sequence[int], word_list: bool) -> None:
        """Read files as lists of words with their counts, or as texts, whatever their columns are named."""
        self._corpus.take_as_words({self.source_at(row).number for row in rows}, word_list)

    def cancel_counting(self) -> None:
        self._corpus.counts.cancel()

    # What Qt asks for

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self._sources)

    def data(self, index: Index, role: int = Role.DisplayRole) -> Any:
        if not index.isValid() or index.row() >= len(self._sources):
            return None
        source = self._sources[index.row()]
        if role == Role.DisplayRole:
            return source.name
        if role == self.EntryRole:
            return self._entry(source)
        if role in (Role.ToolTipRole, Role.AccessibleDescriptionRole):
            entry = self._entry(source)
            place = entry.source.place or entry.source.name
            told = "\n".join(filter(None, (place, entry.facts, entry.state, entry.warning)))
            return tip(told) if role == Role.ToolTipRole else told
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        flags = super().flags(index)
        return flags | (Qt.ItemFlag.ItemIsDragEnabled if index.isValid() else Qt.ItemFlag.ItemIsDropEnabled)

    def supportedDropActions(self) -> Qt.DropAction:
        return Qt.DropAction.MoveAction

    def mimeTypes(self) -> list[str]:
        return [MOVED_ROWS]

    def mimeData(self, indexes: Sequence[QModelIndex]) -> QMimeData:
        mime = QMimeData()
        mime.setData(MOVED_ROWS, str(indexes[0].row()).encode())
        return mime

    def dropMimeData(self, data: QMimeData, action: Qt.DropAction, row: int, column: int, parent: Index) -> bool:
        if not data.hasFormat(MOVED_ROWS):
            return False
        moved = int(bytes(data.data(MOVED_ROWS).data()).decode())
        place = row if row >= 0 else len(self._sources)
        self._corpus.move(self.source_at(moved).number, place - (place > moved))
        return False  # the rows are already where they belong: Qt must not remove any

    # Rows

    def _entry(self, source: CorpusText) -> Entry:
        size = source.size
        known = "missing" if size is None else size_text(size)
        known = "folder" if source.is_folder else "from an address" if source.address else known
        outcome = self._corpus.outcome_of(source)
        if isinstance(outcome, Counted):
            if source.is_folder:
                known = f"{count_text(outcome.files, 'file')} · {size_text(outcome.size)}"
            if source.address and outcome.size:
                known = size_text(outcome.size)
            facts = f"{known} · {_how_read(outcome)}"
            state = f"{count_text(outcome.words, 'word')}, {len(outcome.table):,} distinct"
            return Entry(source, facts, state, warning=_warning(outcome, self._corpus.splits))
        if isinstance(outcome, CountFailed):
            return Entry(source, known, outcome.sentence, is_failed=True)
        progress = self._corpus.progress_of(source)
        if progress is not None:
            whole = known if progress.total is None else size_text(progress.total)
            facts = f"{size_text(progress.done)} of {whole} · {size_text(progress.bytes_per_second)}/s"
            if not progress.total:
                return Entry(source, facts, "counting")
            left = (progress.total - progress.done) / max(1.0, progress.bytes_per_second)
            return Entry(source, facts, f"counting, {duration_text(left)} left", progress.done / progress.total)
        return Entry(source, known, "waiting to be counted" if self._corpus.counts.busy else "not counted yet")


def _how_read(counted: Counted) -> str:
    """What there is to know about how the text was found in its file."""
    read = counted.read
    if read.is_word_list:
        return "a list of words"
    return f"column “{read.column}”" if read.column else counted.encoding.upper()


def _warning(counted: Counted, splits: bool) -> str:
    if not splits or counted.share_in_long_words < LONG_SHARE:
        return ""
    return (
        f"{counted.share_in_long_words:.0%} of this text stands in words of more than {LONG_WORD} bytes (the longest "
        f"has {counted.longest_word:,}): this pattern does not split it well. Choose the pattern gpt2 or o200k, "
        "which know more scripts."
    )
