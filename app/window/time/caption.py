"""The line above the text that says what the last step did."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.session.session import Session
from app.window.parts.theme import fixed_font, shades_of
from app.window.parts.wording import with_direction_marks
from app.window.parts.zoom import set_zoomed, zoomed
from app.window.text.colours import UNCOLOURED, colour_on, colours_in_row
from app.window.text.text_model import TokenTextModel
from app.window.text.view.painting import paint_tile
from app.window.text.view.palette import TokenPalette
from app.window.time.step_in_words import ShownToken, words_of_skip, words_of_step

HEIGHT = 34
GAP = 6.0
PADDING = 6.0


class StepCaption(QWidget):
    """A caption about the step shown. Its height never changes, so that the widgets below it do not move."""

    def __init__(self, session: Session, model: TokenTextModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._runs = session.runs
        self._cursor = session.cursor
        self._model = model  # its tokens have the same colours
        self.shown = words_of_step(None, 0)
        set_zoomed(self, QWidget.setFixedHeight, HEIGHT)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        session.runs.changed.connect(self._show)
        self._playing = session.playing
        session.playing.changed.connect(self._show)  # also whenever the cursor has moved
        model.colours_changed.connect(self.update)
        self._show()

    def sizeHint(self) -> QSize:
        return QSize(400, zoomed(HEIGHT))

    def _show(self) -> None:
        skipped = self._playing.skipped
        runs = self._runs
        shown = words_of_step(runs.shown, self._cursor.position)
        if skipped is not None:
            shown = words_of_skip(*skipped, runs.wording)
        if shown != self.shown:
            self.shown = shown
            self.setAccessibleName(shown.sentence)
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setClipRect(QRectF(0, 0, self._room(), self.height()))
            colours = TokenPalette.matching(self.palette())
            fills = self._fills(self.shown.parts, colours)
            x = self._words(painter, 4.0, self.shown.before if self._width() <= self._room() else "")
            for number, (part, fill) in enumerate(zip(self.shown.parts, fills, strict=True)):
                x = self._words(painter, x, "+") if number else x
                x = self._draw_token(painter, x, part, fill)
            if self.shown.becomes:
                x = self._words(painter, x, "→")
                (fill,) = self._fills([self.shown.becomes], colours)
                x = self._draw_token(painter, x, self.shown.becomes, fill, is_new=True)
            self._words(painter, x, self.shown.after)

    @property
    def _fixed(self) -> QFont:
        return fixed_font(self.font().pointSizeF() + 1)

    def _room(self) -> float:
        return self.width() - GAP

    def _width(self) -> float:
        """Return the width of the whole caption."""
        line = self.shown
        words = QFontMetricsF(self.font())
        letters = QFontMetricsF(self._fixed)
        tokens = [*line.parts, line.becomes] if line.becomes else line.parts
        texts = [text for text in (line.before, line.after, *["+"] * len(tokens)) if text]
        width = sum(words.horizontalAdvance(text) + GAP for text in texts)
        return width + sum(
            letters.horizontalAdvance(with_direction_marks(token.text)) + 2 * PADDING + GAP for token in tokens
        )

    def _fills(self, tokens: Sequence[ShownToken], colours: TokenPalette) -> list[QColor]:
        scale = self._model.scale
        if scale is None:
            return [colours.fills[number] for number in colours_in_row([token.data for token in tokens])]
        numbers = [colour_on(scale, token.id) for token in tokens]
        return [colours.scale[number] if number != UNCOLOURED else colours.paper for number in numbers]

    def _words(self, painter: QPainter, x: float, words: str) -> float:
        painter.setFont(self.font())
        painter.setPen(self.palette().color(QPalette.ColorRole.PlaceholderText))
        metrics = QFontMetricsF(self.font())
        words = metrics.elidedText(words, Qt.TextElideMode.ElideRight, max(0.0, self._room() - x))
        width = metrics.horizontalAdvance(words)
        painter.drawText(QRectF(x, 0, width + 2, self.height()), Qt.AlignmentFlag.AlignVCenter, words)
        return x + width + GAP if words else x

    def _draw_token(
        self, painter: QPainter, x: float, token: ShownToken, fill: QColor, *, is_new: bool = False
    ) -> float:
        metrics = QFontMetricsF(self._fixed)
        written = with_direction_marks(token.text)
        height = metrics.height() + 6
        place = QRectF(x, (self.height() - height) / 2, metrics.horizontalAdvance(written) + 2 * PADDING, height)
        shades = shades_of(self.palette())
        edge = QPen(shades.bar_next if is_new else shades.hairline, 1.6 if is_new else 1.0)
        painter.setFont(self._fixed)
        paint_tile(painter, place, written, fill, edge, TokenPalette.matching(self.palette()).ink)
        return place.right() + GAP
