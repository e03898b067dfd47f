"""The painter of the background of tokens: colours, thin lines and frames.

Qt draws the letters above the background.

The painted background of a row is cached while its tokens and colours stay the same. So a step paints only the rows
that it changes.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPen, QTextBlock

from app.session.selection import NOTHING, Highlight
from app.window.text.colours import UNKNOWN, Int8s, Int64s, coloured_tokens
from app.window.text.highlighted_places import ByteSpan as ByteSpan
from app.window.text.highlighted_places import places_of
from app.window.text.text_model import TokenTextModel
from app.window.text.view.cells import BlockCells, TextRow
from app.window.text.view.palette import TokenPalette

ROW_GAP = 1.0  # paper left above and below the fills
CORNER = 2.5
MARK_HEIGHT = 2.0  # height of the line under marked spans
LIT_WIDTH = 2.0  # width of the frame around what lights up
THINNEST = 2  # pixels for a token without width


@dataclass(frozen=True)
class PlacedBlock:
    """A block on the screen, with its visible rows."""

    block: QTextBlock
    start: int  # its first byte
    y: float
    cells: BlockCells
    rows: Sequence[TextRow]


def bytes_on_screen(blocks: Sequence[PlacedBlock]) -> ByteSpan:
    first = blocks[0]
    last = blocks[-1]
    return first.start + first.rows[0].first_byte, last.start + last.rows[-1].first_byte + last.rows[-1].byte_count


@dataclass(frozen=True)
class Overlay:
    """The marks that are painted over the tokens, as byte ranges of the text."""

    selection: ByteSpan | None = None
    outlined: ByteSpan | None = None
    show_blanks: bool = False
    marked: Sequence[ByteSpan] = ()  # in order
    highlight: Highlight = NOTHING  # what the user points at, or has kept


def spans_between(spans: Sequence[ByteSpan], start: int, stop: int) -> Sequence[ByteSpan]:
    """Return the spans that overlap a range. The spans must be sorted."""
    first = bisect_right(spans, start, key=lambda span: span[1])
    return spans[first : bisect_left(spans, stop, key=lambda span: span[0])]


@dataclass(frozen=True)
class RowTokens:
    """The cached background of a row: a line of pixels that is stretched to the height of the row."""

    key: tuple[object, ...]
    pixels: npt.NDArray[np.uint32]  # the image uses their memory
    image: QImage
    splits: list[QLineF]  # hairlines that cut a character, from the top of the row
    unknown: list[QRectF]  # hatched areas


@dataclass(frozen=True)
class Segments:
    """The rectangles that are painted for one row of the text.

    A byte range usually has one rectangle. If two reading directions meet in the range, it has several.
    """

    span: Int64s  # the span of each segment
    low: Int64s  # the sides of each segment, in device pixels
    high: Int64s
    begin: Int64s
    is_first: npt.NDArray[np.bool_]  # whether the span begins here


class TokenPainter:
    def __init__(self, palette: TokenPalette, pixel: float = 1.0) -> None:
        self.palette = palette
        self.pixel = pixel  # the size of a device's pixel
        self._fills = np.zeros(0, np.uint32)  # by colour; the last two for UNKNOWN and UNCOLOURED

    def paint(
        self,
        painter: QPainter,
        blocks: Sequence[PlacedBlock],
        model: TokenTextModel,
        overlay: Overlay,
        showing: int = 0,
        moment: int | None = None,
    ) -> None:
        """Paint consecutive blocks after `moment` steps, or at the step shown if `moment` is None.

        Painted rows are cached, with a separate cache for each value of `showing`. Two callers that paint different
        steps pass different values, so that they do not clear each other's cache.
        """
        start, stop = bytes_on_screen(blocks)
        tokens_between = partial(model.tokens_between, cursor=moment)
        tokens, colours = coloured_tokens(tokens_between, model.data, start, stop, model.scale, model.unknown_id)
        highlight = places_of(overlay.highlight, model.data, tokens)
        fills = self.palette.fills if model.scale is None else self.palette.on_scale
        self._fills = np.array([*(fill.rgb() for fill in fills), 0, 0], np.uint32)
        for block in blocks:
            painter.save()
            painter.translate(0, block.y)
            for row in block.rows:
                first = block.start + row.first_byte
                self._paint_fills(painter, block.cells, row, first, tokens.edges, colours, showing)
                self._paint_overlay(painter, row, first, overlay)
                self._paint_highlight(painter, row, first, highlight)
            if overlay.show_blanks:
                self._paint_blanks(painter, block)
            painter.restore()

    # -- fills -----------------------------------------------------------------------------

    def _paint_fills(
        self,
        painter: QPainter,
        cells: BlockCells,
        row: TextRow,
        first: int,
        edges: Int64s,
        colours: Int8s,
        showing: int = 0,
    ) -> None:
        if not row.byte_count:
            return
        low = int(np.searchsorted(edges, np.int64(first), side="right")) - 1
        high = int(np.searchsorted(edges, np.int64(first + row.byte_count), side="left"))
        starts = edges[low:high] - first
        key = (starts.tobytes(), colours[low:high].tobytes(), self._fills.tobytes(), self.pixel)
        kept = row.cells.painted.get(showing)
        if not isinstance(kept, RowTokens) or kept.key != key:
            kept = self._row_tokens(cells, row, np.maximum(starts, 0), colours[low:high], key)
            row.cells.painted[showing] = kept
        painter.drawImage(
            QRectF(0, row.y + ROW_GAP, len(kept.pixels) * self.pixel, row.height - 2 * ROW_GAP), kept.image
        )
        if kept.unknown:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self.palette.hatching)
            painter.drawRects([area.translated(0, row.y) for area in kept.unknown])
        if kept.splits:
            pen = QPen(self.palette.hairline, self.pixel)
            pen.setDashPattern([2.0 / self.pixel, 2.0 / self.pixel])
            painter.setPen(pen)
            painter.drawLines([line.translated(0, row.y) for line in kept.splits])

    def _row_tokens(
        self, cells: BlockCells, row: TextRow, starts: Int64s, colours: Int8s, key: tuple[object, ...]
    ) -> RowTokens:
        segments = self._segments(row, starts)
        pixels = _line_of_pixels(segments, self._fills[colours[segments.span]])
        begins_here = segments.is_first & (starts[segments.span] > 0)  # the edge of a row divides no token
        is_split = cells.splits_character(row.first_byte + starts[segments.span])
        edges = segments.begin[begins_here & ~is_split]
        _draw_over(pixels, edges, self.palette.hairline)
        _draw_over(pixels, edges - 1, self.palette.paper)  # neighbours may have the same colour
        top = ROW_GAP
        bottom = row.height - ROW_GAP
        places = ((segments.begin[begins_here & is_split] + 0.5) * self.pixel).tolist()
        image = QImage(pixels.data, len(pixels), 1, pixels.nbytes, QImage.Format.Format_ARGB32_Premultiplied)
        is_unknown = colours[segments.span] == UNKNOWN
        sides = ((side[is_unknown] * self.pixel).tolist() for side in (segments.low, segments.high))
        unknown = [QRectF(low, top, high - low, bottom - top) for low, high in zip(*sides, strict=True)]
        return RowTokens(key, pixels, image, [QLineF(x, top, x, bottom) for x in places], unknown)

    def _segments(self, row: TextRow, starts: Int64s) -> Segments:
        begins = row.cells.begins
        ends = row.cells.ends
        torn = np.flatnonzero(_gaps_after_bytes(row)) + 1
        cuts = starts if not len(torn) else np.union1d(starts, torn)
        span = np.searchsorted(starts, cuts, side="right") - 1
        begin = np.round(begins[cuts] / self.pixel).astype(np.int64)
        end = np.round(ends[np.append(cuts[1:], row.byte_count) - 1] / self.pixel).astype(np.int64)
        return Segments(span, np.minimum(begin, end), np.maximum(begin, end), begin, starts[span] == cuts)

    # -- blanks ----------------------------------------------------------------------------

    def _paint_blanks(self, painter: QPainter, block: PlacedBlock) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
        cells = block.cells
        for row in block.rows:
            for character in range(row.start, row.stop):
                blank = cells.text[character]
                if blank.isspace() and blank in " \t\n\u00a0":
                    byte = cells.byte_of(character) - row.first_byte
                    low, high = sorted((float(row.cells.begins[byte]), float(row.cells.ends[byte])))
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
            left = cell.left() + 3 - middle.x()
            right = cell.right() - 3 - middle.x()
            painter.drawPolyline(_points(middle, [(left, 0), (right, 0)]))
            painter.drawPolyline(_points(middle, [(right - 3, -3), (right, 0), (right - 3, 3)]))
        else:
            painter.drawPolyline(_points(middle, [(2.5, -4), (2.5, 1.5), (-2.5, 1.5)]))
            painter.drawPolyline(_points(middle, [(-0.5, -0.5), (-2.5, 1.5), (-0.5, 3.5)]))

    # -- overlays --------------------------------------------------------------------------

    def _paint_overlay(self, painter: QPainter, row: TextRow, first: int, overlay: Overlay) -> None:
        stop = first + row.byte_count
        if overlay.selection and overlay.selection[0] < stop and first < overlay.selection[1]:
            for low, high in self._stretches(row, first, overlay.selection):
                painter.fillRect(QRectF(low, row.y, high - low, row.height), self.palette.selection)
        for span in spans_between(overlay.marked, first, stop):
            for low, high in self._stretches(row, first, span):
                line = QRectF(low, row.y + row.height - MARK_HEIGHT, high - low, MARK_HEIGHT)
                painter.fillRect(line, self.palette.mark)
        if overlay.outlined and overlay.outlined[0] < stop and first < overlay.outlined[1]:
            painter.setPen(QPen(self.palette.outline, 1.6))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
            for low, high in self._stretches(row, first, overlay.outlined):
                frame = QRectF(low, row.y + ROW_GAP, max(high - low, THINNEST), row.height - 2 * ROW_GAP)
                painter.drawRoundedRect(frame, CORNER, CORNER)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

    def _paint_highlight(self, painter: QPainter, row: TextRow, first: int, highlight: Sequence[ByteSpan]) -> None:
        """Draw a frame around each highlighted place in one row of the text.

        This must be quick, because there may be hundreds of places.
        """
        stop = first + row.byte_count
        here = spans_between(highlight, first, stop)
        if not here:
            return
        begins = row.cells.begins
        ends = row.cells.ends
        if _is_torn(row):
            sides = [side for span in here for side in self._stretches(row, first, span)]
        else:
            starts = np.array([max(0, span[0] - first) for span in here])
            lasts = np.array([min(row.byte_count, span[1] - first) - 1 for span in here])
            low = np.minimum(begins[starts], ends[lasts]).tolist()
            high = np.maximum(begins[starts], ends[lasts]).tolist()
            sides = list(zip(low, high, strict=True))
        painter.setPen(QPen(self.palette.mark, LIT_WIDTH))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        top = row.y + ROW_GAP + 1
        height = row.height - 2 * ROW_GAP - 2
        painter.drawRects([QRectF(left, top, max(right - left, THINNEST), height) for left, right in sides])

    def _stretches(self, row: TextRow, first: int, span: ByteSpan) -> list[tuple[float, float]]:
        start = max(0, span[0] - first)
        stop = min(row.byte_count, span[1] - first)
        if start >= stop:
            return []
        bounds = sorted({0, start, stop} - {row.byte_count})
        segments = self._segments(row, np.array(bounds, np.int64))
        wanted = segments.span == bounds.index(start)
        low = segments.low[wanted] * self.pixel
        high = segments.high[wanted] * self.pixel
        return list(zip(low.tolist(), high.tolist(), strict=True))


def _gaps_after_bytes(row: TextRow) -> npt.NDArray[np.bool_]:
    """Return a mask of the bytes whose next byte is not beside them, because two reading directions meet there."""
    gaps: npt.NDArray[np.bool_] = np.abs(row.cells.begins[1:] - row.cells.ends[:-1]) > 0.01
    return gaps


def _is_torn(row: TextRow) -> bool:
    return bool(_gaps_after_bytes(row).any())


def paint_tile(
    painter: QPainter, area: QRectF, text: str, fill: QColor, edge: QPen, ink: QColor, corner: float = 3.0
) -> None:
    painter.setPen(edge)
    painter.setBrush(fill)
    painter.drawRoundedRect(area, corner, corner)
    painter.setPen(ink)
    painter.drawText(area, Qt.AlignmentFlag.AlignCenter, text)


def _line_of_pixels(segments: Segments, fills: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
    """Return a line of pixels with the colours of the segments side by side. Gaps are transparent."""
    order = np.argsort(segments.low, kind="stable")
    low = segments.low[order]
    high = np.maximum(segments.high[order], segments.low[order] + THINNEST)
    reached = np.maximum.accumulate(high)
    low[1:] = np.maximum(low[1:], reached[:-1])  # a widened segment pushes the next
    widths = np.empty(2 * len(low), np.int64)
    widths[0::2] = low - np.append(0, reached[:-1])
    widths[1::2] = high - low
    values = np.zeros(2 * len(low), np.uint32)
    values[1::2] = fills[order]
    return np.repeat(values, np.maximum(widths, 0))


def _draw_over(pixels: npt.NDArray[np.uint32], places: Int64s, colour: QColor) -> None:
    channels = pixels.view(np.uint8).reshape(-1, 4)  # blue, green, red, alpha; or the other way round
    opaque = np.array([QColor(colour.rgb()).rgba()], np.uint32).view(np.uint8).astype(np.float64)
    at = places[(places >= 0) & (places < len(pixels))]
    share = colour.alphaF()
    channels[at] = np.round(channels[at] * (1 - share) + opaque * share)


def _points(middle: QPointF, offsets: Sequence[tuple[float, float]]) -> list[QPointF]:
    return [QPointF(middle.x() + x, middle.y() + y) for x, y in offsets]
