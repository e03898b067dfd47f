"""The chart of lines and vertical bars over an axis of numbers, such as steps. A click chooses a number on the axis."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyqtgraph
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QPen, QPolygonF
from PySide6.QtWidgets import QGraphicsPolygonItem, QWidget

from app.window.charts.chart import ROOM, Chart
from app.window.parts.figure_sheet import CURVE, FAINT, faint, line_colour
from app.window.parts.theme import shades_of
from bpe_core.figures.axes import axes_of, spread_labels
from bpe_core.figures.figure import LOGARITHMIC, Line, LineFigure, Numbers, Point
from bpe_core.figures.scale import Axis
from bpe_core.figures.sheet import DASHES, EDGE_OPACITY, FAINT_DASHES

DOT, SPOT = 7, 6  # pixels
MANY, FINE = 1_000, 1.0  # with more points lines are finer: 8 of 300 take 8 ms to draw, and as wide as others 20 ms
BAR_WIDTH = 0.8  # width of a bar, as a share of its place


class LineChart(Chart):
    figure: LineFigure | None

    def __init__(self, parent: QWidget | None = None) -> None:
        self._curves: list[Any] = []
        self._bands: list[QGraphicsPolygonItem] = []
        self._marks: list[Any] = []
        self._labels: list[Any] = []
        self._named: list[tuple[int, Point]] = []  # the points with labels, and the number of their line
        self.along = Axis(0.0, 1.0)
        self.upright = Axis(0.0, 1.0)
        self._counts = True  # whether the axis has only whole numbers
        super().__init__(parent)
        self._bars = pyqtgraph.BarGraphItem(x=[], height=[], width=BAR_WIDTH)
        self._dots = pyqtgraph.ScatterPlotItem(size=DOT, pen=None, useCache=False)
        self._spots = pyqtgraph.ScatterPlotItem(size=SPOT, brush=None, useCache=False)  # the points of hollow lines
        for item in (self._bars, self._dots, self._spots):
            self.box.addItem(item, ignoreBounds=True)
        self._dots.setZValue(10)
        self.box.sigRangeChanged.connect(lambda *_: self._place_labels())
        self.box.sigResized.connect(lambda *_: self._place_labels())

    def draw(self, figure: LineFigure) -> None:
        before = self.figure
        self.along, self.upright = axes_of(figure)
        is_same = before is not None and before.appearance == figure.appearance
        self.figure = figure
        self._name_axes(figure)
        if not is_same:
            self._counts = figure.has_whole_x
            self._draw_shapes(figure)
            self.draw_items()
        self._draw_marks(figure)
        self._draw_points(figure)

    def text_at(self, place: QPointF) -> str:
        figure = self.figure
        number = self.number_at(place)
        return "" if figure is None or number is None else figure.values_at(number)

    def number_at(self, place: QPointF) -> float | None:
        if self.figure is None or self.figure.is_empty:
            return None
        inside = min(max(place.x(), self.along.place(self.along.least)), self.along.place(self.along.most))
        number = self.along.number(inside)
        return float(round(number)) if self._counts else number

    def place_of(self, number: float) -> float | None:
        is_inside = self.along.least <= number <= self.along.most
        return self.along.place(number) if self.figure is not None and is_inside else None

    def _name_axes(self, figure: LineFigure) -> None:
        self.bottom.show_numbers(self.along)
        self.write_left_names(self.upright)
        self.write_bottom_title(figure.x_title + LOGARITHMIC * figure.is_log_x)
        left, right = (self.along.place(end) for end in (self.along.least, self.along.most))
        bottom, top = (self.upright.place(end) for end in (self.upright.least, self.upright.most))
        wide = ROOM * (right - left)
        high = ROOM * (top - bottom)
        self.set_range(left - wide, right + wide, bottom - high / 2, top + 2 * high)

    def _draw_shapes(self, figure: LineFigure) -> None:
        lines = [] if figure.has_bars else figure.lines
        while len(self._curves) < len(lines):
            curve = pyqtgraph.PlotCurveItem(antialias=True, connect="finite")
            band = QGraphicsPolygonItem()
            self.box.addItem(band, ignoreBounds=True)
            self.box.addItem(curve, ignoreBounds=True)
            self._curves.append(curve)
            self._bands.append(band)
        for number, curve in enumerate(self._curves):
            line = lines[number] if number < len(lines) else None
            curve.setVisible(line is not None and not line.is_hollow)
            self._bands[number].setVisible(line is not None and line.band is not None)
            if line is not None:
                steps = "right" if line.has_stairs else None
                curve.setData(self.along.places(line.x), self.upright.places(line.y), stepMode=steps)
                if line.band is not None:
                    self._bands[number].setPolygon(self._band(line, *line.band))
        bars = figure.lines[0] if figure.has_bars and figure.lines else Line("", np.zeros(0), np.zeros(0))
        self._bars.setOpts(x=bars.x, height=self.upright.places(bars.y), width=BAR_WIDTH)

    def _band(self, line: Line, low: Numbers, high: Numbers) -> QPolygonF:
        known = np.isfinite(low) & np.isfinite(high)
        xs = self.along.places(line.x[known]).tolist()
        edges = (self.upright.places(edge[known]).tolist() for edge in (high, low))
        there, back = ([QPointF(x, y) for x, y in zip(xs, edge, strict=True)] for edge in edges)
        return QPolygonF([*there, *reversed(back)])

    def _draw_marks(self, figure: LineFigure) -> None:
        while len(self._marks) < len(figure.marks):
            mark = pyqtgraph.InfiniteLine(angle=90, pen=shades_of(self.palette()).bar_next)
            self.box.addItem(mark, ignoreBounds=True)
            self._marks.append(mark)
        for number, mark in enumerate(self._marks):
            mark.setVisible(number < len(figure.marks))
            if number < len(figure.marks):
                mark.setPos(self.along.place(max(figure.marks[number], self.along.least)))

    def _draw_points(self, figure: LineFigure) -> None:
        points = [(number, point) for number, line in enumerate(figure.lines) for point in line.points]
        self._dots.setData(
            x=[self.along.place(point.x) for _, point in points],
            y=[self.upright.place(point.y) for _, point in points],
            brush=[pyqtgraph.mkBrush(line_colour(self.palette(), number)) for number, _ in points],
        )
        self._named = [(number, point) for number, point in points if not figure.lines[number].has_stairs]
        while len(self._labels) < len(self._named):
            label = pyqtgraph.TextItem()
            self.box.addItem(label, ignoreBounds=True)
            self._labels.append(label)
        for number, label in enumerate(self._labels):
            label.setVisible(number < len(self._named))
        self._place_labels()

    def _place_labels(self) -> None:
        """Put labels beside the visible points, so that no two labels cover each other."""
        if not self._named or self.box.rect().isEmpty():  # a pixel of a chart without any room has no size
            return
        seen = self.box.viewRect()
        width, height = self.box.viewPixelSize()
        if not math.isfinite(width) or not height:  # the values have no range yet
            return
        points = [QPointF(self.along.place(point.x), self.upright.place(point.y)) for _, point in self._named]
        shown = [row for row, place in enumerate(points) if seen.contains(place)]
        heights: dict[int, float] = {}
        for rows in self._rows_side_by_side({row: points[row].x() / width for row in shown}):
            top = -seen.bottom() / height
            bottom = -seen.top() / height
            line = min(1.05 * self.fontMetrics().height(), (bottom - top) / len(rows))
            wanted = [-points[row].y() / height for row in rows]
            heights |= dict(zip(rows, spread_labels(wanted, line, top, bottom), strict=True))
        for row, (label, (number, point)) in enumerate(zip(self._labels, self._named, strict=False)):
            label.setVisible(row in heights)
            if row not in heights:
                continue
            x = points[row].x()
            has_room = x + width * (DOT + 8 + self.fontMetrics().horizontalAdvance(point.text)) < seen.right()
            label.setText(point.text, line_colour(self.palette(), number))
            label.setFont(self.font())
            label.setAnchor((0, 0.5) if has_room else (1, 0.5))
            label.setPos(x + (0.5 if has_room else -0.5) * DOT * width, -heights[row] * height)
            label.updateTransform(force=True)

    def _rows_side_by_side(self, places: Mapping[int, float]) -> list[list[int]]:
        """Return groups of labels that could cover each other, because they are near each other along the axis.

        `places` contains the position of each label in pixels.
        """
        widest = max((self.fontMetrics().horizontalAdvance(self._named[row][1].text) for row in places), default=0)
        groups: list[list[int]] = []
        for row in sorted(places, key=lambda row: places[row]):
            is_near = bool(groups) and places[row] - places[groups[-1][-1]] < 2 * (widest + DOT)
            groups[-1].append(row) if is_near else groups.append([row])
        return groups

    def draw_items(self) -> None:
        figure = self.figure
        if figure is None:
            return
        shades = shades_of(self.palette())
        width = CURVE if sum(len(line.x) for line in figure.lines) <= MANY else FINE
        for number, (line, curve) in enumerate(zip(figure.lines, self._curves, strict=False)):
            colour = shades.muted if line.is_faint else line_colour(self.palette(), number)
            curve.setPen(_pen(colour, number, FAINT if line.is_faint else width, is_faint=line.is_faint))
            band = line_colour(self.palette(), number)
            edge = QPen(faint(band, EDGE_OPACITY), 1)
            edge.setCosmetic(True)
            self._bands[number].setPen(edge)
            self._bands[number].setBrush(faint(band))
        self._draw_hollow(figure)
        self._bars.setOpts(brush=shades.bar, pen=QPen(Qt.PenStyle.NoPen))
        for mark in self._marks:
            mark.setPen(shades.bar_next)
        self._draw_points(figure)

    def _draw_hollow(self, figure: LineFigure) -> None:
        lines = [(number, line) for number, line in enumerate(figure.lines) if line.is_hollow]
        spots = [(number, x, y) for number, line in lines for x, y in line.dots]
        self._spots.setData(
            x=[self.along.place(x) for _, x, _ in spots],
            y=[self.upright.place(y) for _, _, y in spots],
            pen=[pyqtgraph.mkPen(line_colour(self.palette(), number), width=CURVE) for number, _, _ in spots],
        )


def _pen(colour: QColor, number: int, width: float, *, is_faint: bool) -> QPen:
    pen = pyqtgraph.mkPen(colour, width=width)
    dashes = FAINT_DASHES if is_faint else DASHES[number % len(DASHES)]
    if dashes:
        pen.setDashPattern([length / width for length in dashes])
    return pen
