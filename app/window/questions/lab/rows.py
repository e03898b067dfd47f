"""The person's text, line by line, each as every tokenizer cuts it: one text, one scroll bar."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, Qt, Signal
from PySide6.QtGui import QColor, QHelpEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QToolTip, QWidget

from app.window.parts.lines_chart import line_colour
from app.window.parts.wording import tip
from app.window.questions.lab.model import LabModel
from app.window.questions.lab.painting import LanePainter, LaneShown
from app.window.text.model import TokenAt
from app.window.text.view.canvas import TokenCanvas
from app.window.text.view.palette import TokenPalette

GUTTER = 36  # in which the letters of the lanes stand


class LaneRows(TokenCanvas):
    """Scrolled, zoomed and laid out as the token text is; a click asks why it is cut there."""

    place_clicked = Signal(int, int)  # the lane, and the byte that a cut stands before, or could

    left = GUTTER

    def __init__(self, lab: LabModel, parent: QWidget | None = None) -> None:
        self._lab = lab
        self._lane = 0  # under the mouse
        self._showings = 1
        super().__init__(lab.text, parent)
        self.setAccessibleName("The text, row by row as each tokenizer cuts it")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor)
        lab.changed.connect(self._follow_lanes)
        lab.cut.connect(self._follow_cuts)

    @property
    def showings(self) -> int:
        return self._showings

    def _follow_lanes(self) -> None:
        wanted = max(1, len(self._lab.lanes))
        if wanted != self._showings:
            self._showings = wanted
            self._lay_out_again()

    def _follow_cuts(self) -> None:
        self.setAccessibleDescription(self._lab.summary)
        self.viewport().update()

    # -- painting --------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        seen, lanes = event.rect(), self._shown()
        blocks = [
            block
            for block in self.flow.visible()
            if block.y < seen.bottom() + 1 and block.y + block.layout.height > seen.top()
        ]
        if not blocks or not lanes or len(lanes) != self._showings:
            return
        colours = TokenPalette.matching(self.palette())
        with QPainter(self.viewport()) as painter:
            painter.setFont(self.font())
            tokens = LanePainter(colours, 1.0 / self.devicePixelRatioF(), self._lab.stretches, self._lab.differing)
            start = self.model.pieces.byte_of(blocks[0].start)
            tokens.paint_lanes(painter, blocks, start, self.model.data, lanes, self.left)

    def _shown(self) -> list[LaneShown]:
        shown: list[LaneShown] = []
        for index, lane in enumerate(self._lab.lanes):
            if lane.cut is None:
                return []
            hovered = self.hovered.span if self.hovered is not None and index == self._lane else None
            own = self._lab.own_cuts(index)
            shown.append(LaneShown(lane.letter, self.colour(index), lane.cut.tokens_between, own, hovered))
        return shown

    def colour(self, index: int) -> QColor:
        """Of a lane, the same as of its curves."""
        return line_colour(self.palette(), index)

    # -- the mouse -------------------------------------------------------------------------

    def token_at_point(self, point: QPointF) -> TokenAt | None:
        lane = self._lane_at(point.y())
        byte = self.flow.byte_at(point.x() - self.left, point.y())
        if lane is None or byte is None:
            return None
        self._lane = lane
        cut = self._lab.lanes[lane].cut
        return None if cut is None else cut.token_at(byte)

    def _lane_at(self, y: float) -> int | None:
        block = self.flow.block_at(y)
        row = block.layout.row_at(y - block.y)
        lane = int((y - block.y - row.y) // row.height)
        return lane if 0 <= lane < len(self._lab.lanes) else None

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        lane = self._lane_at(event.position().y())
        if event.button() == Qt.MouseButton.LeftButton and lane is not None:
            character = self.flow.character_at(event.position().x() - self.left, event.position().y())
            self.place_clicked.emit(lane, self.model.pieces.byte_of(character))

    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent):
            token = self.token_at_point(QPointF(event.pos()))
            if token is None:
                QToolTip.hideText()
            else:
                QToolTip.showText(event.globalPos(), tip(self._lab.told_of(self._lane, token)), self)
            return True
        return super().viewportEvent(event)
