"""The page that shows the leading pairs as bars, with the next pair and ties marked."""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QRectF, QSize, Qt, Signal
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
from app.session.selection import NOTHING, Highlight, ShownHighlight
from app.window.charts.loading import ChartLoading
from app.window.charts.pairs_model import Bar, PairsModel
from app.window.charts.pairs_motion import PlacedBar, at_rest, bars_at, losses
from app.window.charts.pairs_wording import HOW_TO, describe_bar, explain_bar, headline, title_of
from app.window.parts.page import Page
from app.window.parts.theme import fixed_font, shades_of
from app.window.parts.timing import Motion
from app.window.parts.wording import tip, with_direction_marks
from app.window.text.colours import colour_of
from app.window.text.view.painting import LIT_WIDTH, paint_tile
from app.window.text.view.palette import TokenPalette
from app.window.time.step_in_words import ShownToken

if TYPE_CHECKING:
    from app.window.charts.rows import Row, RowChart

ROW_PADDING = 5.0
LEADING, HIGHEST_ROW = 5, 44.0  # rows and their height in the room Watch
MARGIN = 12.0
LABEL_SHARE = 0.34  # largest share of the width
HEADER_GAP = 6.0
LEAST, LEAST_ROWS = 90, 56  # least height in pixels; with only the first pairs, or with tokens alone
SHARE = 0.75  # share of a step's time in which the pairs move
BEHIND = 0.4  # opacity of bars that belong to another moment than the one shown
LEARNED = "Tokens learned up to this step, the longest first"


class PairsPage(Page):
    """A chart of the leading pairs, with the best pair at the top. It shows as many pairs as fit on the page.

    A click or Enter shows the life of a pair over all steps.
    """

    lessons_wanted = Signal()
    pair_chosen = Signal(int, int)  # the ids of the two
    winner_left = Signal(str, QPoint, float)  # the new token, its place on the screen, seconds of its movement
    menu_wanted = Signal(int, int, int, QPoint)  # the ids of the two, the number of steps, a place of the screen

    def __init__(self, model: PairsModel, loading: ChartLoading, parent: QWidget | None = None) -> None:
        super().__init__(model, parent)
        self.model = model
        self._loading = loading
        self.setAccessibleName("Pairs now")
        self._before: tuple[Bar, ...] = ()  # the bars of the moment before, while they move
        self._was: tuple[int, tuple[Bar, ...]] = (0, ())  # the moment shown last, and its bars
        self._step: Step | None = None  # the step to animate, once its pairs are known
        self.losses: dict[tuple[int, int], str] = {}  # labels of pairs that lost to the last step
        self.motion = Motion(self, self._draw_bars)
        self._leads = False
        self._most = dict[str, float]()
        self._most_of = tuple[object, ...]()
        self._highlight: Highlight = NOTHING
        self._tiles: list[tuple[QRectF, ShownToken]] = []  # the tokens learned, where they are drawn
        self._row = -1  # the bar under the mouse, or the one reached by the arrow keys
        self.bars: RowChart | None = None  # once there are any
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        model.changed.connect(self._changed)
        loading.done.connect(self._make_ready)
        self.setMinimumHeight(LEAST)
        self.setMouseTracking(True)
        self.invitation = QPushButton("New to byte-pair encoding? Learn it in a few minutes", self)
        self.invitation.setFlat(True)
        self.invitation.setStyleSheet("color: palette(link); text-decoration: underline;")
        self.invitation.setCursor(Qt.CursorShape.PointingHandCursor)
        self.invitation.setToolTip("Open the lessons")
        self.invitation.clicked.connect(self.lessons_wanted)
        self._place_invitation()

    @property
    def _fixed(self) -> QFont:
        return fixed_font(self.font().pointSizeF())

    def sizeHint(self) -> QSize:
        return QSize(480, 240)

    def show_step(self, step: Step) -> None:
        self._step = step

    def _follow_step(self) -> None:
        """Start the animation of a step if the bars before and after this step have been computed."""
        step = self._step
        was = self._was
        now = (self.model.at, self.model.bars)
        self._was = now
        if now == was:
            return
        self.losses = {}
        self.motion.end()
        if step is None or (was[0], now[0]) != (step.before, step.after) or not (was[1] and now[1]):
            return
        self._step = None
        self._before = was[1]
        if step.after > step.before and self.model.new_token_text:
            self.losses = losses(was[1], now[1], self.model.new_token_text)
            self._report_winner(step.seconds * SHARE)
        self.motion.begin(step.seconds * SHARE)

    def _report_winner(self, seconds: float) -> None:
        row = next((row for row, bar in enumerate(self._before) if bar.is_next), -1)
        if 0 <= row < self._rows_shown() and self.isVisible():
            place = QPoint(int(MARGIN), self._top_of(row))
            self.winner_left.emit(self.model.new_token_text, self.mapToGlobal(place), seconds)

    def _changed(self) -> None:
        self._follow_step()
        self.setMinimumHeight(LEAST_ROWS if self._leads else LEAST)
        leading = self.model.bars[:1]
        self.setAccessibleDescription(
            "".join(f"Next: {describe_bar(self.model, bar)}" for bar in leading) or self.headline()
        )
        if self.invitation.isHidden() != self.model.has_begun:
            self.invitation.setVisible(not self.model.has_begun)
        self._draw_bars()
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_invitation()
        self._draw_bars()

    # -- the bars --------------------------------------------------------------------------

    def _chart(self) -> RowChart:
        if self.bars is None:
            from app.window.charts.rows import RowChart

            self.bars = chart = RowChart(self)
            chart.setMinimumSize(1, 1)  # where tokens learned are shown, it is one bar high
            chart.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the keys of the page reach every bar
            chart.viewport().setCursor(Qt.CursorShape.PointingHandCursor)
            chart.row_pointed.connect(self._mark_row)
            chart.item_chosen.connect(self._choose)
        return self.bars

    def _make_ready(self) -> None:
        """Create the chart before there are any bars, so that the first bars appear without delay."""
        self._chart().hide()
        self._draw_bars()

    def _draw_bars(self) -> None:
        """Draw all bars at their current positions in the animation."""
        bars = self.model.bars
        rows = self._rows_shown()
        if not bars or not rows:
            if self.bars is not None:
                self.bars.hide()
            return
        if not self._loading.is_done:
            self._loading.begin()
            return
        chart = self._chart()
        chart.bottom.setVisible(not (self._leads or self.model.learned))
        height = self.height() - int(self._top()) - 4
        if self.model.learned:
            height = ceil(rows * self._row_height())
        chart.setGeometry(QRect(4, int(self._top()), max(1, self.width() - 8), max(1, height)))
        seen = max(rows, ceil(chart.box.viewRange()[1][1]))  # a drag may have brought more rows into view
        first = bars[:rows]
        most = max(bar.value for bar in first)
        placed = at_rest(bars, seen)
        if self.motion.is_under_way:
            progress = self.motion.progress
            placed = bars_at(self._before, bars, seen, progress)
            most += (max(bar.value for bar in self._before[:rows]) - most) * (1 - progress)
        strength = BEHIND if self.model.is_behind else 1.0
        room = rows if self.model.learned else len(bars)
        if self._leads:
            room = min(LEADING, len(bars))
        chart.show_rows(
            [self._row_of(bar_now, strength) for bar_now in placed],
            room,
            max(most, 0.0),
            names_width=self._label_width(first),
            number_width=self._number_width(first),
            row_height=self._row_height(),
        )
        chart.show()

    def _row_of(self, placed: PlacedBar, strength: float) -> Row:
        from app.window.charts.rows import Row

        bar = placed.bar
        tie = "= " if bar.is_tied and not bar.is_next else ""
        kind = ""
        if bar.is_next:
            kind = "next"
        elif bar.is_tied:
            kind = "tied"
        return Row(
            title_of(bar), placed.value, tie + bar.label, placed.row, kind,
            note=self.losses.get(bar.pair, ""), strength=strength * placed.strength, shift=placed.shift,
            is_highlighted=self._is_highlighted(bar),
        )  # fmt: skip

    def _is_highlighted(self, bar: Bar) -> bool:
        """Return whether a bar belongs to the highlighted pair, or to a highlighted token that is dropped or added."""
        return _tokens_of(bar) == self._highlight.tokens != ()

    def show_highlight(self, shown: ShownHighlight) -> None:
        """Frame the bar of the highlighted pair, and the tile of the highlighted token."""
        before = self._highlight
        self._highlight = shown.highlight
        tiles = {(token.id,) for _, token in self._tiles}
        if not tiles.isdisjoint((before.tokens, shown.highlight.tokens)):
            self.update()
        if any(_tokens_of(bar) in (before.tokens, shown.highlight.tokens) for bar in self.model.bars):
            self._draw_bars()

    def _top_of(self, row: int) -> int:
        """Return the upper edge of a row, in pixels of the page."""
        first = self.bars.box.viewRange()[1][0] if self.bars is not None else 0.0
        return int(self._top() + (row - first) * self._row_height())

    def _place_invitation(self) -> None:
        self.invitation.adjustSize()
        free = self.height() - self._top()
        top = self._top() + max(0.0, (free - self.invitation.height()) / 2)
        self.invitation.move(max(0, (self.width() - self.invitation.width()) // 2), int(top))

    def show_only_first(self, on: bool) -> None:
        """Show only the first few pairs, as large as possible, if `on` is true. Otherwise show as many pairs as fit."""
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
        room.setHeight(self._largest_so_far("headline", needed.height()))
        return room

    def _largest_so_far(self, name: str, value: float) -> float:
        """Return the largest value that this method has received for `name`, such as a width, including `value`.

        The values start again when the run, the width of the page or the font changes. With sizes that never shrink,
        the layout does not jump.
        """
        of = self.model.run, self.width(), self.font().key()
        if of != self._most_of:
            self._most = {}
            self._most_of = of
        self._most[name] = max(value, self._most.get(name, 0.0))
        return self._most[name]

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), self.palette().base())
            self._tiles = []
            if self._shows_learned_alone:
                self._draw_learned(painter, MARGIN * 0.6)
                return
            painter.setPen(shades_of(self.palette()).muted)
            painter.drawText(self._headline_place(), Qt.TextFlag.TextWordWrap, self.headline())
            if self.model.learned:
                row = self._row_height() if self.model.bars else 0
                self._draw_learned(painter, self._top() + row + HEADER_GAP)

    @property
    def _shows_learned_alone(self) -> bool:
        """Return whether the page shows learned tokens instead of pairs, because bars for pairs would be useless."""
        return self._leads and bool(self.model.learned)

    def _draw_learned(self, painter: QPainter, top: float) -> None:
        place = QRectF(MARGIN, top, self.width() - 2 * MARGIN, QFontMetricsF(self.font()).height() + HEADER_GAP)
        painter.setOpacity(1.0)
        painter.setFont(self.font())
        painter.setPen(shades_of(self.palette()).muted)
        painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, LEARNED)
        room = QRectF(MARGIN, place.bottom() + HEADER_GAP, place.width(), self.height() - place.bottom() - MARGIN)
        tokens = self.model.tokens_to_show()
        self._tiles = draw_tokens(painter, room, tokens, self._fixed, self.palette(), self._highlight)

    def _rows_shown(self) -> int:
        if self.model.learned:
            return 0 if self._leads else 1
        room = max(1, int((self.height() - self._top() - 4) / self._row_height()))
        return min(room, len(self.model.bars), LEADING if self._leads else room)

    def headline(self) -> str:
        return headline(self.model, self.losses if self._leads else {})

    def _label_width(self, bars: tuple[Bar, ...]) -> float:
        metrics = QFontMetricsF(self._fixed)
        widest = max(metrics.horizontalAdvance(title_of(bar)) for bar in bars)
        return self._largest_so_far("labels", min(widest, self.width() * LABEL_SHARE))

    def _number_width(self, bars: tuple[Bar, ...]) -> float:
        width = QFontMetricsF(self.font()).horizontalAdvance
        return self._largest_so_far("numbers", max(width("9,999,999"), *(width(bar.label) for bar in bars)))

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            if 0 <= self._row < len(self.model.bars):
                QToolTip.showText(event.globalPos(), tip(explain_bar(self.model, self.model.bars[self._row])), self)
            return True
        return super().event(event)

    # -- choosing a pair -------------------------------------------------------------------

    def _choose(self, row: int) -> None:
        if 0 <= row < len(self.model.bars):
            self.pair_chosen.emit(*self.model.bars[row].pair)

    def _mark_row(self, row: int) -> None:
        if row != self._row:
            self._row = row
            bar = self.model.bars[row] if 0 <= row < len(self.model.bars) else None
            self.tokens_pointed.emit(() if bar is None else _tokens_of(bar))
            if bar is not None:
                self.setAccessibleDescription(f"{describe_bar(self.model, bar)}. {HOW_TO if bar.right else ''}")
            if self.bars is not None:
                self.bars.mark_row(row)

    def _tile_at(self, place: QPointF) -> ShownToken | None:
        return next((token for area, token in self._tiles if area.contains(place)), None)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        token = self._tile_at(event.position())
        self.setCursor(Qt.CursorShape.ArrowCursor if token is None else Qt.CursorShape.PointingHandCursor)
        self.tokens_pointed.emit(() if token is None else (token.id,))
        super().mouseMoveEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        token = self._tile_at(event.position())
        if token is not None and event.button() == Qt.MouseButton.LeftButton:
            self.tokens_clicked.emit((token.id,))
        super().mousePressEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        self.tokens_pointed.emit(())
        super().leaveEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Open the context menu of the bar under the mouse.

        The menu key opens the context menu of the bar that the arrow keys chose.
        """
        by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
        row = self._row
        if 0 <= row < len(self.model.bars):
            here = QPoint(int(MARGIN), self._top_of(row + 1))
            place = self.mapToGlobal(here) if by_key else event.globalPos()
            self.menu_wanted.emit(*self.model.bars[row].pair, self.model.at, place)

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


def _tokens_of(bar: Bar) -> tuple[int, ...]:
    """Return the two tokens of a bar, or the single token that the next step would drop or add."""
    return tuple(token for token in bar.pair if token >= 0)


GAP = 6.0
PADDING = 6.0


def draw_tokens(
    painter: QPainter,
    room: QRectF,
    tokens: Iterable[ShownToken],
    font: QFont,
    palette: QPalette,
    highlight: Highlight = NOTHING,
) -> list[tuple[QRectF, ShownToken]]:
    """Draw tokens as tiles in rows until the rectangle `room` is full. Return the tiles with their positions.

    If `highlight` consists of a single token, the tiles of this token get a frame in the colour of marks.
    """
    colours = TokenPalette.matching(palette)
    outline = QPen(shades_of(palette).hairline)
    metrics = QFontMetricsF(font)
    height = metrics.height() + 4
    x = room.left()
    y = room.top()
    placed = list[tuple[QRectF, ShownToken]]()
    painter.setFont(font)
    for token in tokens:
        written = with_direction_marks(token.text)
        width = metrics.horizontalAdvance(written) + 2 * PADDING
        if x + width > room.right() and x > room.left():
            x = room.left()
            y = y + height + GAP
        if y + height > room.bottom():
            break
        fill = colours.fills[colour_of(token.data)]
        edge = QPen(colours.mark, LIT_WIDTH) if (token.id,) == highlight.tokens else outline
        area = QRectF(x, y, width, height)
        paint_tile(painter, area, written, fill, edge, colours.ink)
        placed.append((area, token))
        x += width + GAP
    return placed
