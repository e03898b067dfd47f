"""The page of the words of the corpus. A person can sort, filter and save them."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHeaderView, QWidget

from app.window.parts.layouts import in_column, in_row
from app.window.parts.page import Page
from app.window.parts.tables import sort_by_headings, table_of_rows
from app.window.parts.widgets import entry, name_widget, paragraph, push_button
from app.window.parts.zoom import set_zoomed
from app.window.questions.question_page import Rows
from app.window.questions.words.model import WordsModel

LEAST_WIDTH = 100  # pixels of a column; the words get what the others leave


class WordsPage(Page):
    """A page of the words that the corpus was split into, with their counts. It needs no trained run."""

    is_table = True

    def __init__(self, model: WordsModel, parent: QWidget | None = None) -> None:
        super().__init__(model, parent)
        self.model = model
        self.holding = entry("Filter words, such as ␣the", can_be_cleared=True)
        self.holding.setAccessibleName("Text that the listed words contain")
        self.summary = name_widget(paragraph(), "How many words are listed")
        saved = "Write the words listed to a CSV, TSV, JSON or Parquet file, with their counts by group"
        self.export = push_button("Save List …", self.save_wanted.emit, saved)
        self.rows = Rows(model)
        self._listed = model.order
        self.table = table_of_rows(self.rows, "Words of the corpus")
        header = self.table.horizontalHeader()
        set_zoomed(header, QHeaderView.setMinimumSectionSize, LEAST_WIDTH)
        set_zoomed(header, QHeaderView.setDefaultSectionSize, LEAST_WIDTH)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        sort_by_headings(self.table, model.choice.column, Qt.SortOrder.DescendingOrder)
        above = in_row((self.holding, 1), self.export)
        in_column(above, self.summary, (self.table, 1), on=self, margins=(8, 6, 8, 4))
        self.holding.textChanged.connect(model.filter_by_text)
        model.changed.connect(self._show)
        self._show()

    def _show(self) -> None:
        if self.model.order is not self._listed:
            self._listed = self.model.order
            self.rows.refresh()
        self.summary.setText(self.model.summary)
        self.export.setEnabled(self.model.listed_words is not None)
