"""All blocks of the texts in a row, each as wide as it is long; a click goes there."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.window.parts.theme import shades_of

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
