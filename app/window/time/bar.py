"""The bar of time along the bottom: play, step, slide, type, and back to the live end."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QHBoxLayout, QToolButton, QWidget

from app.session.run import NO_RUN
from app.session.run_titles import turns_of
from app.session.session import Session
from app.window.actions import Actions
from app.window.charts.curves import compression
from app.window.parts.throttle import Throttle
from app.window.parts.typed import NumberBox
from app.window.parts.widgets import label
from app.window.time.track import TimeTrack

CURVE_MILLISECONDS = 120


class TimeBar(QWidget):
    """Shows the time cursor and moves it."""

    def __init__(self, session: Session, actions: Actions, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        cursor = session.cursor
        self._cursor, self._runs = cursor, session.runs
        self.track = TimeTrack()
        self.number = NumberBox(0, 0)
        self.number.setKeyboardTracking(False)
        self.number.setMinimumWidth(self.number.fontMetrics().horizontalAdvance("merge 9,999,999") + 12)
        self.end = label("of 0")
        self.end.setMinimumWidth(self.end.fontMetrics().horizontalAdvance("of 999,999"))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        for name in ("first", "back", "play", "forward"):
            row.addWidget(_button(actions[name]))
        row.addWidget(self.track, 1)
        row.addWidget(self.number)
        row.addWidget(self.end)
        self.live = _button(actions["live"], with_text=True)
        row.addWidget(self.live)
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

    def _name(self) -> None:
        """As the method shown calls what is counted."""
        wording = NO_RUN if self._runs.shown is None else self._runs.shown.wording
        self.number.setPrefix(f"{wording.step} ")
        self.number.setAccessibleName(f"After how many {wording.steps}")
        self.track.setAccessibleName(f"Time: after how many {wording.steps}")
        self.track.show_marks(*turns_of(self._runs.shown))

    def _travel(self, position: int) -> None:
        if position != self._cursor.position:
            self._cursor.go_to(position)

    def _show(self) -> None:
        for control in (self.track, self.number):
            control.blockSignals(True)
            control.setMaximum(self._cursor.end)
            control.setValue(self._cursor.position)
            control.blockSignals(False)
        self.track.setPageStep(max(1, self._cursor.end // 20))
        self.track.update()
        self.end.setText(f"of {self._cursor.end:,}")

    def _show_curve(self) -> None:
        run = self._runs.shown
        lines = () if run is None else compression(run, self._cursor.position).lines
        self.track.show_curve(lines[0] if lines else None)

    def _show_live(self) -> None:
        self.live.defaultAction().setChecked(self._cursor.live)


def _button(action: QAction, *, with_text: bool = False) -> QToolButton:
    button = QToolButton()
    button.setAutoRaise(True)
    button.setDefaultAction(action)
    button.setAccessibleName(action.text().replace("&", ""))
    if with_text:
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
    return button
