"""Several lines over time, painted: no more than is needed, and light enough to follow a slider.

Six lines of 600 points, all antialiased, take 10 to 16 ms of processor time a step of the slider here; pyqtgraph, which
draws the single curves that can be dragged and zoomed, takes 17 to 24, and 0.2 s to be loaded.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QHelpEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
    QPolygonF,
)
from PySide6.QtWidgets import QToolTip, QWidget

from app.window.parts.lines import ChartLines, NamedLine
from app.window.parts.theme import shades_of
from app.window.parts.wording import tip

MARGIN = 10.0
BAND_OPACITY, EDGE_OPACITY = 0.18, 0.5
TICKS = 5
MOST_DIGITS = 7  # behind the point
LEAST_WIDE = "99.9"  # so that charts below each other begin at the same place, mostly
LOGARITHMIC = " (logarithmic)"  # said behind the title of an axis that is
# Distinguishable without colour vision; the dashes help where lines cross.
LIGHT = ("#0b62a4", "#c25e00", "#00785a", "#a3477f", "#5b5f00", "#2f8fc4", "#7a4a1f", "#555b66")
DARK = ("#6caaf0", "#f0953f", "#3fc59a", "#e08bc0", "#d6d24a", "#8fd0f5", "#c99b6d", "#aab2bd")
STYLES = (Qt.PenStyle.SolidLine, Qt.PenStyle.DashLine, Qt.PenStyle.DotLine)


HINT_MARGIN = 24.0


class LinesChart(QWidget):
    """A click says which moment was meant."""

    time_chosen = Signal(int)

    def __init__(
        self, title: str, lines: Callable[[], ChartLines], hint: str = "", parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._lines = lines
        self.hint = hint  # what is said where there are none
        self.setAccessibleName(title)
        self.setMinimumHeight(90)

    def sizeHint(self) -> QSize:
        return QSize(480, 220)

    def refresh(self) -> None:
        told = (f"{line.name}: {line.y[-1]:.4g} at the end" for line in self._lines().lines if len(line.y))
        self.setAccessibleDescription("; ".join(told) or self.hint)
        self.update()

    def colour(self, index: int) -> QColor:
        return line_colour(self.palette(), index)

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), self.palette().base())
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            lines = self._lines()
            if lines.is_empty:
                painter.setPen(self.palette().color(QPalette.ColorRole.PlaceholderText))
                place = QRectF(self.rect()).adjusted(HINT_MARGIN, 0, -HINT_MARGIN, 0)
                painter.drawText(place, Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, self.hint)
                return
            scale = _Scale(self._plot(lines), lines)
            self._paint_axes(painter, scale, lines)
            for index, line in enumerate(lines.lines):
                self._paint_band(painter, scale, index, line)
            for index, line in enumerate(lines.lines):
                self._paint_line(painter, scale, lines, index, line)
            if lines.marked_x is not None:
                x = scale.x(lines.marked_x)
                painter.setPen(QPen(shades_of(self.palette()).bar_next, 1))
                painter.drawLine(QPointF(x, scale.plot.top()), QPointF(x, scale.plot.bottom()))

    def _plot(self, lines: ChartLines) -> QRectF:
        """Where lines are drawn: right of the widest number beside them."""
        metrics = QFontMetricsF(self.font())
        top = MARGIN + metrics.height()
        place = QRectF(0, top, 1, max(20.0, self.height() - top - 2.6 * metrics.height()))
        told = _numbers(_Scale(place, lines).y_ticks(metrics.height()), lines.is_share)
        left = MARGIN + max(map(metrics.horizontalAdvance, [*told, LEAST_WIDE])) + 6
        place.setLeft(left)
        place.setWidth(max(20.0, self.width() - left - 2 * MARGIN))
        return place

    def _paint_axes(self, painter: QPainter, scale: _Scale, lines: ChartLines) -> None:
        shades, plot, metrics = shades_of(self.palette()), scale.plot, QFontMetricsF(self.font())
        ticks = scale.y_ticks(metrics.height())
        for value, told in zip(ticks, _numbers(ticks, lines.is_share), strict=True):
            y = scale.y(value)
            painter.setPen(QPen(shades.hairline, 1))
            painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y))
            painter.setPen(shades.muted)
            place = QRectF(MARGIN, y - metrics.height() / 2, plot.left() - MARGIN - 6, metrics.height())
            painter.drawText(place, Qt.AlignmentFlag.AlignRight, told)
        painter.setPen(shades.muted)
        for state in scale.x_ticks():
            told = f"{state:,.0f}"
            width = metrics.horizontalAdvance(told)
            painter.drawText(QPointF(scale.x(state) - width / 2, plot.bottom() + metrics.height()), told)
        painter.drawText(QPointF(plot.left(), MARGIN + metrics.ascent() - 4), lines.y_title)
        title = title_of_x(lines)
        left = plot.right() - metrics.horizontalAdvance(title)
        painter.drawText(QPointF(left, plot.bottom() + 2.1 * metrics.height()), title)

    def _paint_band(self, painter: QPainter, scale: _Scale, index: int, line: NamedLine) -> None:
        if line.band is None:
            return
        low, high = line.band
        known = np.isfinite(low) & np.isfinite(high)
        x = line.x[known].tolist()
        there = [QPointF(scale.x(a), scale.y(b)) for a, b in zip(x, high[known].tolist(), strict=True)]
        back = [QPointF(scale.x(a), scale.y(b)) for a, b in zip(x, low[known].tolist(), strict=True)]
        colour = self.colour(index)
        colour.setAlphaF(BAND_OPACITY)
        painter.setBrush(colour)
        colour.setAlphaF(EDGE_OPACITY)
        painter.setPen(QPen(colour, 1))
        painter.drawPolygon(QPolygonF([*there, *back[::-1]]))

    def _paint_line(self, painter: QPainter, scale: _Scale, lines: ChartLines, index: int, line: NamedLine) -> None:
        if not len(line.x):
            return
        colour = shades_of(self.palette()).muted if line.is_faint else self.colour(index)
        style = Qt.PenStyle.DotLine if line.is_faint else STYLES[index % len(STYLES)]
        painter.setPen(QPen(colour, 1.5, style))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPolyline(scale.polygon(line, is_stairs=lines.is_stairs))
        for x, y, told in line.marked:
            place = QPointF(scale.x(x), scale.y(y))
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour)
            painter.drawEllipse(place, 3.5, 3.5)
            if not lines.is_stairs:
                painter.setPen(colour)
                width = QFontMetricsF(self.font()).horizontalAdvance(told)
                has_room = place.x() + 6 + width < self.width() - MARGIN
                painter.drawText(place + QPointF(6 if has_room else -6 - width, 14 if has_room else -6), told)

    def told_at(self, point: QPointF) -> str:
        """The values below the mouse."""
        lines = self._lines()
        if lines.is_empty:
            return ""
        return lines.told_at(_Scale(self._plot(lines), lines).state_at(point.x()))

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent) and not self._lines().is_empty:
            QToolTip.showText(event.globalPos(), tip(self.told_at(QPointF(event.pos()))), self)
            return True
        return super().event(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        lines = self._lines()
        if lines.lines:
            self.time_chosen.emit(_Scale(self._plot(lines), lines).state_at(event.position().x()))


def title_of_x(lines: ChartLines) -> str:
    """Of the axis below, which says where equal distances are not equal numbers.

    >>> [title_of_x(ChartLines((), "Merges", "Occurrences", is_log_x=is_log)) for is_log in (True, False)]
    ['Merges (logarithmic)', 'Merges']
    """
    return lines.x_title + (LOGARITHMIC if lines.is_log_x else "")


def line_colour(palette: QPalette, index: int) -> QColor:
    """Of the line of that index, and of whatever else belongs to it."""
    colours = DARK if shades_of(palette).is_dark else LIGHT
    return QColor(colours[index % len(colours)])


class _Scale:
    """From numbers to places in the plot and back."""

    def __init__(self, plot: QRectF, lines: ChartLines) -> None:
        self.plot = plot
        self._is_log = lines.is_log_x
        self._start = lines.first_x
        ends = [float(line.x[-1]) for line in lines.lines if len(line.x)]
        self._end = max([self._start + 1.0, *([lines.last_x] if lines.last_x is not None else ends)])
        self._bottom = lines.first_y
        self._top = max([self._bottom + 1e-9, *(line.highest for line in lines.lines)])

    def x(self, state: float) -> float:
        way, whole = max(0.0, state - self._start), self._end - self._start
        share = math.log1p(way) / math.log1p(whole) if self._is_log else way / whole
        return self.plot.left() + self.plot.width() * min(1.0, share)

    def y(self, value: float) -> float:
        return self.plot.bottom() - self.plot.height() * (value - self._bottom) / (self._top - self._bottom)

    def state_at(self, x: float) -> int:
        share = min(1.0, max(0.0, (x - self.plot.left()) / self.plot.width()))
        whole = self._end - self._start
        return round(self._start + (math.expm1(share * math.log1p(whole)) if self._is_log else share * whole))

    def y_ticks(self, room: float = 0.0) -> list[float]:
        """Round numbers from the beginning up, as far from each other as one line of text at least.

        >>> _Scale(QRectF(0, 0, 10, 10), ChartLines((), "", "")).y_ticks()
        [0.0]
        """
        if self._top - self._bottom <= 1e-9:
            return [self._bottom]
        lines = self.plot.height() / room if room else TICKS
        step = _round_step((self._top - self._bottom) / max(1.0, min(TICKS - 1, lines - 1)))
        first = math.ceil(self._bottom / step - 1e-6)
        return [step * i for i in range(first, first + TICKS + 1) if step * i <= self._top * 1.0001]

    def x_ticks(self) -> list[float]:
        """Steps as the axis counts them, at places that are as far from each other as they are.

        >>> lines = ChartLines((), "", "", is_log_x=False, first_x=0.0, last_x=6.0)
        >>> _Scale(QRectF(0, 0, 10, 10), lines).x_ticks()
        [0.0, 2.0, 4.0, 6.0]
        """
        if not self._is_log:
            step = max(1.0, _round_step((self._end - self._start) / (TICKS - 1)))
            first = math.ceil(self._start / step)
            return [step * i for i in range(first, first + 2 * TICKS) if step * i <= self._end]
        room = self.plot.width() / 8
        round_ones = (10.0**i for i in range(1, 8) if self._start < 10**i < self._end / 2)
        return [self._start, *(x for x in round_ones if self.x(x) - self.plot.left() > room), self._end]

    def polygon(self, line: NamedLine, *, is_stairs: bool) -> QPolygonF:
        points = QPolygonF()
        before: float | None = None
        for x, y in zip(line.x.tolist(), line.y.tolist(), strict=True):
            if is_stairs and before is not None:
                points.append(QPointF(self.x(x), before))
            before = self.y(y)
            points.append(QPointF(self.x(x), before))
        return points


def _round_step(least: float) -> float:
    """The next round number that is not smaller.

    >>> _round_step(1.5), _round_step(23.0), _round_step(0.07)
    (2.0, 50.0, 0.1)
    """
    unit = 10.0 ** math.floor(math.log10(least))
    return next(unit * factor for factor in (1, 2, 5, 10) if unit * factor >= least)


def _numbers(values: list[float], is_share: bool) -> list[str]:
    """As short as they can be told, each with so many digits that no two are written alike.

    >>> _numbers([0.0, 0.25], True), _numbers([0.0, 12_000.0], False), _numbers([2.52, 2.525, 2.53], False)
    (['0 %', '25 %'], ['0', '12,000'], ['2.52', '2.525', '2.53'])
    """
    scaled = [value * 100 for value in values] if is_share else values
    shortest = 0 if max(scaled, default=0.0) >= 100 else 2
    for digits in range(shortest, MOST_DIGITS):
        told = [f"{value:,.{digits}f}" for value in scaled]
        if len({*told}) == len(told):
            break
    if "." in "".join(told):
        told = [one.rstrip("0").rstrip(".") for one in told]
    return [f"{one} %" for one in told] if is_share else told
