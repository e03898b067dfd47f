"""Below the rows: the curves of all lanes, what their vocabularies have in common, the words that differ most."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QHBoxLayout,
    QHeaderView,
    QSizePolicy,
    QSplitter,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from app.window.parts.figure_view import FigureView, sample_of
from app.window.parts.tables import ROW_HEIGHT, table_of_rows
from app.window.parts.widgets import flat_button, muted, paragraph
from app.window.parts.wording import tip
from app.window.questions.lab.figures import MEASURES, DifferingWordsModel, LabFigures
from app.window.questions.lab.model import LabModel

ROOM_FOR_ALL = 640  # pixels in which three charts can still be read
HINT = "Measured while you look …"
NO_WORDS = (
    "None of these was learned here, so there are no words to measure: train a run, or count a table on your texts."
)


class LabCharts(QWidget):
    """The three curves side by side, or one after the other where there is no room."""

    def __init__(self, lab: LabModel, figures: LabFigures, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._figures = figures
        self.charts = [FigureView(measure.title, HINT, has_legend=False) for measure in MEASURES]
        self.choice = QComboBox()
        self.choice.setAccessibleName("Which curve is drawn")
        self.choice.addItems([measure.title for measure in MEASURES])
        row = QHBoxLayout()
        row.setSpacing(6)
        for chart, measure in zip(self.charts, MEASURES, strict=True):
            chart.setToolTip(tip(measure.tip))
            chart.place_chosen.connect(lambda size: lab.set_size(int(size)))
            row.addWidget(chart, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.choice)
        column.addLayout(row, 1)
        self.setMinimumWidth(200)
        self.choice.currentIndexChanged.connect(self._fit)
        figures.changed.connect(self.refresh)
        lab.changed.connect(self.refresh)
        self._fit()

    def refresh(self) -> None:
        for chart, measure in zip(self.charts, MEASURES, strict=True):
            chart.set_figure(self._figures.figure(measure))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        fits = self.width() >= ROOM_FOR_ALL
        self.choice.setVisible(not fits)
        for index, chart in enumerate(self.charts):
            chart.setVisible(fits or index == self.choice.currentIndex())


class LabFiguresView(QWidget):
    """Everything that is measured rather than seen in the rows."""

    word_chosen = Signal(int, int)  # the row of the list and the lane
    save_wanted = Signal()  # of the list

    def __init__(self, lab: LabModel, figures: LabFigures, words: DifferingWordsModel) -> None:
        super().__init__()
        self._lab, self._figures, self._words = lab, figures, words
        self.charts = LabCharts(lab, figures)
        self.overlap = paragraph()
        self.overlap.setTextFormat(Qt.TextFormat.RichText)
        self.overlap.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.told = muted()
        self.save = flat_button("Save List …")
        self.save.setToolTip("Write all words that are cut differently to a CSV, TSV, JSON or Parquet file")
        self.table = _table(words)
        beside = QWidget()
        column = QVBoxLayout(beside)
        column.setContentsMargins(4, 0, 0, 0)
        column.setSpacing(4)
        beside.setMinimumWidth(260)
        for half in (self.charts, beside):  # shares of the width, whatever they would like
            half.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        column.addWidget(self.overlap)
        heading = QHBoxLayout()
        heading.addWidget(self.told, 1)
        heading.addWidget(self.save)
        column.addLayout(heading)
        column.addWidget(self.table, 1)
        halves = QSplitter(Qt.Orientation.Horizontal)
        halves.addWidget(self.charts)
        halves.addWidget(beside)
        halves.setSizes([6_000, 5_000])  # shares of whatever there is
        halves.setChildrenCollapsible(False)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 4, 0, 0)
        whole.addWidget(halves)
        figures.changed.connect(self._show)
        self.table.clicked.connect(self._choose)
        self.table.activated.connect(self._choose)
        self.save.clicked.connect(self.save_wanted)
        words.modelReset.connect(self._size_columns)

    def _choose(self, index: QModelIndex) -> None:
        self.word_chosen.emit(index.row(), self._words.lane_of(index.column()))

    def _size_columns(self) -> None:
        header = self.table.horizontalHeader()
        for column in range(self._words.columnCount()):
            is_number = self._words.is_number(column)
            mode = QHeaderView.ResizeMode.ResizeToContents if is_number else QHeaderView.ResizeMode.Stretch
            header.setSectionResizeMode(column, mode)

    def _show(self) -> None:
        found = self._figures.found
        self.overlap.setText(self._overlaps())
        if found.words is None:
            told = "Comparing words …" if self._figures.is_asking else ""
        elif not found.words:
            told = "All words of the corpus are cut alike at this size."
        else:
            told = f"Words of {found.source} cut most differently:"
        self.told.setText(NO_WORDS if found.is_final and not found.source else told)
        for widget in (self.table, self.save):
            widget.setVisible(bool(found.words))

    def _overlaps(self) -> str:
        """A line for each two vocabularies: how much both hold, as a part of each and of all."""
        rows = [("Vocabularies", "in both", "Jaccard", "of each")]
        rows += [
            (
                f"{self._letter(one)} and {self._letter(other)}",
                f"<b>{found.common:,}</b>",
                f"{found.jaccard:.3f}",
                f"{found.share_of_first:.0%} · {found.share_of_second:.0%}",
            )
            for one, other, found in self._figures.found.overlaps
        ]
        return _html_table(rows) if len(rows) > 1 else ""

    def _letter(self, lane: int) -> str:
        return f"{sample_of(self.palette(), lane)} {self._figures.found.letters[lane]}"


def _html_table(rows: Sequence[Sequence[str]]) -> str:
    """A table in a label, each row in a line; all but the first column stand at the right."""
    left, right = (f"<td style='white-space:nowrap;padding-right:9px' align={side}>" for side in ("left", "right"))
    lines = (f"{left}{row[0]}</td>" + "".join(f"{right}{cell}</td>" for cell in row[1:]) for row in rows)
    told = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table cellspacing=0 cellpadding=1>{told}</table>"


def _table(model: DifferingWordsModel) -> QTableView:
    table = table_of_rows(model, "Words that are cut most differently")
    table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    table.horizontalHeader().setMinimumSectionSize(36)
    table.setMinimumHeight(3 * ROW_HEIGHT)
    return table
