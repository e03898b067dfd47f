"""Lines in a window of their own: the wheel enlarges a part, a drag moves along, and values are told below the mouse.

The painter of figures paints as for print, all at once. Here the axes follow the person, which pyqtgraph is made for.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyqtgraph
from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QColor, QKeySequence, QPen
from PySide6.QtWidgets import QDialog, QWidget

from app.window.parts.figure_sheet import CURVE, FAINT, line_colour
from app.window.parts.layouts import in_column, in_row
from app.window.parts.theme import shades_of
from app.window.parts.widgets import OneLine, add_key_action, named, push_button
from bpe_core.figures.figure import LOGARITHMIC, Line, LineFigure, Numbers
from bpe_core.figures.sheet import BAND_OPACITY, DASHES

SIZE = 900, 560
ROOM = 9  # numbers along a logarithmic axis
ENLARGED = 0.8  # of what was seen is still seen
HINT = "The wheel enlarges the place under the mouse, a drag moves along."


class Axis(pyqtgraph.AxisItem):
    """Numbers written as everywhere else, where pyqtgraph would write powers of ten and short signs."""

    def __init__(self, side: str) -> None:
        super().__init__(side)
        self.enableAutoSIPrefix(False)
        self.is_share = False

    def tickStrings(self, values: Sequence[float], scale: float, spacing: float | None) -> list[str]:
        if spacing is None or self.logMode:
            is_tight = spacing is None and len(values) > ROOM  # of many, those of 1, 2 and 5 have room
            written = [f"{10.0**value:,.10g}" for value in values]
            return [one if not is_tight or one.strip("0.,") in ("1", "2", "5") else "" for one in written]
        digits = max(0, math.ceil(-math.log10(spacing * scale)) - 2 * self.is_share)
        return [f"{value * scale:,.{digits}{'%' if self.is_share else 'f'}}" for value in values]


class CloserLook(QDialog):
    """Goes on following the figure it was opened from."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.resize(*SIZE)
        self.figure: LineFigure | None = None
        self.axes = {side: Axis(side) for side in ("bottom", "left")}
        self.plot = pyqtgraph.PlotWidget(self, enableMenu=False, axisItems=self.axes)
        self.plot.hideButtons()
        self.plot.showGrid(x=True, y=True, alpha=0.15)
        self.legend = self.plot.addLegend(offset=(-12, 12))
        self.values = named(OneLine(), "Values below the mouse")
        self.whole = push_button("Show All", self.show_all, "Show the whole figure again")
        close = push_button("Close", self.reject)
        for button in (self.whole, close):
            button.setAutoDefault(False)
        in_column((self.plot, 1), in_row((self.values, 1), self.whole, close), on=self)
        self.plot.scene().sigMouseMoved.connect(self._tell)
        add_key_action(self, "Enlarge", QKeySequence.StandardKey.ZoomIn, lambda: self._enlarge(ENLARGED))
        add_key_action(self, "Reduce", QKeySequence.StandardKey.ZoomOut, lambda: self._enlarge(1 / ENLARGED))
        add_key_action(self, "Show all", "Home", self.show_all)

    def show_figure(self, figure: LineFigure) -> None:
        """Show these lines; the part that a person looks at stays."""
        if self.figure is None or figure.title != self.figure.title:
            self.values.setText(HINT)
        self.figure = figure
        self.setWindowTitle(figure.title.rstrip("."))
        named(self.plot, figure.title.rstrip("."))
        self.plot.setAccessibleDescription(figure.in_words)
        self._colour_axes(figure)
        self.plot.clear()
        for item in self._items(figure):
            self.plot.addItem(item)
        self.legend.setVisible(any(line.name for line in figure.lines))

    def show_all(self) -> None:
        self.plot.enableAutoRange()

    def value_at(self, x: float) -> str:
        """What the lines have at a place of the x axis, as it counts."""
        figure = self.figure
        if figure is None or not (ends := [line.x[[0, -1]] for line in figure.lines if len(line.x)]):
            return ""
        most = float(np.max(ends))
        found = 10.0 ** min(x, 300.0) if figure.is_log_x else x
        return figure.values_at(round(min(max(found, float(np.min(ends))), most))).replace("\n", " · ")

    def _tell(self, place: QPointF) -> None:
        self.values.setText(self.value_at(self.plot.plotItem.vb.mapSceneToView(place).x()))

    def _enlarge(self, share: float) -> None:
        self.plot.plotItem.vb.scaleBy((share, share))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and self.figure is not None:
            self.show_figure(self.figure)

    def _colour_axes(self, figure: LineFigure) -> None:
        palette, shades = self.palette(), shades_of(self.palette())
        self.plot.setBackground(palette.base().color())
        self.legend.setLabelTextColor(palette.text().color())
        titles = {"bottom": (figure.x_title, figure.is_log_x), "left": (figure.y_title, figure.is_log_y)}
        for side, (title, is_log) in titles.items():
            axis = self.axes[side]
            axis.setLogMode(is_log if side == "bottom" else False, is_log if side == "left" else False)
            axis.setLabel(title + LOGARITHMIC * is_log, color=shades.muted.name())
            axis.setPen(shades.hairline)
            axis.setTextPen(shades.muted)
        self.axes["left"].is_share = figure.is_share

    def _items(self, figure: LineFigure) -> Iterator[Any]:
        """All that is drawn, what lies below first."""
        shades = shades_of(self.palette())
        if figure.has_bars:
            (line,) = figure.lines
            yield pyqtgraph.BarGraphItem(x=line.x, height=line.y, width=0.8, brush=shades.bar, pen=shades.bar)
        else:
            for number, line in enumerate(figure.lines):
                yield from self._line(figure, line, number)
        for mark in figure.marks:
            place = float(_along(np.array([mark]), figure.is_log_x)[0])
            if np.isfinite(place):
                yield pyqtgraph.InfiniteLine(place, angle=90, pen=shades.bar_next)
        starts = [line.x[0] for line in figure.lines if len(line.x)]
        if starts and not figure.is_log_y:  # a point that nobody sees, for the axis to reach it
            first = _along(np.array(starts[:1]), figure.is_log_x)
            yield pyqtgraph.PlotDataItem(first, np.array([figure.first_y]), pen=None)

    def _line(self, figure: LineFigure, line: Line, number: int) -> Iterator[Any]:
        colour = shades_of(self.palette()).muted if line.is_faint else line_colour(self.palette(), number)
        x = _along(line.x, figure.is_log_x)
        if line.band is not None:
            nothing = QPen(Qt.PenStyle.NoPen)
            edges = [pyqtgraph.PlotDataItem(x, _along(edge, figure.is_log_y), pen=nothing) for edge in line.band]
            yield from edges
            yield pyqtgraph.FillBetweenItem(*edges, brush=_faint(colour))
        pen = pyqtgraph.mkPen(colour, width=FAINT if line.is_faint else CURVE)
        if dashes := DASHES[2] if line.is_faint else DASHES[number % len(DASHES)]:
            pen.setDashPattern([one / pen.widthF() for one in dashes])
        yield pyqtgraph.PlotDataItem(
            x, _along(line.y, figure.is_log_y), name=line.name or None, pen=pen,
            antialias=True, connect="finite", stepMode="right" if line.has_stairs else None,
        )  # fmt: skip
        if line.points:
            yield pyqtgraph.ScatterPlotItem(
                _along(np.array([point.x for point in line.points]), figure.is_log_x),
                _along(np.array([point.y for point in line.points]), figure.is_log_y),
                brush=colour, pen=None, size=8,
                hoverable=True, data=[point.text for point in line.points], tip="{data}".format,
            )  # fmt: skip


def _along(values: Numbers, is_log: bool) -> Numbers:
    """Places as an axis counts; not a number where a logarithm has no value."""
    return np.log10(np.where(values > 0, values, np.nan)) if is_log else values


def _faint(colour: QColor) -> QColor:
    faint = QColor(colour)
    faint.setAlphaF(BAND_OPACITY)
    return faint
