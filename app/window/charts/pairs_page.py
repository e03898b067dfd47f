"""The leading pairs as bars: the pair to be merged next marked, ties visible.

They are painted by hand, not by the painter of figures: gliding pairs are painted 60 times a second.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QFont,
    QFontMetricsF,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QPushButton, QToolTip, QWidget

from app.session.playing import Step
from app.window.charts.pairs_model import Bar, PairsModel
from app.window.charts.pairs_motion import Placed, at_rest, losses, on_their_way
from app.window.charts.pairs_wording import HOW_TO, explained, headline, title_of, told
from app.window.parts.page import Page
from app.window.parts.theme import fixed_font, shades_of
from app.window.parts.timing import Motion
from app.window.parts.wording import from_the_left, tip
from app.window.text.colours import colour_of
from app.window.text.view.painting import paint_tile
from app.window.text.view.palette import TokenPalette
from app.window.time.step_in_words import Chip

ROW_PADDING = 5.0
LEADING, HIGHEST_ROW = 5, 44.0  # rows and their height in the room Watch
MARGIN = 12.0
LABEL_SHARE = 0.34  # of the width, at most
HEADER_GAP = 6.0
LEAST, LEAST_ROWS = 90, 56  # pixels of height; of tokens alone
SHARE = 0.75  # of the time of a step: the pairs begin a little later
LEARNED = "Learned until here, the longest first"


@dataclass(frozen=True)
class Measures:
    top: float
    label_width: float
    number_width: float
    most: float  # the value of the longest bar


class PairsPage(Page):
    """As many pairs as there is room for, the best on top. A click on one, or Enter, follows it through time."""

    lessons_wanted = Signal()
    pair_chosen = Signal(int, int)  # the ids of the two
    winner_left = Signal(str, QPoint, float)  # the new token, its place on the screen, seconds of the flight
    menu_wanted = Signal(int, int, int, QPoint)  # the ids of the two, the number of steps, a place of the screen

    def __init__(self, model: PairsModel, parent: QWidget | None = None) -> None:
        super().__init__(model, parent)
        self.model = model
        self.setAccessibleName("Pairs now")
        self._fixed = fixed_font(self.font().pointSizeF())
        self._before: tuple[Bar, ...] = ()  # the bars of the moment before, while they are on their way
        self._was: tuple[int, tuple[Bar, ...]] = (0, ())  # the moment shown last, and its bars
        self._step: Step | None = None  # the step to animate, once its pairs are known
        self.losses: dict[tuple[int, int], str] = {}  # labels of pairs that lost to the last step
        self.motion = Motion(self, self.update)
        self._leads = False
        self._most, self._most_of = dict[str, float](), tuple[object, ...]()
        self._row = -1  # the bar under the mouse, or the one reached by the arrow keys
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        model.changed.connect(self._changed)
        self.setMinimumHeight(LEAST)
        self.invitation = QPushButton("New to this? Learn it in a few minutes, step by step", self)
        self.invitation.setFlat(True)
        self.invitation.setStyleSheet("color: palette(link); text-decoration: underline;")
        self.invitation.setCursor(Qt.CursorShape.PointingHandCursor)
        self.invitation.setToolTip("Open the lessons")
        self.invitation.clicked.connect(self.lessons_wanted)
        self._place_invitation()

    def sizeHint(self) -> QSize:
        return QSize(480, 240)

    def show_step(self, step: Step) -> None:
        self._step = step

    def _follow_step(self) -> None:
        """Begin to move if the bars are those after the step to animate, and the bars before it were shown."""
        step, was, now = self._step, self._was, (self.model.at, self.model.bars)
        self._was = now
        if now == was:
            return
        self.losses = {}
        self.motion.end()
        if step is None or (was[0], now[0]) != (step.before, step.after) or not (was[1] and now[1]):
            return
        self._step, self._before = None, was[1]
        if step.after > step.before and self.model.made:
            self.losses = losses(was[1], now[1], self.model.made)
            self._let_winner_leave(step.seconds * SHARE)
        self.motion.begin(step.seconds * SHARE)

    def _let_winner_leave(self, seconds: float) -> None:
        row = next((row for row, bar in enumerate(self._before) if bar.is_next), -1)
        if 0 <= row < self._rows_shown() and self.isVisible():
            place = QPoint(int(MARGIN), int(self._top() + row * self._row_height()))
            self.winner_left.emit(self.model.made, self.mapToGlobal(place), seconds)

    def _changed(self) -> None:
        self._follow_step()
        self.setMinimumHeight(LEAST_ROWS if self._shows_learned_alone else LEAST)
        leading = self.model.bars[:1]
        self.setAccessibleDescription("".join(f"Next: {told(self.model, bar)}" for bar in leading) or self.headline())
        if self.invitation.isHidden() != self.model.has_begun:
            self.invitation.setVisible(not self.model.has_begun)
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_invitation()

    def _place_invitation(self) -> None:
        self.invitation.adjustSize()
        free = self.height() - self._top()
        top = self._top() + max(0.0, (free - self.invitation.height()) / 2)
        self.invitation.move(max(0, (self.width() - self.invitation.width()) // 2), int(top))

    def lead(self, on: bool) -> None:
        """Show the few leading pairs, as large as there is room for."""
        self._leads = on
        self._changed()

    def _row_height(self) -> float:
        least = QFontMetricsF(self._fixed).height() + ROW_PADDING
        return min(HIGHEST_ROW, max(least, (self.height() - self._top() - 4) / LEADING)) if self._leads else least

    def _top(self) -> float:
        return self._headline_place().bottom() + HEADER_GAP

    def _headline_place(self) -> QRectF:
        room = QRectF(MARGIN, MARGIN * 0.6, max(1.0, self.width() - 2 * MARGIN), self.height())
        needed = QFontMetricsF(self.font()).boundingRect(room, Qt.TextFlag.TextWordWrap, self.headline())
        room.setHeight(self._steady("headline", needed.height()))
        return room

    def _steady(self, name: str, value: float) -> float:
        """Return the largest value for this run in this width, so that nothing beside it jitters."""
        of = self.model.run, self.width(), self.font().key()
        if of != self._most_of:
            self._most, self._most_of = {}, of
        self._most[name] = max(value, self._most.get(name, 0.0))
        return self._most[name]

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), self.palette().base())
            bars = self.model.bars
            shades = shades_of(self.palette())
            if self._shows_learned_alone:
                self._draw_learned(painter, MARGIN * 0.6)
                return
            painter.setPen(shades.muted)
            painter.drawText(self._headline_place(), Qt.TextFlag.TextWordWrap, self.headline())
            if not bars:
                return
            rows = self._rows_shown()
            label_width, most = self._label_width(bars[:rows]), max(bar.value for bar in bars[:rows])
            drawn = at_rest(bars, rows)
            if self.motion.is_under_way:
                progress, before = self.motion.progress, self._before[:rows]
                drawn = on_their_way(self._before, bars, rows, progress)
                most += (max(bar.value for bar in before) - most) * (1 - progress)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            if 0 <= self._row < rows:
                place = QRectF(4, self._top() + self._row * self._row_height(), self.width() - 8, self._row_height())
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(shades.mark_ground)
                painter.drawRoundedRect(place, 3, 3)
            measures = Measures(self._top(), label_width, self._number_width(bars[:rows]), most)
            for placed in drawn:
                painter.setOpacity(placed.strength)
                self._draw(painter, placed, measures)
            if self.model.learned:
                self._draw_learned(painter, self._top() + self._row_height() + HEADER_GAP)

    @property
    def _shows_learned_alone(self) -> bool:
        """Whether no pair leads any more, and only pairs that lead are wanted."""
        return self._leads and bool(self.model.learned)

    def _draw_learned(self, painter: QPainter, top: float) -> None:
        place = QRectF(MARGIN, top, self.width() - 2 * MARGIN, QFontMetricsF(self.font()).height() + HEADER_GAP)
        painter.setOpacity(1.0)
        painter.setFont(self.font())
        painter.setPen(shades_of(self.palette()).muted)
        painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, LEARNED)
        room = QRectF(MARGIN, place.bottom() + HEADER_GAP, place.width(), self.height() - place.bottom() - MARGIN)
        draw_tokens(painter, room, self.model.learned_chips(), self._fixed, self.palette())

    def _rows_shown(self) -> int:
        if self.model.learned:
            return 0 if self._leads else 1
        room = max(1, int((self.height() - self._top() - 4) / self._row_height()))
        return min(room, len(self.model.bars), LEADING if self._leads else room)

    def _row_at(self, y: float) -> int:
        row = int((y - self._top()) // self._row_height())
        return row if 0 <= row < self._rows_shown() else -1

    def headline(self) -> str:
        return headline(self.model, self.losses if self._leads else {})

    def _label_width(self, bars: tuple[Bar, ...]) -> float:
        metrics = QFontMetricsF(self._fixed)
        widest = max(metrics.horizontalAdvance(title_of(bar)) for bar in bars)
        return self._steady("labels", min(widest, self.width() * LABEL_SHARE))

    def _number_width(self, bars: tuple[Bar, ...]) -> float:
        width = QFontMetricsF(self.font()).horizontalAdvance
        return self._steady("numbers", max(width("9,999,999"), *(width(bar.label) for bar in bars)))

    def _draw(self, painter: QPainter, placed: Placed, measures: Measures) -> None:
        bar, shades, height = placed.bar, shades_of(self.palette()), self._row_height()
        label_width = measures.label_width
        y, aside = measures.top + placed.row * height, placed.aside * self.width()
        metrics = QFontMetricsF(self._fixed)
        font = QFont(self._fixed)
        font.setWeight(QFont.Weight.DemiBold if bar.is_next else QFont.Weight.Normal)
        painter.setFont(font)
        painter.setPen(self.palette().color(QPalette.ColorRole.Text))
        label = metrics.elidedText(title_of(bar), Qt.TextElideMode.ElideMiddle, label_width + 1)
        line = QRectF(MARGIN + aside, y, label_width, height)
        painter.drawText(line, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, label)
        left = MARGIN + label_width + 10 + aside
        painter.setFont(self.font())
        full = max(20.0, self.width() - left + aside - measures.number_width - 8 - MARGIN)
        length = max(2.0, full * placed.value / measures.most) if measures.most > 0 else 2.0
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(shades.bar_next if bar.is_next else shades.bar_tied if bar.is_tied else shades.bar)
        painter.drawRoundedRect(QRectF(left, y + 2, length, height - 4), 2.5, 2.5)
        painter.setPen(self.palette().color(QPalette.ColorRole.Text) if bar.is_next else shades.muted)
        mark = "= " if bar.is_tied and not bar.is_next else ""
        place = QRectF(left + length + 7, y, measures.number_width + 40, height)
        painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, mark + bar.label)
        if bar.pair in self.losses:
            self._tell_loss(painter, QRectF(left, y, length, height), self.losses[bar.pair])

    def _tell_loss(self, painter: QPainter, bar: QRectF, loss: str) -> None:
        """Write it inside the end of the bar, if there is room."""
        if painter.fontMetrics().horizontalAdvance(loss) + 14 < bar.width():
            painter.setPen(self.palette().color(QPalette.ColorRole.Text))
            end = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
            painter.drawText(bar.adjusted(0, 0, -7, 0), end, loss)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            row = self._row_at(event.pos().y())
            if row >= 0:
                QToolTip.showText(event.globalPos(), tip(explained(self.model, self.model.bars[row])), self)
            return True
        return super().event(event)

    # -- choosing a pair -------------------------------------------------------------------

    def _choose(self, row: int) -> None:
        if 0 <= row < self._rows_shown():
            self.pair_chosen.emit(*self.model.bars[row].pair)

    def _mark_row(self, row: int) -> None:
        if row != self._row:
            self._row = row
            if 0 <= row < self._rows_shown():
                bar = self.model.bars[row]
                self.setAccessibleDescription(f"{told(self.model, bar)}. {HOW_TO if bar.right else ''}")
            self.update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._mark_row(self._row_at(event.position().y()))
        self.setCursor(Qt.CursorShape.PointingHandCursor if self._row >= 0 else Qt.CursorShape.ArrowCursor)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._choose(self._row_at(event.position().y()))

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Open the menu of the bar under the mouse, or by key of the bar that the arrow keys reached."""
        by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
        row = self._row if by_key else self._row_at(event.pos().y())
        if 0 <= row < self._rows_shown():
            here = QPoint(int(MARGIN), int(self._top() + (row + 1) * self._row_height()))
            place = self.mapToGlobal(here) if by_key else event.globalPos()
            self.menu_wanted.emit(*self.model.bars[row].pair, self.model.at, place)

    def leaveEvent(self, event: QEvent) -> None:
        self._mark_row(-1)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._mark_row(-1)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        ways = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}
        if event.key() in ways:
            self._mark_row(min(max(0, self._row + ways[Qt.Key(event.key())]), self._rows_shown() - 1))
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self._choose(self._row)
        else:
            super().keyPressEvent(event)


GAP, PADDING = 6.0, 6.0


def draw_tokens(painter: QPainter, room: QRectF, tokens: Iterable[Chip], font: QFont, palette: QPalette) -> None:
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
        fill = colours.fills[colour_of(token.data)]
        paint_tile(painter, QRectF(x, y, width, height), written, fill, outline, colours.ink)
        x += width + GAP
