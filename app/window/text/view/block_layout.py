"""Lay out one block of text in rows, and find each of its bytes on the screen.

Every byte has a cell: a share of the width of its character. A token that cuts a character in two covers a part of it.
Nothing stays invisible: a control character becomes a box with its name. Of a run of spaces, all but the last are
replaced by spaces that may begin a row. Positions are mapped both ways, between characters of the text and UTF-16
units of what Qt lays out.

    >>> visible = VisibleText("a\\x00b")
    >>> visible.units_of(2), visible.character_of(4), [box.label for box in visible.boxes]
    (4, 2, ['NUL'])
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress, pairwise
from typing import cast

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QTextCharFormat, QTextLayout, QTextLine, QTextOption

Composition = tuple[int, str]  # the composition of an input method, and the character behind it
_ROOM = "\u2007"  # figure space: as wide as a digit, never broken from its neighbour
_BLANK_AMONG_BLANKS = "\u00a0\u200b"  # stays inside the row, which may end after it
LABEL_SCALE = 0.68  # size of a box's name in sizes of the text

_HIDDEN = "\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u180e\u200b\u2028\u2029\u2060-\u2064\ufeff\ufff9-\ufffc"
_JOINERS_AND_DIRECTIONS = "\u034f\u061c\u200c-\u200f\u202a-\u202e\u2066-\u206f\ufe00-\ufe0f\U000e0000-\U000e0fff"
_BOXED = re.compile(f"[{_HIDDEN}]")
_BOXED_ON_REQUEST = re.compile(f"[{_HIDDEN}{_JOINERS_AND_DIRECTIONS}]")
_COUNTS_UNLIKE = re.compile("[\U00010000-\U0010ffff]| (?= )")
_RIGHT_TO_LEFT = re.compile(
    "[\u0590-\u08ff\u200f\u202b\u202e\u2067\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
)

_C0_NAMES = "NUL SOH STX ETX EOT ENQ ACK BEL BS TAB LF VT FF CR SO SI DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC"
_NAMES_FROM = {
    0x00: f"{_C0_NAMES} FS GS RS US",
    0x7F: "DEL",
    0x85: "NEL",
    0xAD: "SHY",
    0x34F: "CGJ",
    0x61C: "ALM",
    0x200B: "ZWSP ZWNJ ZWJ LRM RLM",
    0x2028: "LS PS LRE RLE PDF LRO RLO",
    0x2060: "WJ",
    0x2066: "LRI RLI FSI PDI",
    0xFE00: " ".join(f"VS{number}" for number in range(1, 17)),
    0xFEFF: "BOM",
    0xFFFC: "OBJ",
}
_NAMES = {chr(first + i): name for first, names in _NAMES_FROM.items() for i, name in enumerate(names.split())}


def name_of(character: str) -> str:
    return _NAMES.get(character, f"U+{ord(character):04X}")


@dataclass(frozen=True)
class Box:
    character: int  # shown by its name
    units: int  # units of room
    label: str


class VisibleText:
    """A stretch of text without its newline, as laid out with the composition of an input method."""

    def __init__(self, source: str, *, all_invisible: bool = False, composition: Composition | None = None) -> None:
        self.source = source
        self.boxes: list[Box] = []
        self.composed_at = 0  # the first unit of the composition
        self._starts: list[int] | None = None  # None if characters and units are the same
        boxed = _BOXED_ON_REQUEST if all_invisible else _BOXED
        self.text = source
        if composition or _COUNTS_UNLIKE.search(source) or boxed.search(source):
            self.text = self._replaced(boxed, composition)
        self.is_right_to_left = _RIGHT_TO_LEFT.search(self.text) is not None

    def units_of(self, character: int) -> int:
        return character if self._starts is None else self._starts[character]

    def character_of(self, unit: int) -> int:
        if self._starts is None:
            return unit
        return min(max(0, bisect_right(self._starts, unit) - 1), len(self.source))

    def _replaced(self, boxed: re.Pattern[str], composition: Composition | None) -> str:
        parts: list[str] = []
        self._starts = starts = []
        unit = 0
        for index, character in enumerate([*self.source, ""]):
            if composition and index == min(composition[0], len(self.source)):
                self.composed_at = unit
                parts.append(composition[1])
                unit += utf16_length(composition[1])
            starts.append(unit)
            if character == " " and self.source[index + 1 : index + 2] == " ":
                shown = _BLANK_AMONG_BLANKS
            elif boxed.match(character):
                shown = self._boxed(index, character)
            else:
                shown = character
            parts.append(shown)
            unit += utf16_length(shown)
        return "".join(parts)

    def _boxed(self, index: int, character: str) -> str:
        label = name_of(character)
        units = max(2, math.ceil(LABEL_SCALE * len(label) + 0.7))
        self.boxes.append(Box(index, units, label))
        return _ROOM * units


def utf16_length(text: str) -> int:
    """Count as Qt does: characters beyond U+FFFF twice.

    >>> utf16_length("a😀")
    3
    """
    return len(text) + sum(character > "\uffff" for character in text)


def reads_right_to_left(line: str) -> bool:
    """Whether the first letter of a line reads from right to left."""
    first = next(filter(str.isalpha, line), "")
    return _RIGHT_TO_LEFT.match(first) is not None


Floats = npt.NDArray[np.float64]

ROW_PADDING = 3.0  # above and below the letters
TAB_BLANKS = 4


@dataclass(frozen=True)
class Typesetting:
    """Everything but the text that decides how a block is laid out."""

    font: QFont
    width: float
    all_invisible: bool = False

    @cached_property
    def metrics(self) -> QFontMetricsF:
        return QFontMetricsF(self.font)

    @cached_property
    def row_height(self) -> float:
        return math.ceil(self.metrics.ascent() + self.metrics.descent()) + 2 * ROW_PADDING

    def height_of(self, line: QTextLine) -> float:
        """Return the height of a row; another font's letters may need more."""
        return max(self.row_height, math.ceil(line.height()) + 2 * ROW_PADDING)

    @cached_property
    def newline_width(self) -> float:
        """The width of a line end's cell, which makes its token visible."""
        return self.metrics.horizontalAdvance("n") * 0.8


@dataclass(eq=False)
class TextRow:
    start: int
    stop: int
    line: QTextLine
    y: float
    height: float
    first_byte: int  # within the block
    byte_count: int
    cells: tuple[Floats, Floats] | None = None  # measured when first asked for
    painted: dict[int, object] = field(default_factory=dict)  # the painter's cache, by showing


class BlockLayout:
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
        self.goes_on = goes_on  # the line goes on in the next block
        source = text[:-1] if self.ends_line else text
        self.visible = VisibleText(source, all_invisible=setting.all_invisible, composition=composition)
        self.layout = self._laid_out(composition)
        self._byte_starts = _byte_starts(text)
        self.rows = self._rows()
        self.carried = 0  # characters of the last row, which the next block shows
        if goes_on and len(self.rows) > 1:
            last = self.rows.pop()
            self.carried = last.stop - last.start
        last = self.rows[-1]
        self.height = last.y + last.height
        self.byte_count = last.first_byte + last.byte_count

    def _laid_out(self, composition: Composition | None) -> QTextLayout:
        setting = self.setting
        option = QTextOption(Qt.AlignmentFlag.AlignRight if self.right_to_left else Qt.AlignmentFlag.AlignLeft)
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        option.setTabStopDistance(TAB_BLANKS * setting.metrics.horizontalAdvance(" "))
        direction = Qt.LayoutDirection.RightToLeft if self.right_to_left else Qt.LayoutDirection.LeftToRight
        option.setTextDirection(direction)
        layout = QTextLayout(self.visible.text, setting.font)
        layout.setTextOption(option)
        layout.setCacheEnabled(True)
        if composition:
            layout.setFormats([_underlined(self.visible.composed_at, utf16_length(composition[1]))])
        layout.beginLayout()
        y = 0.0
        while (line := layout.createLine()).isValid():
            line.setLineWidth(setting.width)
            line.setPosition(QPointF(0.0, y + ROW_PADDING))
            y += setting.height_of(line)
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
        """Return the row of a caret before this character; between two rows the later one."""
        return next((row for row in reversed(self.rows) if row.start <= character), self.rows[0])

    def row_at(self, y: float) -> TextRow:
        below = (row for row in self.rows if y < row.y + row.height)
        return next(below, self.rows[-1])

    def x_of(self, character: int) -> float:
        row = self.row_of(character)
        return _x(row.line, self.visible.units_of(min(character, len(self.visible.source))))

    def nearest_character(self, row: TextRow, x: float) -> int:
        character = self.visible.character_of(row.line.xToCursor(x))
        return min(max(character, row.start), self.last_place(row))

    def last_place(self, row: TextRow) -> int:
        if row.stop == len(self.text) and not self.goes_on:
            return row.stop - self.ends_line
        # Behind the row's last character the caret is in the next row. (A row may hold only a composition.)
        return max(row.start, self.before(row.stop))

    def before(self, character: int) -> int:
        """Return the place before the character (with its marks) that ends here."""
        unit = self.layout.previousCursorPosition(self.visible.units_of(character))
        return min(self.visible.character_of(unit), character - 1)

    def after(self, character: int) -> int:
        unit = self.layout.nextCursorPosition(self.visible.units_of(character))
        return max(self.visible.character_of(unit), character + 1)

    def splits_character(self, bytes_: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Flag each byte that is inside a character."""
        if self._byte_starts is None:
            return np.zeros(len(bytes_), np.bool_)
        found = np.searchsorted(self._byte_starts, bytes_)
        return self._byte_starts[np.minimum(found, len(self._byte_starts) - 1)] != bytes_

    # -- cells -----------------------------------------------------------------------------

    def cells(self, row: TextRow) -> tuple[Floats, Floats]:
        """Return where the cell of each byte of a row begins and ends, in the reading direction."""
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
        visible, line = self.visible, row.line
        characters = range(row.start, stop)
        units = [visible.units_of(character) for character in characters]
        carets = [_caret(line, unit) for unit in units]  # the place, and the nearest unit for a caret
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


# Qt also returns the nearest unit for a caret, which its stubs leave out.
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
    return cast(tuple[float, int], line.cursorToX(unit, QTextLine.Edge.Trailing))[0]


def _place_where_the_direction_turns(line: QTextLine, units: list[int], begins: list[float], ends: list[float]) -> None:
    """Correct the letters at which the direction turns: Qt gives both sides the place of the letter before."""
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
    """Return the byte at which each character starts, and the length; None if all characters are bytes."""
    if text.isascii():
        return None
    data = np.frombuffer(text.encode(), np.uint8)
    return np.append(np.flatnonzero((data & 0xC0) != 0x80), len(data))
