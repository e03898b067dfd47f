"""The chart of horizontal bars. All bars are painted as one item, because separate items are too slow for an animation.

Each frame of an animation replaces all bars of a chart with bars at their current positions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyqtgraph
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPalette, QPen
from PySide6.QtWidgets import QWidget

from app.window.charts.chart import Chart
from app.window.parts.theme import Shades, fixed_font, shades_of
from app.window.parts.wording import with_direction_marks
from app.window.text.view.painting import LIT_WIDTH
from app.window.text.view.palette import TokenPalette
from bpe_core.figures.figure import BarFigure
from bpe_core.figures.scale import Axis

GAP = 8.0  # pixels between a name, its bar and its value
BAR_MARGIN = 2.0  # pixels above and below a bar
NAMES_SHARE = 0.4  # largest share of the width
PADDING = 6.0  # pixels added to the height of a line
LEAST_LENGTH = 2.0  # pixels
LEAST_ROOM = 0.2  # least share of the width for the longest bar
WHISKER = 3.0


@dataclass(frozen=True)
class Row:
    """A bar: its position, its length, and the texts beside it."""

    name: str
    value: float
    written: str
    row: float
    kind: str = ""  # "next", "tied" or ""
    note: str = ""  # a text inside the end of the bar, if there is room
    interval: tuple[float, float] | None = None  # the uncertainty of the value
    strength: float = 1.0
    shift: float = 0.0  # distance by which it has left, as a share of the width
    is_highlighted: bool = False  # framed, as the user points at the same thing elsewhere


class Rows(pyqtgraph.GraphicsObject):
    """A graphics item that paints all names and bars, in pixels of the plot."""

    def __init__(self, chart: RowChart) -> None:
        super().__init__(chart.area)
        self._chart = chart
        self.rows: Sequence[Row] = ()
        self.marked = -1  # the row under the mouse
        self.setZValue(100)

    def boundingRect(self) -> QRectF:
        return QRectF(self._chart.area.rect())

    def paint(self, painter: QPainter, option: Any, widget: QWidget | None = None) -> None:
        chart = self._chart
        box = chart.box.geometry()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setClipRect(QRectF(0.0, box.top(), self.boundingRect().width(), box.height()))
        scale = _Pixels(chart)
        height = scale.row_height
        shades = shades_of(chart.palette())
        if self.marked >= 0:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(shades.mark_ground)
            painter.drawRoundedRect(QRectF(0.0, scale.y(self.marked), self.boundingRect().width(), height), 3, 3)
        for row in self.rows:
            top = scale.y(row.row)
            if top < box.bottom() and top + height > box.top():
                painter.setOpacity(row.strength)
                self._paint(painter, row, top, scale, shades)

    def _paint(self, painter: QPainter, row: Row, top: float, scale: _Pixels, shades: Shades) -> None:
        chart = self._chart
        height = scale.row_height
        text = chart.palette().color(QPalette.ColorRole.Text)
        shift = row.shift * self.boundingRect().width()
        is_next = row.kind == "next"
        font = QFont(chart.name_font)
        font.setWeight(QFont.Weight.DemiBold if is_next else QFont.Weight.Normal)
        painter.setFont(font)
        painter.setPen(text)
        room = QRectF(0.0, top, scale.left - GAP, height)
        name = QFontMetricsF(font).elidedText(row.name, Qt.TextElideMode.ElideMiddle, room.width() + 1)
        in_middle = Qt.AlignmentFlag.AlignVCenter
        painter.drawText(room.translated(shift, 0.0), in_middle | Qt.AlignmentFlag.AlignRight, name)
        start = scale.x(0.0)
        end = max(scale.x(row.value), scale.x(0.0) + LEAST_LENGTH)
        bar = QRectF(max(start, scale.left), top + BAR_MARGIN, 0.0, height - 2 * BAR_MARGIN)
        bar.setRight(max(end, bar.left()))
        bar.translate(shift, 0.0)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush({"next": shades.bar_next, "tied": shades.bar_tied}.get(row.kind, shades.bar))
        painter.drawRoundedRect(bar, 2.5, 2.5)
        if row.is_highlighted:
            painter.setPen(QPen(TokenPalette.matching(chart.palette()).mark, LIT_WIDTH))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(QRectF(1.0, top + 1, max(end, scale.left) - 2, height - 2))
        if row.interval is not None:
            end = max(end, self._paint_interval(painter, row.interval, top + height / 2, scale))
        painter.setFont(chart.font())
        painter.setPen(text if is_next else shades.muted)
        behind = QRectF(max(end, scale.left) + shift + GAP, top, chart.number_width + 40.0, height)
        painter.drawText(behind, in_middle, row.written)
        if row.note and painter.fontMetrics().horizontalAdvance(row.note) + 2 * GAP < bar.width():
            painter.setPen(text)
            painter.drawText(bar.adjusted(0, 0, -GAP, 0), in_middle | Qt.AlignmentFlag.AlignRight, row.note)

    def _paint_interval(self, painter: QPainter, interval: tuple[float, float], middle: float, scale: _Pixels) -> float:
        low, high = (max(scale.left, scale.x(abs(end))) for end in interval)
        painter.setPen(QPen(self._chart.palette().text().color(), 1))
        painter.drawLine(QPointF(low, middle), QPointF(high, middle))
        for end in (low, high):
            painter.drawLine(QPointF(end, middle - WHISKER), QPointF(end, middle + WHISKER))
        return high


class _Pixels:
    """A converter of values and rows to pixels, for the visible part of the plot."""

    def __init__(self, chart: RowChart) -> None:
        box = chart.box.geometry()
        (first, last), (top, bottom) = chart.box.viewRange()
        self.left = box.left()
        self._first = first
        self._top = top
        self._upper = box.top()
        self._pixels = box.width() / (last - first)
        self.row_height = box.height() / (bottom - top)

    def x(self, value: float) -> float:
        return float(self.left + (value - self._first) * self._pixels)

    def y(self, row: float) -> float:
        return float(self._upper + (row - self._top) * self.row_height)


class _Box(pyqtgraph.ViewBox):
    """A view box in which the mouse wheel zooms only along the value axis.

    The rows keep their height, because it depends on the size of their text.
    """

    def wheelEvent(self, event: Any, axis: int | None = None) -> None:
        if axis == 1:
            event.ignore()
        else:
            super().wheelEvent(event, axis=0)


class RowChart(Chart):
    """A chart of rows from top to bottom. It shows as many rows as fit. A drag scrolls to the other rows."""

    figure: BarFigure | None
    row_pointed = Signal(int)  # the row under the mouse, or -1

    def __init__(self, parent: QWidget | None = None) -> None:
        self.rows: Rows | None = None
        self.name_font = QFont()
        self.number_width = self._names_width = 0.0
        self.count = 0  # rows at rest
        self._most = 1.0  # the value of the longest bar
        self._row_height = 0.0  # in pixels; 0 until there are rows
        super().__init__(parent, box=_Box(invertY=True, enableMenu=False))
        self.left.show_names(())
        self.lines.hide()
        self.area.cells.setContentsMargins(4, 0, 0, 0)
        self.rows = Rows(self)
        self.box.sigResized.connect(lambda *_: self._fit())
        self.box.sigRangeChanged.connect(lambda *_: self.rows.update() if self.rows is not None else None)

    def draw(self, figure: BarFigure) -> None:
        self.figure = figure
        self.write_bottom_title(figure.below)
        rows = [
            Row(with_direction_marks(bar.name), abs(bar.value), bar.written, row, bar.kind, interval=bar.interval)
            for row, bar in enumerate(figure.bars)
        ]
        ends = [abs(end) for bar in figure.bars for end in (bar.value, *(bar.interval or ()))]
        self.show_rows(rows, len(rows), max(ends, default=1.0))

    def show_rows(
        self,
        rows: Sequence[Row],
        count: int,
        most: float,
        *,
        names_width: float | None = None,
        number_width: float | None = None,
        row_height: float | None = None,
    ) -> None:
        """Show these rows as bars. After an animation, only the first `count` rows remain.

        If `names_width` or `number_width` is None, then it is measured from the texts.
        """
        assert self.rows is not None
        self.rows.rows = rows
        names = QFontMetricsF(self.name_font)
        numbers = QFontMetricsF(self.font())
        if names_width is None:
            names_width = max((names.horizontalAdvance(row.name) for row in rows), default=0.0)
        if number_width is None:
            number_width = max((numbers.horizontalAdvance(row.written) for row in rows), default=0.0)
        if row_height is None:
            row_height = max(names.height(), numbers.height()) + PADDING
        wanted = count, most or 1.0, number_width, row_height
        has_changed = wanted != (self.count, self._most, self.number_width, self._row_height)
        self.count, self._most, self.number_width, self._row_height = wanted
        if names_width != self._names_width:
            self._names_width = names_width
            self.left.setWidth(min(names_width + GAP, NAMES_SHARE * self.width()))
        if has_changed:
            self._fit()
        self.rows.update()

    def _fit(self) -> None:
        """Set the height of each row, and let the longest bar fill all the space before its number."""
        if self.rows is None or not self._row_height:
            return
        self.bottom.show_numbers(Axis(0.0, self._most))
        room = max(LEAST_ROOM, 1 - (self.number_width + 2 * GAP) / max(1.0, self.box.width()))
        seen = max(1.0, self.box.height() / self._row_height)
        home = QRectF(0.0, 0.0, self._most / room, seen)
        self.set_range(0.0, home.right(), 0.0, max(seen, float(self.count)), home)

    def resizeEvent(self, event: Any) -> None:
        super().resizeEvent(event)
        if self.rows is not None and self._names_width:
            self.left.setWidth(min(self._names_width + GAP, NAMES_SHARE * self.width()))

    @property
    def count_rows_in_view(self) -> int:
        """Return how many rows fit into the chart."""
        return max(1, int(self.box.height() / self._row_height)) if self._row_height else 0

    def item_at(self, place: QPointF) -> int:
        """Return the index of the row at a place, or -1 if there is none."""
        return int(place.y()) if 0 <= place.y() < self.count else -1

    def mark_row(self, row: int) -> None:
        """Paint a background behind a row. The row -1 removes the background."""
        if self.rows is not None and row != self.rows.marked:
            self.rows.marked = row
            self.rows.update()
            self.row_pointed.emit(row)

    def point_at(self, place: QPointF) -> None:
        super().point_at(place)
        self.mark_row(self.item_at(place))

    def leave(self) -> None:
        super().leave()
        self.mark_row(-1)

    def label_place(self, place: QPointF) -> tuple[float, float]:
        """Return the place of the label: below the row, or above it if the row is in the lower half of the chart."""
        (_, _), (top, bottom) = self.box.viewRange()
        row = int(place.y())
        return (float(row + 1), 0.0) if row < (top + bottom) / 2 else (float(row), 1.0)

    def text_at(self, place: QPointF) -> str:
        row = self.item_at(place)
        return self.figure.bars[row].said if self.figure is not None and 0 <= row < len(self.figure.bars) else ""

    def draw_items(self) -> None:
        self.name_font = fixed_font(self.font().pointSizeF())
        if self.rows is not None:
            self.rows.update()
