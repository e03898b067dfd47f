"""Gage's compressor: the bytes shrinking over time beside today's compressors, and the table of the block at work."""

from __future__ import annotations

import html

from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.window.parts.lines_chart import LinesChart
from app.window.parts.page import Page
from app.window.parts.table_of_rows import put_headings_left, table_of_rows
from app.window.parts.widgets import paragraph
from app.window.questions.gage.model import BlocksModel
from app.window.questions.gage.strip import BlockStrip

WIDTHS = (46, 78, 96, 46)


class BlocksPage(Page):
    """A click on a row, a block or the chart goes to that moment."""

    def __init__(self, model: BlocksModel, parent: QWidget | None = None) -> None:
        super().__init__(model, parent)
        self.model = model
        self.chart = LinesChart("Size of all blocks", lambda: model.lines)
        self.strip = BlockStrip(lambda: model.shares, lambda: model.block)
        self.told, self.told_of_size = paragraph(), paragraph()
        self.told_of_size.setTextFormat(Qt.TextFormat.RichText)
        self.told.setAccessibleName("The block at work")
        self.told_of_size.setAccessibleName("The size of all blocks")
        self.table = table_of_rows(model, "What bytes stand for in the block at work", WIDTHS)
        put_headings_left(self.table)
        self.table.horizontalHeader().setStretchLastSection(True)
        self._lay_out()
        self.chart.time_chosen.connect(model.travel_to)
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
            f'<span style="color:{self.chart.colour(i).name()}">■</span> {html.escape(name)} <b>{size:,}</b> bytes'
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
        self.chart.refresh()
        self.strip.update()
