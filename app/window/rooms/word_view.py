"""The view of a word with a tile for each token. When a step joins two tiles, they slide together."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import ceil

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFocusEvent,
    QFontMetricsF,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QTextLayout,
)
from PySide6.QtWidgets import QWidget

from app.session.selection import NOTHING, Highlight
from app.window.parts.theme import fixed_font, shades_of
from app.window.parts.timing import Motion, smooth_progress
from app.window.parts.wording import reads_from_the_right
from app.window.parts.zoom import zoomed
from app.window.rooms.my_word import Tile, WordTiles
from app.window.text.colours import colours_in_row
from app.window.text.view.painting import LIT_WIDTH
from app.window.text.view.palette import TokenPalette

LARGEST, SMALLEST = 28.0, 13.0  # points; as large as fits, in several rows if even the smallest is too wide
PADDING = 7.0
GAP = 8.0
CORNER = 6.0
SLIDE_SECONDS = 0.45
MARGIN_OF_NUMBERS = 4.0  # space above and below the numbers
MOST_ROWS = 3
SPLIT = 14.0  # pixels about a split that can be clicked; wider than the gap, so that it is easy to hit
ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
LEAST_BETWEEN = 5.0  # pixels between two numbers
Fills = dict[int, QColor]  # fills of the tiles, by their first characters


@dataclass(frozen=True)
class ClickTarget:
    """A part of the word that a user can click: a tile, or the boundary before a tile."""

    area: QRectF
    tile: Tile
    is_split: bool = False


class WordView(QWidget):
    """A view of a word, with its tokens as tiles.

    A user can click tiles and boundaries, or go from one to the next with the arrow keys.
    """

    token_pointed = Signal(int)  # the token of the tile that is pointed at, or -1
    token_clicked = Signal(int)
    split_clicked = Signal(int)  # the character after a split

    def __init__(self, parent: QWidget | None = None, *, most_rows: int = MOST_ROWS) -> None:
        super().__init__(parent)
        self._most_rows = most_rows
        self.targets: list[ClickTarget] = []  # in the order of reading, as they were drawn last
        self._highlight: Highlight = NOTHING
        self._current = -1  # the target that the arrow keys reached
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # a click leaves Space to playing
        self._now = self._before = WordTiles((), (), 0)
        self._slide = Motion(self, self.update)
        self.setAccessibleName("The word, split into tokens")

    def sizeHint(self) -> QSize:
        return QSize(480, self.minimumSizeHint().height())

    def minimumSizeHint(self) -> QSize:
        """Return a size that has room for one row of the largest tiles and for their numbers, in the current fonts."""
        tiles = QFontMetricsF(fixed_font(zoomed(LARGEST))).height() + 2 * PADDING
        return QSize(0, ceil(tiles + _height_of_numbers(self)))

    def heightForWidth(self, width: int) -> int:
        """Return the height that all rows need.

        Layouts that ask for this height give the view enough room for all rows.
        """
        rows = _TileRows(self, QPainter(), self._now, width)
        return max(self.minimumSizeHint().height(), ceil(rows.needed_height(self._most_rows)))

    def show_tiles(self, cut: WordTiles, *, slides: bool) -> None:
        """Show the tokens of the word as tiles.

        If `slides` is true and a single step has joined tiles, the tiles slide from the places that they had before
        this step.
        """
        joins = cut.at == self._now.at + 1 and len(cut.tiles) < len(self._now.tiles)
        is_next = joins and cut.characters == self._now.characters
        if is_next or cut.tiles != self._now.tiles:
            self._slide.end()
            self._before = self._now if is_next and slides else cut
            if is_next and slides:
                self._slide.begin(SLIDE_SECONDS)
        self._now = cut
        texts = (tile.sign + "".join(cut.characters[tile.first : tile.stop]) for tile in cut.tiles)
        self.setAccessibleDescription(" | ".join(texts))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self._now.tiles:
            return
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            progress = smooth_progress(self._slide.progress)
            rows = _TileRows(self, painter, self._now, self.width())
            rows.draw(self._before if progress < 1 else self._now, progress, self._most_rows)
            self.targets = rows.targets() if progress >= 1 else []
            self._paint_frames(painter)

    # -- pointing and clicking -------------------------------------------------------------

    def show_highlight(self, highlight: Highlight) -> None:
        """Frame the tiles of the highlighted token or pair."""
        if highlight != self._highlight:
            self._highlight = highlight
            self.update()

    def _paint_frames(self, painter: QPainter) -> None:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(TokenPalette.matching(self.palette()).mark, LIT_WIDTH))
        tiles = [target for target in self.targets if not target.is_split]
        wanted = self._highlight.tokens
        for place in range(len(tiles) - len(wanted) + 1 if wanted else 0):
            some = tiles[place : place + len(wanted)]
            if tuple(target.tile.id for target in some) == wanted:
                for target in some:
                    painter.drawRoundedRect(target.area.adjusted(-1, -1, 1, 1), CORNER, CORNER)
        if self.hasFocus() and 0 <= self._current < len(self.targets):
            painter.setPen(QPen(self.palette().text().color(), 1, Qt.PenStyle.DotLine))
            painter.drawRoundedRect(self.targets[self._current].area.adjusted(-3, -3, 3, 3), CORNER, CORNER)

    def target_at(self, place: QPointF) -> ClickTarget | None:
        """Return the tile or the boundary at a place, or None.

        Boundaries are narrow. If a place belongs to a boundary and to a tile, return the boundary.
        """
        inside = [target for target in self.targets if target.area.contains(place)]
        return min(inside, key=lambda target: target.area.width(), default=None)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        target = self.target_at(event.position())
        self.setCursor(Qt.CursorShape.ArrowCursor if target is None else Qt.CursorShape.PointingHandCursor)
        self._point(target)

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._point(None)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        target = self.target_at(event.position())
        if target is not None and event.button() == Qt.MouseButton.LeftButton:
            self._click(target)

    def _point(self, target: ClickTarget | None) -> None:
        token = None if target is None or target.is_split else target.tile.id
        self.token_pointed.emit(-1 if token is None else token)

    def _click(self, target: ClickTarget) -> None:
        if target.is_split:
            self.split_clicked.emit(target.tile.first)
        elif target.tile.id is not None:
            self.token_clicked.emit(target.tile.id)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        ways = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
        key = Qt.Key(event.key())
        if key in ways and self.targets:
            self._current = min(max(0, self._current + ways[key]), len(self.targets) - 1)
            target = self.targets[self._current]
            self._point(target)
            self.setAccessibleDescription(_describe_target(target, self._now))
            self.update()
        elif key in ENTER and 0 <= self._current < len(self.targets):
            self._click(self.targets[self._current])
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._current = -1
        self._point(None)
        self.update()


def _describe_target(target: ClickTarget, cut: WordTiles) -> str:
    """Return a description of a tile or a boundary for screen readers."""
    tile = target.tile
    text = tile.sign + "".join(cut.characters[tile.first : tile.stop])
    return f"Split before {text}" if target.is_split else f"Token {text}"


class _TileRows:
    """A painter of tiles in rows. No tile is divided between two rows."""

    def __init__(self, view: QWidget, painter: QPainter, now: WordTiles, width: int) -> None:
        self._view = view
        self._painter = painter
        self._now = now
        self._palette = TokenPalette.matching(view.palette())
        self._shades = shades_of(view.palette())
        room = width - 20.0
        self._font = fixed_font(zoomed(LARGEST))
        probe = QFontMetricsF(self._font)
        taken = len(now.characters) * (GAP + 2 * PADDING)
        letters = sum(map(probe.horizontalAdvance, now.characters))
        share = max(0.0, room - taken) / max(1.0, letters)
        self._font.setPointSizeF(max(zoomed(SMALLEST), zoomed(LARGEST) * min(1.0, share)))
        metrics = QFontMetricsF(self._font)
        self._widths = [metrics.horizontalAdvance(character) for character in now.characters]
        self._rows = _rows(now.tiles, self._widths, room)
        self._placed: list[tuple[Tile, QRectF]] = []  # the tiles as they are drawn
        self._height = metrics.height() + (2 * PADDING if len(self._rows) == 1 else 2)

    def targets(self) -> list[ClickTarget]:
        """Return the places of all drawn tiles, and of the boundaries between two tiles in a row."""
        targets = list[ClickTarget]()
        by_place = sorted(self._placed, key=lambda placed: placed[0].first)
        for number, (tile, area) in enumerate(by_place):
            before = by_place[number - 1][1] if number else None
            if before is not None and before.top() == area.top():
                left, right = sorted((before, area), key=QRectF.left)
                middle = (left.right() + right.left()) / 2
                targets.append(
                    ClickTarget(QRectF(middle - SPLIT / 2, area.top(), SPLIT, area.height()), tile, is_split=True)
                )
            targets.append(ClickTarget(area, tile))
        return targets

    @property
    def _row_distance(self) -> float:
        """Return the distance from the top of a row to the top of the next row."""
        return self._height + (_height_of_numbers(self._view) if len(self._rows) == 1 else GAP)

    def needed_height(self, most_rows: int) -> float:
        return self._row_distance * min(most_rows, len(self._rows))

    def draw(self, before: WordTiles, progress: float, most_rows: int) -> None:
        """Draw the tiles at a moment of an animation. `progress` is from 0 to 1.

        The tiles move from their places in `before` to their new places. They do not move if the word needs several
        rows, or if it is written from right to left.
        """
        is_shaped = reads_from_the_right("".join(self._now.characters))
        if is_shaped or len(self._rows) > 1:
            before = self._now
            progress = 1.0
        fills = self._fills(before), self._fills(self._now)
        top = max(0.0, (self._view.height() - self.needed_height(most_rows)) / 2)
        for number, row in enumerate(self._rows[:most_rows]):
            if is_shaped:
                self._draw_shaped_row(row, fills[1], top + number * self._row_distance)
                continue
            first = row[0].first
            stop = row[-1].stop
            were = [tile for tile in before.tiles if first <= tile.first < stop]
            self._row(were, row, fills, top + number * self._row_distance, progress)

    def _draw_shaped_row(self, tiles: list[Tile], fills: Fills, top: float) -> None:
        """Draw a row of tiles in reading order. Each letter has the same shape as in the undivided word."""
        first = tiles[0].first
        characters = self._now.characters[first : tiles[-1].stop]
        starts = list(accumulate((len(item.encode("utf-16-le")) // 2 for item in characters), initial=0))
        layout = QTextLayout("".join(characters), self._font)
        layout.beginLayout()
        line = layout.createLine()
        layout.endLayout()
        placed = list[tuple[float, float, Tile]]()
        for tile in tiles:
            places = range(tile.first - first, tile.stop - first + 1)
            edges = [float(line.cursorToX(starts[place])[0]) for place in places]  # type: ignore[index]
            placed.append((min(edges), max(edges), tile))
        placed.sort(key=lambda item: item[0])
        room = GAP + 2 * PADDING
        taken = sum(right - left for left, right, _ in placed) + room * len(placed) - GAP
        x = (self._view.width() - taken) / 2 + PADDING
        letters_top = top + (self._height - QFontMetricsF(self._font).height()) / 2
        middles = dict[int, float]()
        for left, right, tile in placed:
            self._box(tile, fills[tile.first], QRectF(x - PADDING, top, right - left + 2 * PADDING, self._height))
            start = starts[tile.first - first]
            stop = starts[tile.stop - first]
            for run in layout.glyphRuns(start, stop - start):
                self._painter.drawGlyphRun(QPointF(x - left, letters_top), run)
            middles[tile.first] = x + (right - left) / 2
            x += right - left + room
        if len(self._rows) == 1:
            ordered = [tile for _, _, tile in placed]
            self._write_below(ordered, [middles[tile.first] for tile in ordered], top + self._height + 3)

    def _box(self, tile: Tile, fill: QColor, area: QRectF) -> None:
        self._placed.append((tile, area))
        self._painter.setPen(Qt.PenStyle.NoPen)
        for brush in (QBrush(fill), *([self._palette.hatching] if tile.unknown else [])):
            self._painter.setBrush(brush)
            self._painter.drawRoundedRect(area, CORNER, CORNER)
        self._painter.setPen(self._palette.ink)

    def _row(
        self, before: list[Tile], now: list[Tile], fills: tuple[Fills, Fills], top: float, progress: float
    ) -> None:
        lefts = self._left_edges(before, now, progress)
        whole = {first: tile for tile in now for first in range(tile.first, tile.stop)}
        kept = {tile.first for tile in now}
        ends = {tile.stop for tile in now}
        for tile in before:
            left = PADDING * (1.0 if tile.first in kept else 1.0 - progress)
            right = PADDING * (1.0 if tile.stop in ends else 1.0 - progress)
            begin = lefts[tile.first] - left
            end = lefts[tile.stop - 1] + self._widths[tile.stop - 1] + right
            fill = _between(fills[0][tile.first], fills[1][whole[tile.first].first], progress)
            self._box(tile, fill, QRectF(begin, top, end - begin, self._height))
            self._painter.setFont(self._font)
            for place in range(tile.first, tile.stop):
                area = QRectF(lefts[place], top, self._widths[place] + 1, self._height)
                self._painter.drawText(area, Qt.AlignmentFlag.AlignCenter, self._now.characters[place])
        self._below(now if progress >= 0.5 else before, lefts, top + self._height + 3)

    def _fills(self, cut: WordTiles) -> Fills:
        colours = zip(cut.tiles, colours_in_row([tile.data for tile in cut.tiles]), strict=True)
        paper = self._palette.paper
        fills = self._palette.fills
        return {tile.first: paper if tile.unknown else fills[colour] for tile, colour in colours}

    def _left_edges(self, before: list[Tile], now: list[Tile], progress: float) -> dict[int, float]:
        """Return the left edge of each character. The gap between two tiles gets smaller while a step joins them."""
        kept = {tile.first for tile in now}
        starts = {tile.first for tile in before}
        lefts = dict[int, float]()
        x = PADDING
        first = now[0].first
        for place in range(first, now[-1].stop):
            if place > first and place in starts:
                x += (GAP + 2 * PADDING) * (1.0 if place in kept else 1.0 - progress)
            lefts[place] = x
            x += self._widths[place]
        shift = (self._view.width() - x - PADDING) / 2
        return {place: left + shift for place, left in lefts.items()}

    def _below(self, tiles: list[Tile], lefts: dict[int, float], top: float) -> None:
        if len(self._rows) == 1:
            ends = [(lefts[tile.first], lefts[tile.stop - 1] + self._widths[tile.stop - 1]) for tile in tiles]
            self._write_below(tiles, [(left + right) / 2 for left, right in ends], top)

    def _write_below(self, tiles: list[Tile], middles: list[float], top: float) -> None:
        """Write the ids below the tiles. If the full ids need too much space, write shortened ids, or none."""
        metrics = QFontMetricsF(self._view.font())
        for write in (_full_ids, _short_ids):
            texts = [*map(write, tiles)]
            halves = [metrics.horizontalAdvance(text) / 2 for text in texts]
            taken = [left + right + LEAST_BETWEEN for left, right in pairwise(halves)]
            if all(b - a >= room for (a, b), room in zip(pairwise(middles), taken, strict=True)):
                break
        else:
            return
        self._painter.setFont(self._view.font())
        self._painter.setPen(self._shades.muted)
        for text, middle in zip(texts, middles, strict=True):
            self._painter.drawText(QPointF(middle - metrics.horizontalAdvance(text) / 2, top + metrics.ascent()), text)


def _full_ids(tile: Tile) -> str:
    """Return the ids of a tile as text. If the token begins with a marker, the text begins with this marker."""
    if tile.id is None:
        return " ".join(map(str, tile.ids))
    return f"{tile.sign}… {tile.id}" if tile.sign else str(tile.id)


def _short_ids(tile: Tile) -> str:
    if tile.tokens > 1:
        return f"{tile.tokens} ids"
    return "" if tile.id is None else str(tile.id)


def _height_of_numbers(view: QWidget) -> float:
    return QFontMetricsF(view.font()).height() + MARGIN_OF_NUMBERS


def _rows(tiles: tuple[Tile, ...], widths: list[float], room: float) -> list[list[Tile]]:
    rows: list[list[Tile]] = [[]]
    x = 0.0
    for tile in tiles:
        width = sum(widths[tile.first : tile.stop]) + GAP + 2 * PADDING
        if rows[-1] and x + width > room:
            rows.append([])
            x = 0.0
        rows[-1].append(tile)
        x += width
    return rows


def _between(first: QColor, second: QColor, progress: float) -> QColor:
    mixed = [a + (b - a) * progress for a, b in zip(first.getRgbF()[:3], second.getRgbF()[:3], strict=True)]  # type: ignore[index]
    return QColor.fromRgbF(*mixed)
