"""Where the caret goes: by character, word, row, line, page and text; and what it has selected."""

from __future__ import annotations

import unicodedata

from app.window.text.chunks import TextChunks
from app.window.text.view.flow import Flow


class Caret:
    """The caret, and the other end of the selection."""

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

    def to_the_right(self) -> int:
        return self.before() if self._reads_right_to_left() else self.after()

    def to_the_left(self) -> int:
        return self.after() if self._reads_right_to_left() else self.before()

    def word_to_the_right(self) -> int:
        return self.word_before() if self._reads_right_to_left() else self.word_after()

    def word_to_the_left(self) -> int:
        return self.word_after() if self._reads_right_to_left() else self.word_before()

    def word_after(self) -> int:
        return next_word(self.flow.chunks, self.position)

    def word_before(self) -> int:
        return previous_word(self.flow.chunks, self.position)

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
    """Return where the next word starts, at most in the next line."""
    kind = _kind(chunks, position)
    if kind == "\n":
        return position + 1
    while kind not in (" ", "") and _kind(chunks, position) == kind:
        position += 1
    while _kind(chunks, position) == " ":
        position += 1
    return position


def previous_word(chunks: TextChunks, position: int) -> int:
    """Return where this word starts, or the one before."""
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
    """Return the kind of a character: word, blank, newline or other; none beyond the ends."""
    if not 0 <= position < chunks.length:
        return ""
    index = chunks.chunk_at(position)
    character = chunks[index][position - chunks.start_of(index)]
    if character == "\n":
        return "\n"
    if character.isspace():
        return " "
    # Marks belong to the letter they stand on.
    return "a" if character == "_" or unicodedata.category(character)[0] in "LNM" else "."
