"""The person's text, each line as all or some tokenizers cut it: one text, one scroll bar."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QHelpEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QToolTip

from app.window.parts.figure_sheet import line_colour
from app.window.parts.wording import tip
from app.window.questions.compare.lanes_model import MOST_LANES, LanesModel
from app.window.text.colours import COLOURS, Int8s, Int64s, coloured_tokens
from app.window.text.text_model import TokenAt, Tokens
from app.window.text.view.block_layout import BlockLayout, TextRow
from app.window.text.view.canvas import TokenCanvas
from app.window.text.view.flow import PlacedBlock
from app.window.text.view.painting import ByteSpan, Overlay, TokenPainter
from app.window.text.view.palette import TokenPalette

GUTTER = 36  # where the letters of the lanes are


class LaneRows(TokenCanvas):
    """Scrolls, zooms and lays out as the token text does; a click asks why it is cut there."""

    place_clicked = Signal(int, int)  # the lane, and the byte before which it cuts, or could

    left = GUTTER

    def __init__(self, model: LanesModel, name: str, places: range = range(MOST_LANES)) -> None:
        """Show the lanes at these places."""
        self._compared, self._places = model, places
        self._lane = 0  # under the mouse
        self._showings = 1
        super().__init__(model.text)
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        model.changed.connect(self._follow)

    @property
    def _shown_places(self) -> range:
        return self._places[: max(0, len(self._compared.lanes) - self._places.start)]

    @property
    def showings(self) -> int:
        return self._showings

    def _follow(self) -> None:
        wanted = max(1, len(self._shown_places))
        if wanted != self._showings:
            self._showings = wanted
            self._lay_out_again()
        self.setAccessibleDescription(self._compared.summary)
        self.viewport().update()

    # -- painting --------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        seen, cuts = event.rect(), self._compared.parallel
        blocks = self.flow.between(seen.top(), seen.bottom() + 1)
        if not blocks or cuts is None or len(self._shown_places) != self._showings:
            return
        lanes = [self._shown(place, cuts.own[place]) for place in self._shown_places]
        colours = TokenPalette.matching(self.palette())
        with QPainter(self.viewport()) as painter:
            painter.setFont(self.font())
            tokens = LanePainter(colours, 1.0 / self.devicePixelRatioF(), cuts.stretches, cuts.differing)
            start = self.model.chunks.byte_of(blocks[0].start)
            tokens.paint_lanes(painter, blocks, start, self.model.data, lanes, self.left)

    def _shown(self, place: int, own_cuts: Int64s) -> LaneShown:
        lane = self._compared.lanes[place]
        assert lane.cut is not None  # or they could not be compared
        hovered = self.hovered.span if self.hovered is not None and place == self._lane else None
        colour = line_colour(self.palette(), place)  # the same as of its curves
        return LaneShown(lane.letter, colour, lane.cut.tokens.between, own_cuts, lane.unknown_id, hovered)

    # -- the mouse -------------------------------------------------------------------------

    def token_at_point(self, point: QPointF) -> TokenAt | None:
        lane = self._lane_at(point.y())
        byte = self.flow.byte_at(point.x() - self.left, point.y())
        if lane is None or byte is None:
            return None
        self._lane = lane
        cut = self._compared.lanes[lane].cut
        return None if cut is None else cut.token_at(byte)

    def _lane_at(self, y: float) -> int | None:
        block = self.flow.block_at(y)
        row = block.layout.row_at(y - block.y)
        showing = int((y - block.y - row.y) // row.height)
        return self._shown_places[showing] if 0 <= showing < len(self._shown_places) else None

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        lane = self._lane_at(event.position().y())
        if event.button() == Qt.MouseButton.LeftButton and lane is not None:
            character = self.flow.character_at(event.position().x() - self.left, event.position().y())
            self.place_clicked.emit(lane, self.model.chunks.byte_of(character))

    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent):
            token = self.token_at_point(QPointF(event.pos()))
            if token is None:
                QToolTip.hideText()
            else:
                QToolTip.showText(event.globalPos(), tip(self._compared.described(self._lane, token)), self)
            return True
        return super().viewportEvent(event)


AGREED_SHARE = 0.42  # the strength of a fill that all have
BAR = 2.0  # the breadth of a cut that not all have
WEDGE = 4.0
UNDERLINE = 2.0
CHIP = 18.0  # the breadth of a lane's letter


@dataclass(frozen=True, eq=False)
class LaneShown:
    """The tokens and cuts to paint for one tokenizer."""

    letter: str
    colour: QColor
    tokens_between: Callable[[int, int], Tokens]
    own_cuts: Int64s  # that not all have
    unknown_id: int | None = None
    outlined: ByteSpan | None = None


@dataclass(frozen=True, eq=False)
class RowDifferences:
    """The places on the screen where a row is cut differently."""

    lines: list[tuple[float, float]]  # under what is
    cuts: Int64s  # in bytes of the row, and the place of each
    places: npt.NDArray[np.floating]


class LanePainter(TokenPainter):
    """Paints the visible blocks of a text, each row once for every lane."""

    def __init__(self, palette: TokenPalette, pixel: float, stretches: Int64s, cuts: Int64s) -> None:
        super().__init__(palette, pixel)
        self._stretches_that_differ, self._differing_cuts = stretches, cuts
        self._differences: dict[int, RowDifferences] = {}  # of the rows on the screen
        agreed = [_towards(fill, palette.paper) for fill in palette.fills]
        self._fills = np.array([*(fill.rgb() for fill in (*palette.fills, *agreed)), 0, 0], np.uint32)

    def paint_lanes(
        self,
        painter: QPainter,
        blocks: Sequence[PlacedBlock],
        start: int,
        data: bytes,
        lanes: Sequence[LaneShown],
        left: float,
    ) -> None:
        """Paint consecutive blocks; the first begins at byte `start` of the text `data`."""
        stop = start + sum(block.layout.byte_count for block in blocks)
        coloured = [coloured_tokens(one.tokens_between, data, start, stop, unknown=one.unknown_id) for one in lanes]
        for block in blocks:
            for row in block.layout.rows:
                first = start + row.first_byte
                self._differences[id(row)] = self._differing_in(block.layout, row, first)
                for showing, (lane, (tokens, colours)) in enumerate(zip(lanes, coloured, strict=True)):
                    painter.save()
                    painter.translate(left, block.y + showing * row.height)
                    paler = self._set_back(tokens.edges[:-1], colours)
                    self._paint_fills(painter, block.layout, row, first, tokens.edges, paler, showing)
                    self._paint_overlay(painter, block.layout, row, first, Overlay(outlined=lane.outlined))
                    painter.setPen(self.palette.ink)
                    row.line.draw(painter, QPointF(0, 0))
                    if block.layout.visible.boxes:
                        self._paint_boxes(painter, block.layout, row)
                    self._paint_differences(painter, row, first, lane)
                    self._paint_letter(painter, row, lane, left)
                    painter.restore()
            start += block.layout.byte_count

    def _set_back(self, starts: Int64s, colours: Int8s) -> Int8s:
        begins, ends = self._stretches_that_differ.T
        inside = np.searchsorted(begins, starts, side="right") > np.searchsorted(ends, starts, side="right")
        paler: Int8s = np.where(inside | (colours < 0), colours, colours + COLOURS).astype(np.int8)
        return paler

    def _paint_differences(self, painter: QPainter, row: TextRow, first: int, lane: LaneShown) -> None:
        found = self._differences[id(row)]
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self.palette.mark)
        bottom = row.y + row.height - 1
        painter.drawRects(
            [QRectF(x + 1, bottom - UNDERLINE, max(1.0, end - x - 2), UNDERLINE) for x, end in found.lines]
        )
        own = _are_in(found.cuts + first, lane.own_cuts)
        if not own.any():
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        top, places = row.y + 0.5, found.places[own].tolist()
        painter.drawRects([QRectF(x - BAR / 2, row.y + 1, BAR, row.height - 2) for x in places])
        for x in places:
            painter.drawPolygon(QPolygonF([QPointF(x - WEDGE, top), QPointF(x + WEDGE, top), QPointF(x, top + WEDGE)]))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

    def _differing_in(self, layout: BlockLayout, row: TextRow, first: int) -> RowDifferences:
        begins, ends = (np.clip(side - first, 0, row.byte_count) for side in self._stretches_that_differ.T)
        is_here = ends > begins
        begins, ends = begins[is_here], ends[is_here]
        low, high = np.searchsorted(self._differing_cuts, (first, first + row.byte_count))
        cuts = self._differing_cuts[low:high] - first
        bounds = np.flatnonzero(np.bincount(np.concatenate((np.zeros(1, np.int64), begins, ends, cuts))))
        bounds = bounds[bounds < row.byte_count]
        if not row.byte_count or not len(begins):
            return RowDifferences([], cuts[:0], np.zeros(0))
        segments = self._segments(layout, row, bounds)
        starts = bounds[segments.span]
        inside = np.searchsorted(begins, starts, side="right") > np.searchsorted(ends, starts, side="right")
        columns = (column[inside].tolist() for column in (segments.low, segments.high, starts))
        lines = sorted(zip(*columns, strict=True))
        joined: list[tuple[float, float]] = []
        goes_on = set(cuts.tolist()) - set(begins.tolist())  # a cut inside of a stretch does not end its line
        for x, end, start in lines:
            if joined and start in goes_on and abs(joined[-1][1] - x * self.pixel) < 1:
                joined[-1] = joined[-1][0], end * self.pixel
            else:
                joined.append((x * self.pixel, end * self.pixel))
        is_cut = segments.is_first & _are_in(starts, cuts)
        return RowDifferences(joined, starts[is_cut], segments.begin[is_cut] * np.float64(self.pixel))

    def _paint_letter(self, painter: QPainter, row: TextRow, lane: LaneShown, left: float) -> None:
        chip = QRectF(8 - left, row.y + 2, CHIP, row.height - 4)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(lane.colour)
        painter.drawRoundedRect(chip, 3, 3)
        painter.setPen(QPen(self.palette.paper))
        painter.drawText(chip, Qt.AlignmentFlag.AlignCenter, lane.letter)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)


def _are_in(places: Int64s, ascending: Int64s) -> npt.NDArray[np.bool_]:
    """Whether each of these places is among many sorted ones."""
    if not len(ascending):
        return np.zeros(len(places), np.bool_)
    where = np.searchsorted(ascending, places)
    found: npt.NDArray[np.bool_] = ascending[np.minimum(where, len(ascending) - 1)] == places
    return found


def _towards(fill: QColor, paper: QColor) -> QColor:
    def mixed(over: float, under: float) -> float:
        return over * AGREED_SHARE + under * (1 - AGREED_SHARE)

    return QColor.fromRgbF(
        mixed(fill.redF(), paper.redF()), mixed(fill.greenF(), paper.greenF()), mixed(fill.blueF(), paper.blueF())
    )
