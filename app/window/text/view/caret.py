"""The caret: its moves, its selection, and the meaning of keys and input methods."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable

from PySide6.QtCore import Qt
from PySide6.QtGui import QInputMethodEvent, QKeyEvent, QKeySequence

from app.window.text.chunks import TextChunks
from app.window.text.view.block_layout import utf16_length
from app.window.text.view.flow import Flow


class Caret:
    def __init__(self, flow: Flow) -> None:
        self.flow = flow
        self.position = 0
        self.anchor = 0
        self._goal_x: float | None = None  # kept while going up and down through shorter rows

    @property
    def selection(self) -> tuple[int, int]:
        return min(self.position, self.anchor), max(self.position, self.anchor)

    @property
    def has_selection(self) -> bool:
        return self.position != self.anchor

    def go(self, position: int, *, selecting: bool = False) -> None:
        self.position = max(0, min(position, self.flow.chunks.length))
        if not selecting:
            self.anchor = self.position
        self._goal_x = None

    def select(self, start: int, stop: int) -> None:
        self.go(start)
        self.go(stop, selecting=True)

    # -- by character and word -------------------------------------------------------------

    def after(self) -> int:
        position = self.position
        if position >= self.flow.chunks.length:
            return position
        index = self.flow.block_of(position)
        layout = self.flow.layout(index)
        start = self.flow.start_of(index)
        return min(start + layout.after(position - start), self.flow.chunks.length)

    def before(self) -> int:
        position = self.position
        if position == 0:
            return 0
        index = self.flow.block_of(position - 1)
        layout = self.flow.layout(index)
        start = self.flow.start_of(index)
        if layout.text[position - start - 1] == "\n":
            return position - 1
        return start + layout.before(position - start)

    def word_after(self) -> int:
        return next_word(self.flow.chunks, self.position)

    def word_before(self) -> int:
        return previous_word(self.flow.chunks, self.position)

    def reads_right_to_left(self) -> bool:
        return self.flow.layout(self.flow.block_of(self.position)).right_to_left

    # -- by row, line and text -------------------------------------------------------------

    def row_start(self) -> int:
        block, row = self.flow.place_of(self.position)
        return block.start + row.start

    def row_end(self) -> int:
        block, row = self.flow.place_of(self.position)
        return block.start + block.layout.last_place(row)

    def line_start(self) -> int:
        chunks = self.flow.chunks
        index = chunks.chunk_at(self.position)
        while not chunks.starts_line(index):
            index -= 1
        return chunks.start_of(index)

    def line_end(self) -> int:
        chunks = self.flow.chunks
        index = chunks.chunk_at(self.position)
        while not chunks[index].endswith("\n") and index < len(chunks) - 1:
            index += 1
        return chunks.start_of(index) + len(chunks[index]) - chunks[index].endswith("\n")

    def go_rows(self, rows: int, *, selecting: bool) -> None:
        """Go up (negative) or down, keeping the horizontal place."""
        flow = self.flow
        index = flow.block_of(self.position)
        layout = flow.layout(index)
        within = self.position - flow.start_of(index)
        goal = layout.x_of(within) if self._goal_x is None else self._goal_x
        number = layout.rows.index(layout.row_of(within)) + rows
        while number < 0 and index > 0:
            index -= 1
            layout = flow.layout(index)
            number += len(layout.rows)
        while number >= len(layout.rows) and index < len(flow.chunks) - 1:
            number -= len(layout.rows)
            index += 1
            layout = flow.layout(index)
        if number < 0 or number >= len(layout.rows):
            target = 0 if number < 0 else flow.chunks.length
        else:
            target = flow.start_of(index) + layout.nearest_character(layout.rows[number], goal)
        self.go(target, selecting=selecting)
        self._goal_x = goal


def next_word(chunks: TextChunks, position: int) -> int:
    kind = _kind(chunks, position)
    if kind == "\n":
        return position + 1
    while kind not in (" ", "") and _kind(chunks, position) == kind:
        position += 1
    while _kind(chunks, position) == " ":
        position += 1
    return position


def previous_word(chunks: TextChunks, position: int) -> int:
    if _kind(chunks, position - 1) == "\n":
        return position - 1
    while _kind(chunks, position - 1) == " ":
        position -= 1
    kind = _kind(chunks, position - 1)
    while kind not in ("\n", "") and _kind(chunks, position - 1) == kind:
        position -= 1
    return position


def word_around(chunks: TextChunks, position: int) -> tuple[int, int]:
    """Return the word, or the run of blanks or other signs, around a place."""
    kinds = _kind(chunks, position), _kind(chunks, position - 1)
    kind = next((kind for kind in kinds if kind not in ("\n", "")), None)
    start = stop = position
    while kind and _kind(chunks, start - 1) == kind:
        start -= 1
    while kind and _kind(chunks, stop) == kind:
        stop += 1
    return start, stop


def _kind(chunks: TextChunks, position: int) -> str:
    if not 0 <= position < chunks.length:
        return ""
    index = chunks.chunk_at(position)
    character = chunks[index][position - chunks.start_of(index)]
    if character == "\n":
        return "\n"
    if character.isspace():
        return " "
    # Marks belong to the letter they are on.
    return "a" if character == "_" or unicodedata.category(character)[0] in "LNM" else "."


Key = QKeySequence.StandardKey
Place = Callable[[Caret], int]


def _visual(place: Place, other: Place) -> Place:
    """Return where an arrow leads: to `place`, or to the `other` side where the text reads from right to left."""
    return lambda caret: (other if caret.reads_right_to_left() else place)(caret)


_BOTH_MOVES: list[tuple[Key, Key, Place]] = [  # alone, and selecting
    (Key.MoveToNextChar, Key.SelectNextChar, _visual(Caret.after, Caret.before)),
    (Key.MoveToPreviousChar, Key.SelectPreviousChar, _visual(Caret.before, Caret.after)),
    (Key.MoveToNextWord, Key.SelectNextWord, _visual(Caret.word_after, Caret.word_before)),
    (Key.MoveToPreviousWord, Key.SelectPreviousWord, _visual(Caret.word_before, Caret.word_after)),
    (Key.MoveToStartOfLine, Key.SelectStartOfLine, Caret.row_start),
    (Key.MoveToEndOfLine, Key.SelectEndOfLine, Caret.row_end),
    (Key.MoveToStartOfBlock, Key.SelectStartOfBlock, Caret.line_start),
    (Key.MoveToEndOfBlock, Key.SelectEndOfBlock, Caret.line_end),
    (Key.MoveToStartOfDocument, Key.SelectStartOfDocument, lambda caret: 0),
    (Key.MoveToEndOfDocument, Key.SelectEndOfDocument, lambda caret: caret.flow.chunks.length),
]
MOVES: dict[Key, tuple[Place, bool]] = {  # the place, and whether to select the way there
    key: (place, selecting) for *keys, place in _BOTH_MOVES for key, selecting in zip(keys, (False, True), strict=True)
}
DELETIONS: dict[Key, Place] = {
    Key.Delete: Caret.after,
    Key.Backspace: Caret.before,  # see `matched`
    Key.DeleteEndOfWord: Caret.word_after,
    Key.DeleteStartOfWord: Caret.word_before,
    Key.DeleteEndOfLine: Caret.line_end,
}
_BOTH_ROWS: list[tuple[Key, Key, int, bool]] = [
    (Key.MoveToNextLine, Key.SelectNextLine, 1, False),
    (Key.MoveToPreviousLine, Key.SelectPreviousLine, -1, False),
    (Key.MoveToNextPage, Key.SelectNextPage, 1, True),
    (Key.MoveToPreviousPage, Key.SelectPreviousPage, -1, True),
]
ROWS: dict[Key, tuple[int, bool, bool]] = {  # how many, whether pages, and whether to select
    key: (count, are_pages, key is selects)
    for moves, selects, count, are_pages in _BOTH_ROWS
    for key in (moves, selects)
}


def matched(event: QKeyEvent, keys: Iterable[Key]) -> Key | None:
    is_shift_only = not event.modifiers() & ~Qt.KeyboardModifier.ShiftModifier
    if event.key() == Qt.Key.Key_Backspace and is_shift_only and Key.Backspace in keys:
        return Key.Backspace  # standard keys on some platforms only
    return next((key for key in keys if event.matches(key)), None)


def types_a_letter(event: QKeyEvent) -> bool:
    modifiers = event.modifiers() & ~(Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier)
    return bool(event.text()) and event.text().isprintable() and not modifiers


SURROUNDING = 256  # characters on each side of the caret


def input_method_answer(query: Qt.InputMethodQuery, caret: Caret) -> object:
    """Answer a question of an input method about the text around the caret; None without an answer."""
    text, asked, at = caret.flow.chunks.slice, Qt.InputMethodQuery, caret.position
    start, stop = max(0, at - SURROUNDING), min(caret.flow.chunks.length, at + SURROUNDING)
    answers: dict[Qt.InputMethodQuery, Callable[[], object]] = {
        asked.ImEnabled: lambda: True,
        asked.ImSurroundingText: lambda: text(start, stop),
        asked.ImCursorPosition: lambda: utf16_length(text(start, at)),
        asked.ImAnchorPosition: lambda: utf16_length(text(start, min(max(caret.anchor, start), stop))),
        asked.ImTextBeforeCursor: lambda: text(start, at),
        asked.ImTextAfterCursor: lambda: text(at, stop),
        asked.ImCurrentSelection: lambda: text(*caret.selection),
    }
    return answers[query]() if query in answers else None


def replaced_characters(event: QInputMethodEvent, caret: Caret) -> tuple[int, int]:
    """Return the characters replaced by a commit of an input method."""
    if not event.replacementLength() and not event.replacementStart():
        return caret.selection
    start = _moved_by_units(caret, caret.position, event.replacementStart())
    return start, _moved_by_units(caret, start, event.replacementLength())


def _moved_by_units(caret: Caret, character: int, units: int) -> int:
    """Return the place some UTF-16 units away, as input methods count."""
    chunks = caret.flow.chunks
    step = 1 if units > 0 else -1
    while units * step > 0 and 0 <= character + min(step, 0) < chunks.length:
        passed = chunks.slice(character + min(step, 0), character + max(step, 0))
        units -= step * utf16_length(passed)
        character += step
    return character
