"""The animation of a step: the changed parts of the text light up and slide together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPixmap

from app.window.parts.timing import accelerated_progress, smooth_progress
from app.window.text.colours import Int64s
from app.window.text.view.cells import TextRow
from app.window.text.view.painting import CORNER, ROW_GAP, PlacedBlock

LIT, MET = 0.40, 0.62  # shares of the time in which the parts light up, then slide together
SPREAD = 3.0  # how far the parts move apart before they meet
POP = 2.0  # the first size of the new token
GLOW, DIMMED = 0.20, 0.45  # the light on the parts, and the veil on the rest
MOST = 600  # most changes that are animated


@dataclass(frozen=True)
class Change:
    """A part of the text in which a step changes the tokens."""

    before: tuple[QRectF, ...]
    after: tuple[QRectF, ...]


def changes_between(before: Int64s, after: Int64s) -> list[tuple[list[int], list[int]]]:
    """Compare the edges of all tokens before and after a step. For each range of the text in which they differ, return
    the edges before and the edges after the step.

    >>> changes_between(np.array([0, 1, 2, 3, 5]), np.array([0, 1, 3, 5]))
    [([1, 2, 3], [1, 3])]
    """
    common = np.intersect1d(before, after)
    at_before = np.searchsorted(before, common)
    at_after = np.searchsorted(after, common)
    differ = np.flatnonzero((np.diff(at_before) > 1) | (np.diff(at_after) > 1))
    return [
        (before[at_before[i] : at_before[i + 1] + 1].tolist(), after[at_after[i] : at_after[i + 1] + 1].tolist())
        for i in differ.tolist()
    ]


def visible_changes(blocks: Sequence[PlacedBlock], before: Int64s, after: Int64s) -> list[Change]:
    """Return the visible changes of a step, row by row."""
    stretches = changes_between(before, after)
    if len(stretches) > MOST:
        return []
    changes: list[Change] = []
    for block in blocks:
        for row in block.rows:
            first = block.start + row.first_byte
            stop = first + row.byte_count
            here = [pair for pair in stretches if pair[0][0] < stop and pair[0][-1] > first]
            if here:
                place = QRectF(0.0, block.y + row.y + ROW_GAP, 0.0, row.height - 2 * ROW_GAP)
                changes += [Change(_areas(was, row, first, place), _areas(now, row, first, place)) for was, now in here]
    return changes


def _areas(edges: Sequence[int], row: TextRow, first: int, place: QRectF) -> tuple[QRectF, ...]:
    """Return the areas on the screen between neighbouring `edges` of tokens in a row.

    The row begins at byte `first`.
    """
    begins = row.cells.begins
    ends = row.cells.ends
    low = np.minimum(begins, ends)
    high = np.maximum(begins, ends)
    sides = [min(max(edge - first, 0), len(low)) for edge in edges]
    spans = [(float(low[a:b].min()), float(high[a:b].max())) for a, b in pairwise(sides) if a < b]
    return tuple(place.adjusted(begin, 0, end, 0) for begin, end in spans)


@dataclass(frozen=True)
class StepEvent:
    """An animation of a step: its tokens light up, slide together, and become one token.

    The animation needs only the token edges before and after the step, so it works for any method. A step back in time
    is played in reverse.
    """

    before: QPixmap
    after: QPixmap
    changes: Sequence[Change]

    def paint(self, painter: QPainter, progress: float, paper: QColor, light: QColor) -> None:
        painter.drawPixmap(0, 0, self.after)
        self._dim(painter, progress, paper)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for change in self.changes:
            parts = change.before
            whole = change.after
            apart = self.before
            joined = self.after
            done = progress
            if len(parts) < len(whole):  # the parts move apart
                parts, whole, apart, joined, done = whole, parts, joined, apart, 1.0 - progress
            if done >= MET:
                fresh = 1.0 - smooth_progress((done - MET) / (1.0 - MET))
                for area in whole:
                    _copy(painter, area.topLeft(), joined, area)
                    _draw_glow(
                        painter, area.adjusted(-POP * fresh, -POP * fresh, POP * fresh, POP * fresh), light, fresh
                    )
                continue
            lit = smooth_progress(min(1.0, done / LIT))
            met = accelerated_progress(max(0.0, (done - LIT) / (MET - LIT)))
            for area in whole:
                painter.fillRect(area, paper)
            middle = (len(parts) - 1) / 2
            for number, area in enumerate(parts):
                shift = SPREAD * (number - middle) * 2 * lit * (1.0 - met) / max(1, len(parts) - 1)
                place = area.translated(shift, 0.0)
                _copy(painter, place.topLeft(), apart, area)
                _draw_glow(painter, place, light, lit)

    def _dim(self, painter: QPainter, progress: float, paper: QColor) -> None:
        strength = smooth_progress(min(1.0, progress / LIT)) * (
            1.0 - smooth_progress(max(0.0, (progress - MET) / (1.0 - MET)))
        )
        veil = QColor(paper)
        veil.setAlphaF(DIMMED * strength)
        painter.fillRect(self.after.rect(), veil)


def _copy(painter: QPainter, place: QPointF, picture: QPixmap, area: QRectF) -> None:
    scale = picture.devicePixelRatio()
    source = QRectF(area.x() * scale, area.y() * scale, area.width() * scale, area.height() * scale)
    painter.drawPixmap(QRectF(place, area.size()), picture, source)


def _draw_glow(painter: QPainter, place: QRectF, light: QColor, strength: float) -> None:
    frame = QColor(light)
    inside = QColor(light)
    frame.setAlphaF(strength)
    inside.setAlphaF(GLOW * strength)
    painter.setPen(QPen(frame, 1.8))
    painter.setBrush(inside)
    painter.drawRoundedRect(place, CORNER, CORNER)
    painter.setBrush(Qt.BrushStyle.NoBrush)
