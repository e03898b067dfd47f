"""The chart of dots: a measure of many texts, with a dot for each tokenizer.

A dot is hollow if the tokenizer cannot encode the text.
"""

from __future__ import annotations

import numpy as np
import pyqtgraph
from PySide6.QtCore import QPointF
from PySide6.QtGui import QPen
from PySide6.QtWidgets import QWidget

from app.window.charts.chart import ROOM, Chart
from app.window.parts.figure_sheet import CURVE, line_colour
from bpe_core.figures.axes import upright_axis_of_dots
from bpe_core.figures.figure import DotFigure

DOT = 8  # pixels
NEAR = 14.0  # pixels around a dot in which the mouse points at it
WIDEST, ALL = 0.12, 0.8  # shares of a text's room: between two tokenizers, and for all of them


class DotChart(Chart):
    figure: DotFigure | None

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._dots = pyqtgraph.ScatterPlotItem(size=DOT, useCache=False)
        self.box.addItem(self._dots, ignoreBounds=True)
        self._places = np.zeros((0, 2))
        self._items: list[int] = []

    def draw(self, figure: DotFigure) -> None:
        self.figure = figure
        axis = upright_axis_of_dots(figure)
        self.write_left_names(axis)
        self.bottom.show_names(figure.texts)
        self.write_bottom_title("")
        rows, columns = np.nonzero(np.isfinite(figure.values))
        beside = min(WIDEST, ALL / max(1, len(figure.tokenizers)))
        x = columns + (rows - (len(figure.tokenizers) - 1) / 2) * beside
        self._places = np.column_stack((x, figure.values[rows, columns]))
        self._items = (rows * len(figure.texts) + columns).tolist()
        high = ROOM * axis.most
        self.set_range(-0.5, len(figure.texts) - 0.5, -high / 2, axis.most + 3 * high)
        self.draw_items()

    def item_at(self, place: QPointF) -> int:
        """Return the index of the nearest dot, or -1 if no dot is near. The dots are numbered row by row."""
        if not len(self._places):
            return -1
        width, height = self.box.viewPixelSize()
        away = np.hypot((self._places[:, 0] - place.x()) / width, (self._places[:, 1] - place.y()) / height)
        nearest = int(away.argmin())
        return self._items[nearest] if away[nearest] < NEAR else -1

    def text_at(self, place: QPointF) -> str:
        item = self.item_at(place)
        return (
            "" if self.figure is None or item < 0 else self.figure.value_in_words(*divmod(item, len(self.figure.texts)))
        )

    def draw_items(self) -> None:
        figure = self.figure
        if figure is None:
            return
        pens: list[QPen] = []
        brushes = []
        for item in self._items:
            row, column = divmod(item, len(figure.texts))
            colour = line_colour(self.palette(), row)
            is_hollow = figure.is_hollow(row, column)
            pens.append(pyqtgraph.mkPen(colour, width=CURVE))
            brushes.append(pyqtgraph.mkBrush(self.palette().base().color() if is_hollow else colour))
        self._dots.setData(x=self._places[:, 0], y=self._places[:, 1], pen=pens, brush=brushes)
