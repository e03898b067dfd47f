"""One block of text laid out in rows, and where on the screen each of its bytes is.

Every byte has a cell: a share of the width of the character it belongs to. So a token that
cuts a character in two is drawn over a part of that character, which is the truth.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress, pairwise
from typing import cast

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QTextCharFormat, QTextLayout, QTextLine, QTextOption

from app.window.text.view.visible_text import VisibleText, utf16_length

Floats = npt.NDArray[np.float64]

ROW_PADDING = 3.0  # above and below the letters
TAB_BLANKS = 4
ROW_GROUP_GAP = 10.0  # below a row that is shown several times


@dataclass(frozen=True)
class Composition:
    """What an input method has composed so far, and where in the block it stands."""

    text: str
    character: int


@dataclass(frozen=True)
class Typesetting:
    """All that decides how a block is laid out, besides its text."""

    font: QFont
    width: float
    all_invisible: bool = False
    showings: int = 1  # of each row, one below the other

    @cached_property
    def metrics(self) -> QFontMetricsF:
        return QFontMetricsF(self.font)

    @cached_property
    def row_height(self) -> float:
        return math.ceil(self.metrics.ascent() + self.metrics.descent()) + 2 * ROW_PADDING

    def height_of(self, line: QTextLine) -> float:
        """The height of a row: more where the letters of another font need it."""
        return max(self.row_height, math.ceil(line.height()) + 2 * ROW_PADDING)

    def all_showings(self, height: float) -> float:
        """The height of a row that is that high with all its showings, and the room between them and the next row."""
        return height if self.showings == 1 else height * self.showings + ROW_GROUP_GAP

    @cached_property
    def newline_width(self) -> float:
        """The cell a line end is given, so that its token can be seen."""
        return self.metrics.horizontalAdvance("n") * 0.8


@dataclass(eq=False)
class TextRow:
    """One row: the characters of the block it shows, and its place within the block."""

    start: int
    stop: int
    line: QTextLine
    y: float
    height: float
    first_byte: int  # within the block
    byte_count: int
    cells: tuple[Floats, Floats] | None = None  # measured when first asked for
    painted: dict[int, object] = field(default_factory=dict)  # what the painter keeps for each showing


class BlockLayout:
    """The rows of one block."""

    def __init__(
        self,
        text: str,
        setting: Typesetting,
        *,
        right_to_left: bool,
        goes_on: bool,
        composition: Composition | None = None,
    ) -> None:
        self.text = text
        self.setting = setting
        self.right_to_left = right_to_left
        self.ends_line = text.endswith("\n")
        self.goes_on = goes_on  # the line does, in the next block
        composed = (composition.text, composition.character) if composition else ("", 0)
        self.visible = VisibleText(
            text[:-1] if self.ends_line else text,
            all_invisible=setting.all_invisible,
            composed=composed[0],
            composed_at=composed[1],
        )
        self.layout = self._laid_out(composition)
        self._byte_starts = _byte_starts(text)
        self.rows = self._rows()
        self.carried = 0  # characters of a last row that is left for the block that goes on after this
        if goes_on and len(self.rows) > 1:
            last = self.rows.pop()
            self.carried = last.stop - last.start
        last = self.rows[-1]
        self.height = last.y + setting.all_showings(last.height)
        self.byte_count = last.first_byte + last.byte_count

    def _laid_out(self, composition: Composition | None) -> QTextLayout:
        setting = self.setting
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        option.setTabStopDistance(TAB_BLANKS * setting.metrics.horizontalAdvance(" "))
        direction = Qt.LayoutDirection.RightToLeft if self.right_to_left else Qt.LayoutDirection.LeftToRight
        option.setTextDirection(direction)
        option.setAlignment(Qt.AlignmentFlag.AlignRight if self.right_to_left else Qt.AlignmentFlag.AlignLeft)
        layout = QTextLayout(self.visible.text, setting.font)
        layout.setTextOption(option)
        layout.setCacheEnabled(True)
        if composition:
            layout.setFormats([_underlined(self.visible.composed_at, utf16_length(composition.text))])
        layout.beginLayout()
        y = 0.0
        while (line := layout.createLine()).isValid():
            line.setLineWidth(setting.width)
            line.setPosition(QPointF(0.0, y + ROW_PADDING))
            y += setting.all_showings(setting.height_of(line))
        layout.endLayout()
        return layout

    def _rows(self) -> list[TextRow]:
        rows: list[TextRow] = []
        for number in range(self.layout.lineCount()):
            line = self.layout.lineAt(number)
            start = rows[-1].stop if rows else 0
            stop = self.visible.character_of(line.textStart() + line.textLength())
            if number == self.layout.lineCount() - 1:
                stop = len(self.text)
            first = self.byte_of(start)
            y, height = line.y() - ROW_PADDING, self.setting.height_of(line)
            rows.append(TextRow(start, stop, line, y, height, first, self.byte_of(stop) - first))
        return rows

    # -- positions within the block --------------------------------------------------------

    def byte_of(self, character: int) -> int:
        return character if self._byte_starts is None else int(self._byte_starts[character])

    def character_of(self, byte: int) -> int:
        if self._byte_starts is None:
            return byte
        return int(np.searchsorted(self._byte_starts, byte, side="right")) - 1

    def row_of(self, character: int) -> TextRow:
        """The row a caret before this character stands in; one between two rows stands in the later."""
        for row in reversed(self.rows):
            if row.start <= character:
                return row
        return self.rows[0]

    def row_at(self, y: float) -> TextRow:
        for row in self.rows:
            if y < row.y + self.setting.all_showings(row.height):
                return row
        return self.rows[-1]

    def x_of(self, character: int) -> float:
        """Where the caret before a character stands."""
        row = self.row_of(character)
        return _x(row.line, self.visible.units_of(min(character, len(self.visible.source))))

    def nearest_character(self, row: TextRow, x: float) -> int:
        """The place in a row nearest to a point, for the caret."""
        character = self.visible.character_of(row.line.xToCursor(x))
        return min(max(character, row.start), self.last_place(row))

    def last_place(self, row: TextRow) -> int:
        """Where the caret stands at the end of a row."""
        if row.stop == len(self.text) and not self.goes_on:
            return row.stop - self.ends_line
        # Behind its last character the caret would stand in the next row. (A row may hold only what is composed.)
        return max(row.start, self.before(row.stop))

    def before(self, character: int) -> int:
        """The place before the whole character (with its marks) that ends here."""
        unit = self.layout.previousCursorPosition(self.visible.units_of(character))
        return min(self.visible.character_of(unit), character - 1)

    def after(self, character: int) -> int:
        """The place after the whole character (with its marks) that starts here."""
        unit = self.layout.nextCursorPosition(self.visible.units_of(character))
        return max(self.visible.character_of(unit), character + 1)

    def splits_character(self, bytes_: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """For each of these bytes of the block, whether a character that began before goes on there."""
        if self._byte_starts is None:
            return np.zeros(len(bytes_), np.bool_)
        found = np.searchsorted(self._byte_starts, bytes_)
        return self._byte_starts[np.minimum(found, len(self._byte_starts) - 1)] != bytes_

    # -- cells -----------------------------------------------------------------------------

    def cells(self, row: TextRow) -> tuple[Floats, Floats]:
        """For each byte of a row, where its cell begins and ends in reading direction."""
        if row.cells is None:
            row.cells = self._measured_cells(row)
        return row.cells

    def _measured_cells(self, row: TextRow) -> tuple[Floats, Floats]:
        has_newline = self.ends_line and row.stop == len(self.text)
        clusters, begins, ends = self._clusters(row, row.stop - has_newline)
        if has_newline:
            edge = _x(row.line, self.visible.units_of(len(self.visible.source)))
            width = self.setting.newline_width
            clusters.append(row.stop - 1)
            begins.append(edge)
            ends.append(edge - width if self.right_to_left else edge + width)
        clusters.append(row.stop)
        bytes_before = np.array([self.byte_of(character) for character in clusters], np.int64) - row.first_byte
        sizes = np.diff(bytes_before)
        begin, end = np.repeat(np.array(begins), sizes), np.repeat(np.array(ends), sizes)
        number = np.arange(row.byte_count) - np.repeat(bytes_before[:-1], sizes)
        share = (end - begin) / np.repeat(sizes, sizes)
        return begin + share * number, begin + share * (number + 1)

    def _clusters(self, row: TextRow, stop: int) -> tuple[list[int], list[float], list[float]]:
        """The characters of a row that stand alone or carry others, and where each begins and ends."""
        visible, line = self.visible, row.line
        characters = range(row.start, stop)
        units = [visible.units_of(character) for character in characters]
        carets = [_caret(line, unit) for unit in units]  # where it stands, and the nearest unit where it can
        stands_alone = [caret[1] == unit for caret, unit in zip(carets, units, strict=True)]
        stands_alone[:1] = [True] * len(stands_alone[:1])
        clusters = list(compress(characters, stands_alone))
        begins = [caret[0] for caret in compress(carets, stands_alone)]
        if visible.is_right_to_left or self.right_to_left:
            boxes = {box.character: box.units - 1 for box in visible.boxes}
            ends = [_end_x(line, visible.units_of(c) + boxes.get(c, 0)) for c in clusters]
            _place_where_the_direction_turns(line, [*map(visible.units_of, (*clusters, stop))], begins, ends)
        else:
            ends = [*begins[1:], _x(line, visible.units_of(stop))] if clusters else []
        return clusters, begins, ends


# The stubs promise the place alone; what comes is the place and the nearest unit where a caret can stand.
_caret = cast(Callable[[QTextLine, int], tuple[float, int]], QTextLine.cursorToX)


def _underlined(start: int, length: int) -> QTextLayout.FormatRange:
    underlined = QTextLayout.FormatRange()
    underlined.start, underlined.length = start, length
    look = QTextCharFormat()
    look.setFontUnderline(True)
    underlined.format = look
    return underlined


def _x(line: QTextLine, unit: int) -> float:
    return _caret(line, unit)[0]


def _end_x(line: QTextLine, unit: int) -> float:
    """Where the letter at a unit ends, in reading direction."""
    return cast(tuple[float, int], line.cursorToX(unit, QTextLine.Edge.Trailing))[0]


def _place_where_the_direction_turns(line: QTextLine, units: list[int], begins: list[float], ends: list[float]) -> None:
    """Put right the letters at which the reading direction turns.

    For both of their sides the line answers where the caret stands: at the letter before. Their
    glyphs are where they are.
    """
    for index, (unit, next_unit) in enumerate(pairwise(units)):
        if begins[index] != ends[index]:
            continue
        for run in line.glyphRuns(unit, next_unit - unit):
            widths = run.rawFont().advancesForGlyphIndexes(run.glyphIndexes())
            sides = [(at.x(), at.x() + width.x()) for at, width in zip(run.positions(), widths, strict=True)]
            if sides:
                low, high = min(left for left, _ in sides), max(right for _, right in sides)
                begins[index], ends[index] = (high, low) if run.isRightToLeft() else (low, high)


def _byte_starts(text: str) -> npt.NDArray[np.int64] | None:
    """The byte each character starts at, and the length in bytes; None where bytes are characters."""
    if text.isascii():
        return None
    data = np.frombuffer(text.encode(), np.uint8)
    return np.append(np.flatnonzero((data & 0xC0) != 0x80), len(data))
