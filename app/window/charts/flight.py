"""The token that a step made, on its way from where its pair led to its row among the merges."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from app.window.parts.left_to_right import from_the_left
from app.window.parts.motion import Motion, smooth
from app.window.parts.theme import fixed_font, shades_of

WIDEST = 220  # pixels; a longer token is cut
PADDING = 6
CORNER = 3.0


class Flight(QWidget):
    """Lies over all parts of the window, no larger than what flies, and takes no clicks."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._above = window
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.hide()
        self._text = ""
        self._start = self._stop = QPoint()
        self._motion = Motion(self, self._go)

    @property
    def is_under_way(self) -> bool:
        return self._motion.is_under_way

    def begin(self, text: str, start: QPoint, stop: QPoint, seconds: float) -> None:
        """From one place of the screen to another."""
        self.setFont(fixed_font(self.window().font().pointSizeF()))
        metrics = QFontMetricsF(self.font())
        self._text = metrics.elidedText(from_the_left(text), Qt.TextElideMode.ElideRight, WIDEST)
        width, height = metrics.horizontalAdvance(self._text) + 2 * PADDING, metrics.height() + 4
        self.resize(int(width) + 2, int(height))
        self._start, self._stop = self._above.mapFromGlobal(start), self._above.mapFromGlobal(stop)
        self.move(self._start)
        self.show()
        self.raise_()
        self._motion.begin(seconds)

    def end(self) -> None:
        """At once, where time goes elsewhere."""
        self._motion.end()

    def _go(self) -> None:
        if self._motion.is_under_way:
            way = QPoint(self._stop - self._start)
            share = smooth(self._motion.progress)
            self.move(self._start + QPoint(round(way.x() * share), round(way.y() * share)))
        else:
            self.hide()

    def paintEvent(self, event: QPaintEvent) -> None:
        shades = shades_of(self.palette())
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(shades.bar_next, 1.6))
            painter.setBrush(self.palette().base())
            place = QRectF(self.rect()).adjusted(1, 1, -1, -1)
            painter.drawRoundedRect(place, CORNER, CORNER)
            painter.setPen(self.palette().text().color())
            painter.drawText(place, Qt.AlignmentFlag.AlignCenter, self._text)
