"""The area of a chart, with the plot in the middle and its axes around it."""

from __future__ import annotations

from typing import Any

import pyqtgraph
from PySide6.QtWidgets import QGraphicsGridLayout, QGraphicsItem

from app.window.charts.axis import ChartAxis


class PlotArea(pyqtgraph.GraphicsWidget):
    """A graphics item that holds a ViewBox and three axes.

    It replaces pyqtgraph's PlotItem, which creates about seventy Qt objects for a menu that charts never show.
    """

    def __init__(self, box: Any, bottom: ChartAxis, left: ChartAxis, lines: ChartAxis) -> None:
        """Put the axes around `box`, a ViewBox. The axis `lines` is at the right, and draws lines behind everything."""
        super().__init__()
        self.box = box
        self.cells = QGraphicsGridLayout(self)
        self.cells.setSpacing(0)
        self.cells.addItem(box, 0, 1)
        for axis, row, column in ((left, 0, 0), (bottom, 1, 1), (lines, 0, 2)):
            axis.linkToView(box)
            axis.setZValue(0.5)  # above the items of the plot
            axis.setFlag(QGraphicsItem.GraphicsItemFlag.ItemNegativeZStacksBehindParent)
            self.cells.addItem(axis, row, column)
        self.cells.setRowStretchFactor(0, 1)
        self.cells.setColumnStretchFactor(1, 1)
        lines.setZValue(-1)  # behind everything
