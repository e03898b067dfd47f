"""Tokens in rows, each in the colour it has in texts."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPalette, QPen

from app.window.parts.left_to_right import from_the_left
from app.window.parts.theme import shades_of
from app.window.text.view.colouring import colour_of
from app.window.text.view.palette import TokenPalette
from app.window.time.told import Chip

GAP, PADDING, CORNER = 6.0, 6.0, 3.0


def draw_tokens(painter: QPainter, room: QRectF, tokens: Iterable[Chip], font: QFont, palette: QPalette) -> None:
    """As many as there is room for."""
    colours, outline = TokenPalette.matching(palette), QPen(shades_of(palette).hairline)
    metrics = QFontMetricsF(font)
    height = metrics.height() + 4
    x, y = room.left(), room.top()
    painter.setFont(font)
    for token in tokens:
        written = from_the_left(token.text)
        width = metrics.horizontalAdvance(written) + 2 * PADDING
        if x + width > room.right() and x > room.left():
            x, y = room.left(), y + height + GAP
        if y + height > room.bottom():
            return
        place = QRectF(x, y, width, height)
        painter.setPen(outline)
        painter.setBrush(colours.fills[colour_of(token.data)])
        painter.drawRoundedRect(place, CORNER, CORNER)
        painter.setPen(colours.ink)
        painter.drawText(place, Qt.AlignmentFlag.AlignCenter, written)
        x += width + GAP
