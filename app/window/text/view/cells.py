r"""The cells of bytes on the screen, and the names of invisible characters.

Every byte has a cell, which is a part of the width of its character. A token that ends inside a character
covers only a part of the character.

Invisible characters become visible. A control character is replaced by an object replacement character
(U+FFFC), which is drawn as a box with the name of the control character. In a run of spaces, all spaces
except the last are replaced by no-break spaces, because only a no-break space stays visible at the beginning
of a wrapped row. A substitute has as many UTF-16 units as its character, so that no position changes.

    >>> shown_text("a\x00b  c", all_invisible=False) == f"a{OBJECT}b\u00a0 c"
    True
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, compress, pairwise
from typing import cast

import numpy as np
import numpy.typing as npt
from PySide6.QtGui import QFont, QFontMetricsF, QTextLayout, QTextLine

from app.window.text.chunks import utf16_length
from bpe_core.support.arrays import Int64s
from bpe_core.support.numbered_symbols import SymbolNames as SymbolNames
from bpe_core.support.numbered_symbols import number_of

NUMBERS = SymbolNames(has_numbers=True)
OBJECT = "\ufffc"  # what Qt asks us to draw
_NO_BREAK_SPACE = "\u00a0"

# Invisible characters, and the characters by which Qt ends a block.
_HIDDEN = "\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u180e\u200b\u2028\u2029\u2060-\u2064\ufdd0\ufdd1\ufeff\ufff9-\ufffc"
_HIDDEN += "\U000f0000-\U0010ffff"  # numbered symbols
_JOINERS_AND_DIRECTIONS = "\u034f\u061c\u200c-\u200f\u202a-\u202e\u2066-\u206f\ufe00-\ufe0f\U000e0000-\U000e0fff"
_SPACE_AMONG_SPACES = " (?= )"
_REPLACED = re.compile(f"[{_HIDDEN}]|{_SPACE_AMONG_SPACES}")
_REPLACED_ON_REQUEST = re.compile(f"[{_HIDDEN}{_JOINERS_AND_DIRECTIONS}]|{_SPACE_AMONG_SPACES}")
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


def name_of(character: str, names: SymbolNames = NUMBERS) -> str:
    """Return the name of an invisible character. `names` are the names of symbols that are not text."""
    number = number_of(character)
    if number is not None:
        return names.name_of(number)
    return _NAMES.get(character, f"U+{ord(character):04X}")


def shown_text(text: str, *, all_invisible: bool) -> str:
    """Return a text as an editor shows it, with substitutes for invisible characters.

    Control characters and the spaces in a run of spaces get substitutes. If `all_invisible` is true, joiners and
    direction marks get them, too.
    """
    replaced = _REPLACED_ON_REQUEST if all_invisible else _REPLACED
    return replaced.sub(_substitute, text)


def _substitute(match: re.Match[str]) -> str:
    character = match.group()
    if character == " ":
        return _NO_BREAK_SPACE
    return OBJECT * (2 if character > "\uffff" else 1)


def reads_right_to_left(line: str) -> bool:
    """Return whether the first letter of a line belongs to a script that is written from right to left."""
    first = next(filter(str.isalpha, line), "")
    return _RIGHT_TO_LEFT.match(first) is not None


Floats = npt.NDArray[np.float64]

ROW_PADDING = 3.0  # above and below the letters
TAB_BLANKS = 4


@dataclass(frozen=True)
class BlockStyle:
    """The settings, besides the text, that decide the layout of a block."""

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
        """Return the height of a row. The height is larger than usual if letters of another font need more room."""
        return max(self.row_height, math.ceil(line.height()) + 2 * ROW_PADDING)

    @cached_property
    def newline_width(self) -> float:
        """Return the width of the cell of a line end. The cell makes the token of the line end visible."""
        return self.metrics.horizontalAdvance("n") * 0.8


@dataclass(eq=False)
class RowCells:
    """The cells of a row, in reading direction.

    `begins` and `ends` hold the positions at which the cell of each byte begins and ends.
    """

    begins: Floats
    ends: Floats
    painted: dict[int, object] = field(default_factory=dict)  # the painter's cache, by the number of the showing


@dataclass(frozen=True, eq=False)
class TextRow:
    start: int  # in characters of the block
    stop: int
    y: float
    height: float
    first_byte: int  # of the block
    byte_count: int
    cells: RowCells


class BlockCells:
    """The rows of a block, with their cells, after Qt has laid out the block.

    The object keeps no part of Qt's layout, because the next keystroke changes that layout. `known` caches rows by
    their text. A keystroke in a long line changes few rows, and only these rows are measured again.
    """

    def __init__(
        self, text: str, layout: QTextLayout, setting: BlockStyle, known: dict[str, RowCells], *, right_to_left: bool
    ) -> None:
        self.text = text
        self.setting = setting
        self.right_to_left = right_to_left
        self.ends_line = text.endswith("\n")
        self._source = text[:-1] if self.ends_line else text
        self._has_bidi = right_to_left or _RIGHT_TO_LEFT.search(text) is not None
        self._byte_starts = _byte_starts(text)
        self._units = self._unit_starts(layout)
        self.rows = self._rows(layout, known)
        self.height = self.rows[-1].y + self.rows[-1].height
        self.byte_count = self.byte_of(len(text))

    def _unit_starts(self, layout: QTextLayout) -> Int64s:
        """Return the offset of each character in the UTF-16 units of Qt's layout, and the end of the last character.

        The layout may also contain text that an input method composes.
        """
        widths = [2 if character > "\uffff" else 1 for character in self._source]
        units = np.array([0, *accumulate(widths)], np.int64)
        composed = layout.preeditAreaText()
        if composed:
            units[units >= layout.preeditAreaPosition()] += utf16_length(composed)
        return units

    def _rows(self, layout: QTextLayout, known: dict[str, RowCells]) -> list[TextRow]:
        rows: list[TextRow] = []
        is_plain = not self._has_bidi and not layout.preeditAreaText()
        start = 0
        count = layout.lineCount()
        for number in range(count):
            line = layout.lineAt(number)
            stop = len(self.text)
            if number < count - 1:
                stop = int(np.searchsorted(self._units, line.textStart() + line.textLength()))
                stop = min(max(start, stop), len(self._source))  # a row may hold only a composition
            text = self.text[start:stop]
            cells = known.get(text) if is_plain else None
            if cells is None:
                cells = RowCells(*self._measured(line, start, stop))
                if is_plain:  # no place depends on the rows around
                    known[text] = cells
            first = self.byte_of(start)
            y = line.y() - ROW_PADDING
            height = self.setting.height_of(line)
            rows.append(TextRow(start, stop, y, height, first, self.byte_of(stop) - first, cells))
            start = stop
        return rows

    # -- positions within the block --------------------------------------------------------

    def byte_of(self, character: int) -> int:
        return character if self._byte_starts is None else int(self._byte_starts[character])

    def splits_character(self, bytes_: Int64s) -> npt.NDArray[np.bool_]:
        """Return a mask of the byte offsets that lie inside a character and not at its first byte."""
        if self._byte_starts is None:
            return np.zeros(len(bytes_), np.bool_)
        places = np.searchsorted(self._byte_starts, bytes_)
        return self._byte_starts[np.minimum(places, len(self._byte_starts) - 1)] != bytes_

    # -- cells -----------------------------------------------------------------------------

    def _measured(self, line: QTextLine, start: int, stop: int) -> tuple[Floats, Floats]:
        has_newline = self.ends_line and stop == len(self.text)
        clusters, begins, ends = self._clusters(line, start, stop - has_newline)
        if has_newline:
            edge = _x(line, int(self._units[len(self._source)]))
            width = self.setting.newline_width
            clusters.append(stop - 1)
            begins.append(edge)
            ends.append(edge - width if self.right_to_left else edge + width)
        clusters.append(stop)
        bytes_before = np.array([self.byte_of(character) for character in clusters], np.int64) - self.byte_of(start)
        sizes = np.diff(bytes_before)
        begin = np.repeat(np.array(begins), sizes)
        end = np.repeat(np.array(ends), sizes)
        number = np.arange(self.byte_of(stop) - self.byte_of(start)) - np.repeat(bytes_before[:-1], sizes)
        share = (end - begin) / np.repeat(sizes, sizes)
        return begin + share * number, begin + share * (number + 1)

    def _clusters(self, line: QTextLine, start: int, stop: int) -> tuple[list[int], list[float], list[float]]:
        units = self._units[start : stop + 1].tolist()
        carets = [_caret(line, unit) for unit in units[:-1]]  # Qt returns the place, and the nearest unit for a caret
        stands_alone = [caret[1] == unit for caret, unit in zip(carets, units, strict=False)]
        stands_alone[:1] = [True] * len(stands_alone[:1])
        clusters = list(compress(range(start, stop), stands_alone))
        begins = [caret[0] for caret in compress(carets, stands_alone)]
        if self._has_bidi:
            at = [*compress(units, stands_alone), units[-1]]
            ends = [_end_x(line, unit) for unit in at[:-1]]
            _place_where_the_direction_turns(line, at, begins, ends)
        else:
            ends = [*begins[1:], _x(line, units[-1])] if clusters else []
        return clusters, begins, ends


# Qt also returns the nearest unit for a caret, which its stubs leave out.
_caret = cast(Callable[[QTextLine, int], tuple[float, int]], QTextLine.cursorToX)


def _x(line: QTextLine, unit: int) -> float:
    return _caret(line, unit)[0]


def _end_x(line: QTextLine, unit: int) -> float:
    return cast(tuple[float, int], line.cursorToX(unit, QTextLine.Edge.Trailing))[0]


def _place_where_the_direction_turns(line: QTextLine, units: list[int], begins: list[float], ends: list[float]) -> None:
    """Correct the edges of letters at which the reading direction changes.

    Qt reports the same position for the left and the right edge of such a letter.
    """
    for index, (unit, next_unit) in enumerate(pairwise(units)):
        if begins[index] != ends[index]:
            continue
        for run in line.glyphRuns(unit, next_unit - unit):
            widths = run.rawFont().advancesForGlyphIndexes(run.glyphIndexes())
            sides = [(at.x(), at.x() + width.x()) for at, width in zip(run.positions(), widths, strict=True)]
            if sides:
                low = min(left for left, _ in sides)
                high = max(right for _, right in sides)
                begins[index], ends[index] = (high, low) if run.isRightToLeft() else (low, high)


def _byte_starts(text: str) -> npt.NDArray[np.int64] | None:
    """Return the byte offset of each character, and the length of the text.

    Return None if each character is a single byte.
    """
    if text.isascii():
        return None
    data = np.frombuffer(text.encode(), np.uint8)
    return np.append(np.flatnonzero((data & 0xC0) != 0x80), len(data))
