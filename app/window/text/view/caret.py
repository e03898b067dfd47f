"""Where the caret goes: by character, word, row, line, page and text; and what it has selected."""

from __future__ import annotations

import unicodedata

from app.window.text.pieces import TextPieces
from app.window.text.view.flow import Flow

_WORD_WINDOW = 256  # characters looked at first for the end of a word


class Caret:
    """A place in the text, and the other end of the selection."""

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
        self.position = max(0, min(position, self.flow.pieces.length))
        if not selecting:
            self.anchor = self.position
        self._goal_x = None

    def select(self, start: int, stop: int) -> None:
        self.go(start)
        self.go(stop, selecting=True)

    # -- by character and word -------------------------------------------------------------

    def after(self) -> int:
        """The place after the next whole character."""
        position = self.position
        if position >= self.flow.pieces.length:
            return position
        index = self.flow.block_of(position)
        layout = self.flow.layout(index)
        start = self.flow.start_of(index)
        return min(start + layout.after(position - start), self.flow.pieces.length)

    def before(self) -> int:
        """The place before the whole character that ends here."""
        position = self.position
        if position == 0:
            return 0
        index = self.flow.block_of(position - 1)
        layout = self.flow.layout(index)
        start = self.flow.start_of(index)
        if layout.text[position - start - 1] == "\n":
            return position - 1
        return start + layout.before(position - start)

    def to_the_right(self) -> int:
        return self.before() if self._reads_right_to_left() else self.after()

    def to_the_left(self) -> int:
        return self.after() if self._reads_right_to_left() else self.before()

    def word_to_the_right(self) -> int:
        return self.word_before() if self._reads_right_to_left() else self.word_after()

    def word_to_the_left(self) -> int:
        return self.word_after() if self._reads_right_to_left() else self.word_before()

    def word_after(self) -> int:
        return next_word(self.flow.pieces, self.position)

    def word_before(self) -> int:
        return previous_word(self.flow.pieces, self.position)

    def _reads_right_to_left(self) -> bool:
        return self.flow.layout(self.flow.block_of(self.position)).right_to_left

    # -- by row, line and text -------------------------------------------------------------

    def row_start(self) -> int:
        block, row = self.flow.place_of(self.position)
        return block.start + row.start

    def row_end(self) -> int:
        block, row = self.flow.place_of(self.position)
        return block.start + block.layout.last_place(row)

    def line_start(self) -> int:
        pieces = self.flow.pieces
        index = pieces.piece_at(self.position)
        while not pieces.starts_line(index):
            index -= 1
        return pieces.start_of(index)

    def line_end(self) -> int:
        """Behind the last character of the line, before its newline."""
        pieces = self.flow.pieces
        index = pieces.piece_at(self.position)
        while not pieces[index].endswith("\n") and index < len(pieces) - 1:
            index += 1
        return pieces.start_of(index) + len(pieces[index]) - pieces[index].endswith("\n")

    def text_start(self) -> int:
        return 0

    def text_end(self) -> int:
        return self.flow.pieces.length

    def go_rows(self, rows: int, *, selecting: bool) -> None:
        """Up (negative) or down, staying under the place where the way began."""
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
        while number >= len(layout.rows) and index < len(flow.pieces) - 1:
            number -= len(layout.rows)
            index += 1
            layout = flow.layout(index)
        if number < 0 or number >= len(layout.rows):
            target = 0 if number < 0 else flow.pieces.length
        else:
            target = flow.start_of(index) + layout.nearest_character(layout.rows[number], goal)
        self.go(target, selecting=selecting)
        self._goal_x = goal


def next_word(pieces: TextPieces, position: int) -> int:
    """Where the next word starts: behind this word and the blanks after it, but at most in the next line."""
    text = _Characters(pieces)
    if text.kind(position) == "\n":
        return position + 1
    kind = text.kind(position)
    while kind not in (" ", "") and text.kind(position) == kind:
        position += 1
    while text.kind(position) == " ":
        position += 1
    return position


def previous_word(pieces: TextPieces, position: int) -> int:
    """Where this word starts, or the one before."""
    text = _Characters(pieces)
    if text.kind(position - 1) == "\n":
        return position - 1
    while text.kind(position - 1) == " ":
        position -= 1
    kind = text.kind(position - 1)
    while kind not in ("\n", "") and text.kind(position - 1) == kind:
        position -= 1
    return position


def word_around(pieces: TextPieces, position: int) -> tuple[int, int]:
    """The word, the run of blanks or of other signs that a place is in."""
    text = _Characters(pieces)
    kind = text.kind(position)
    if kind in ("\n", ""):
        kind = text.kind(position - 1)
    if kind in ("\n", ""):
        return position, position
    start = stop = position
    while text.kind(start - 1) == kind:
        start -= 1
    while text.kind(stop) == kind:
        stop += 1
    return start, stop


class _Characters:
    """The characters of a text read in windows, by kind: of a word, blank, newline, other; none at the ends."""

    def __init__(self, pieces: TextPieces) -> None:
        self._pieces = pieces
        self._windows: dict[int, str] = {}

    def kind(self, position: int) -> str:
        if not 0 <= position < self._pieces.length:
            return ""
        start = position - position % _WORD_WINDOW
        if start not in self._windows:
            self._windows[start] = self._pieces.slice(start, start + _WORD_WINDOW)
        return _kind(self._windows[start][position - start])


def _kind(character: str) -> str:
    if character == "\n":
        return "\n"
    if character.isspace():
        return " "
    # Marks belong to the letter they stand on.
    return "a" if character == "_" or unicodedata.category(character)[0] in "LNM" else "."
