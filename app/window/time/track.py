"""The slider of time: the compression curve is its track, the handle the moment shown."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QAbstractSlider, QSizePolicy, QWidget

from app.window.parts.lines import NamedLine
from app.window.parts.theme import shades_of
from app.window.parts.wording import tip

MARGIN = 8.0
HANDLE = 6.0
HOW_TO = "Travel through the history: the text, the charts and the table show this moment"
LIGHT, DARK = 0.14, 0.4  # how opaque the future and the past are


class TimeTrack(QAbstractSlider):
    """Dragged by mouse, moved by keys and wheel, like any slider."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._curve: NamedLine | None = None
        self._drawn: tuple[object, QPolygonF, QPolygonF] | None = None
        self.setOrientation(Qt.Orientation.Horizontal)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._marks: tuple[int, ...] = ()
        self.show_marks((), "")
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def show_curve(self, curve: NamedLine | None) -> None:
        self._curve = curve
        self.update()

    def show_marks(self, moments: tuple[int, ...], about: str) -> None:
        """Dashed lines at moments from which on a run has gone another way; what they are is told in words."""
        self._marks = moments
        self.setToolTip(tip("\n".join(filter(None, (HOW_TO, about)))))
        self.setAccessibleDescription(about)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(300, 44)

    def minimumSizeHint(self) -> QSize:
        return QSize(120, 44)

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            shades = shades_of(self.palette())
            track, x = self._track(), self._x_of(self.value())
            painter.setPen(QPen(shades.hairline, 1.5))
            painter.drawLine(track.bottomLeft(), track.bottomRight())
            self._draw_curve(painter, track, x)
            painter.setPen(QPen(shades.muted, 1, Qt.PenStyle.DashLine))
            for mark in (mark for mark in self._marks if mark <= self.maximum()):
                painter.drawLine(QPointF(self._x_of(mark), track.top() - 3), QPointF(self._x_of(mark), track.bottom()))
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            if self.maximum() > 0:
                painter.setPen(QPen(shades.bar_next, 1.5))
                painter.drawLine(QPointF(x, track.top() - 3), QPointF(x, track.bottom()))
                painter.setPen(QPen(self.palette().base().color(), 2))
                painter.setBrush(shades.bar_next)
                painter.drawEllipse(QPointF(x, track.bottom()), HANDLE, HANDLE)
            if self.hasFocus():
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.setPen(QPen(self.palette().highlight().color(), 1))
                painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 4, 4)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self.setSliderDown(True)
            self.setSliderPosition(self._value_at(event.position().x()))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self.isSliderDown():
            self.setSliderPosition(self._value_at(event.position().x()))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self.setSliderDown(False)

    def _track(self) -> QRectF:
        return QRectF(self.rect()).adjusted(MARGIN, 6, -MARGIN, -HANDLE - 4)

    def _x_of(self, value: float) -> float:
        track = self._track()
        return track.left() + track.width() * value / max(1, self.maximum())

    def _value_at(self, x: float) -> int:
        track = self._track()
        return round(self.maximum() * min(1.0, max(0.0, (x - track.left()) / max(1.0, track.width()))))

    def _draw_curve(self, painter: QPainter, track: QRectF, until: float) -> None:
        """What is past is filled darker; the line stands above both."""
        if self._curve is None or len(self._curve.x) < 2:
            return
        line, area = self._shapes(track, self._curve)
        color = shades_of(self.palette()).curve
        painter.setPen(Qt.PenStyle.NoPen)
        for right, opacity in ((track.right(), LIGHT), (until, DARK)):
            painter.setClipRect(QRectF(track.left(), track.top(), right - track.left(), track.height() + 1))
            painter.setOpacity(opacity)
            painter.setBrush(color)
            painter.drawPolygon(area)
        painter.setOpacity(1.0)
        painter.setClipping(False)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(color, 1))
        painter.drawPolyline(line)

    def _shapes(self, track: QRectF, curve: NamedLine) -> tuple[QPolygonF, QPolygonF]:
        """The curve as a line and as an area, made anew only when the curve or its place is another."""
        key = (id(curve), track.width(), track.height(), self.maximum())
        if self._drawn is None or self._drawn[0] != key:
            low, high = float(np.min(curve.y)), float(np.max(curve.y))
            xs = track.left() + track.width() * curve.x / max(1, self.maximum())
            ys = track.bottom() - track.height() * (curve.y - low) / max(1e-9, high - low)
            points = [QPointF(x, y) for x, y in zip(xs.tolist(), ys.tolist(), strict=True)]
            if curve.x[-1] < self.maximum():  # while training, the curve comes a little later than the end it leads to
                points.append(QPointF(track.right(), points[-1].y()))
            ends = [QPointF(points[-1].x(), track.bottom()), QPointF(track.left(), track.bottom())]
            self._drawn = key, QPolygonF(points), QPolygonF([*points, *ends])
        return self._drawn[1], self._drawn[2]
