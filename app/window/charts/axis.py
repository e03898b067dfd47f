"""The axis of a chart.

The ticks and labels of a printed chart are the same as on the screen, even if the user has enlarged a part
of the chart.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import ceil, floor

import pyqtgraph
from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontMetricsF

from app.window.parts.theme import Shades
from bpe_core.figures.scale import WANTED_TICKS, Axis

BETWEEN_LINES = 1.9  # distance between two numbers, in heights of a line
OPAQUE = 255
TICK = 4  # length in pixels
MOST_ROWS = 3  # of names below each other
CHART_TO_ROW = 3  # a chart has at least this many lines of height for each row of names
LABEL_MARGIN = 5  # pixels around the label, because pyqtgraph moves a label 5 pixels over the edge of the chart
OVER = 15  # pixels by which a name may reach over the ends of its axis, else pyqtgraph leaves the name out


class ChartAxis(pyqtgraph.AxisItem):
    """An axis with numbers, or with a name at each whole number.

    An axis on the side "right" only draws the horizontal grid lines of the left axis.
    """

    def __init__(self, side: str) -> None:
        super().__init__(side)
        self.is_upright = side != "bottom"
        self.axis = Axis(0.0, 1.0)
        self.names: Sequence[str] | None = None
        self.rows = 1  # neighbouring names are in different rows, where they need more room than one row has
        self._metrics = QFontMetricsF(QFont())
        self._texts: dict[float, str] = {}  # labels of the present ticks
        self.enableAutoSIPrefix(False)
        self.setStyle(tickAlpha=OPAQUE, hideOverlappingLabels=False, tickLength=0 if self.is_upright else TICK)
        if side == "right":  # pyqtgraph leaves out numbers at the ends of an axis that draws such lines
            self.setGrid(OPAQUE)
            self.setStyle(showValues=False)

    def show_numbers(self, axis: Axis) -> None:
        self._show(axis, None)

    def show_names(self, names: Sequence[str]) -> None:
        self._show(Axis(0.0, 1.0), names)

    def _show(self, axis: Axis, names: Sequence[str] | None) -> None:
        if (axis, names) != (self.axis, self.names):
            self.axis = axis
            self.names = names
            self.picture = None  # makes pyqtgraph draw again
            self.update()

    def apply_style(self, font: QFont, shades: Shades) -> None:
        self._metrics = QFontMetricsF(font)
        self.setTickFont(font)
        self.label.setFont(font)
        self.label.document().setDocumentMargin(LABEL_MARGIN)
        self.setPen(shades.hairline)
        self.setTickPen(shades.hairline)
        self.setTextPen(shades.muted)

    def tickValues(self, low: float, high: float, size: float) -> list[tuple[float, list[float]]]:
        """Return the positions of ticks between `low` and `high`, on an axis of `size` pixels."""
        if self.names is not None:
            return [(1.0, self._named_places(low, high, size))]
        least = self.axis.number(low)
        most = self.axis.number(high)
        ticks = self.axis.ticks(least, most, self._count_ticks(size))
        pixels = size / max(high - low, 1e-12)
        places = [self.axis.place(value) for value in ticks]
        if self.is_upright and len(places) > 1:  # no more than fit below each other
            nearest = pixels * min(second - first for first, second in pairwise(places))
            kept = max(1, ceil(self._metrics.height() / max(nearest, 1e-9)))
            ticks = ticks[::kept]
            places = places[::kept]
        texts = self.axis.labels(ticks)
        self._texts = dict(
            zip(places, texts if self.is_upright else self._without_overlaps(places, texts, pixels), strict=True)
        )
        return [(1.0, places)]

    def tickStrings(self, values: Sequence[float], scale: float, spacing: float | None) -> list[str]:
        """Return the labels of the ticks at these positions."""
        return [self._texts.get(place, "") for place in values]

    def _count_ticks(self, size: float) -> int:
        room = BETWEEN_LINES * self._metrics.height() if self.is_upright else 9 * self._metrics.averageCharWidth()
        return max(2, min(WANTED_TICKS + 2 * (not self.is_upright), int(size / room)))

    def _without_overlaps(self, places: Sequence[float], texts: Sequence[str], pixels: float) -> list[str]:
        """Return the labels, with an empty string in place of each label that would overlap the label before it."""
        kept = []
        free = float("-inf")
        for place, text in zip(places, texts, strict=True):
            half = (self._metrics.horizontalAdvance(text) + self._metrics.averageCharWidth()) / 2
            has_room = place * pixels - half >= free
            kept.append(text if has_room else "")
            if has_room:
                free = place * pixels + half
        return kept

    def _named_places(self, least: float, most: float, size: float) -> list[float]:
        names = self.names or ()
        places = [float(place) for place in range(max(0, ceil(least)), min(len(names) - 1, floor(most)) + 1)]
        pixels = size / max(most - least, 1e-12)
        room = self.rows * pixels - self._metrics.averageCharWidth()
        cut = Qt.TextElideMode.ElideRight
        self._texts = {}
        for place in places:
            to_end = min(place - least, most - place) * pixels + OVER
            name = self._metrics.elidedText(names[int(place)], cut, min(room, 2 * to_end))
            self._texts[place] = "\n" * (int(place) % self.rows) + name
        return places

    def rows_for(self, width: float, height: float) -> int:
        """Return how many rows the names on the axis need if no name is shortened.

        `width` is the width of the axis. Never return more rows than a chart of this height has room for.
        """
        names = self.names or ()
        room = width / max(1, len(names))
        widest = max(map(self._metrics.horizontalAdvance, names), default=0) + self._metrics.averageCharWidth()
        most = min(MOST_ROWS, int(height / (CHART_TO_ROW * self._metrics.height())))
        return max(1, min(most, ceil(widest / max(room, 1))))
