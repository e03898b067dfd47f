"""What an input method may ask of the text around the caret, for composing Chinese or an accented letter."""

from __future__ import annotations

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QFont, QInputMethodEvent

from app.window.text.view.caret import Caret
from app.window.text.view.visible_text import utf16_length

SURROUNDING = 256  # characters on each side of the caret that are told


def answer(query: Qt.InputMethodQuery, caret: Caret, rectangle: QRect, font: QFont) -> object:
    """The answer to one question; None where there is none."""
    pieces = caret.flow.pieces
    start = max(0, caret.position - SURROUNDING)
    stop = min(pieces.length, caret.position + SURROUNDING)
    asked = Qt.InputMethodQuery
    if query == asked.ImEnabled:
        return True
    if query in (asked.ImCursorRectangle, asked.ImAnchorRectangle):
        return rectangle
    if query == asked.ImFont:
        return font
    if query == asked.ImSurroundingText:
        return pieces.slice(start, stop)
    if query == asked.ImCursorPosition:
        return utf16_length(pieces.slice(start, caret.position))
    if query == asked.ImAnchorPosition:
        return utf16_length(pieces.slice(start, min(max(caret.anchor, start), stop)))
    if query == asked.ImTextBeforeCursor:
        return pieces.slice(start, caret.position)
    if query == asked.ImTextAfterCursor:
        return pieces.slice(caret.position, stop)
    if query == asked.ImCurrentSelection:
        return pieces.slice(*caret.selection)
    return None


def replaced(event: QInputMethodEvent, caret: Caret) -> tuple[int, int]:
    """The characters that what an input method commits takes the place of."""
    if not event.replacementLength() and not event.replacementStart():
        return caret.selection
    start = _moved_by_units(caret, caret.position, event.replacementStart())
    return start, _moved_by_units(caret, start, event.replacementLength())


def _moved_by_units(caret: Caret, character: int, units: int) -> int:
    """A place some UTF-16 units away, as input methods count."""
    pieces = caret.flow.pieces
    step = 1 if units > 0 else -1
    while units * step > 0 and 0 <= character + min(step, 0) < pieces.length:
        passed = pieces.slice(character + min(step, 0), character + max(step, 0))
        units -= step * utf16_length(passed)
        character += step
    return character
