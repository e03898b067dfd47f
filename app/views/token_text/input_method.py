"""What an input method may ask of the text around the caret, for composing Chinese or an accented letter."""

from __future__ import annotations

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QFont

from app.views.token_text.caret import Caret
from app.views.token_text.visible_text import utf16_length

SURROUNDING = 256  # characters on each side of the caret that are told


def answer(query: Qt.InputMethodQuery, caret: Caret, rectangle: QRect, font: QFont, read_only: bool) -> object:
    """The answer to one question; None where there is none."""
    pieces = caret.flow.pieces
    start = max(0, caret.position - SURROUNDING)
    stop = min(pieces.length, caret.position + SURROUNDING)
    asked = Qt.InputMethodQuery
    if query == asked.ImEnabled:
        return not read_only
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
