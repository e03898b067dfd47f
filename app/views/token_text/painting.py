"""Painting rows of tokens: fills behind the letters, hairlines between, marks and outlines around.

What a row looks like is kept with the row for as long as the same tokens in the same
colours lie over it, so that a step through time costs only the rows it changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QPainter, QPen

from app.models.token_text import TokenTextModel
from app.views.token_text.block_layout import BlockLayout, Row
from app.views.token_text.colouring import UNCOLOURED, coloured_tokens
from app.views.token_text.flow import Block
from app.views.token_text.palette import TokenPalette
from app.views.token_text.visible_text import LABEL_SCALE

Int64s = npt.NDArray[np.int64]
ByteSpan = tuple[int, int]

ROW_GAP = 1.0  # paper left above and below the fills
CORNER = 2.5
THINNEST = 2.0  # a token without any width is still shown


@dataclass(frozen=True)
class Overlay:
    """What is shown besides the tokens themselves, all in bytes of the text."""

    selection: ByteSpan | None = None
    outlined: ByteSpan | None = None
    marks: Sequence[ByteSpan] = ()  # in order, not overlapping
    show_blanks: bool = False


@dataclass(frozen=True)
class RowTokens:
    """The fills of one row: rectangles with their colours, and where hairlines stand."""

    key: tuple[bytes, bytes]
    fills: list[tuple[int, QRectF]]
    hairlines: list[QLineF]
    splits: list[QLineF]  # the same, dashed, where they cut a character


class TokenPainter:
    """Paints the visible blocks of a text with one palette."""

    def __init__(self, palette: TokenPalette, pixel: float = 1.0) -> None:
        self.palette = palette
        self.pixel = pixel  # the size of a device's pixel

    def paint(
        self, painter: QPainter, blocks: Sequence[Block], model: TokenTextModel, overlay: Overlay, left: float
    ) -> None:
        """Paint blocks that follow each other; `left` is where rows begin."""
        start = model.pieces.byte_of(blocks[0].start)
        stop = start + sum(block.layout.byte_count for block in blocks)
        stop = min(stop, model.byte_length)
        tokens, colours = coloured_tokens(model.tokens_between, start, stop, model.byte_length)
        for block in blocks:
            painter.save()
            painter.translate(left, block.y)
            for row in block.layout.rows:
                first = start + row.first_byte
                self._paint_fills(painter, block.layout, row, first, tokens.edges, colours)
                self._paint_overlay(painter, block.layout, row, first, overlay)
            self._paint_letters(painter, block.layout)
            if overlay.show_blanks:
                self._paint_blanks(painter, block.layout)
            painter.restore()
            start += block.layout.byte_count

    # -- fills -----------------------------------------------------------------------------

    def _paint_fills(
        self, painter: QPainter, layout: BlockLayout, row: Row, first: int, edges: Int64s, colours: npt.NDArray[np.int8]
    ) -> None:
        if not row.byte_count:
            return
        low = int(np.searchsorted(edges, np.int64(first), side="right")) - 1
        high = int(np.searchsorted(edges, np.int64(first + row.byte_count), side="left"))
        starts = edges[low:high] - first
        key = (starts.tobytes(), colours[low:high].tobytes())
        kept = row.painted
        if not isinstance(kept, RowTokens) or kept.key != key:
            kept = row.painted = self._row_tokens(layout, row, starts, colours[low:high], key)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
        fills, current = self.palette.fills, UNCOLOURED
        for colour, rectangle in kept.fills:
            if colour != current:
                painter.setBrush(fills[colour])
                current = colour
            painter.drawRoundedRect(rectangle, CORNER, CORNER)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        hairline = QPen(self.palette.hairline, self.pixel)
        _draw_lines(painter, kept.hairlines, hairline)
        hairline.setDashPattern([2.0 / self.pixel, 2.0 / self.pixel])
        _draw_lines(painter, kept.splits, hairline)

    def _row_tokens(
        self, layout: BlockLayout, row: Row, starts: Int64s, colours: npt.NDArray[np.int8], key: tuple[bytes, bytes]
    ) -> RowTokens:
        top, bottom = row.y + ROW_GAP, row.y + row.height - ROW_GAP
        fills: list[tuple[int, QRectF]] = []
        hairlines: list[QLineF] = []
        splits: list[QLineF] = []
        own_starts = np.maximum(starts, 0)
        for piece, low, high, begin in self._segments(layout, row, own_starts):
            colour = int(colours[piece])
            if colour != UNCOLOURED:
                fills.append((colour, QRectF(low, top, max(high - low, THINNEST), bottom - top)))
            byte = own_starts[piece]
            if begin is None or byte == 0:
                continue  # the token began before this stretch, or nothing stands before it in the row
            cuts_character = layout.byte_of(layout.character_of(row.first_byte + int(byte))) != row.first_byte + byte
            (splits if cuts_character else hairlines).append(QLineF(begin, top, begin, bottom))
        return RowTokens(key, fills, hairlines, splits)

    def _segments(self, layout: BlockLayout, row: Row, starts: Int64s) -> list[tuple[int, float, float, float | None]]:
        """Stretches of the row without a gap on the screen: which span, from x to x, where the span begins.

        A span is one stretch, save where left-to-right and right-to-left text meet inside it.
        """
        begins, ends = layout.cells(row)
        torn = np.flatnonzero(np.abs(begins[1:] - ends[:-1]) > 0.01) + 1
        cuts = starts if not len(torn) else np.union1d(starts, torn)
        pieces = np.searchsorted(starts, cuts, side="right") - 1
        lasts = np.append(cuts[1:], row.byte_count) - 1
        first_x, last_x = begins[cuts], ends[lasts]
        low = np.round(np.minimum(first_x, last_x) / self.pixel) * self.pixel
        high = np.round(np.maximum(first_x, last_x) / self.pixel) * self.pixel
        starts_span = np.isin(cuts, starts, assume_unique=True)
        edge = np.round(first_x / self.pixel) * self.pixel
        return [
            (piece, x0, x1, x if is_start else None)
            for piece, x0, x1, x, is_start in zip(
                pieces.tolist(), low.tolist(), high.tolist(), edge.tolist(), starts_span.tolist(), strict=True
            )
        ]

    # -- letters ---------------------------------------------------------------------------

    def _paint_letters(self, painter: QPainter, layout: BlockLayout) -> None:
        painter.setPen(self.palette.ink)
        last = layout.rows[-1].line
        if last.lineNumber() == layout.layout.lineCount() - 1:
            layout.layout.draw(painter, QPointF(0, 0))
        else:  # the last row is shown by the next block
            for row in layout.rows:
                row.line.draw(painter, QPointF(0, 0))
        if layout.visible.boxes:
            self._paint_boxes(painter, layout)

    def _paint_boxes(self, painter: QPainter, layout: BlockLayout) -> None:
        small = QFont(layout.setting.font)
        small.setPointSizeF(small.pointSizeF() * LABEL_SCALE)
        painter.setFont(small)
        painter.setPen(QPen(self.palette.faint, self.pixel))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
        for box in layout.visible.boxes:
            row = layout.row_of(box.character)
            if box.character >= row.stop:
                continue  # in the row left to the next block
            begins, ends = layout.cells(row)
            byte = layout.byte_of(box.character) - row.first_byte
            last = layout.byte_of(box.character + 1) - row.first_byte - 1
            low, high = sorted((float(begins[byte]), float(ends[last])))
            frame = QRectF(low, row.y, high - low, row.height).adjusted(2, 4, -2, -4)
            painter.setPen(QPen(self.palette.faint, self.pixel))
            painter.drawRoundedRect(frame, CORNER, CORNER)
            painter.setPen(self.palette.ink)
            painter.drawText(frame, Qt.AlignmentFlag.AlignCenter, box.label)

    def _paint_blanks(self, painter: QPainter, layout: BlockLayout) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
        for row in layout.rows:
            for character in range(row.start, row.stop):
                blank = layout.text[character]
                if blank.isspace() and blank in " \t\n\u00a0":
                    begins, ends = layout.cells(row)
                    byte = layout.byte_of(character) - row.first_byte
                    low, high = sorted((float(begins[byte]), float(ends[byte])))
                    self._paint_blank(painter, blank, QRectF(low, row.y, high - low, row.height))

    def _paint_blank(self, painter: QPainter, blank: str, cell: QRectF) -> None:
        middle = cell.center()
        painter.setPen(QPen(self.palette.faint, 1.2))
        painter.setBrush(self.palette.faint)
        if blank == " ":
            painter.drawEllipse(middle, 0.9, 0.9)
        elif blank == "\u00a0":
            painter.drawPolyline(_points(middle, [(-2.5, 1.5), (-2.5, 3.5), (2.5, 3.5), (2.5, 1.5)]))
        elif blank == "\t":
            left, right = cell.left() + 3 - middle.x(), cell.right() - 3 - middle.x()
            painter.drawPolyline(_points(middle, [(left, 0), (right, 0)]))
            painter.drawPolyline(_points(middle, [(right - 3, -3), (right, 0), (right - 3, 3)]))
        else:
            painter.drawPolyline(_points(middle, [(2.5, -4), (2.5, 1.5), (-2.5, 1.5)]))
            painter.drawPolyline(_points(middle, [(-0.5, -0.5), (-2.5, 1.5), (-0.5, 3.5)]))

    # -- overlays --------------------------------------------------------------------------

    def _paint_overlay(self, painter: QPainter, layout: BlockLayout, row: Row, first: int, overlay: Overlay) -> None:
        stop = first + row.byte_count
        if overlay.selection and overlay.selection[0] < stop and first < overlay.selection[1]:
            for low, high in self._stretches(layout, row, first, overlay.selection):
                painter.fillRect(QRectF(low, row.y, high - low, row.height), self.palette.selection)
        for mark in _touching(overlay.marks, first, stop):
            for low, high in self._stretches(layout, row, first, mark):
                painter.fillRect(QRectF(low, row.y + row.height - 3, high - low, 2), self.palette.mark)
        if overlay.outlined and overlay.outlined[0] < stop and first < overlay.outlined[1]:
            painter.setPen(QPen(self.palette.outline, 1.6))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
            for low, high in self._stretches(layout, row, first, overlay.outlined):
                frame = QRectF(low, row.y + ROW_GAP, max(high - low, THINNEST), row.height - 2 * ROW_GAP)
                painter.drawRoundedRect(frame, CORNER, CORNER)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

    def _stretches(self, layout: BlockLayout, row: Row, first: int, span: ByteSpan) -> list[tuple[float, float]]:
        """Where on the screen a span of bytes lies within a row."""
        start, stop = max(0, span[0] - first), min(row.byte_count, span[1] - first)
        if start >= stop:
            return []
        bounds = sorted({0, start, stop} - {row.byte_count})
        segments = self._segments(layout, row, np.array(bounds, np.int64))
        return [(low, high) for piece, low, high, _ in segments if bounds[piece] == start]


def _touching(marks: Sequence[ByteSpan], start: int, stop: int) -> list[ByteSpan]:
    """Those of the spans, which are in order, that share a byte with a stretch."""
    low, high = 0, len(marks)
    while low < high:
        middle = (low + high) // 2
        if marks[middle][1] <= start:
            low = middle + 1
        else:
            high = middle
    found = []
    while low < len(marks) and marks[low][0] < stop:
        found.append(marks[low])
        low += 1
    return found


def _draw_lines(painter: QPainter, lines: list[QLineF], pen: QPen) -> None:
    if lines:
        painter.setPen(pen)
        painter.drawLines(lines)


def _points(middle: QPointF, offsets: Sequence[tuple[float, float]]) -> list[QPointF]:
    return [QPointF(middle.x() + x, middle.y() + y) for x, y in offsets]
