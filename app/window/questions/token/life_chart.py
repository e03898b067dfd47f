"""A token's life as a small curve: its pair before the birth, the token from then on, the moment marked."""

from __future__ import annotations

import math

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QMouseEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QWidget

from app.window.parts.theme import shades_of
from app.window.questions.token.life_model import LifeFacts, Steps

MARGIN = 8.0


class LifeChart(QWidget):
    """Time runs as merges on a logarithmic scale, for most happens early. A click travels."""

    time_chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._facts: LifeFacts | None = None
        self.setAccessibleName("Occurrences over time")
        self.setMinimumHeight(84)

    def sizeHint(self) -> QSize:
        return QSize(280, 96)

    def show_life(self, facts: LifeFacts | None) -> None:
        self._facts = facts
        if facts is not None:
            self.setAccessibleDescription(f"{facts.peak:,} at its birth, {facts.count:,} now")
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        facts = self._facts
        if facts is None:
            return
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            shades = shades_of(self.palette())
            plot = self._plot()
            painter.setPen(QPen(shades.hairline, 1))
            painter.drawLine(plot.bottomLeft(), plot.bottomRight())
            most = max((count for _, count in (*facts.pair_curve, *facts.curve)), default=0)
            born = facts.curve[0][0] if facts.curve else 0
            painter.setPen(QPen(shades.muted, 1, Qt.PenStyle.DotLine))
            painter.drawPolyline(self._line(facts.pair_curve, born, most))
            painter.setPen(QPen(shades.curve, 1.5))
            painter.drawPolyline(self._line(facts.curve, facts.end, most))
            x = self._x(facts.at)
            painter.setPen(QPen(shades.bar_next, 1))
            painter.drawLine(QPointF(x, plot.top()), QPointF(x, plot.bottom()))
            painter.setPen(shades.muted)
            painter.drawText(QPointF(plot.left(), plot.top() - 3), f"{most:,}")
            told = f"merge {facts.end:,}"
            width = QFontMetricsF(self.font()).horizontalAdvance(told)
            painter.drawText(QPointF(plot.right() - width, self.height() - 3), told)
            painter.drawText(QPointF(plot.left(), self.height() - 3), "0")

    def _plot(self) -> QRectF:
        line = QFontMetricsF(self.font()).height()
        return QRectF(MARGIN, line + 2, max(10.0, self.width() - 2 * MARGIN), max(10.0, self.height() - 2 * line - 6))

    def _x(self, state: int) -> float:
        plot, end = self._plot(), max(1, self._facts.end if self._facts is not None else 1)
        return plot.left() + plot.width() * math.log1p(state) / math.log1p(end)

    def _line(self, steps: Steps, end: int, most: int) -> QPolygonF:
        """Stairs: a count holds until the next one."""
        plot, points = self._plot(), QPolygonF()
        for i, (state, count) in enumerate(steps):
            y = plot.bottom() - plot.height() * count / max(1, most)
            following = steps[i + 1][0] if i + 1 < len(steps) else max(end, state)
            points.append(QPointF(self._x(state), y))
            points.append(QPointF(self._x(following), y))
        return points

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if self._facts is not None:
            plot = self._plot()
            share = min(1.0, max(0.0, (event.position().x() - plot.left()) / plot.width()))
            self.time_chosen.emit(round(math.expm1(share * math.log1p(max(1, self._facts.end)))))
