"""The list of the texts and groups in the corpus, with facts about each text, and with the totals."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from PySide6.QtCore import QMimeData, QModelIndex, QObject, Qt, Signal

from app.session.corpus import SessionCorpus
from app.session.corpus_texts import CorpusText, CorpusTexts
from app.session.counts import CountFailure, Outcome, TextCount
from app.window.corpus.groups import (
    GroupRow,
    group_size_text,
    line_of_group,
    move_texts,
    read_group_line,
    rows_of,
    sample_text,
    shift_rows,
    texts_of,
    weight_text,
)
from app.window.parts.row_list import Index, Role, RowListModel
from app.window.parts.timing import Throttle
from app.window.parts.wording import count_text, duration_text, size_text, without_options
from bpe_core.errors import RecipeError
from bpe_core.history.token_texts import quoted
from bpe_core.insight.listed_words import LONG_WORD

ENCODINGS: dict[str, str | None] = {
    "UTF-8, or as a byte order mark says": None,
    "UTF-8, � for invalid bytes": "utf-8 replace",
    "UTF-8, without invalid bytes": "utf-8 skip",
    "Latin-1 (ISO 8859-1)": "latin-1",
    "Windows-1252": "cp1252",
    "Cyrillic (Windows-1251)": "cp1251",
    "Japanese (Shift JIS)": "shift_jis",
    "Chinese (GB 18030)": "gb18030",
    "Korean (EUC-KR)": "euc_kr",
    "UTF-16": "utf-16",
}
LONGEST_SHOWN = 40  # most bytes shown of a word


def how_read(counted: TextCount) -> str:
    read = counted.read
    if read.is_word_list:
        return "a list of words"
    return f"column “{read.column}”" if read.column else counted.encoding.upper()


def frequent_words(counted: TextCount) -> str:
    some = (f"{quoted(word[:LONGEST_SHOWN].decode(errors='replace'))} {n:,}" for word, n in counted.most_frequent)
    return f"Most frequent: {', '.join(some)}" if counted.most_frequent else ""


def warning_of(source: CorpusText, counted: TextCount, splits: bool) -> str:
    long_words = counted.long_words
    if not splits or long_words is None:
        return ""
    share = counted.share_in_long_words
    longest = counted.longest_word
    warning = (
        f"Words of more than {LONG_WORD} bytes make up {share:.0%} of {source.name} (the longest word has "
        f"{count_text(longest, 'byte')})"
    )
    if counted.files > 1 and long_words.file:
        warning += f", for example in {long_words.file}"
    if long_words.better:
        return (
            f"{warning}. The pattern of the recipe does not split this text well. "
            f"{' or '.join(long_words.better[:2])} would split this text better."
        )
    return f"{warning}. No other pattern would split this text better. Check that the file really holds text."


MOVED_ROWS = "application/x-bpe-explorer-texts"


@dataclass(frozen=True)
class Entry:
    """An entry of the list: the lines about one text or one group."""

    source: CorpusText
    facts: str  # size, encoding, words
    state: str
    fraction: float | None = None  # share counted so far
    is_failed: bool = False
    warning: str = ""
    words: str = ""  # the most frequent words
    group: GroupRow | None = None  # the group of a heading

    @property
    def title(self) -> str:
        return self.source.name if self.group is None else self.group.title

    @property
    def reason(self) -> str:
        """Return the reason why a text cannot be counted. The name of the text is left out, because the title shows it.

        >>> Entry(CorpusText("a.txt"), "0 B", "a.txt is empty: there is no text in it.").reason
        'is empty: there is no text in it.'
        """
        return self.state.removeprefix(self.source.place or self.source.name).lstrip(" ,:")


class CorpusListModel(RowListModel[GroupRow | CorpusText]):
    """A list model with a row for each text and each group. A user can drag a row to another position."""

    totals_changed = Signal()
    EntryRole = Role.UserRole + 1

    def __init__(self, corpus: SessionCorpus, parent: QObject | None = None) -> None:
        super().__init__(parent=parent)
        self.corpus = corpus
        self._sources: CorpusTexts = ()
        self._sizes: dict[int, int] = {}  # in bytes, by number of the text
        self._outcomes: list[Outcome | None] = []
        self._throttle = Throttle(60, self.refresh, self)
        corpus.texts.changed.connect(self.refresh)
        corpus.counts.changed.connect(self._throttle.call)

    def refresh(self) -> None:
        """Take the texts and groups from the session. Facts about a text are computed only when its row is drawn."""
        fresh = self.corpus.texts.value
        self._outcomes = self.corpus.last_outcomes()
        if fresh == self._sources:
            self.set_rows(self.rows, are_same=True)
        else:
            texts = {text.number: text.text for text in self._sources}
            sizes = self._sizes
            same = {text.number for text in fresh if texts.get(text.number) is text.text}
            self._sizes = {text.number: sizes[text.number] if text.number in same else text.size or 0 for text in fresh}
            self._sources = fresh
            self.set_rows(rows_of(fresh))
        self.totals_changed.emit()

    @property
    def warning(self) -> str:
        pairs = zip(self._sources, self._outcomes, strict=True)
        counted = ((text, outcome) for text, outcome in pairs if isinstance(outcome, TextCount))
        return next(filter(None, (warning_of(text, count, self._splits) for text, count in counted)), "")

    def totals(self) -> str:
        if not self._sources:
            return "No texts yet"
        counted = [outcome for outcome in self._outcomes if isinstance(outcome, TextCount)]
        in_folders = [outcome for outcome in counted if outcome.files > 1 and not outcome.is_of_group]
        texts = len(self._sources) + sum(outcome.files - 1 for outcome in in_folders)
        size = sum(self._sizes.values()) + sum(outcome.size for outcome in in_folders)
        parts = [count_text(texts, "text"), size_text(size)]
        words = sum(self._sizes_of_groups("words").values())
        if words:
            parts.append(count_text(words, "word"))
        return " · ".join(parts)

    def source_at(self, row: int) -> CorpusText:
        """Return the text in a row. The row must not be the heading of a group."""
        text = self.rows[row]
        assert isinstance(text, CorpusText)
        return text

    @property
    def groups(self) -> tuple[str, ...]:
        return tuple(row.name for row in self.rows if isinstance(row, GroupRow) and row.name)

    def texts_at(self, rows: Sequence[int]) -> set[int]:
        """Return the numbers of the texts in these rows. If a row is the heading of a group, include all texts of the
        group.
        """
        numbers: set[int] = set()
        for row in rows:
            at = self.rows[row]
            members = [at] if isinstance(at, CorpusText) else [text for text in self._sources if text.group == at.name]
            numbers |= {text.number for text in members}
        return numbers

    def group_at(self, rows: Sequence[int]) -> str | None:
        """Return the name of the group that all these rows belong to, or None if they belong to several groups."""
        names = {at.name if isinstance(at, GroupRow) else at.group for at in (self.rows[row] for row in rows)}
        return names.pop() if len(names) == 1 else None

    def row_of_group(self, name: str) -> int:
        return next((place for place, row in enumerate(self.rows) if row == GroupRow(name)), -1)

    # -- acting on rows --------------------------------------------------------------------

    def move(self, rows: Sequence[int], place: int) -> None:
        """Move texts to another row, which may be in another group. Headings stay where they are."""
        self.corpus.arrange(texts_of(move_texts(self.rows, rows, place)))

    def shift(self, rows: Sequence[int], by: int) -> list[int]:
        """Move texts or whole groups by one row: up if `by` is -1, down if it is 1. Return their new rows."""
        chosen = [self.rows[row] for row in rows]
        names = [
            row_content.name if isinstance(row_content, GroupRow) else row_content.number for row_content in chosen
        ]
        self.corpus.arrange(texts_of(shift_rows(self.rows, rows, by)))
        now = [
            row_content.name if isinstance(row_content, GroupRow) else row_content.number for row_content in self.rows
        ]
        return [now.index(name) for name in names if name in now]

    def add_group(self, rows: Sequence[int]) -> str:
        """Put the texts in these rows into a new group.

        Return the name of the group, which the user can then edit.
        """
        name = next(name for number in itertools.count(1) if (name := f"group {number}") not in self.groups)
        self.corpus.group(self.texts_at(rows), name)
        return name

    def setData(self, index: Index, value: Any, role: int = Role.EditRole) -> bool:
        """Give a group the name and the weight that a user typed in its line."""
        row = self.rows[index.row()]
        if role != Role.EditRole or not isinstance(row, GroupRow):
            return False
        try:
            name, weight, by = read_group_line(str(value), row, self.corpus.mixture)
            self.corpus.change_group(row.name, name, weight, by)
        except RecipeError as error:
            self.corpus.background.notify(str(error))
            return False
        return True

    def change_role(self, name: str, **changes: Any) -> None:
        """Make a group the dev text of another group, or change its ratio.

        Show a message if that is impossible.
        """
        try:
            by = self.corpus.mixture.by
            if changes.get("dev_of") and by != "times":  # a dev text leaves its share to the others
                self.corpus.change_group(name, name, Fraction(0), by)
            self.corpus.choose(replace(self.corpus.mixture.of(name), **changes))
        except RecipeError as error:
            self.corpus.background.notify(str(error))

    def picked_folder_at(self, rows: Sequence[int]) -> CorpusText | None:
        """Return the folder in the given row if only some of its files belong to the corpus.

        Return None if the row is not such a folder, or if several rows are given.
        """
        chosen = [self.rows[row] for row in rows]
        only = chosen[0] if len(chosen) == 1 else None
        return only if isinstance(only, CorpusText) and only.picked else None

    def read_as(self, rows: Sequence[int], encoding: str | None) -> None:
        """Change the encoding of the texts in these rows. None means that the encoding is detected."""
        self.corpus.change_reading(self.texts_at(rows), "Change the encoding", encoding=encoding)

    def columns_of(self, rows: Sequence[int]) -> tuple[tuple[str, ...], str, bool]:
        """Return facts about the tables in these rows.

        The facts are the columns that may contain text, the column that is read, and whether all tables are lists of
        words. If the tables differ in this column, its name is empty.
        """
        texts = [text for text in (self.rows[row] for row in rows) if isinstance(text, CorpusText)]
        outcomes = self.corpus.counts.last_outcomes(texts, self.corpus.recipe.value)
        reads = [outcome.read for outcome in outcomes if outcome is not None]
        columns = tuple(dict.fromkeys(column for read in reads for column in read.columns))
        taken = {read.column for read in reads}
        are_lists = bool(reads) and all(read.is_word_list for read in reads)
        return columns, taken.pop() if len(taken) == 1 else "", are_lists

    def row_of(self, number: int) -> int | None:
        rows = (row for row, at in enumerate(self.rows) if isinstance(at, CorpusText) and at.number == number)
        return next(rows, None)

    def take_column(self, rows: Sequence[int], column: str) -> None:
        self.corpus.change_reading(self.texts_at(rows), "Change the column", column=column, word_list=None)

    def set_word_list(self, rows: Sequence[int], word_list: bool) -> None:
        """Read the files in these rows as lists of words with counts if `word_list` is true, or else as texts.

        An earlier choice of a column is forgotten.
        """
        self.corpus.change_reading(self.texts_at(rows), "Change how a table is read", column="", word_list=word_list)

    # -- the interface of Qt's models ------------------------------------------------------------------

    def value_in_role(self, row: int, role: int) -> Any:
        at = self.rows[row]
        if role == self.EntryRole:
            return self._entry(at) if isinstance(at, CorpusText) else self._entry_of_group(at)
        if role == Role.DisplayRole:
            return at.name if isinstance(at, CorpusText) else at.title
        if role == Role.EditRole and isinstance(at, GroupRow):
            return line_of_group(at, self.corpus.mixture)
        return None

    def description(self, row: int) -> str:
        entry = self.value_in_role(row, self.EntryRole)
        at = self.rows[row]
        if isinstance(at, GroupRow):
            return "\n".join((at.title, entry.facts, entry.state, "Double-click to change the group's name or weight"))
        return "\n".join(filter(None, (at.place or at.name, entry.facts, entry.state, entry.words, entry.warning)))

    def flags(self, index: Index) -> Qt.ItemFlag:
        flags = super().flags(index)
        if index.isValid() and isinstance(self.rows[index.row()], GroupRow):
            return flags | Qt.ItemFlag.ItemIsEditable
        return flags | (Qt.ItemFlag.ItemIsDragEnabled if index.isValid() else Qt.ItemFlag.ItemIsDropEnabled)

    def supportedDropActions(self) -> Qt.DropAction:
        return Qt.DropAction.MoveAction

    def mimeTypes(self) -> list[str]:
        return [MOVED_ROWS]

    def mimeData(self, indexes: Sequence[QModelIndex]) -> QMimeData:
        mime = QMimeData()
        mime.setData(MOVED_ROWS, " ".join(str(index.row()) for index in indexes).encode())
        return mime

    def dropMimeData(self, data: QMimeData, action: Qt.DropAction, row: int, column: int, parent: Index) -> bool:
        if not data.hasFormat(MOVED_ROWS):
            return False
        moved = [*map(int, bytes(data.data(MOVED_ROWS).data()).decode().split())]
        place = row if row >= 0 else len(self.rows)
        self.move(moved, place - sum(moved_row < place for moved_row in moved))
        return False  # the rows are already in place: Qt must not remove any

    # -- rows ------------------------------------------------------------------------------

    def _entry_of_group(self, row: GroupRow) -> Entry:
        mixture = self.corpus.mixture
        pairs = list(zip(self._sources, self._outcomes, strict=True))
        members = [text for text, _ in pairs if text.group == row.name]
        outcomes = [outcome for text, outcome in pairs if text.group == row.name]
        facts = weight_text(mixture.of(row.name), mixture, self._sizes_of_groups(mixture.by))
        size = group_size_text(members, self._sizes, outcomes)
        state = " · ".join((size, *sample_text(mixture.of(row.name))))
        return Entry(members[0], facts, state, group=row)

    def _sizes_of_groups(self, by: str) -> dict[str, int]:
        sizes: dict[str, int] = {}
        seen: set[str] = set()
        for text, outcome in zip(self._sources, self._outcomes, strict=True):
            if isinstance(outcome, TextCount) and not (outcome.is_of_group and text.group in seen):
                seen.add(text.group)
                size = outcome.word_bytes if by == "bytes" else outcome.words
                sizes[text.group] = sizes.get(text.group, 0) + size
        return sizes

    @property
    def _splits(self) -> bool:
        return self.corpus.recipe.value.pattern != "none"

    def _entry(self, source: CorpusText) -> Entry:
        size = source.size
        known = "missing" if size is None else size_text(size)
        if source.picked:
            known = count_text(len(source.picked), "picked file")
        elif source.is_folder:
            known = "folder"
        elif source.address:
            known = "from an address"
        outcome = self.corpus.counts.outcome_of(source, self.corpus.recipe.value)
        if isinstance(outcome, TextCount) and outcome.is_of_group:
            return Entry(source, known, "counted together with its group")
        if isinstance(outcome, TextCount):
            if source.is_folder:
                what = "picked file" if source.picked else "file"
                known = f"{count_text(outcome.files, what)} · {size_text(outcome.size)}"
            if source.address and outcome.size:
                known = size_text(outcome.size)
            facts = f"{known} · {how_read(outcome)}"
            state = f"{count_text(outcome.words, 'word')}, {len(outcome.table):,} distinct"
            warning = warning_of(source, outcome, self._splits)
            return Entry(source, facts, state, warning=warning, words=frequent_words(outcome))
        if isinstance(outcome, CountFailure):
            return Entry(source, known, without_options(outcome.sentence), is_failed=True)
        progress = self.corpus.counts.progress_of(source)
        if progress is not None:
            whole = known if progress.total is None else size_text(progress.total)
            facts = f"{size_text(progress.done)} of {whole} · {size_text(progress.bytes_per_second)}/s"
            if not progress.total:
                return Entry(source, facts, "counting")
            left = (progress.total - progress.done) / max(1.0, progress.bytes_per_second)
            return Entry(source, facts, f"counting, {duration_text(left)} left", progress.done / progress.total)
        return Entry(source, known, "waiting to be counted" if self.corpus.counts.is_busy else "not counted yet")
