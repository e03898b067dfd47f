"""The view of the words of a small corpus. Each word is split into its tokens at the step shown."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QMouseEvent, QPainter, QPaintEvent, QPalette, QPen, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.window.lessons.lesson_values import BETWEEN_PARTS, WordNow
from app.window.parts.theme import fixed_font, shades_of
from app.window.parts.wording import tip
from app.window.text.view.painting import paint_tile

GAP = 3.0  # between two tokens
LINE_GAP = 5.0
PADDING = 5.0  # inside a token
ROUND = 4.0
LARGEST = 2.4  # the largest size, relative to the usual letters


@dataclass(frozen=True)
class Tile:
    word: int
    place: int  # index among the word's tokens
    area: QRectF


class WordsView(QWidget):
    """A view that draws each token as a tile.

    While the user has to guess a merge, a click between two tiles chooses their pair.
    """

    pair_clicked = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("The words now")
        self._font = fixed_font(self.font().pointSizeF())
        self._words: tuple[WordNow, ...] = ()
        self._newest: int | None = None
        self._is_asking = False
        self._touched: tuple[int, int] | None = None  # the word, and the index of the left of two tokens
        self._tiles: tuple[list[Tile], float] = [], 0.0
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setMouseTracking(True)

    def show_words(self, words: tuple[WordNow, ...], newest: int | None, *, is_asking: bool) -> None:
        if (words, newest, is_asking) == (self._words, self._newest, self._is_asking):
            return
        self._words = words
        self._newest = newest
        self._is_asking = is_asking
        self._touched = None
        self.setVisible(bool(words))
        lines = (f"{word.count} times {' '.join(word.texts)}" for word in words)
        self.setAccessibleDescription("; ".join(lines))
        self.setToolTip(tip("Click between two tokens to predict that they are merged" if is_asking else ""))
        self._tiles = self._placed_tiles(self.width())
        self.updateGeometry()
        self.update()

    # -- places ----------------------------------------------------------------------------

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return int(self._placed_tiles(width)[1])

    def sizeHint(self) -> QSize:
        return QSize(240, self.heightForWidth(max(240, self.width())))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "_tiles"):
            self._tiles = self._placed_tiles(self.width())
            self.updateGeometry()

    def minimumSizeHint(self) -> QSize:
        return QSize(120, 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._tiles = self._placed_tiles(self.width())
        if int(self._tiles[1]) != self.height():  # the layout asked for the height before the letters had their size
            self.updateGeometry()

    def area_of(self, word: int, place: int) -> QRectF:
        return next(tile.area for tile in self._tiles[0] if (tile.word, tile.place) == (word, place))

    def _placed_tiles(self, width: int) -> tuple[list[Tile], float]:
        """Return all tiles with their positions, and the total height of the rows.

        A long word continues in the next row.
        """
        self._font = self._fitting_font(width)
        metrics = QFontMetricsF(self._font)
        height = metrics.height() + 4
        left = self._left()
        tiles: list[Tile] = []
        x = left
        y = 2.0
        for number, word in enumerate(self._words):
            for place, text in enumerate(word.texts):
                wide = metrics.horizontalAdvance(text) + 2 * PADDING
                if x > left and x + wide > width - 2:
                    x = left
                    y = y + height + GAP
                tiles.append(Tile(number, place, QRectF(x, y, wide, height)))
                x += wide + GAP
            x = left
            y = y + height + LINE_GAP
        return tiles, y + 2

    def _fitting_font(self, width: int) -> QFont:
        font = fixed_font(self.font().pointSizeF())
        metrics = QFontMetricsF(font)
        widths = [sum(metrics.horizontalAdvance(text) + 3 * PADDING for text in word.texts) for word in self._words]
        room = (width - 3 * self._left()) / max(1.0, *widths, 1.0)
        font.setPointSizeF(font.pointSizeF() * min(LARGEST, max(1.0, room)))
        return font

    def _left(self) -> float:
        if len(self._words) < 2:
            return 2.0
        widest = max(word.count for word in self._words)
        return QFontMetricsF(self.font()).horizontalAdvance(f"{widest} ×") + 10

    # -- drawing ---------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            if len(self._words) > 1:
                self._draw_counts(painter)
            painter.setFont(self._font)
            for tile in self._tiles[0]:
                self._draw(painter, tile)

    def _draw_counts(self, painter: QPainter) -> None:
        painter.setPen(shades_of(self.palette()).muted)
        for tile in self._tiles[0]:
            if tile.place == 0:
                place = QRectF(0, tile.area.y(), self._left() - 8, tile.area.height())
                right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
                painter.drawText(place, right, f"{self._words[tile.word].count} ×")

    def _draw(self, painter: QPainter, tile: Tile) -> None:
        shades = shades_of(self.palette())
        palette = self.palette()
        word = self._words[tile.word]
        is_new = word.ids[tile.place] == self._newest
        fill = shades.bar_tied if is_new else palette.color(QPalette.ColorRole.Base)
        edge = shades.bar_next if is_new else palette.color(QPalette.ColorRole.Mid)
        pen = QPen(edge, 1.0)
        touched = self._touched
        if touched is not None and tile.word == touched[0] and tile.place - touched[1] in (0, 1):
            pen = QPen(QColor(palette.color(QPalette.ColorRole.Highlight)), 2.0)
        paint_tile(painter, tile.area, word.texts[tile.place], fill, pen, palette.color(QPalette.ColorRole.Text), ROUND)

    # -- the mouse -------------------------------------------------------------------------

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._touch(self._pair_at(event.position()) if self._is_asking else None)

    def leaveEvent(self, event: QEvent) -> None:
        self._touch(None)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        pair = self._pair_at(event.position()) if self._is_asking else None
        if pair is not None and event.button() == Qt.MouseButton.LeftButton:
            texts = self._words[pair[0]].texts
            self.pair_clicked.emit(BETWEEN_PARTS.join(texts[pair[1] : pair[1] + 2]))

    def _touch(self, pair: tuple[int, int] | None) -> None:
        if pair != self._touched:
            self._touched = pair
            self.setCursor(Qt.CursorShape.ArrowCursor if pair is None else Qt.CursorShape.PointingHandCursor)
            self.update()

    def _pair_at(self, point: QPointF) -> tuple[int, int] | None:
        """Return the pair nearest to a point, as the number of its word and the number of its left token.

        Return None if there is none.
        """
        near = GAP / 2 + 0.5
        tile = next((tile for tile in self._tiles[0] if tile.area.adjusted(-near, 0, near, 0).contains(point)), None)
        if tile is None:
            return None
        last = len(self._words[tile.word].texts) - 1
        left = tile.place if point.x() > tile.area.center().x() else tile.place - 1
        return (tile.word, min(max(left, 0), last - 1)) if last > 0 else None
