"""The bar with the time slider.

The compression curve is the track of the slider, and the handle is at the step shown.
"""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSignalBlocker, QSize, Qt
from PySide6.QtGui import QAction, QMouseEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QAbstractSlider, QSizePolicy, QToolButton, QWidget

from app.session.run import training_changes
from app.session.session import Session
from app.window.actions import Actions
from app.window.parts.dialogs import ask_for_step
from app.window.parts.layouts import in_row
from app.window.parts.theme import shades_of
from app.window.parts.timing import Throttle
from app.window.parts.typed_text import NumberBox
from app.window.parts.widgets import action_button, keep_room_for, label, name_widget
from app.window.parts.wording import tip
from app.window.parts.zoom import zoomed
from app.window.time.curve import compression_curve
from app.window.training.training_views import SpeedBox
from bpe_core.figures.figure import Line

HEIGHT = 44
LEAST_WIDTH = 100
TRACK_MARGIN = 8.0
HANDLE = 6.0
HOW_TO = "Drag to any step. Everything above then shows that step"
FUTURE_OPACITY = 0.14
PAST_OPACITY = 0.4


class TimeTrack(QAbstractSlider):
    """A slider with the compression curve as its background. Mouse, keys and wheel move it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._curve: Line | None = None
        self._drawn: tuple[object, QPolygonF, QPolygonF] | None = None
        self.setOrientation(Qt.Orientation.Horizontal)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._marks: tuple[int, ...] = ()
        self.show_marks((), "")
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def show_curve(self, curve: Line | None) -> None:
        self._curve = curve
        self.update()

    def show_marks(self, moments: tuple[int, ...], about: str) -> None:
        """Draw dashed lines at the steps where the training changed. `about` explains the lines."""
        self._marks = moments
        self.setToolTip(tip("\n".join(filter(None, (HOW_TO, about)))))
        self.setAccessibleDescription(about)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(300, zoomed(HEIGHT))

    def minimumSizeHint(self) -> QSize:
        return QSize(LEAST_WIDTH, zoomed(HEIGHT))

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            shades = shades_of(self.palette())
            track = self._track()
            x = self._x_of(self.value())
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
                painter.drawEllipse(QPointF(x, track.bottom()), zoomed(HANDLE), zoomed(HANDLE))
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
        return QRectF(self.rect()).adjusted(*map(zoomed, (TRACK_MARGIN, 6, -TRACK_MARGIN, -HANDLE - 4)))

    def _x_of(self, value: float) -> float:
        track = self._track()
        return track.left() + track.width() * value / max(1, self.maximum())

    def _value_at(self, x: float) -> int:
        track = self._track()
        return round(self.maximum() * min(1.0, max(0.0, (x - track.left()) / max(1.0, track.width()))))

    def _draw_curve(self, painter: QPainter, track: QRectF, until: float) -> None:
        if self._curve is None or len(self._curve.x) < 2:
            return
        line, area = self._shapes(track, self._curve)
        color = shades_of(self.palette()).curve
        painter.setPen(Qt.PenStyle.NoPen)
        for right, opacity in ((track.right(), FUTURE_OPACITY), (until, PAST_OPACITY)):
            painter.setClipRect(QRectF(track.left(), track.top(), right - track.left(), track.height() + 1))
            painter.setOpacity(opacity)
            painter.setBrush(color)
            painter.drawPolygon(area)
        painter.setOpacity(1.0)
        painter.setClipping(False)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(color, 1))
        painter.drawPolyline(line)

    def _shapes(self, track: QRectF, curve: Line) -> tuple[QPolygonF, QPolygonF]:
        key = (id(curve), track.width(), track.height(), self.maximum())
        if self._drawn is None or self._drawn[0] != key:
            low = float(np.min(curve.y))
            high = float(np.max(curve.y))
            xs = track.left() + track.width() * curve.x / max(1, self.maximum())
            ys = track.bottom() - track.height() * (curve.y - low) / max(1e-9, high - low)
            points = [QPointF(x, y) for x, y in zip(xs.tolist(), ys.tolist(), strict=True)]
            if curve.x[-1] < self.maximum():  # while training, the curve lags behind the end
                points.append(QPointF(track.right(), points[-1].y()))
            ends = [QPointF(points[-1].x(), track.bottom()), QPointF(track.left(), track.bottom())]
            self._drawn = key, QPolygonF(points), QPolygonF([*points, *ends])
        return self._drawn[1], self._drawn[2]


CURVE_MILLISECONDS = 120


class TimeBar(QWidget):
    def __init__(self, session: Session, actions: Actions, speed: SpeedBox) -> None:
        super().__init__()
        self._cursor = cursor = session.cursor
        self._runs = session.runs
        self.track = TimeTrack()
        self.number = NumberBox(0, 0)
        self.number.setKeyboardTracking(False)
        keep_room_for(self.number, "merge 9,999,999", 12)
        self.end = label("of 0")
        keep_room_for(self.end, "of 999,999")
        self.live = actions["live"]
        first, *steps = (_button(actions[name]) for name in ("first", "back", "play", "forward", "skip"))
        live = _button(self.live)
        self._skip = steps[-1]
        self._is_short = False
        actions["skip"].changed.connect(self._show_skip)
        self._more = (first, self.number, self.end, live)  # controls that a beginner does not need
        in_row(first, *steps, (self.track, 1), self.number, self.end, live, speed, on=self, margins=(0, 0, 0, 0))
        actions.connect(first=lambda: cursor.go_to(0), live=self._go_live, go_to=self._ask_where_to_go)
        actions.connect(back=lambda: cursor.go_to(cursor.position - 1))
        actions.connect(forward=lambda: cursor.go_to(cursor.position + 1))
        self._curve_throttle = Throttle(CURVE_MILLISECONDS, self._show_curve, self)
        self.track.valueChanged.connect(self._travel)
        self.number.valueChanged.connect(self._travel)
        cursor.moved.connect(self._show)
        cursor.end_moved.connect(self._show)
        cursor.end_moved.connect(self._curve_throttle.call)
        session.runs.changed.connect(self._curve_throttle.call)
        session.runs.changed.connect(self._name)
        cursor.live_changed.connect(self._show_live)
        self._show_live()
        self._name()

    def set_short(self, on: bool) -> None:
        """Show only the controls for watching if `on` is true. Otherwise show all controls."""
        self._is_short = on
        for widget in self._more:
            widget.setHidden(on)
        self._show_skip()

    def _show_skip(self) -> None:
        """Show or hide the button Skip. The short bar hides it if there are no steps to skip."""
        self._skip.setHidden(self._is_short and not self._skip.defaultAction().isEnabled())

    def _name(self) -> None:
        wording = self._runs.wording
        self.number.setPrefix(f"{wording.step} ")
        self.number.setAccessibleName(f"After how many {wording.steps}")
        self.track.setAccessibleName(f"Time: after how many {wording.steps}")
        self.track.show_marks(*training_changes(self._runs.shown))

    def _go_live(self) -> None:
        self._cursor.go_live()
        self.live.setChecked(True)  # a second press still follows the end

    def _ask_where_to_go(self) -> None:
        position = ask_for_step(self.window(), self._cursor.position, self._cursor.end, self._runs.wording.step)
        if position is not None:
            self._cursor.go_to(position)

    def _travel(self, position: int) -> None:
        if position != self._cursor.position:
            self._cursor.go_to(position)

    def _show(self) -> None:
        for control in (self.track, self.number):
            with QSignalBlocker(control):
                control.setMaximum(self._cursor.end)
                control.setValue(self._cursor.position)
        self.track.setPageStep(max(1, self._cursor.end // 20))
        self.track.update()
        self.end.setText(f"of {self._cursor.end:,}")

    def _show_curve(self) -> None:
        self.track.show_curve(compression_curve(self._runs.shown))

    def _show_live(self) -> None:
        self.live.setChecked(self._cursor.live)


def _button(action: QAction) -> QToolButton:
    return name_widget(action_button(action), action.text().replace("&", ""))
