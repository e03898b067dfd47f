"""The page of the words of the corpus. A user can sort, filter and save them."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHeaderView, QWidget

from app.session.selection import ShownHighlight
from app.window.parts.layouts import in_column, in_row
from app.window.parts.page import Page
from app.window.parts.tables import sort_by_headings, table_of_rows
from app.window.parts.theme import shades_of
from app.window.parts.widgets import entry, name_widget, paragraph, push_button
from app.window.parts.zoom import set_zoomed
from app.window.questions.question_page import Index, Rows
from app.window.questions.words.model import WordsModel

LEAST_WIDTH = 100  # pixels of a column; the words get what the others leave


class WordRows(Rows):
    """A table model of words. The rows of words that contain the highlighted token have a coloured background."""

    def __init__(self, model: WordsModel) -> None:
        super().__init__(model)
        self._words = model
        self.highlighted = b""

    def word(self, row: int) -> bytes:
        return self._words.word(self.place(row))

    def show_highlight(self, highlighted: bytes) -> None:
        if highlighted != self.highlighted:
            self.highlighted = highlighted
            if count := self.rowCount():
                last = self.index(count - 1, self.columnCount() - 1)
                self.dataChanged.emit(self.index(0, 0), last, [Qt.ItemDataRole.BackgroundRole])

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role == Qt.ItemDataRole.BackgroundRole and self.highlighted:
            is_lit = self.highlighted in self.word(index.row())
            return shades_of(QGuiApplication.palette()).mark_ground if is_lit else None
        return super().data(index, role)


class WordsPage(Page):
    """A page of the words that the corpus was split into, with their counts. It needs no trained run."""

    is_table = True

    def __init__(self, model: WordsModel, parent: QWidget | None = None) -> None:
        super().__init__(model, parent)
        self.model = model
        self.holding = entry("Filter words, such as ␣the", can_be_cleared=True)
        self.holding.setAccessibleName("List only words that contain this text")
        self.summary = name_widget(paragraph(), "How many words are listed")
        saved = "Write the listed words with their counts by group to a CSV, TSV, JSON or Parquet file"
        self.export = push_button("Save List …", self.save_wanted.emit, saved)
        self.rows = WordRows(model)
        self._listed = model.order
        self.table = table_of_rows(self.rows, "Words of the corpus")
        header = self.table.horizontalHeader()
        set_zoomed(header, QHeaderView.setMinimumSectionSize, LEAST_WIDTH)
        set_zoomed(header, QHeaderView.setDefaultSectionSize, LEAST_WIDTH)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        sort_by_headings(self.table, model.choice.column, Qt.SortOrder.DescendingOrder)
        above = in_row((self.holding, 1), self.export)
        in_column(above, self.summary, (self.table, 1), on=self, margins=(8, 6, 8, 4))
        self.table.setMouseTracking(True)
        self.table.entered.connect(lambda index: self.word_pointed.emit(self.rows.word(index.row())))
        self.table.viewportEntered.connect(lambda: self.word_pointed.emit(None))
        self.table.clicked.connect(lambda index: self.word_clicked.emit(self.rows.word(index.row())))
        self.holding.textChanged.connect(model.filter_by_text)
        model.changed.connect(self._show)
        self._show()

    def show_highlight(self, shown: ShownHighlight) -> None:
        mark = shown.mark
        self.rows.show_highlight(mark.texts[0] if mark is not None and len(mark.texts) == 1 else b"")

    def leaveEvent(self, event: QEvent) -> None:
        self.word_pointed.emit(None)
        super().leaveEvent(event)

    def _show(self) -> None:
        if self.model.order is not self._listed:
            self._listed = self.model.order
            self.rows.refresh()
        self.summary.setText(self.model.summary)
        self.export.setEnabled(self.model.listed_words is not None)
