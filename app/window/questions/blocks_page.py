"""The page about the blocks of a compressed text: a chart of their size after each step, and a table of one block."""

from __future__ import annotations

from bisect import bisect_right

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.window.parts.theme import shades_of
from app.window.parts.zoom import zoomed
from app.window.questions.blocks_model import BlocksModel
from app.window.questions.question_page import QuestionPage

HEIGHT = 16
GAP = 1.0
WIDE_ENOUGH = 4.0  # pixels; only larger blocks have a gap between them


class BlocksPage(QuestionPage):
    """A page of blocks. A click on a row, a block or the chart moves the time slider to the step at that position."""

    model: BlocksModel

    def __init__(self, model: BlocksModel, parent: QWidget | None = None) -> None:
        self.strip = BlockStrip(model)
        super().__init__(model, parent)
        self.column.addWidget(self.strip)

    def _show(self) -> None:
        self.rows.refresh()
        super()._show()
        self.strip.setVisible(self.model.answer is not None)
        self.strip.update()


class BlockStrip(QWidget):
    """A strip that draws all blocks as segments, with the current block marked. Very narrow blocks share a pixel."""

    def __init__(self, model: BlocksModel) -> None:
        super().__init__()
        self._model = model
        self.setAccessibleName("Blocks of the texts")
        self.setToolTip("The blocks of the texts, with the active block in orange. Click on a block to go there")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(320, zoomed(HEIGHT))

    def paintEvent(self, event: QPaintEvent) -> None:
        ends = self._model.ends
        at = self._model.block
        shades = shades_of(self.palette())
        width = float(self.width())
        with QPainter(self) as painter:
            painter.setPen(Qt.PenStyle.NoPen)
            start = 0.0
            for block, end in enumerate(ends):
                stop = end * width
                if stop - start < 1.0 and block != at and block + 1 < len(ends):
                    continue  # drawn together with the next block
                is_done = at is not None and block < at
                colour = shades.bar if is_done else shades.hairline
                painter.setBrush(shades.bar_next if block == at else colour)
                gap = GAP if stop - start >= WIDE_ENOUGH else 0.0
                painter.drawRect(QRectF(start, 0.0, max(1.0, stop - start - gap), float(self.height())))
                start = stop

    def mousePressEvent(self, event: QMouseEvent) -> None:
        ends = self._model.ends
        if ends:
            share = event.position().x() / max(1, self.width())
            self._model.travel_to_block(min(bisect_right(ends, share), len(ends) - 1))
