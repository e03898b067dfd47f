"""The view of all ids of the text in a grid. Only visible cells are computed.

Each id has the colour of its token in the text. An id under the pointer highlights its token, and a token under
the pointer highlights its id.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QMenu, QWidget

from app.session.playing import Step
from app.session.selection import NOTHING, Highlight
from app.session.time import timer
from app.window.parts.layouts import in_column
from app.window.parts.theme import shades_of
from app.window.parts.timing import Motion
from app.window.parts.widgets import entry, muted_label, name_widget, paragraph, selectable, use_fixed_font
from app.window.text.colours import UNCOLOURED, UNKNOWN, coloured_tokens
from app.window.text.highlighted_places import ByteSpan, places_of
from app.window.text.pasted_ids import DecodedIds
from app.window.text.text_model import NO_TOKEN, TokenAt, TokenTextModel
from app.window.text.view.painting import LIT_WIDTH
from app.window.text.view.palette import TokenPalette
from app.window.text.view.step_event import LIT

_PADDING = 7
_GAP = 1


class Cells(NamedTuple):
    """The grid of ids. All cells have the same size, so the place of each cell is computed from its index."""

    columns: int
    width: int
    height: int


class ColouredId(NamedTuple):
    start: int
    stop: int
    id: int
    colour: int

    @property
    def place(self) -> tuple[int, bool]:
        """Return the offset at which the token begins, and whether the token is empty.

        A token with the same two values before and after a step is the same token.
        """
        return self.start, self.start == self.stop


class IdsGrid(QAbstractScrollArea):
    token_hovered = Signal(object)  # the TokenAt under the mouse, or None
    token_chosen = Signal(object)  # the TokenAt that was clicked or reached by keyboard

    def __init__(self, model: TokenTextModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.model = model
        self.hovered: TokenAt | None = None
        self._hovered_index: int | None = None
        self.highlighted: ByteSpan | None = None
        self._selected: ByteSpan | None = None
        self._highlight: Highlight = NOTHING
        self._current = 0  # the index of the keyboard
        self._before: dict[tuple[int, bool], int] = {}  # while ids close up: the former index of each, by `place`
        self.motion = Motion(self, self.viewport().update)
        use_fixed_font(self)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)  # else rows would change
        self.setBackgroundRole(QPalette.ColorRole.Base)
        self.setAutoFillBackground(True)
        self.setViewportMargins(6, 6, 6, 6)
        self.viewport().setMouseTracking(True)
        self.setAccessibleName("Token ids")
        self.setAccessibleDescription("The id of each token of the text. Arrow keys go from token to token.")
        self.cells = self._measured()
        self._soon = timer(self, 0, self._follow)  # one update for an edit and its answer
        model.text_changed.connect(self._soon.start)
        model.tokens_changed.connect(self._soon.start)
        model.colours_changed.connect(self.viewport().update)

    # -- public ------------------------------------------------------------------------------

    def highlight_span(self, span: ByteSpan | None) -> None:
        if span != self.highlighted:
            self.highlighted = span
            self._show_span(span)

    def show_highlight(self, highlight: Highlight) -> None:
        """Frame the ids at all places where the highlighted token, pair or word occurs."""
        if highlight != self._highlight:
            self._highlight = highlight
            self.viewport().update()

    def select(self, span: ByteSpan | None) -> None:
        if span != self._selected:
            self._selected = span
            self._show_span(span)

    def _show_span(self, span: ByteSpan | None) -> None:
        if span and self.isVisible():
            self._reveal(self.model.index_of_token(span[0]))
        self.viewport().update()

    def show_step(self, step: Step) -> None:
        if self.isVisible() and self.model.cursor == step.before:
            first, stop = self._indices(0, self.viewport().height())
            self._before = {token.place: index for index, token in enumerate(self._coloured(first, stop), first)}
            self.motion.begin(step.seconds)

    def selected_ids(self) -> list[int]:
        return list(map(self.model.number_of, self.model.ids_in(*(self._selected or (0, self.model.byte_length)))))

    def copy(self) -> None:
        QGuiApplication.clipboard().setText(", ".join(map(str, self.selected_ids())))

    # -- geometry --------------------------------------------------------------------------

    def _measured(self) -> Cells:
        metrics = self.fontMetrics()
        width = metrics.horizontalAdvance("0") * len(str(self.model.largest_number)) + 2 * _PADDING
        return Cells(max(1, self.viewport().width() // width), width, metrics.height() + 6)

    def _count(self) -> int:
        return len(self.model.edges()) - 1

    def cell_of(self, place: float) -> QRectF:
        """Return the rectangle of a cell. In an animation, a fractional `place` is a position between two cells."""
        index = math.floor(place)
        (columns, width, height) = self.cells
        row, column = divmod(index, columns)
        x = (column + place - index) * width
        return QRectF(x, row * height - self.verticalScrollBar().value(), width - _GAP, height - _GAP)

    def index_at(self, point: QPointF) -> int | None:
        column = int(point.x()) // self.cells.width
        row = int(point.y() + self.verticalScrollBar().value()) // self.cells.height
        index = row * self.cells.columns + column
        return index if 0 <= column < self.cells.columns and 0 <= index < self._count() else None

    def _reveal(self, index: int) -> None:
        bar = self.verticalScrollBar()
        cell = self.cell_of(index)
        if cell.top() < 0:
            bar.setValue(bar.value() + int(cell.top()))
        elif cell.bottom() > self.viewport().height():
            bar.setValue(bar.value() + int(cell.bottom()) - self.viewport().height() + 1)

    # -- following -------------------------------------------------------------------------

    def _follow(self) -> None:
        if not self.isVisible():
            return  # `showEvent` catches up
        self.cells = self._measured()
        rows = -(-self._count() // self.cells.columns)
        bar = self.verticalScrollBar()
        bar.setRange(0, max(0, rows * self.cells.height - self.viewport().height()))
        bar.setPageStep(self.viewport().height())
        bar.setSingleStep(self.cells.height)
        self._hover(None)
        self.viewport().update()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._follow()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._follow()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.PaletteChange) and hasattr(self, "cells"):
            self._follow()

    # -- painting --------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        first, stop = self._indices(event.rect().top(), event.rect().bottom())
        if first >= stop:
            return
        closed = self.motion.part(LIT, 1.0) if self.motion.is_under_way else 1.0
        shift = 0
        palette = TokenPalette.matching(self.palette())
        fills = palette.fills if self.model.scale is None else palette.on_scale
        with QPainter(self.viewport()) as painter:
            for index, token in enumerate(self._coloured(first, stop), first):
                shift = self._before.get(token.place, index + shift) - index if closed < 1.0 else 0
                cell = self.cell_of(index + shift * (1.0 - closed))
                if token.colour == UNKNOWN:
                    painter.fillRect(cell, palette.hatching)
                elif token.colour != UNCOLOURED:
                    painter.fillRect(cell, fills[token.colour])
                if _overlaps(self._selected, token.start, token.stop):
                    painter.fillRect(cell, palette.selection)
                number = self.model.number_of(token.id)
                painter.setPen(palette.ink if number != NO_TOKEN else palette.faint)
                painter.drawText(cell, Qt.AlignmentFlag.AlignCenter, str(number) if number != NO_TOKEN else "·")
            self._paint_highlight(painter, palette, first, stop)
            self._paint_outline(painter, palette)

    def _paint_highlight(self, painter: QPainter, palette: TokenPalette, first: int, stop: int) -> None:
        if self._highlight.is_nothing or self.motion.is_under_way:
            return
        edges = self.model.edges()
        painter.setPen(QPen(palette.mark, LIT_WIDTH))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        places = np.array(places_of(self._highlight, self.model.data, self.model.ids_between(first, stop)), edges.dtype)
        if not len(places):
            return
        lows = np.searchsorted(edges, places[:, 0], side="right") - 1
        highs = np.searchsorted(edges, places[:, 1], side="left")
        for low, high in zip(lows.tolist(), highs.tolist(), strict=True):
            for index in range(max(first, low), min(stop, high)):
                painter.drawRect(self.cell_of(index).adjusted(1, 1, -1, -1))

    def _indices(self, top: int, bottom: int) -> tuple[int, int]:
        offset = self.verticalScrollBar().value()
        columns = self.cells.columns
        first = (top + offset) // self.cells.height * columns
        return first, min(self._count(), ((bottom + offset) // self.cells.height + 1) * columns)

    def _coloured(self, first: int, stop: int) -> Iterator[ColouredId]:
        """Yield the tokens from index `first` to `stop` with their colours. A token without bytes has no colour."""
        edges = self.model.edges()
        start = int(edges[first])
        end = int(edges[stop])
        model = self.model
        _, colours = coloured_tokens(model.tokens_between, model.data, start, end, model.scale, model.unknown_id)
        left = iter(colours.tolist())
        tokens = self.model.ids_between(first, stop)
        for (start, end), id in zip(pairwise(tokens.edges.tolist()), tokens.ids.tolist(), strict=True):
            yield ColouredId(start, end, id, next(left) if start < end else UNCOLOURED)

    def _paint_outline(self, painter: QPainter, palette: TokenPalette) -> None:
        span = self.highlighted
        index = self._hovered_index
        if index is None and span and span[0] < self.model.byte_length:
            index = self.model.index_of_token(span[0])
        if index is None and self.hasFocus():
            index = min(self._current, self._count() - 1)
        if index is not None:
            painter.setPen(QPen(palette.outline, 1.6))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(self.cell_of(index).adjusted(0.8, 0.8, -0.8, -0.8))

    # -- mouse and keyboard ----------------------------------------------------------------

    def _hover(self, index: int | None) -> None:
        token = None if index is None else self.model.token_of_index(index)
        if (token, index) != (self.hovered, self._hovered_index):
            self.hovered = token
            self._hovered_index = index
            self.token_hovered.emit(token)
            self.viewport().update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._hover(self.index_at(event.position()))

    def leaveEvent(self, event: QEvent) -> None:
        self._hover(None)
        super().leaveEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        index = self.index_at(event.position())
        if index is not None and event.button() == Qt.MouseButton.LeftButton:
            self._go(index)

    def _go(self, index: int) -> None:
        self._current = max(0, min(index, self._count() - 1))
        if self._count():
            self._reveal(self._current)
            self.token_chosen.emit(self.model.token_of_index(self._current))
            self.viewport().update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        page = max(1, self.viewport().height() // self.cells.height - 1) * self.cells.columns
        steps = {
            Qt.Key.Key_Left: -1,
            Qt.Key.Key_Right: 1,
            Qt.Key.Key_Up: -self.cells.columns,
            Qt.Key.Key_Down: self.cells.columns,
            Qt.Key.Key_PageUp: -page,
            Qt.Key.Key_PageDown: page,
            Qt.Key.Key_Home: -self._count(),
            Qt.Key.Key_End: self._count(),
        }
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        elif event.key() in steps:
            self._go(self._current + steps[Qt.Key(event.key())])
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        what = "Copy Selected Ids" if self._selected else "Copy All Ids"
        menu.addAction(what, QKeySequence(QKeySequence.StandardKey.Copy), self.copy)
        menu.popup(event.globalPos())


class IdsView(QWidget):
    ids_pasted = Signal(str)  # the text as it was entered

    def __init__(self, model: TokenTextModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.grid = IdsGrid(model)
        self.entry = name_widget(
            entry("Ids to decode", can_be_cleared=True), "Ids to decode", "Paste ids, and press Enter to see their text"
        )
        self.entry.returnPressed.connect(lambda: self.ids_pasted.emit(self.entry.text()))
        self.decoded = selectable(name_widget(paragraph(), "Decoded text"))
        self.remark = selectable(name_widget(muted_label(), "Where encoding gives other ids"))
        self.about_large_ids = selectable(name_widget(muted_label(), "Ids larger than the vocabulary"))
        self._shown = DecodedIds("")
        for below in (self.decoded, self.remark):
            below.hide()
        rows = (self.about_large_ids, self.entry, self.decoded, self.remark)
        in_column((self.grid, 1), *rows, on=self, margins=(0, 0, 0, 0), spacing=2)
        self._model = model
        model.tokens_changed.connect(self._show_about_large_ids)
        self._show_about_large_ids()

    def _show_about_large_ids(self) -> None:
        sentence = self._model.sentence_about_ids
        self.about_large_ids.setText(sentence)
        self.about_large_ids.setVisible(bool(sentence))

    def show_decoded(self, decoded: DecodedIds) -> None:
        """Show the text of pasted ids. Places where encoding the text again gives other ids are underlined."""
        self._shown = decoded
        marked = Qt.TextFormat.RichText if decoded.marks else Qt.TextFormat.PlainText
        self.decoded.setTextFormat(marked)
        ground = shades_of(self.palette()).error_ground.name()
        self.decoded.setText("".join(_marked(decoded, ground)) if decoded.marks else decoded.text)
        self.decoded.setVisible(bool(decoded.text))
        self.remark.setText(decoded.remark)
        self.remark.setVisible(bool(decoded.remark))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_shown"):
            self.show_decoded(self._shown)


def _marked(decoded: DecodedIds, ground: str) -> Iterator[str]:
    """Yield the parts of the text as HTML. Marked places are underlined and have a coloured background."""
    end = 0
    yield '<span style="white-space: pre-wrap">'
    for mark in decoded.marks:
        start = max(end, mark.start)
        yield html.escape(decoded.text[end:start])
        inside = html.escape(decoded.text[start : mark.stop])
        yield f'<span style="text-decoration: underline; background-color: {ground}">{inside}</span>'
        end = max(end, mark.stop)
    yield f"{html.escape(decoded.text[end:])}</span>"


def _overlaps(span: ByteSpan | None, start: int, stop: int) -> bool:
    return span is not None and span[0] < stop and start < span[1]
