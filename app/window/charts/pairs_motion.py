"""The animation of a step: the leading pairs slide to their new rows, and the new token moves to its row in the table.

Both movements are painted by this program, up to 60 times a second.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPoint, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from app.window.charts.pairs_model import Bar
from app.window.parts.theme import fixed_font, shades_of
from app.window.parts.timing import Motion, accelerated_progress, smooth_progress
from app.window.parts.wording import with_direction_marks
from app.window.parts.zoom import zoomed
from app.window.text.view.painting import paint_tile

LEFT = 0.45  # share of the time after which the winner has left
NEW_ROWS = 1.5  # rows below its place where a new pair begins


@dataclass(frozen=True)
class PlacedBar:
    bar: Bar
    row: float
    value: float
    strength: float = 1.0
    shift: float = 0.0  # how far it has left, as a share of the width


def at_rest(bars: Sequence[Bar], rows: int) -> list[PlacedBar]:
    return [PlacedBar(bar, row, bar.value) for row, bar in enumerate(bars[:rows])]


def bars_at(before: Sequence[Bar], now: Sequence[Bar], rows: int, progress: float) -> list[PlacedBar]:
    """Return the bars of an animation at `progress`, from 0 to 1. The bars that have fallen farthest come last.

    >>> a, b = Bar("a", "b", 9, True, False, (1, 2), 9.0), Bar("c", "d", 8, False, False, (3, 4), 8.0)
    >>> [(drawn.bar.left, drawn.row) for drawn in bars_at([a, b], [b], 5, 1.0)]
    [('c', 0.0)]
    """
    was = {bar.pair: (row, bar) for row, bar in enumerate(before)}
    stay = {bar.pair for bar in now}
    left = accelerated_progress(min(1.0, progress / LEFT))
    glided = smooth_progress(max(0.0, (progress - LEFT / 2) / (1 - LEFT / 2)))
    drawn: list[PlacedBar] = []
    for row, bar in enumerate(before[:rows]):
        if bar.pair not in stay and progress < 1.0:
            drawn.append(PlacedBar(bar, row, bar.value, 1.0 - left, left if bar.is_next else 0.0))
    for row, bar in enumerate(now):
        row_before, bar_before = was.get(bar.pair, (row + NEW_ROWS, None))
        value = bar.value if bar_before is None else bar_before.value + (bar.value - bar_before.value) * glided
        place = row_before + (row - row_before) * glided
        if place < rows and (row < rows or row_before < rows):
            drawn.append(PlacedBar(bar, place, value, glided if bar_before is None else 1.0))
    if progress < 1.0:  # bars that fall far pass in front of the others
        drawn.sort(key=lambda placed: placed.row - was[placed.bar.pair][0] if placed.bar.pair in was else 0.0)
    return drawn


def losses(before: Sequence[Bar], now: Sequence[Bar], made: str) -> dict[tuple[int, int], str]:
    """Return a label for each pair that occurs less often than before the step. The largest loss comes first.

    >>> a, b = Bar("h", "e", 9, True, False, (1, 2)), Bar("t", "h", 8, False, False, (3, 1))
    >>> losses([a, b], [Bar("t", "h", 6, False, False, (3, 1))], "he")
    {(3, 1): '−2, taken by he'}
    """
    counts = {bar.pair: bar.count for bar in before}
    fewer = [(bar.pair, counts.get(bar.pair, bar.count) - bar.count) for bar in now]
    fewer.sort(key=lambda entry: -entry[1])
    return {pair: f"−{lost:,}, taken by {made}" for pair, lost in fewer if lost > 0}


WIDEST = 220  # pixels; a longer token is cut
PADDING = 6


class MovingToken(QWidget):
    """A widget that draws a token while the token moves across the window. Clicks go to the widgets below."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._above = window
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.hide()
        self._text = ""
        self._start = self._stop = QPoint()
        self.motion = Motion(self, self._go)

    def begin(self, text: str, start: QPoint, stop: QPoint, seconds: float) -> None:
        self.setFont(fixed_font(self.window().font().pointSizeF()))
        metrics = QFontMetricsF(self.font())
        self._text = metrics.elidedText(with_direction_marks(text), Qt.TextElideMode.ElideRight, zoomed(WIDEST))
        width = metrics.horizontalAdvance(self._text) + 2 * PADDING
        height = metrics.height() + 4
        self.resize(int(width) + 2, int(height))
        self._start, self._stop = self._above.mapFromGlobal(start), self._above.mapFromGlobal(stop)
        self.move(self._start)
        self.show()
        self.raise_()
        self.motion.begin(seconds)

    def _go(self) -> None:
        if self.motion.is_under_way:
            way = QPoint(self._stop - self._start)
            share = smooth_progress(self.motion.progress)
            self.move(self._start + QPoint(round(way.x() * share), round(way.y() * share)))
        else:
            self.hide()

    def paintEvent(self, event: QPaintEvent) -> None:
        shades = shades_of(self.palette())
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            place = QRectF(self.rect()).adjusted(1, 1, -1, -1)
            palette = self.palette()
            edge = QPen(shades.bar_next, 1.6)
            paint_tile(painter, place, self._text, palette.base().color(), edge, palette.text().color())
