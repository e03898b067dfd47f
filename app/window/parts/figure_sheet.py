"""A drawing surface that paints figures on the screen in the colours of the palette."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontInfo, QFontMetricsF, QPainter, QPalette, QPen, QPolygonF

from app.window.parts.theme import inks_of, shades_of
from app.window.parts.wording import with_direction_marks
from bpe_core.figures.sheet import BAND_OPACITY, DASHES, EDGE_OPACITY, FAINT_DASHES, Paper, Places

CURVE, FAINT = 1.5, 1.2  # widths of lines
NO_PEN = Qt.PenStyle.NoPen
NO_BRUSH = Qt.BrushStyle.NoBrush


def line_colour(palette: QPalette, index: int) -> QColor:
    """Return the colour of a line by its index. The bands and points of the line have the same colour."""
    colours = inks_of(palette).lines
    return QColor(colours[index % len(colours)])


def faint(colour: QColor, strength: float = BAND_OPACITY) -> QColor:
    """Return a copy of a colour with the given opacity."""
    made = QColor(colour)
    made.setAlphaF(strength)
    return made


def paper_on_screen(width: float, height: float, font: QFont, palette: QPalette, *, scale: float = 1.0) -> Paper:
    """Return the sheet on which a figure is drawn on the screen: its size in pixels, its colours, and its text size.

    The text size is `scale` times the size of the font.
    """
    text = scale * QFontInfo(font).pixelSize()
    return Paper(max(1.0, width), max(1.0, height), text, inks=inks_of(palette), is_screen=True)


class ScreenSheet:
    """A drawing surface for figures. Without a painter, it draws nothing and only measures texts."""

    def __init__(self, paper: Paper, font: QFont, palette: QPalette, painter: QPainter | None = None) -> None:
        self.paper = paper
        self._palette = palette
        self.painter = painter
        self._font = QFont(font)
        self._font.setPixelSize(max(1, round(paper.text)))
        self._metrics = QFontMetricsF(self._font)

    @property
    def strength(self) -> float:
        return self._on.opacity()

    @strength.setter
    def strength(self, strength: float) -> None:
        self._on.setOpacity(strength)

    @property
    def _on(self) -> QPainter:
        assert self.painter is not None, "a drawing surface without a painter only measures texts"
        return self.painter

    def ems(self, text: str, kind: str) -> float:
        return self._metrics.horizontalAdvance(with_direction_marks(text)) / self.paper.text

    def shorten(self, text: str, room: float) -> tuple[str, float]:
        cut = self._metrics.elidedText(text, Qt.TextElideMode.ElideMiddle, room * self.paper.text)
        return cut, self.ems(cut, "")

    def line(self, x1: float, y1: float, x2: float, y2: float, kind: str) -> None:
        inks = self.paper.inks
        colour = {"grid": inks.hairline, "mark": inks.next}.get(kind, inks.text)
        self._on.setPen(QPen(QColor(colour), 1))
        self._on.drawLine(QPointF(x1, y1), QPointF(x2, y2))

    def text(
        self, x: float, y: float, text: str, kind: str, *, turn: bool = False, line: int = -1, is_strong: bool = False
    ) -> None:
        painter = self._on
        written = with_direction_marks(text)
        width = self._metrics.horizontalAdvance(written)
        left = {"legend": 0.0, "tick end": -width}.get(kind, -width / 2)
        painter.setFont(self._font)
        strong = self._palette.text().color() if is_strong else QColor(self.paper.inks.text)
        painter.setPen(line_colour(self._palette, line) if line >= 0 else strong)
        if turn:
            painter.save()
            painter.translate(x, y)
            painter.rotate(-90)
            painter.drawText(QPointF(left, 0), written)
            painter.restore()
        else:
            painter.drawText(QPointF(x + left, y), written)

    def box(self, x: float, y: float, width: float, height: float, kind: str, tip: str = "") -> None:
        painter = self._on
        inks = self.paper.inks
        shades = shades_of(self._palette)
        if kind.startswith("bar"):
            painter.setPen(NO_PEN)
            painter.setBrush(QColor({"bar next": inks.next, "bar tied": inks.tied}.get(kind, inks.bar)))
            painter.drawRoundedRect(QRectF(x, y, max(1.0, width), height), 2, 2)
        else:
            is_part = kind == "token part"
            painter.setPen(QPen(QColor(inks.bar) if is_part else shades.curve, self.paper.text / 13))
            painter.setBrush(QColor(inks.ground) if is_part else shades.mark_ground)
            corner = 0.3 * self.paper.text
            painter.drawRoundedRect(QRectF(x, y, width, height), corner, corner)

    def curve(self, places: Places, line: int, *, is_faint: bool = False) -> None:
        colour, wide = (QColor(self.paper.inks.text), FAINT) if is_faint else (self._colour(line), CURVE)
        pen = QPen(colour, wide)
        if dashes := FAINT_DASHES if is_faint else DASHES[line % len(DASHES)]:
            pen.setDashPattern([length / wide for length in dashes])
        self._on.setPen(pen)
        self._on.setBrush(NO_BRUSH)
        self._on.drawPolyline(QPolygonF([QPointF(x, y) for x, y in places]))

    def band(self, places: Places, line: int) -> None:
        self._on.setBrush(faint(self._colour(line)))
        self._on.setPen(QPen(faint(self._colour(line), EDGE_OPACITY), 1))
        self._on.drawPolygon(QPolygonF([QPointF(x, y) for x, y in places]))

    def dot(self, x: float, y: float, line: int, radius: float, *, is_hollow: bool = False) -> None:
        self._on.setPen(QPen(self._colour(line), CURVE) if is_hollow else NO_PEN)
        self._on.setBrush(NO_BRUSH if is_hollow else self._colour(line))
        self._on.drawEllipse(QPointF(x, y), radius, radius)

    def of_paper(self, paper: Paper) -> ScreenSheet:
        return ScreenSheet(paper, self._font, self._palette, self.painter)

    @contextmanager
    def part(self, paper: Paper, right: float | None, down: float | None) -> Iterator[ScreenSheet]:
        self._on.save()
        self._on.translate(right or 0.0, down or 0.0)
        yield self.of_paper(paper)
        self._on.restore()

    def _colour(self, line: int) -> QColor:
        return QColor(self.paper.line_colour(line))
