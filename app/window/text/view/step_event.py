"""A step as it happens in the text: what is joined lights up, slides together, and settles as one token.

Whatever became other pieces between two moments is found by comparing their cuts, so that it is the same for every
method, and for a step back: where one piece becomes several, all goes the other way round.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPixmap

from app.window.parts.motion import away, smooth
from app.window.text.view.flow import PlacedBlock
from app.window.text.view.painting import CORNER, ROW_GAP

Int64s = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

LIT, MET = 0.40, 0.62  # of the time: until then the pieces light up, and until then they slide together
SPREAD = 3.0  # how far the pieces part before they meet
POP = 2.0  # by how much the new token is larger as it is made
GLOW, DIMMED = 0.20, 0.45  # how strong the light on the pieces is, and how far all else steps back
MOST = 600  # places that are shown on their way; where there are more, none can be followed


@dataclass(frozen=True)
class Change:
    """One place in the text: the pieces it fell into before, and those it falls into now."""

    before: tuple[QRectF, ...]
    after: tuple[QRectF, ...]

    @property
    def is_parting(self) -> bool:
        return len(self.after) > len(self.before)


def changes_between(before: Int64s, after: Int64s) -> list[tuple[list[int], list[int]]]:
    """The edges, within and around, of each stretch that two cuts of a text divide differently.

    >>> changes_between(np.array([0, 1, 2, 3, 5]), np.array([0, 1, 3, 5]))
    [([1, 2, 3], [1, 3])]
    """
    common = np.intersect1d(before, after)
    at_before, at_after = np.searchsorted(before, common), np.searchsorted(after, common)
    differ = np.flatnonzero((np.diff(at_before) > 1) | (np.diff(at_after) > 1))
    return [
        (
            before[at_before[i] : at_before[i + 1] + 1].tolist(),
            after[at_after[i] : at_after[i + 1] + 1].tolist(),
        )
        for i in differ.tolist()
    ]


def placed(blocks: Sequence[PlacedBlock], start: int, before: Int64s, after: Int64s, left: float) -> list[Change]:
    """Where on the screen the changes are, row by row; the blocks begin at byte `start`."""
    stretches = changes_between(before, after)
    if len(stretches) > MOST:
        return []
    found: list[Change] = []
    for block in blocks:
        for row in block.layout.rows:
            first, stop = start + row.first_byte, start + row.first_byte + row.byte_count
            here = [pair for pair in stretches if pair[0][0] < stop and pair[0][-1] > first]
            if here:
                begins, ends = block.layout.cells(row)
                place = QRectF(left, block.y + row.y + ROW_GAP, 0.0, row.height - 2 * ROW_GAP)
                cells = RowCells(first, np.minimum(begins, ends), np.maximum(begins, ends), place)
                found += [Change(cells.areas(was), cells.areas(now)) for was, now in here]
        start += block.layout.byte_count
    return found


@dataclass(frozen=True)
class RowCells:
    """The cells of the bytes of a row that begins with byte `first` of the text."""

    first: int
    low: Floats
    high: Floats
    place: QRectF  # where the row begins, and how high it is

    def areas(self, edges: Sequence[int]) -> tuple[QRectF, ...]:
        """Those of the pieces between these edges, as far as they are in the row."""
        sides = [min(max(edge - self.first, 0), len(self.low)) for edge in edges]
        spans = [(float(self.low[a:b].min()), float(self.high[a:b].max())) for a, b in pairwise(sides) if a < b]
        return tuple(self.place.adjusted(begin, 0, end, 0) for begin, end in spans)


@dataclass(frozen=True)
class StepEvent:
    """Both pictures of the text, and where they differ."""

    before: QPixmap
    after: QPixmap
    changes: Sequence[Change]

    def paint(self, painter: QPainter, progress: float, paper: QColor, light: QColor) -> None:
        """The text at this point between the two moments."""
        painter.drawPixmap(0, 0, self.after)
        self._dim(painter, progress, paper)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for change in self.changes:
            if change.is_parting:
                self._paint(
                    painter, 1.0 - progress, change.after, change.before, (self.after, self.before), light, paper
                )
            else:
                self._paint(painter, progress, change.before, change.after, (self.before, self.after), light, paper)

    def _dim(self, painter: QPainter, progress: float, paper: QColor) -> None:
        """All but the places that change steps back for a while."""
        strength = smooth(min(1.0, progress / LIT)) * (1.0 - smooth(max(0.0, (progress - MET) / (1.0 - MET))))
        veil = QColor(paper)
        veil.setAlphaF(DIMMED * strength)
        painter.fillRect(self.after.rect(), veil)

    def _paint(
        self,
        painter: QPainter,
        progress: float,
        pieces: Sequence[QRectF],
        whole: Sequence[QRectF],
        pictures: tuple[QPixmap, QPixmap],
        light: QColor,
        paper: QColor,
    ) -> None:
        if progress < MET:
            lit = smooth(min(1.0, progress / LIT))
            met = away(max(0.0, (progress - LIT) / (MET - LIT)))
            for area in whole:
                painter.fillRect(area, paper)
            middle = (len(pieces) - 1) / 2
            for number, area in enumerate(pieces):
                shift = SPREAD * (number - middle) * 2 * lit * (1.0 - met) / max(1, len(pieces) - 1)
                _paint_piece(painter, area, shift, pictures[0], light, lit)
        else:
            settled = smooth((progress - MET) / (1.0 - MET))
            for area in whole:
                _paint_token(painter, area, pictures[1], light, 1.0 - settled)


def _paint_piece(painter: QPainter, area: QRectF, shift: float, picture: QPixmap, light: QColor, lit: float) -> None:
    place = area.translated(shift, 0.0)
    _copy(painter, place.topLeft(), picture, area)
    _glow(painter, place, light, lit)


def _paint_token(painter: QPainter, area: QRectF, picture: QPixmap, light: QColor, fresh: float) -> None:
    _copy(painter, area.topLeft(), picture, area)
    _glow(painter, area.adjusted(-POP * fresh, -POP * fresh, POP * fresh, POP * fresh), light, fresh)


def _copy(painter: QPainter, place: QPointF, picture: QPixmap, area: QRectF) -> None:
    """From a picture that may have more than one pixel for each on this painter."""
    scale = picture.devicePixelRatio()
    source = QRectF(area.x() * scale, area.y() * scale, area.width() * scale, area.height() * scale)
    painter.drawPixmap(QRectF(place, area.size()), picture, source)


def _glow(painter: QPainter, place: QRectF, light: QColor, strength: float) -> None:
    frame, inside = QColor(light), QColor(light)
    frame.setAlphaF(strength)
    inside.setAlphaF(GLOW * strength)
    painter.setPen(QPen(frame, 1.8))
    painter.setBrush(inside)
    painter.drawRoundedRect(place, CORNER, CORNER)
    painter.setBrush(Qt.BrushStyle.NoBrush)
