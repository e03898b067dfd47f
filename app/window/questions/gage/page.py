"""Gage's compressor: the bytes shrinking over time beside today's compressors, and the table of the block at work."""

from __future__ import annotations

import html
from bisect import bisect_right
from collections.abc import Callable

from PySide6.QtCore import QModelIndex, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app.window.parts.figure_view import FigureView
from app.window.parts.page import Page
from app.window.parts.tables import put_headings_left, table_of_rows
from app.window.parts.theme import shades_of
from app.window.parts.widgets import paragraph
from app.window.questions.gage.model import BlocksModel

WIDTHS = (46, 78, 96, 46)


class BlocksPage(Page):
    """A click on a row, a block or the chart goes to that moment."""

    def __init__(self, model: BlocksModel, parent: QWidget | None = None) -> None:
        super().__init__(model, parent)
        self.model = model
        self.chart = FigureView("Size of all blocks", has_legend=False)
        self.strip = BlockStrip(lambda: model.shares, lambda: model.block)
        self.told, self.told_of_size = paragraph(), paragraph()
        self.told_of_size.setTextFormat(Qt.TextFormat.RichText)
        self.told.setAccessibleName("The block at work")
        self.told_of_size.setAccessibleName("The size of all blocks")
        self.table = table_of_rows(model, "What bytes stand for in the block at work", WIDTHS)
        put_headings_left(self.table)
        self.table.horizontalHeader().setStretchLastSection(True)
        self._lay_out()
        self.chart.place_chosen.connect(lambda step: model.travel_to(int(step)))
        self.strip.block_chosen.connect(model.travel_to_block)
        self.table.clicked.connect(self._travel)
        self.table.activated.connect(self._travel)
        model.changed.connect(self._show)
        self._show()

    def _lay_out(self) -> None:
        left, right = QVBoxLayout(), QVBoxLayout()
        left.addWidget(self.told_of_size)
        left.addWidget(self.chart, 1)
        left.addWidget(self.strip)
        right.addWidget(self.told)
        right.addWidget(self.table, 1)
        whole = QHBoxLayout(self)
        whole.setContentsMargins(8, 6, 8, 4)
        whole.addLayout(left, 3)
        whole.addLayout(right, 3)

    def _sizes(self) -> str:
        """What everything takes now, each compressor in the colour of its line."""
        told = [
            f"{self.chart.sample(i)} {html.escape(name)} <b>{size:,}</b> bytes"
            for i, (name, size) in enumerate(self.model.sizes_here)
        ]
        if told:
            told[0] += f" of {self.model.bytes:,}"
        return " &nbsp; ".join(told)

    def _travel(self, index: QModelIndex) -> None:
        self.model.travel_to_row(index.row())

    def _show(self) -> None:
        is_about_a_run = self.model.is_about_a_run
        self.told.setText(self.model.about_block)
        self.told_of_size.setText(self._sizes())
        for part in (self.told_of_size, self.chart, self.strip, self.table):
            part.setVisible(is_about_a_run)
        self.chart.set_figure(self.model.figure)
        self.strip.update()


HEIGHT = 16
GAP = 1.0
WIDE_ENOUGH = 4.0  # pixels of a block that a gap is drawn beside


class BlockStrip(QWidget):
    """Those before the one at work are done; of very many, several share a pixel."""

    block_chosen = Signal(int)

    def __init__(self, ends: Callable[[], list[float]], at: Callable[[], int | None]) -> None:
        super().__init__()
        self._ends, self._at = ends, at
        self.setAccessibleName("Blocks of the texts")
        self.setToolTip("The blocks of the texts, the one at work in orange; click on one to go there")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(320, HEIGHT)

    def paintEvent(self, event: QPaintEvent) -> None:
        ends, at = self._ends(), self._at()
        if not ends:
            return
        shades, width = shades_of(self.palette()), float(self.width())
        with QPainter(self) as painter:
            painter.setPen(Qt.PenStyle.NoPen)
            start = 0.0
            for block, end in enumerate(ends):
                stop = end * width
                if stop - start < 1.0 and block != at and block + 1 < len(ends):
                    continue  # it is drawn with the next
                is_done = at is not None and block < at
                painter.setBrush(shades.bar_next if block == at else shades.bar if is_done else shades.hairline)
                gap = GAP if stop - start >= WIDE_ENOUGH else 0.0
                painter.drawRect(QRectF(start, 0.0, max(1.0, stop - start - gap), float(self.height())))
                start = stop

    def mousePressEvent(self, event: QMouseEvent) -> None:
        ends = self._ends()
        if ends:
            share = event.position().x() / max(1, self.width())
            self.block_chosen.emit(min(bisect_right(ends, share), len(ends) - 1))
