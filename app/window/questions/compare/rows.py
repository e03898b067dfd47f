"""The view of the text as one of several tokenizers splits it. Places where all tokenizers agree are pale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QHelpEvent, QMouseEvent, QPainter, QPolygonF
from PySide6.QtWidgets import QToolTip

from app.window.parts.wording import tip
from app.window.questions.compare.lanes import Lane
from app.window.questions.compare.lanes_model import LanesModel
from app.window.text.colours import COLOURS, Int64s, coloured_tokens
from app.window.text.highlighted_places import places_of
from app.window.text.text_model import TokenAt
from app.window.text.view.canvas import TokenCanvas
from app.window.text.view.cells import TextRow
from app.window.text.view.painting import Overlay, PlacedBlock, TokenPainter, bytes_on_screen
from app.window.text.view.palette import TokenPalette


class LaneRows(TokenCanvas):
    """A view of the text in a lane. A user can scroll and zoom the view.

    A click on a place explains why the text is split there.
    """

    place_clicked = Signal(int)  # the byte of a cut or possible cut

    def __init__(self, model: LanesModel, place: int) -> None:
        """Show the lane with the index `place`."""
        self._compared = model
        self._place = place
        super().__init__(model.text)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor)
        model.changed.connect(self._follow)

    @property
    def _lane(self) -> Lane | None:
        return self._compared.lanes[self._place] if self._place < len(self._compared.lanes) else None

    def _follow(self) -> None:
        self.setAccessibleDescription(self._compared.summary)
        self.viewport().update()

    def _paint_grounds(
        self, painter: QPainter, blocks: list[PlacedBlock], showing: int = 0, moment: int | None = None
    ) -> None:
        lane = self._lane
        differences = self._differences()
        if blocks and lane is not None and differences is not None:
            self._painter().paint_lane(painter, blocks, lane, differences, self._overlay())

    def _paint_marks(self, painter: QPainter, blocks: list[PlacedBlock]) -> None:
        differences = self._differences()
        if differences is not None:
            self._painter().paint_differences(painter, blocks, differences)

    def _painter(self) -> LanePainter:
        return LanePainter(TokenPalette.matching(self.palette()), 1.0 / self.devicePixelRatioF())

    def _differences(self) -> Differences | None:
        lane = self._lane
        if self._compared.parallel is None or lane is None:
            return None
        return Differences(*self._compared.differences_of(lane))

    # -- the mouse -------------------------------------------------------------------------

    def token_at_point(self, point: QPointF) -> TokenAt | None:
        byte = self.byte_at(point)
        lane = self._lane
        return None if byte is None or lane is None or lane.cut is None else lane.cut.token_at(byte)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        is_click = event.button() == Qt.MouseButton.LeftButton and not self.textCursor().hasSelection()
        if is_click and self._lane is not None:
            self.place_clicked.emit(self.model.chunks.byte_of(self.character_at(event.position())))

    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent):
            token = self.token_at_point(QPointF(event.pos()))
            if token is None:
                QToolTip.hideText()
            else:
                QToolTip.showText(event.globalPos(), tip(self._compared.describe_token(self._place, token)), self)
            return True
        return super().viewportEvent(event)


AGREED_SHARE = 0.42  # opacity of fills where all agree
BAR = 2.0  # width of a cut that not all have
WEDGE = 4.0
UNDERLINE = 2.0


@dataclass(frozen=True, eq=False)
class Differences:
    """The places at which a lane splits the text differently from other lanes."""

    stretches: Int64s  # the ranges that are split differently, the same for all
    own_cuts: Int64s  # the cuts that not all have


class LanePainter(TokenPainter):
    """A painter of the visible blocks of a text that one lane has split into tokens."""

    def __init__(self, palette: TokenPalette, pixel: float) -> None:
        super().__init__(palette, pixel)
        agreed = [_mix_colours(fill, palette.paper) for fill in palette.fills]
        self._fills = np.array([*(fill.rgb() for fill in (*palette.fills, *agreed)), 0, 0], np.uint32)

    def paint_lane(
        self,
        painter: QPainter,
        blocks: Sequence[PlacedBlock],
        lane: Lane,
        differences: Differences,
        overlay: Overlay,
    ) -> None:
        """Paint the token colours of consecutive blocks, and over them the overlay and the highlight.

        The colours are pale where all lanes agree.
        """
        cut = lane.cut
        assert cut is not None  # a compared lane has split the text
        start, stop = bytes_on_screen(blocks)
        tokens, colours = coloured_tokens(cut.tokens.between, cut.data, start, stop, unknown=lane.unknown_id)
        highlight = places_of(overlay.highlight, cut.data, tokens)
        differs = _are_inside(tokens.edges[:-1], *differences.stretches.T)
        colours = np.where(differs | (colours < 0), colours, colours + COLOURS).astype(np.int8)  # pale where all agree
        for block in blocks:
            painter.save()
            painter.translate(0, block.y)
            for row in block.rows:
                first = block.start + row.first_byte
                self._paint_fills(painter, block.cells, row, first, tokens.edges, colours)
                self._paint_overlay(painter, row, first, overlay)
                self._paint_highlight(painter, row, first, highlight)
            painter.restore()

    def paint_differences(self, painter: QPainter, blocks: Sequence[PlacedBlock], differences: Differences) -> None:
        for block in blocks:
            painter.save()
            painter.translate(0, block.y)
            for row in block.rows:
                self._paint_differences(painter, row, block.start + row.first_byte, differences)
            painter.restore()

    def _paint_differences(self, painter: QPainter, row: TextRow, first: int, differences: Differences) -> None:
        lines, places = self._lines_and_boundaries(row, first, differences)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self.palette.mark)
        bottom = row.y + row.height - 1
        painter.drawRects([QRectF(x + 1, bottom - UNDERLINE, max(1.0, end - x - 2), UNDERLINE) for x, end in lines])
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        top = row.y + 0.5
        painter.drawRects([QRectF(x - BAR / 2, row.y + 1, BAR, row.height - 2) for x in places])
        for x in places:
            painter.drawPolygon(QPolygonF([QPointF(x - WEDGE, top), QPointF(x + WEDGE, top), QPointF(x, top + WEDGE)]))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

    def _lines_and_boundaries(
        self, row: TextRow, first: int, differences: Differences
    ) -> tuple[list[tuple[float, float]], list[float]]:
        """Return the lines to draw below a row, and the token boundaries to mark.

        Each line is drawn below a byte range that the lanes split differently. The marked boundaries are those of
        this lane that at least one other lane lacks.
        """
        begins, ends = (np.clip(side - first, 0, row.byte_count) for side in differences.stretches.T)
        is_here = ends > begins
        begins = begins[is_here]
        ends = ends[is_here]
        if not row.byte_count or not len(begins):
            return [], []
        low, high = np.searchsorted(differences.own_cuts, (first, first + row.byte_count))
        cuts = differences.own_cuts[low:high] - first
        bounds = np.unique(np.concatenate((np.zeros(1, np.int64), begins, ends, cuts)))
        segments = self._segments(row, bounds[bounds < row.byte_count])
        starts = bounds[segments.span]
        inside = _are_inside(starts, begins, ends)
        columns = (column[inside].tolist() for column in (segments.low, segments.high, starts))
        joined: list[tuple[float, float]] = []
        goes_on = set(cuts.tolist()) - set(begins.tolist())  # a cut inside a range does not end its line
        for x, end, start in sorted(zip(*columns, strict=True)):
            if joined and start in goes_on and abs(joined[-1][1] - x * self.pixel) < 1:
                joined[-1] = joined[-1][0], end * self.pixel
            else:
                joined.append((x * self.pixel, end * self.pixel))
        is_cut = segments.is_first & np.isin(starts, cuts)
        return joined, (segments.begin[is_cut] * self.pixel).tolist()


def _are_inside(places: Int64s, begins: Int64s, ends: Int64s) -> npt.NDArray[np.bool_]:
    are_inside: npt.NDArray[np.bool_] = np.searchsorted(begins, places, side="right") > np.searchsorted(
        ends, places, side="right"
    )
    return are_inside


def _mix_colours(fill: QColor, paper: QColor) -> QColor:
    def mixed(over: float, under: float) -> float:
        return over * AGREED_SHARE + under * (1 - AGREED_SHARE)

    return QColor.fromRgbF(
        mixed(fill.redF(), paper.redF()), mixed(fill.greenF(), paper.greenF()), mixed(fill.blueF(), paper.blueF())
    )
