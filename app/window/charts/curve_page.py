"""One curve on axes, drawn by pyqtgraph, which is loaded when the first such chart is shown."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from PySide6.QtCore import QEvent, QObject, QPointF, Qt
from PySide6.QtGui import QHelpEvent, QPalette
from PySide6.QtWidgets import QToolTip, QVBoxLayout

from app.session.session import Session
from app.window.charts.curves import CurveModel, CurveOf, ExactOf
from app.window.parts.lines import ChartLines
from app.window.parts.lines_chart import LOGARITHMIC
from app.window.parts.page import Page
from app.window.parts.theme import shades_of
from app.window.parts.widgets import muted
from app.window.parts.wording import tip


def _written_logarithms(values: Iterable[float], scale: float, spacing: float | None) -> list[str]:
    """Beside a logarithmic axis: whole numbers that begin with 1, 2 or 5, or the others would stand in each other.

    >>> _written_logarithms([-0.1, 0.0, 0.301, 0.477, 1.0, 2.699, 6.0], 1.0, None)
    ['', '1', '2', '', '10', '500', '1,000,000']
    """
    written = [f"{round(10.0**value):,}" if -0.01 < value < 15 else "" for value in values]
    return [number if number[:1] in {"1", "2", "5"} and not number.strip("0,125") else "" for number in written]


class CurvePage(Page):
    """It can be dragged and zoomed; several lines that follow a slider are painted faster by LinesChart."""

    def __init__(self, title: str, session: Session, curve: CurveOf, exact: ExactOf, chart: str) -> None:
        model = CurveModel(session, curve, exact, chart)
        super().__init__(model)
        self.model = model
        self.setAccessibleName(title)
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
        model.changed.connect(self._show)

    def recolor(self) -> None:
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
        self._show()

    def _show(self) -> None:
        lines = self.model.lines
        if not lines.is_empty and self._plot is None:
            self._build()
        self._hint.setText(self.model.hint)
        self._hint.setVisible(lines.is_empty)
        if self._plot is not None:
            self._plot.setVisible(not lines.is_empty)
            if not lines.is_empty:
                self._draw(lines)

    def _build(self) -> None:
        import pyqtgraph  # some 0.2 s, which the first painted window must not wait for

        self._plot = pyqtgraph.PlotWidget(self, enableMenu=False)
        self._plot.setAccessibleName(self.accessibleName())
        self._plot.hideButtons()
        self._plot.showGrid(x=True, y=True, alpha=0.12)
        self._line = pyqtgraph.PlotDataItem(antialias=True)
        self._bars = pyqtgraph.BarGraphItem(x=[], height=[], width=0.8)
        self._marker = pyqtgraph.InfiniteLine(angle=90, movable=False)
        for side in ("left", "bottom"):
            self._plot.getAxis(side).logTickStrings = _written_logarithms
        for item in (self._line, self._bars, self._marker):
            self._plot.addItem(item)
        self._plot.getViewBox().setDefaultPadding(0.03)
        self._column.addWidget(self._plot)
        self._plot.viewport().installEventFilter(self)
        self.recolor()

    def told_at(self, point: QPointF) -> str:
        """The values below the mouse."""
        lines = self.model.lines
        if lines.is_empty or self._plot is None:
            return ""
        x = self._plot.plotItem.vb.mapSceneToView(point).x()
        if lines.is_log_x and not lines.is_bars:
            x = 10.0 ** min(x, 15.0)
        (line,) = lines.lines
        return lines.told_at(float(min(max(round(x), line.x[0]), line.x[-1])))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            QToolTip.showText(event.globalPos(), tip(self.told_at(QPointF(event.pos()))), self)
            return True
        return super().eventFilter(watched, event)

    def _draw(self, lines: ChartLines) -> None:
        (line,) = lines.lines
        self._line.setVisible(not lines.is_bars)
        self._bars.setVisible(lines.is_bars)
        self._marker.setVisible(lines.marked_x is not None)
        if lines.is_bars:
            self._bars.setOpts(x=line.x, height=line.y)
        else:
            self._plot.setLogMode(lines.is_log_x, lines.is_log_y)
            self._line.setData(line.x, line.y)
        if lines.marked_x is not None:
            self._marker.setValue(lines.marked_x)
        x_title = lines.x_title + (LOGARITHMIC if lines.is_log_x and not lines.is_bars else "")
        y_title = lines.y_title + (LOGARITHMIC if lines.is_log_y and not lines.is_bars else "")
        if (x_title, y_title) != self._titles:
            self._titles = (x_title, y_title)
            color = shades_of(self.palette()).muted.name()
            self._plot.setLabel("bottom", x_title, color=color)
            self._plot.setLabel("left", y_title, color=color)
