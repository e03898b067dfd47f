"""What was learned, token by token: drawn where bars would be equally long and tell nothing."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import nlargest

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPalette, QPen

from app.session.run import Run
from app.window.parts.left_to_right import from_the_left
from app.window.parts.theme import shades_of
from app.window.text.view.colouring import colour_of
from app.window.text.view.palette import TokenPalette
from app.window.time.told import Chip

MOST_SHOWN = 400
MOST_LOOKED_AT = 20_000  # the last ones
HEADING = "Learned until here, the longest first"
GAP, PADDING, CORNER = 6.0, 6.0, 3.0


def learned_tokens(run: Run | None, at: int) -> tuple[Chip, ...]:
    """The longest tokens that a run has made of others by then, the longest first."""
    if run is None or run.history is None or run.names is None:
        return ()
    history, names = run.history, run.names
    ids = dict.fromkeys(history.ids[max(0, at - MOST_LOOKED_AT) : at].tolist())
    return tuple(Chip.of(history, names, id) for id in nlargest(MOST_SHOWN, ids, key=names.lengths.__getitem__))


def draw_tokens(painter: QPainter, room: QRectF, tokens: Sequence[Chip], font: QFont, palette: QPalette) -> None:
    """Row by row, as many as there is room for, each in the colour it has in texts."""
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
