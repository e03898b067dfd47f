"""A word as a row of tiles, one for each token; where a merge joins two, they slide together and become one."""

from __future__ import annotations

from itertools import pairwise

from PySide6.QtCore import QEasingCurve, QPointF, QRectF, QSize, Qt, QVariantAnimation
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.window.parts.theme import fixed_font, shades_of
from app.window.start.word_life import Piece, Scene, WordLife
from app.window.text.view.colouring import colour_of
from app.window.text.view.palette import TokenPalette

LARGEST, SMALLEST = 30.0, 8.0  # points; as large as fits
PADDING, GAP, ROUND = 7.0, 8.0, 6.0
SLIDE_MILLISECONDS = 450
HEIGHT = 110


class WordView(QWidget):
    """Shows one scene, and how it comes out of the one before."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._life: WordLife | None = None
        self._before = self._now = 0  # scenes
        self._slide = QVariantAnimation(self)
        self._slide.setStartValue(0.0)
        self._slide.setEndValue(1.0)
        self._slide.setDuration(SLIDE_MILLISECONDS)
        self._slide.setEasingCurve(QEasingCurve.Type.InOutCubic)
        self._slide.valueChanged.connect(lambda _: self.update())
        self.setAccessibleName("The word, cut into tokens")
        self.setMinimumHeight(HEIGHT)

    def sizeHint(self) -> QSize:
        return QSize(560, HEIGHT)

    def show_scene(self, life: WordLife, scene: int, *, slides: bool) -> None:
        """This scene of a word; from the one before it slides, if it is to."""
        is_next = life is self._life and scene == self._now + 1
        self._before, self._now, self._life = (self._now if is_next else scene), scene, life
        self._slide.stop()
        if is_next and slides:
            self._slide.start()
        texts = ("".join(life.symbols[piece.first : piece.stop]) for piece in life.scenes[scene].pieces)
        self.setAccessibleDescription(" | ".join(texts))
        self.update()

    @property
    def is_sliding(self) -> bool:
        return self._slide.state() == QVariantAnimation.State.Running

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._life is None:
            return
        progress = float(self._slide.currentValue()) if self.is_sliding else 1.0
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            before, now = self._life.scenes[self._before], self._life.scenes[self._now]
            _Drawing(self, self._life, painter).draw(before, now, progress)


class _Drawing:
    """One picture: the pieces of one scene on their way to be those of the next."""

    def __init__(self, view: QWidget, life: WordLife, painter: QPainter) -> None:
        self._view, self._painter, self._symbols = view, painter, life.symbols
        self._palette, self._shades = TokenPalette.matching(view.palette()), shades_of(view.palette())
        self._font = _largest_font(life, view.width() - 20.0)
        metrics = QFontMetricsF(self._font)
        self._widths = [metrics.horizontalAdvance(symbol) for symbol in life.symbols]
        self._height = metrics.height() + 2 * PADDING

    def draw(self, before: Scene, now: Scene, progress: float) -> None:
        lefts = self._lefts(before, now, progress)
        fills = self._fills(before), self._fills(now)
        top = (self._view.height() - self._height) / 2 - 8
        whole = {first: piece for piece in now.pieces for first in range(piece.first, piece.stop)}
        kept = {piece.first for piece in now.pieces}
        ends = {piece.stop for piece in now.pieces}
        shrunk = 1.0 - progress
        for piece in before.pieces if progress < 1 else now.pieces:
            fill = _between(fills[0].get(piece, QColor()), fills[1][whole[piece.first]], progress)
            left = PADDING * (1.0 if piece.first in kept else shrunk)
            right = PADDING * (1.0 if piece.stop in ends else shrunk)
            begin, end = lefts[piece.first] - left, lefts[piece.stop - 1] + self._widths[piece.stop - 1] + right
            self._tile(QRectF(begin, top, end - begin, self._height), fill)
            self._texts(piece, lefts, top)
        for scene, strength in ((before, shrunk), (now, progress)):
            self._ids(scene, lefts, top + self._height + 4, strength)

    def _lefts(self, before: Scene, now: Scene, progress: float) -> list[float]:
        """Where each symbol begins: between two tokens there is a gap, which closes where they are joined."""
        kept = {piece.first for piece in now.pieces}
        starts = {piece.first for piece in before.pieces}
        lefts, x = [], PADDING
        for symbol, width in enumerate(self._widths):
            if symbol and symbol in starts:
                x += (GAP + 2 * PADDING) * (1.0 if symbol in kept else 1.0 - progress)
            lefts.append(x)
            x += width
        shift = (self._view.width() - x - PADDING) / 2
        return [left + shift for left in lefts]

    def _fills(self, scene: Scene) -> dict[Piece, QColor]:
        return {piece: self._palette.fills[colour_of(piece.data)] for piece in scene.pieces}

    def _tile(self, area: QRectF, fill: QColor) -> None:
        self._painter.setPen(Qt.PenStyle.NoPen)
        self._painter.setBrush(fill)
        self._painter.drawRoundedRect(area, ROUND, ROUND)

    def _texts(self, piece: Piece, lefts: list[float], top: float) -> None:
        self._painter.setFont(self._font)
        self._painter.setPen(self._palette.ink)
        for symbol in range(piece.first, piece.stop):
            area = QRectF(lefts[symbol], top, self._widths[symbol] + 1, self._height)
            self._painter.drawText(area, Qt.AlignmentFlag.AlignCenter, self._symbols[symbol])

    def _ids(self, scene: Scene, lefts: list[float], top: float, strength: float) -> None:
        """Below each token its number, where there is room for it."""
        if strength <= 0:
            return
        font = self._view.font()
        metrics = QFontMetricsF(font)
        color = QColor(self._shades.muted)
        color.setAlphaF(strength)
        self._painter.setFont(font)
        self._painter.setPen(color)
        middles = [(lefts[p.first] + lefts[p.stop - 1] + self._widths[p.stop - 1]) / 2 for p in scene.pieces]
        room = min((b - a for a, b in pairwise(middles)), default=100.0)
        if room > metrics.horizontalAdvance("000 "):
            for piece, middle in zip(scene.pieces, middles, strict=True):
                text = str(piece.id)
                self._painter.drawText(
                    QPointF(middle - metrics.horizontalAdvance(text) / 2, top + metrics.ascent()), text
                )


def _largest_font(life: WordLife, room: float) -> QFont:
    """In which all symbols, each a token, still stand in one line."""
    taken = len(life.symbols) * (GAP + 2 * PADDING)
    probe = QFontMetricsF(fixed_font(LARGEST))
    width = sum(probe.horizontalAdvance(symbol) for symbol in life.symbols)
    share = max(0.0, room - taken) / max(1.0, width)
    return fixed_font(max(SMALLEST, min(LARGEST, LARGEST * share)))


def _between(one: QColor, other: QColor, progress: float) -> QColor:
    if not one.isValid() or progress >= 1:
        return other
    mixed = [a + (b - a) * progress for a, b in zip(one.getRgbF()[:3], other.getRgbF()[:3], strict=True)]  # type: ignore[index]
    return QColor.fromRgbF(*mixed)
