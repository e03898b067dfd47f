"""One curve on axes, drawn by pyqtgraph, which is loaded when the first such chart is shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QPalette, QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.window.charts.curves import Curve, CurvesModel
from app.window.parts.theme import shades_of
from app.window.parts.widgets import muted


class CurveChart(QWidget):
    """Asks for its curve only while it is on screen."""

    def __init__(
        self, title: str, model: CurvesModel, curve: Callable[[], Curve], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setAccessibleName(title)
        self._model, self._curve = model, curve
        self._plot: Any = None
        self._line: Any = None
        self._bars: Any = None
        self._marker: Any = None
        self._titles = ("", "")
        self._column = column = QVBoxLayout(self)
        column.setContentsMargins(4, 4, 8, 2)
        self._hint = muted(model.hint)
        self._hint.setAlignment(Qt.AlignmentFlag.AlignCenter)
        column.addWidget(self._hint)
        self.setAutoFillBackground(True)
        self.setBackgroundRole(QPalette.ColorRole.Base)
        model.changed.connect(self.refresh)

    def as_table(self) -> list[tuple[str, ...]]:
        return self._curve().as_table()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.refresh()

    def refresh(self) -> None:
        if not self.isVisible():
            return
        curve = self._curve()
        has_points = len(curve.x) > 0
        if has_points and self._plot is None:
            self._build()
        self._hint.setText(self._model.hint)
        self._hint.setVisible(not has_points)
        if self._plot is not None:
            self._plot.setVisible(has_points)
            if has_points:
                self._draw(curve)

    def recolor(self) -> None:
        """Take the colours of the palette, after it has changed."""
        if self._plot is None:
            return
        shades = shades_of(self.palette())
        self._plot.setBackground(self.palette().color(QPalette.ColorRole.Base))
        for side in ("left", "bottom"):
            axis = self._plot.getAxis(side)
            axis.setPen(shades.hairline)
            axis.setTextPen(shades.muted)
        self._line.setPen(shades.curve)
        self._bars.setOpts(brush=shades.bar, pen=shades.bar)
        self._marker.setPen(shades.bar_next)
        self._titles = ("", "")  # their colour is set with their text
        self.refresh()

    def _build(self) -> None:
        import pyqtgraph  # some 0.2 s, which the first painted window must not wait for

        self._plot = pyqtgraph.PlotWidget(self, enableMenu=False)
        self._plot.setAccessibleName(self.accessibleName())
        self._plot.hideButtons()
        self._plot.showGrid(x=True, y=True, alpha=0.12)
        self._line = pyqtgraph.PlotDataItem(antialias=True)
        self._bars = pyqtgraph.BarGraphItem(x=[], height=[], width=0.8)
        self._marker = pyqtgraph.InfiniteLine(angle=90, movable=False)
        for item in (self._line, self._bars, self._marker):
            self._plot.addItem(item)
        self._plot.getViewBox().setDefaultPadding(0.03)
        self._column.addWidget(self._plot)
        self.recolor()

    def _draw(self, curve: Curve) -> None:
        self._line.setVisible(not curve.is_bars)
        self._bars.setVisible(curve.is_bars)
        self._marker.setVisible(curve.marked_x is not None)
        if curve.is_bars:
            self._bars.setOpts(x=curve.x, height=curve.y)
        else:
            self._plot.setLogMode(curve.is_log, curve.is_log)
            self._line.setData(curve.x, curve.y)
        if curve.marked_x is not None:
            self._marker.setValue(curve.marked_x)
        if (curve.x_title, curve.y_title) != self._titles:
            self._titles = (curve.x_title, curve.y_title)
            color = shades_of(self.palette()).muted.name()
            self._plot.setLabel("bottom", curve.x_title, color=color)
            self._plot.setLabel("left", curve.y_title, color=color)
