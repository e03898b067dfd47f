"""The mouse over a text: what it selects, and when it begins to drag what is selected."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from PySide6.QtCore import QObject, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication

from app.session.time import timer
from app.window.text.view.caret import Caret, word_around

SCROLL_MILLISECONDS = 30  # between two scrolls while the mouse is held beyond an edge
Span = tuple[int, int]
Unit = Callable[[int], Span]  # finds the selection around a place


class Edited(Protocol):
    """What is asked of an editor."""

    caret: Caret

    def character_at(self, point: QPointF) -> int: ...

    def beyond_edge(self, point: QPointF) -> float: ...

    def caret_moved(self) -> None: ...

    def drag(self) -> None: ...


class MouseSelection(QObject):
    """A selection by the left button: by character, word or line, scrolling at the edges."""

    def __init__(self, editor: Edited, parent: QObject) -> None:
        super().__init__(parent)
        self._editor = editor
        self._unit: Unit | None = None  # set while the button is down and selects
        self._origin: Span = (0, 0)
        self._drag_from: QPointF | None = None
        self._point = QPointF()
        self._last_double = QPointF()
        self._triple = timer(self, 0, bool)
        self._edge = timer(self, SCROLL_MILLISECONDS, self._go_on_at_edge, repeats=True)

    def press(self, event: QMouseEvent) -> None:
        point, caret = event.position(), self._editor.caret
        place = self._editor.character_at(point)
        if self._triple.isActive() and self._is_near(point, self._last_double):
            self._begin(place, lambda at: line_around(caret, at))
        elif event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self._unit, self._origin = _nothing_around, (caret.anchor, caret.anchor)
            self._extend_to(place)
        elif caret.has_selection and caret.selection[0] <= place < caret.selection[1]:
            self._drag_from = point
        else:
            self._begin(place, _nothing_around)

    def double_click(self, event: QMouseEvent) -> None:
        self._last_double = event.position()
        self._triple.start(QApplication.doubleClickInterval())
        chunks = self._editor.caret.flow.chunks
        self._begin(self._editor.character_at(event.position()), lambda at: word_around(chunks, at))

    def move(self, event: QMouseEvent) -> None:
        self._point = event.position()
        if self._drag_from is not None:
            if not self._is_near(self._point, self._drag_from):
                self._drag_from = None
                self._editor.drag()
        elif self._unit:
            self._extend_to(self._editor.character_at(self._point))
            if self._editor.beyond_edge(self._point):
                self._edge.start()
            else:
                self._edge.stop()

    def release(self, event: QMouseEvent) -> None:
        if self._drag_from is not None:  # a plain click into the selection
            self._editor.caret.go(self._editor.character_at(event.position()))
            self._editor.caret_moved()
        self._drag_from = self._unit = None
        self._edge.stop()

    def _begin(self, place: int, unit: Unit) -> None:
        self._unit, self._origin = unit, unit(place)
        self._editor.caret.select(*self._origin)
        self._editor.caret_moved()

    def _extend_to(self, place: int) -> None:
        if self._unit is None:
            return
        start, stop = self._unit(place)
        caret = self._editor.caret
        if start < self._origin[0]:
            caret.select(self._origin[1], start)
        else:
            caret.select(self._origin[0], max(stop, self._origin[1]))
        self._editor.caret_moved()

    def _go_on_at_edge(self) -> None:
        distance = self._editor.beyond_edge(self._point)
        if not self._unit or not distance:
            self._edge.stop()
            return
        self._editor.caret.flow.scroll_by(distance)
        self._extend_to(self._editor.character_at(self._point))

    @staticmethod
    def _is_near(one: QPointF, other: QPointF) -> bool:
        return (one - other).manhattanLength() < QApplication.startDragDistance()


def _nothing_around(place: int) -> Span:
    return place, place


def line_around(caret: Caret, place: int) -> Span:
    at = Caret(caret.flow)
    at.go(place)
    return at.line_start(), min(at.line_end() + 1, caret.flow.chunks.length)
