"""The scrolling surface that shows a text token by token, without a caret.

Only visible blocks are laid out and painted, so that a megabyte costs no more than a page.
"""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, Qt, Signal
from PySide6.QtGui import (
    QCursor,
    QFont,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QPixmap,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QApplication, QWidget

from app.session.playing import Step
from app.session.time import timer
from app.window.parts.theme import fixed_font, shades_of
from app.window.parts.timing import Motion
from app.window.text.text_model import TextChange, TokenAt, TokenTextModel
from app.window.text.view.block_layout import Typesetting
from app.window.text.view.flow import Flow
from app.window.text.view.painting import ByteSpan, Overlay, TokenPainter
from app.window.text.view.palette import TokenPalette
from app.window.text.view.step_event import StepEvent, placed

MARGIN = 10  # between the text and the sides
SMALLEST_FONT, LARGEST_FONT = 6.0, 48.0
SHORT_TEXT = 2_000  # characters of a text that may be written larger
LARGER = (2.5, 2.0, 1.75, 1.5, 1.25)
FILLED = 0.75  # share of the height that larger letters may fill
RAGGED = 1.1  # extra room for words that do not fit at the ends of lines
FRESH_MILLISECONDS = 400  # seconds; a step whose tokens come later is not animated
_JUMP = 3  # pages; a longer scroll uses estimates


class TokenCanvas(QAbstractScrollArea):
    token_hovered = Signal(object)  # the TokenAt under the mouse, or None

    left = MARGIN  # where rows begin

    def __init__(self, model: TokenTextModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.model = model
        self.show_blanks = False
        self.hovered: TokenAt | None = None
        self.highlighted: ByteSpan | None = None
        self._step: Step | None = None  # the step to animate
        self._event: StepEvent | None = None
        self._fresh = timer(self, FRESH_MILLISECONDS, self._forget_step)
        self.motion = Motion(self, self.viewport().update)
        self._moves_scroll_bar = False  # set by the program, not by the person
        self._scrolled_to = 0
        self._set_up_widget()
        self.flow = Flow(model.chunks, self._setting())
        model.text_changed.connect(self._follow_text)
        model.tokens_changed.connect(self._follow_tokens)
        model.colours_changed.connect(self.viewport().update)

    def _set_up_widget(self) -> None:
        self._usual_size, self._fits = max(11.0, QApplication.font().pointSizeF() + 1), False
        self.setFont(fixed_font(self._usual_size))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setBackgroundRole(QPalette.ColorRole.Base)
        self.setAutoFillBackground(True)
        self.setViewportMargins(0, 6, 0, 6)
        self.viewport().setMouseTracking(True)

    # -- face ------------------------------------------------------------------------------

    def set_show_blanks(self, show: bool) -> None:
        """Show blanks, tabs, line ends, joiners and direction marks."""
        if show != self.show_blanks:
            self.show_blanks = show
            self._lay_out_again()

    def highlight(self, span: ByteSpan | None) -> None:
        if span != self.highlighted:
            self.highlighted = span
            self.viewport().update()

    def reveal(self, byte: int) -> None:
        self.reveal_character(self.model.chunks.character_of(byte))

    def rectangle_of(self, character: int) -> QRect:
        block, row = self.flow.place_of(character)
        x = self.left + block.layout.x_of(character - block.start)
        return QRectF(x, block.y + row.y, 2, row.height).toAlignedRect()

    def show_step(self, step: Step) -> None:
        """Animate a step as soon as its tokens are known."""
        self._forget_step()
        self._step = step
        self._fresh.start()
        self._begin_event()

    def zoom(self, steps: float) -> None:
        self._fits = False
        self._write_in(min(LARGEST_FONT, max(SMALLEST_FONT, self.font().pointSizeF() + steps)))

    def fit_letters(self) -> None:
        """Write a short text larger if there is room, until the person zooms."""
        self._fits = True
        self._fit_letters()

    def _write_in(self, points: float) -> None:
        font = QFont(self.font())
        font.setPointSizeF(points)
        self.setFont(font)

    def _fit_letters(self) -> None:
        if not self._fits:
            return
        chunks = self.model.chunks
        lines = chunks.text().split("\n") if chunks.length <= SHORT_TEXT else []
        usual = QFont(self.font())
        usual.setPointSizeF(self._usual_size)
        setting = Typesetting(usual, 0.0)
        widths = [setting.metrics.horizontalAdvance(line) for line in lines]
        room = max(1.0, self.viewport().width() - self.left - MARGIN - 2 * setting.newline_width)

        def height(times: float) -> float:
            return times * setting.row_height * sum(1 + int(times * width * RAGGED / room) for width in widths)

        fitting = (times for times in LARGER if widths and height(times) < self.viewport().height() * FILLED)
        points = self._usual_size * next(fitting, 1.0)
        if points != self.font().pointSizeF():
            self._write_in(points)

    # -- following the model ---------------------------------------------------------------

    def _follow_text(self, change: TextChange) -> None:
        self._forget_step()
        self._hover_over(None)
        if change.is_whole:
            self.flow.start_over()
            self._fit_letters()
        else:
            self.flow.splice(change.chunks)
        self._refresh()

    def _follow_tokens(self) -> None:
        if self.hovered:
            self._hover_over(self.model.token_at(self.hovered.start))
        if self._step is not None and self.model.cursor not in (self._step.before, self._step.after):
            self._forget_step()
        else:
            self._begin_event()
        self.viewport().update()

    # -- scrolling -------------------------------------------------------------------------

    def _setting(self) -> Typesetting:
        font = self.font()
        setting = Typesetting(font, 0.0, self.show_blanks)
        room = self.viewport().width() - self.left - MARGIN - setting.newline_width
        return replace(setting, width=max(room, 4 * setting.newline_width))

    def _lay_out_again(self) -> None:
        self.flow.height = float(self.viewport().height())
        self.flow.reset(self._setting())
        self._refresh()

    def _refresh(self) -> None:
        self._forget_step()
        self.flow.visible()
        bar = self.verticalScrollBar()
        self._moves_scroll_bar = True
        height = self.viewport().height()
        bar.setRange(0, max(0, round(self.flow.total_height) - height))
        bar.setPageStep(height)
        bar.setSingleStep(round(self.flow.setting.row_height))
        bar.setValue(round(self.flow.offset))
        self._moves_scroll_bar = False
        self._scrolled_to = bar.value()
        self.viewport().update()

    def scrollContentsBy(self, _dx: int, _dy: int) -> None:
        if self._moves_scroll_bar:
            return
        bar = self.verticalScrollBar()
        distance = bar.value() - self._scrolled_to
        if bar.value() >= bar.maximum():
            self.flow.scroll_to_end()
        elif abs(distance) <= _JUMP * self.flow.height:
            self.flow.scroll_by(distance)
        else:
            self.flow.scroll_to(bar.value())
        self._refresh()
        if self.viewport().underMouse():
            self._hover_over(self.token_at_point(QPointF(self.viewport().mapFromGlobal(QCursor.pos()))))

    def reveal_character(self, character: int) -> None:
        """Scroll no further than needed to show the row of a character; if it is far away, to the middle."""
        block, row = self.flow.place_of(character)
        top, bottom, height = block.y + row.y, block.y + row.y + row.height, self.flow.height
        if top < 0 or bottom > height:
            is_near = bottom >= -height and top <= 2 * height
            nearest = 0 if top < 0 else height - row.height
            self.flow.show_at_top(character, above=nearest if is_near else height / 3)
            self._refresh()

    # -- painting --------------------------------------------------------------------------

    def _overlay(self) -> Overlay:
        hovered = (self.hovered.start, self.hovered.stop) if self.hovered else None
        return Overlay(None, hovered or self.highlighted, self.show_blanks)

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = TokenPalette.matching(self.palette())
        with QPainter(self.viewport()) as painter:
            if self._event is not None and self.motion.is_under_way:
                light = shades_of(self.palette()).bar_next
                self._event.paint(painter, self.motion.progress, colours.paper, light)
            else:
                self._event = None
                self._paint_tokens(painter, event.rect())
            self._paint_caret(painter, colours)

    def _paint_tokens(self, painter: QPainter, seen: QRect, showing: int = 0, moment: int | None = None) -> None:
        blocks = self.flow.between(seen.top(), seen.bottom() + 1)
        if blocks:
            tokens = TokenPainter(TokenPalette.matching(self.palette()), 1.0 / self.devicePixelRatioF())
            tokens.paint(painter, blocks, self.model, self._overlay(), self.left, showing, moment)

    # -- animating a step ------------------------------------------------------------------

    def _begin_event(self) -> None:
        step = self._step
        if step is None or not self._fresh.isActive() or not self.isVisible() or self.model.is_pending:
            return
        blocks = self.flow.visible()
        start = self.model.chunks.byte_of(blocks[0].start)
        stop = start + sum(block.layout.byte_count for block in blocks)
        before, after = (self.model.tokens_between(start, stop, at).edges for at in (step.before, step.after))
        changes = placed(blocks, start, before, after, self.left)
        if changes:
            pictures = (self._picture_of(step.before, 1), self._picture_of(step.after, 0))
            self._fresh.stop()
            self._event = StepEvent(*pictures, changes)
            self.motion.begin(step.seconds)

    def _picture_of(self, moment: int, showing: int) -> QPixmap:
        scale = self.devicePixelRatioF()
        picture = QPixmap(self.viewport().size() * scale)
        picture.setDevicePixelRatio(scale)
        picture.fill(TokenPalette.matching(self.palette()).paper)
        with QPainter(picture) as painter:
            self._paint_tokens(painter, self.viewport().rect(), showing, moment)
        return picture

    def _forget_step(self) -> None:
        self._fresh.stop()
        self._step = self._event = None
        self.motion.end()

    def _paint_caret(self, painter: QPainter, colours: TokenPalette) -> None:
        """Left to an editor."""

    # -- the mouse -------------------------------------------------------------------------

    def token_at_point(self, point: QPointF) -> TokenAt | None:
        byte = self.flow.byte_at(point.x() - self.left, point.y())
        return None if byte is None else self.model.token_at(byte)

    def _hover_over(self, token: TokenAt | None) -> None:
        if token != self.hovered:
            self.hovered = token
            self.token_hovered.emit(token)
            self.viewport().update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._hover_over(self.token_at_point(event.position()))

    def leaveEvent(self, event: QEvent) -> None:
        self._hover_over(None)
        super().leaveEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.zoom(1 if event.angleDelta().y() > 0 else -1)
            event.accept()
        else:
            super().wheelEvent(event)

    # -- changes around --------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._fit_letters()
        if event.size().width() != event.oldSize().width():
            self._lay_out_again()
        else:
            self.flow.height = float(self.viewport().height())
            self._refresh()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "flow"):
            self._lay_out_again()
        elif event.type() == QEvent.Type.PaletteChange:
            self.viewport().update()
