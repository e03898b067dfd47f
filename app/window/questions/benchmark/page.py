"""All runs by texts: a table to be sorted, dots by language, and the text behind each cell."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QIcon, QPixmap
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QFileDialog,
    QHBoxLayout,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from app.window.parts.figure_sheet import line_colour
from app.window.parts.figure_view import FigureView
from app.window.parts.page import Page
from app.window.parts.tables import table_of_rows
from app.window.parts.theme import fixed_font
from app.window.parts.widgets import flat_button, paragraph, scrolling
from app.window.parts.wording import tip
from app.window.questions.benchmark.model import FOLDER, LIST, SOURCES, BenchmarkModel, Index
from app.window.questions.benchmark.reading_view import ReadingBar

WIDTHS = (110, 44)
NUMBER_WIDTH = 92
COLOUR_SIZE = 8  # of what tells whose dots are a tokenizer's
FEWEST_CHARACTERS = 5  # of a choice that are shown where there is little room


class BenchmarkPage(Page):
    """A click on a row shows its text in its tokens."""

    def __init__(self, model: BenchmarkModel, parent: QWidget | None = None) -> None:
        super().__init__(model, parent)
        self.model = model
        self.source, self.measure, self.reference = QComboBox(), QComboBox(), QComboBox()
        self.source.addItems(list(SOURCES))
        for box, name in (
            (self.source, "Texts to measure by"),
            (self.measure, "What the dots show"),
            (self.reference, "The language that others are compared with"),
        ):
            box.setAccessibleName(name)
            box.setToolTip(tip(name))
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            box.setMinimumContentsLength(FEWEST_CHARACTERS)
        self.stop = flat_button("Stop")
        self.summary, self.preview = paragraph(), paragraph()
        self.summary.setAccessibleName("How evenly languages are treated")
        self.preview.setAccessibleName("The text of the row, in tokens")
        self.preview.setFont(fixed_font(self.font().pointSizeF()))
        self.chart = FigureView("The measure of each text, a dot a tokenizer")
        self.table = _table(model)
        self.bar = ReadingBar(model.reading)
        self._lay_out()
        self._connect()
        self._show()

    def _lay_out(self) -> None:
        row = QHBoxLayout()
        row.addWidget(self.source, 3)
        row.addWidget(self.reference, 1)
        row.addWidget(self.stop)
        row.addWidget(self.measure, 2)
        told = QWidget()
        text = QVBoxLayout(told)
        text.setContentsMargins(0, 0, 0, 0)
        for widget in (self.summary, self.preview):
            text.addWidget(widget)
        text.addStretch()
        self.told = scrolling(told, "What was found, and the text of a row")
        self.told.setMaximumHeight(76)
        beside = QHBoxLayout()
        beside.addWidget(self.table, 3)
        beside.addWidget(self.chart, 2)
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 6, 8, 4)
        column.addLayout(row)
        column.addLayout(beside, 1)
        column.addWidget(self.bar)
        column.addWidget(self.told)

    def _connect(self) -> None:
        model = self.model
        model.changed.connect(self._show)
        model.reading.changed.connect(self._show_text)
        self.source.activated.connect(self._choose_source)
        self.reference.activated.connect(lambda: model.choose_reference(self.reference.currentData()))
        self.measure.activated.connect(lambda: model.choose_measure(self.measure.currentData()))
        self.stop.clicked.connect(model.stop)
        self.table.clicked.connect(lambda index: model.look_at(index.row()))
        self.table.activated.connect(lambda index: model.look_at(index.row()))

    def _choose_source(self, source: int) -> None:
        """Of a folder, or a file, which one is asked."""
        place = ""
        if source == FOLDER:
            title = "A folder with a file for each language (en.txt, de.txt), a line a sentence"
            place = QFileDialog.getExistingDirectory(self, title)
        elif source == LIST:
            title = "A word a line: the word, a tab, its morphemes with blanks between"
            place, _ = QFileDialog.getOpenFileName(self, title, "", "Lists (*.tsv *.txt);;All files (*)")
        if source in (FOLDER, LIST) and not place:
            self.source.setCurrentIndex(self.model.source)
            return
        self.model.choose_source(source, Path(place) if place else None)

    def _show(self) -> None:
        model = self.model
        self.summary.setText(model.summary)
        self._show_text()
        self.stop.setVisible(bool(model.progress))
        self.source.setCurrentIndex(model.source)
        languages = list(model.languages)
        self.reference.setVisible(bool(languages))
        if model.found is not None and model.found.parity is not None:
            _offer(self.reference, [(f"against {one}", one) for one in languages], model.found.parity.reference)
        _offer(self.measure, [(one.title, one.name) for one in model.columns if one.form], model.measure.name)
        self.measure.setToolTip(tip(model.measure.tip))
        self.chart.set_figure(model.figure)

    def _show_text(self) -> None:
        """The text of a row, or what was found."""
        stretch = self.model.reading.stretch
        self.bar.show_place()
        self.preview.setText("" if stretch is None else stretch.told)
        self.preview.setVisible(stretch is not None)
        self.summary.setVisible(stretch is None)
        self.told.verticalScrollBar().setValue(0)


class _InItsColour(QStyledItemDelegate):
    """The name of a tokenizer behind the colour of its dots."""

    def __init__(self, model: BenchmarkModel, table: QTableView) -> None:
        super().__init__(table)
        self._model = model

    def initStyleOption(self, option: QStyleOptionViewItem, index: Index) -> None:
        super().initStyleOption(option, index)
        square = QPixmap(COLOUR_SIZE, COLOUR_SIZE)
        square.fill(line_colour(option.palette, self._model.tokenizer_at(index.row())))
        option.icon = QIcon(square)
        option.decorationSize = square.size()
        option.features |= QStyleOptionViewItem.ViewItemFeature.HasDecoration


def _offer(box: QComboBox, choices: list[tuple[str, str]], chosen: str) -> None:
    """These choices, each with what it stands for."""
    if [box.itemData(place) for place in range(box.count())] != [data for _, data in choices]:
        box.clear()
        for title, data in choices:
            box.addItem(title, data)
    box.setCurrentIndex(box.findData(chosen))


def _table(model: BenchmarkModel) -> QTableView:
    table = table_of_rows(model, "Tokenizers by texts", WIDTHS)
    table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    table.setWordWrap(False)
    table.setItemDelegateForColumn(0, _InItsColour(model, table))
    table.horizontalHeader().setDefaultSectionSize(NUMBER_WIDTH)
    table.horizontalHeader().setSortIndicator(0, Qt.SortOrder.AscendingOrder)
    table.setSortingEnabled(True)
    return table
