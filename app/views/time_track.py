"""The slider of time: the compression curve is its track, the handle the moment shown."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QAbstractSlider, QSizePolicy, QWidget

from app.models.curves import Curve
from app.views.theme import shades_of

MARGIN = 8.0
HANDLE = 6.0


class TimeTrack(QAbstractSlider):
    """Dragged by mouse, moved by keys and wheel, like any slider."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._curve: Curve | None = None
        self.setOrientation(Qt.Orientation.Horizontal)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Time: after how many merges")
        self.setToolTip("Travel through the history: the text, the charts and the table show this moment")
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def show_curve(self, curve: Curve) -> None:
        self._curve = curve
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(300, 44)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        shades = shades_of(self.palette())
        track = self._track()
        painter.setPen(QPen(shades.hairline, 1.5))
        painter.drawLine(track.bottomLeft(), track.bottomRight())
        x = self._x_of(self.value())
        curve = self._points(track)
        if len(curve) > 1:
            fill = QColor(shades.curve)
            fill.setAlpha(36)
            self._fill(painter, curve, track, fill, track.right())
            fill.setAlpha(84)
            self._fill(painter, curve, track, fill, x)
            painter.setPen(QPen(shades.curve, 1))
            painter.drawPolyline(QPolygonF(curve))
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

    def _points(self, track: QRectF) -> list[QPointF]:
        if self._curve is None or len(self._curve.x) < 2:
            return []
        low, high = float(np.min(self._curve.y)), float(np.max(self._curve.y))
        heights = (self._curve.y - low) / max(1e-9, high - low)
        xs = [self._x_of(value) for value in self._curve.x.tolist()]
        return [QPointF(x, track.bottom() - track.height() * h) for x, h in zip(xs, heights.tolist(), strict=True)]

    @staticmethod
    def _fill(painter: QPainter, curve: list[QPointF], track: QRectF, color: QColor, until: float) -> None:
        area = [QPointF(track.left(), track.bottom()), *curve, QPointF(curve[-1].x(), track.bottom())]
        painter.save()
        painter.setClipRect(QRectF(track.left(), track.top(), until - track.left(), track.height() + 1))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        painter.drawPolygon(QPolygonF(area))
        painter.restore()
