"""The view of a text: Qt's plain text editor with a coloured background behind each token.

Qt provides the text cursor, the selection, keys, input methods, drag and drop, and the texts for screen readers. Only
visible blocks are laid out and painted, so a megabyte takes no more time than a page.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from PySide6.QtCore import QEvent, QMimeData, QPointF, QRect, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QCursor,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QPixmap,
    QResizeEvent,
    QTextCursor,
    QWheelEvent,
)
from PySide6.QtWidgets import QApplication, QPlainTextEdit, QWidget

from app.session.playing import Step
from app.session.selection import NOTHING, Highlight
from app.session.time import timer
from app.window.parts.theme import fixed_font, shades_of
from app.window.parts.timing import Motion
from app.window.parts.zoom import USUAL, adapt_to_zoom, zoom_percent
from app.window.text.text_model import TextChange, TokenAt, TokenTextModel
from app.window.text.view.cells import ROW_PADDING, BlockStyle, SymbolNames
from app.window.text.view.document import TokenDocument
from app.window.text.view.painting import ByteSpan, Overlay, PlacedBlock, TokenPainter, bytes_on_screen
from app.window.text.view.palette import TokenPalette
from app.window.text.view.step_event import StepEvent, visible_changes
from app.window.text.view.token_layout import MARGIN, TokenLayout

SMALLEST_FONT = 6.0
LARGEST_FONT = 48.0
LEAST_USUAL = 11.0  # points at 100 percent
SHORT_TEXT = 2_000  # characters of a text that may be written larger
LARGER = (2.5, 2.0, 1.75, 1.5, 1.25)
FILLED = 0.75  # share of the height that larger letters may fill
RAGGED = 1.1  # extra room for words that do not fit at the ends of lines
FRESH_MILLISECONDS = 400  # a step whose tokens come later is not animated
CARET_WIDTH = 2
SCRAP = 2 * ROW_PADDING  # height that Qt may leave of a row above the first: it scrolls by letters


class TokenCanvas(QPlainTextEdit):
    """A view of a text with coloured tokens. A user cannot edit the text here."""

    token_hovered = Signal(object)  # the TokenAt under the mouse, or None
    selection_changed = Signal(object)  # (start, stop) in bytes, or None

    def __init__(self, model: TokenTextModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.model = model
        self.show_blanks = False
        self.hovered: TokenAt | None = None
        self.highlighted: ByteSpan | None = None
        self.highlight: Highlight = NOTHING
        self._selected: ByteSpan | None = None
        self._step: Step | None = None  # the step to animate
        self._event: StepEvent | None = None
        self._fresh = timer(self, FRESH_MILLISECONDS, self._forget_step)
        self._scrolled = timer(self, 0, self._look_under_mouse)  # started when Qt has finished scrolling
        self.motion = Motion(self, self.viewport().update)
        self.token_document = document = TokenDocument(model, self)
        self.token_layout = TokenLayout(document, model.chunks, lambda: TokenPalette.matching(self.palette()))
        document.setDocumentLayout(self.token_layout)
        self.setDocument(document)
        self._set_up_widget()
        self._lay_out_again()
        self.token_document.text_shown.connect(self._follow_text)
        model.text_changed.connect(self._forget_step)
        model.tokens_changed.connect(self._follow_tokens)
        model.colours_changed.connect(self.viewport().update)
        self.selectionChanged.connect(self._follow_selection)
        self.verticalScrollBar().valueChanged.connect(self._follow_scrolling)

    def _set_up_widget(self) -> None:
        self._fits = False
        self._times = 1.0  # the size of the letters, relative to the usual size
        adapt_to_zoom(self, TokenCanvas._follow_zoom)
        self.setReadOnly(True)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setCursorWidth(CARET_WIDTH)
        self.setBackgroundRole(QPalette.ColorRole.Base)
        self.setAutoFillBackground(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setViewportMargins(0, 6, 0, 6)
        self.viewport().setMouseTracking(True)
        self._hide_qt_selection()

    # -- public ------------------------------------------------------------------------------

    def set_show_blanks(self, show: bool) -> None:
        """Show or hide the signs for spaces, tabs, line ends, joiners and direction marks."""
        if show != self.show_blanks:
            self.show_blanks = show
            self.token_document.all_invisible = show
            self._write_again()

    def set_symbol_names(self, names: SymbolNames) -> None:
        """Set the names under which symbols are shown, if these symbols are not text (musical notes, for example)."""
        if names != self.token_layout.names:
            self.token_layout.names = names
            self._write_again()

    def _write_again(self) -> None:
        self._lay_out_again()
        first, last = self.selection
        self.token_document.show_all()
        self.select(first, last)

    def highlight_span(self, span: ByteSpan | None) -> None:
        if span != self.highlighted:
            self.highlighted = span
            self.viewport().update()

    def show_highlight(self, highlight: Highlight) -> None:
        """Frame all places where the highlighted token, pair or word occurs."""
        if highlight != self.highlight:
            self.highlight = highlight
            self.viewport().update()

    @property
    def selection(self) -> tuple[int, int]:
        """Return the offsets of the first selected character and of the end of the selection.

        Without a selection, both are the offset of the text cursor.
        """
        cursor = self.textCursor()
        document = self.token_document
        return document.character_of(cursor.selectionStart()), document.character_of(cursor.selectionEnd())

    def selected_text(self) -> str:
        return self.model.chunks.slice(*self.selection)

    def selected_bytes(self) -> ByteSpan | None:
        start, stop = self.selection
        if start == stop:
            return None
        return self.model.chunks.byte_of(start), self.model.chunks.byte_of(stop)

    def select(self, start: int, stop: int) -> None:
        """Select the characters from `start` to `stop`, and put the text cursor at `stop`."""
        cursor = self.textCursor()
        document = self.token_document
        cursor.setPosition(document.position_of(start))
        cursor.setPosition(document.position_of(stop), QTextCursor.MoveMode.KeepAnchor)
        self.setTextCursor(cursor)

    def select_bytes(self, start: int, stop: int) -> None:
        """Select the bytes from `start` to `stop`, and scroll to the first of them."""
        chunks = self.model.chunks
        self.reveal(start)
        scrolled = self.verticalScrollBar().value()
        self.select(chunks.character_of(start), chunks.character_of(stop))
        self.verticalScrollBar().setValue(scrolled)

    def reveal(self, byte: int) -> None:
        """Put the text cursor at a byte, and scroll to the byte.

        A byte that is far away is shown in the middle of the view.
        """
        character = self.model.chunks.character_of(byte)
        around = self.viewport().rect().adjusted(0, -self.height(), 0, self.height())
        is_near = self.rectangle_of(character).intersects(around)
        self.select(character, character)
        if not is_near:
            self.centerCursor()

    def rectangle_of(self, character: int) -> QRect:
        """Return the rectangle of a text cursor before a character. The rectangle is as high as the row."""
        cursor = QTextCursor(self.token_document)
        cursor.setPosition(self.token_document.position_of(character))
        return self.cursorRect(cursor).adjusted(0, -int(ROW_PADDING), 0, int(ROW_PADDING))

    def character_at(self, point: QPointF) -> int:
        """Return the offset in characters at which a text cursor would be nearest to a point."""
        return self.token_document.character_of(self.cursorForPosition(point.toPoint()).position())

    def show_step(self, step: Step) -> None:
        """Start the animation of a step as soon as the tokens after the step are known."""
        self._forget_step()
        self._step = step
        self._fresh.start()
        self._begin_event()

    def zoom(self, steps: float) -> None:
        """Make the letters of this text larger or smaller. Other texts do not change."""
        self._fits = False
        points = self._times * self._usual_size + steps
        self._write_in(min(LARGEST_FONT, max(SMALLEST_FONT, points)) / self._usual_size)

    def fit_letters(self) -> None:
        """Show a short text in larger letters if there is room. This ends when the user zooms."""
        self._fits = True
        self._fit_letters()

    @property
    def _usual_size(self) -> float:
        return max(LEAST_USUAL * zoom_percent() / USUAL, QApplication.font().pointSizeF() + 1)

    def _follow_zoom(self) -> None:
        self._write_in(self._times)

    def _write_in(self, times: float) -> None:
        self._times = times
        self.setFont(fixed_font(times * self._usual_size))

    def _fit_letters(self) -> None:
        if not self._fits:
            return
        chunks = self.model.chunks
        lines = chunks.text().split("\n") if chunks.length <= SHORT_TEXT else []
        setting = BlockStyle(fixed_font(self._usual_size), 0.0)
        widths = [setting.metrics.horizontalAdvance(line) for line in lines]
        room = max(1.0, self.viewport().width() - 2 * MARGIN - 2 * setting.newline_width)

        def height(times: float) -> float:
            return times * setting.row_height * sum(1 + int(times * width * RAGGED / room) for width in widths)

        fitting = (times for times in LARGER if widths and height(times) < self.viewport().height() * FILLED)
        times = next(fitting, 1.0)
        if times != self._times:
            self._write_in(times)

    # -- places ---------------------------------------------------------------------

    def visible_blocks(self) -> list[PlacedBlock]:
        layout = self.token_layout
        bottom = float(self.viewport().height())
        block = self.firstVisibleBlock()
        blocks = list[PlacedBlock]()
        y = self.blockBoundingGeometry(block).translated(self.contentOffset()).top()
        while block.isValid() and y < bottom:
            cells = layout.cells_of(block)
            rows = [row for row in cells.rows if row.y + row.height > SCRAP - y and row.y < bottom - y]
            if rows:
                start = self.model.chunks.byte_start_of(block.blockNumber())
                blocks.append(PlacedBlock(block, start, y, cells, rows))
            y += cells.height
            block = block.next()
        return blocks

    def byte_at(self, point: QPointF) -> int | None:
        """Return the byte whose cell is under a point, or None."""
        for block in self.visible_blocks():
            for row in block.rows:
                if 0 <= point.y() - block.y - row.y < row.height:
                    begins = row.cells.begins
                    ends = row.cells.ends
                    under = np.flatnonzero(
                        (np.minimum(begins, ends) <= point.x()) & (point.x() < np.maximum(begins, ends))
                    )
                    return block.start + row.first_byte + int(under[0]) if len(under) else None
        return None

    def token_at_point(self, point: QPointF) -> TokenAt | None:
        byte = self.byte_at(point)
        return None if byte is None else self.model.token_at(byte)

    # -- following the model ---------------------------------------------------------------

    def _follow_text(self, change: TextChange, is_own: bool) -> None:
        self._hover_over(None)
        if change.is_whole:
            self._fit_letters()
            if not is_own:
                self.select(0, 0)
        self._follow_selection()

    def _follow_tokens(self) -> None:
        if self.hovered:
            self._hover_over(self.model.token_at(self.hovered.start))
        if self._step is not None and self.model.cursor not in (self._step.before, self._step.after):
            self._forget_step()
        else:
            self._begin_event()
        self.viewport().update()

    def _follow_selection(self) -> None:
        selected = self.selected_bytes()
        if selected != self._selected:
            self._selected = selected
            self.selection_changed.emit(selected)
            self.viewport().update()

    def createMimeDataFromSelection(self) -> QMimeData:
        """Return the selected text without substitutes for invisible characters, for the clipboard and for dragging."""
        data = QMimeData()
        data.setText(self.selected_text())
        return data

    # -- layout ----------------------------------------------------------------------------

    def _setting(self) -> BlockStyle:
        setting = BlockStyle(self.font(), 0.0, self.show_blanks)
        room = self.viewport().width() - 2 * MARGIN - setting.newline_width
        return replace(setting, width=max(room, 4 * setting.newline_width))

    def _lay_out_again(self) -> None:
        self._forget_step()
        self.token_layout.use(self._setting())

    def _follow_scrolling(self) -> None:
        self._forget_step()
        self._scrolled.start()

    def _look_under_mouse(self) -> None:
        if self.viewport().underMouse():
            self._hover_over(self.token_at_point(QPointF(self.viewport().mapFromGlobal(QCursor.pos()))))

    # -- painting --------------------------------------------------------------------------

    def _overlay(self) -> Overlay:
        hovered = (self.hovered.start, self.hovered.stop) if self.hovered else None
        return Overlay(self._selected, hovered or self.highlighted, self.show_blanks, highlight=self.highlight)

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._event is not None and self.motion.is_under_way:
            colours = TokenPalette.matching(self.palette())
            light = shades_of(self.palette()).bar_next
            with QPainter(self.viewport()) as painter:
                self._event.paint(painter, self.motion.progress, colours.paper, light)
            return
        self._event = None
        blocks = self.visible_blocks()
        with QPainter(self.viewport()) as painter:
            self._paint_grounds(painter, blocks)
        super().paintEvent(event)
        with QPainter(self.viewport()) as painter:
            self._paint_marks(painter, blocks)

    def _paint_grounds(
        self, painter: QPainter, blocks: list[PlacedBlock], showing: int = 0, moment: int | None = None
    ) -> None:
        if blocks:
            tokens = TokenPainter(TokenPalette.matching(self.palette()), 1.0 / self.devicePixelRatioF())
            tokens.paint(painter, blocks, self.model, self._overlay(), showing, moment)

    def _paint_marks(self, painter: QPainter, blocks: list[PlacedBlock]) -> None:
        """Paint marks over the letters. The base class paints no marks."""

    # -- animating a step ------------------------------------------------------------------

    def _begin_event(self) -> None:
        step = self._step
        if step is None or not self._fresh.isActive() or not self.isVisible() or self.model.is_pending:
            return
        blocks = self.visible_blocks()
        start, stop = bytes_on_screen(blocks)
        before, after = (self.model.tokens_between(start, stop, at).edges for at in (step.before, step.after))
        changes = visible_changes(blocks, before, after)
        if changes:
            pictures = (self._picture_of(blocks, step.before, 1), self._picture_of(blocks, step.after, 0))
            self._fresh.stop()
            self._event = StepEvent(*pictures, changes)
            self.motion.begin(step.seconds)

    def _picture_of(self, blocks: list[PlacedBlock], moment: int, showing: int) -> QPixmap:
        scale = self.devicePixelRatioF()
        colours = TokenPalette.matching(self.palette())
        picture = QPixmap(self.viewport().size() * scale)
        picture.setDevicePixelRatio(scale)
        picture.fill(colours.paper)
        with QPainter(picture) as painter:
            self._paint_grounds(painter, blocks, showing, moment)
            painter.setPen(colours.ink)
            for block in blocks:
                block.block.layout().draw(painter, QPointF(0, block.y))
        return picture

    def _forget_step(self) -> None:
        self._fresh.stop()
        self._step = self._event = None
        self.motion.end()

    # -- the mouse -------------------------------------------------------------------------

    def _hover_over(self, token: TokenAt | None) -> None:
        if token != self.hovered:
            self.hovered = token
            self.token_hovered.emit(token)
            self.viewport().update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        if not event.buttons() & Qt.MouseButton.LeftButton:
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
        self._lay_out_again()
        super().resizeEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.FontChange and hasattr(self, "token_layout"):
            self._lay_out_again()
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._hide_qt_selection()

    def _hide_qt_selection(self) -> None:
        """Let Qt draw selected letters like other letters, because the background already shows the selection."""
        palette = self.palette()
        ink = TokenPalette.matching(self.palette()).ink
        clear = QColor(Qt.GlobalColor.transparent)
        is_hidden = palette.highlight().color() == clear and palette.highlightedText().color() == ink
        if not is_hidden:
            palette.setColor(QPalette.ColorRole.Highlight, clear)
            palette.setColor(QPalette.ColorRole.HighlightedText, ink)
            palette.setColor(QPalette.ColorRole.Text, ink)
            self.setPalette(palette)
