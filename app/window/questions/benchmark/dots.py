"""One measure of many texts: a place for each text, a dot for each tokenizer in its colour."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.window.parts.lines_chart import line_colour
from app.window.parts.theme import shades_of

Dots = tuple[Sequence[str], Sequence[str], np.ndarray[Any, Any]]
MARGIN, RADIUS = 8.0, 4.0
LEAST_RADIUS = 1.5
SHARE_OF_DOTS = 0.8  # of the room that a text has
TICKS = (4, 2, 1)  # parts of the axis, as many as there is room for
NAMED = 3  # tokenizers, above the dots; the table names all
LEAST_LINES = 3  # that the dots are high, or they take the room of the names


class DotsChart(QWidget):
    """What is drawn is asked for when it is drawn."""

    def __init__(self, dots: Callable[[], Dots], form: Callable[[float], str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._dots, self._form = dots, form
        self.setAccessibleName("The measure of each text, a dot a tokenizer")
        self.setMinimumHeight(90)

    def sizeHint(self) -> QSize:
        return QSize(320, 200)

    def paintEvent(self, event: QPaintEvent) -> None:
        tokenizers, texts, values = self._dots()
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), self.palette().base())
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            if not np.isfinite(values).any():
                return
            metrics = QFontMetricsF(self.font())
            top = _round_up(float(np.nanmax(values)))
            left = MARGIN + metrics.horizontalAdvance(self._form(top)) + 6
            names = [*enumerate(tokenizers)][:NAMED]
            legend = (len(names) + 0.5) * metrics.height()
            if self.height() < legend + LEAST_LINES * metrics.height() + 2 * MARGIN:
                names, legend = [], 0.5 * metrics.height()
            plot = QRectF(left, MARGIN + legend, self.width() - left - MARGIN, 0)
            plot.setBottom(max(plot.top() + 20, self.height() - MARGIN - metrics.height()))
            self._paint_axes(painter, plot, texts, top)
            apart = min(RADIUS * 1.5, SHARE_OF_DOTS * plot.width() / len(texts) / len(tokenizers))
            radius = min(RADIUS, max(LEAST_RADIUS, apart))
            for index in range(len(tokenizers)):
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(line_colour(self.palette(), index))
                for place, value in enumerate(values[index].tolist()):
                    if not math.isnan(value):
                        x = _centre(plot, place, len(texts)) + (index - (len(tokenizers) - 1) / 2) * apart
                        painter.drawEllipse(QPointF(x, plot.bottom() - plot.height() * value / top), radius, radius)
            for index, name in names:
                painter.setPen(line_colour(self.palette(), index))
                told = metrics.elidedText(f"● {name}", Qt.TextElideMode.ElideMiddle, self.width() - 2 * MARGIN)
                painter.drawText(QPointF(MARGIN, MARGIN + metrics.ascent() + index * metrics.height()), told)

    def _paint_axes(self, painter: QPainter, plot: QRectF, texts: Sequence[str], top: float) -> None:
        shades, metrics = shades_of(self.palette()), QFontMetricsF(self.font())
        ticks = next((some for some in TICKS if plot.height() / some >= metrics.height()), 1)
        for tick in range(ticks + 1):
            y = plot.bottom() - plot.height() * tick / ticks
            painter.setPen(shades.hairline)
            painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y))
            painter.setPen(shades.muted)
            place = QRectF(0, y - metrics.height() / 2, plot.left() - 6, metrics.height())
            painter.drawText(place, Qt.AlignmentFlag.AlignRight, self._form(top * tick / ticks))
        room = plot.width() / len(texts)
        for index, text in enumerate(texts):
            told = metrics.elidedText(text, Qt.TextElideMode.ElideRight, room)
            x = _centre(plot, index, len(texts)) - metrics.horizontalAdvance(told) / 2
            painter.drawText(QPointF(x, plot.bottom() + metrics.height()), told)


def _centre(plot: QRectF, place: int, places: int) -> float:
    return plot.left() + plot.width() * (place + 0.5) / places


def _round_up(value: float) -> float:
    """The next number that quarters well.

    >>> _round_up(3.49), _round_up(0.76), _round_up(1700.0)
    (4.0, 0.8, 2000.0)
    """
    if value <= 0:
        return 1.0
    unit = 10.0 ** math.floor(math.log10(value))
    return next(unit * factor for factor in (1, 2, 4, 6, 8, 10) if unit * factor >= value)
