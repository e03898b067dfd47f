"""The layout of a word's lattice: base symbols in a row, all possible tokens above the symbols, and the best splits
below.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bpe_core.figures.figure import Figure
from bpe_core.figures.sheet import Layout, Sheet
from bpe_core.figures.tree import SMALL, column_edges

# In sizes of the text.
ROW, BOX = 1.95, 1.6  # from one row to the next, and the height of a box
APART = 1.0  # between the tokens and the ways
BAR = 0.22  # the height of the bar that shows a share
GAP = 0.4
MARGIN = 0.6
NARROWEST = 1.8
READABLE = 0.7  # of the size of the text on a screen; if everything would be smaller, only the tokens are drawn
WIDER = 1.1  # a small text is somewhat wider than a large one


@dataclass(frozen=True)
class LatticeToken:
    """A token that covers the symbols from `start` to `stop`."""

    text: str
    start: int
    stop: int
    share: float | None = None  # the share of the ways that contain it
    tip: str = ""

    @property
    def percentage(self) -> str:
        """Return the percentage of the ways to split the word that use this token, as a text.

        The text is empty if the percentage is unknown.

        >>> [LatticeToken("a", 0, 1, share).percentage for share in (0.25, 0.0004, None)]
        ['25%', '<1%', '']
        """
        if self.share is None:
            return ""
        return "<1%" if self.share < 0.005 else f"{self.share:.0%}"


@dataclass(frozen=True)
class WayDrawn:
    name: str
    tokens: Sequence[LatticeToken]  # end to end
    written: str = ""  # after them


@dataclass(frozen=True, eq=False, repr=False)
class LatticeFigure(Figure):
    tokens: Sequence[LatticeToken]
    ways: Sequence[WayDrawn]

    @property
    def is_empty(self) -> bool:
        return not self.tokens

    @property
    def in_words(self) -> str:
        splits = (f"{way.name}: {' | '.join(token.text for token in way.tokens)}" for way in self.ways)
        return " ".join((self.sentence, "; ".join(splits)))


class Lattice(Layout):
    """A drawing of a lattice with text of the usual size. If there is not enough room, the drawing is made smaller."""

    def __init__(self, figure: LatticeFigure, sheet: Sheet) -> None:
        self.figure = figure
        self.sheet = sheet
        self._ways = figure.ways
        self._measure()
        if sheet.paper.is_screen and self.unit < READABLE * sheet.paper.text:
            self._ways = ()  # a table beside the figure has the ways, too
            self._measure()

    def _measure(self) -> None:
        sheet = self.sheet
        paper = self.sheet.paper
        tokens = self.figure.tokens
        self._shown = [*tokens, *(token for way in self._ways for token in way.tokens)]
        widths = [self._width_of(token) for token in self._shown]
        self._edges = column_edges([(token.start, token.stop) for token in self._shown], widths, GAP)
        rows = _rows(tokens)
        self._levels = max(rows, default=0) + 1
        below = [self._levels + number for number, way in enumerate(self._ways) for _ in way.tokens]
        self._rows = [self._levels - 1 - row for row in rows] + below
        names = [WIDER * sheet.ems(way.name, "name") for way in self._ways]
        behind = [WIDER * SMALL * sheet.ems(way.written, "name") for way in self._ways]
        self._left = MARGIN + max(names, default=0.0) + (GAP if names else 0)
        width = self._left + self._edges[-1] + max(behind, default=0.0) + 2 * MARGIN
        height = (self._levels + len(self._ways)) * ROW + (APART if self._ways else 0.0) + 2 * MARGIN
        self.unit = min(paper.text, paper.width / width, paper.height / height)
        self._across = max(0.0, (paper.width - width * self.unit) / 2) + self._left * self.unit
        self._down = max(0.0, (paper.height - height * self.unit) / 2) + MARGIN * self.unit

    def draw(self) -> None:
        unit = self.unit
        figure = self.figure
        sheet, small = (self.sheet.of_paper(replace(self.sheet.paper, text=size)) for size in (unit, SMALL * unit))
        middle = self._down + (self._levels * ROW + APART / 2 - (ROW - BOX) / 2) * unit
        if self._ways:
            sheet.line(self._across, middle, self._across + (self._edges[-1] - GAP) * unit, middle, "grid")
        for item, token in enumerate(self._shown):
            x, y, width, height = self.box_of(item)
            sheet.box(x, y, width, height, "token" if item < len(figure.tokens) else "token part", token.tip)
            written = token.percentage if item < len(figure.tokens) else ""
            if written and token.share is not None:
                sheet.box(x, y + height - BAR * unit, width * token.share, BAR * unit, "bar")
            aside = SMALL * sheet.ems(written, "digits") + 0.4 if written else 0.0
            sheet.text(x + (width - aside * unit) / 2, y + 1.1 * unit, token.text, "axis", is_strong=True)
            if written:
                small.text(x + width - 0.3 * unit, y + 1.05 * unit, written, "tick end")
        for number, way in enumerate(self._ways):
            line = self._top(self._levels + number) + 1.1 * unit
            sheet.text(self._across - GAP * unit, line, way.name, "tick end")
            small.text(self._across + self._edges[-1] * unit, line, way.written, "legend")

    def box_of(self, item: int) -> tuple[float, float, float, float]:
        token = self._shown[item]
        left = self._edges[token.start]
        right = self._edges[token.stop] - GAP
        place = self._across + left * self.unit
        return place, self._top(self._rows[item]), (right - left) * self.unit, BOX * self.unit

    def item_at(self, x: float, y: float) -> int:
        for item in range(len(self._shown)):
            left, top, width, height = self.box_of(item)
            if left <= x <= left + width and top <= y <= top + height:
                return item
        return -1

    def values_at(self, x: float, y: float) -> str:
        item = self.item_at(x, y)
        return self._shown[item].tip if item >= 0 else ""

    def _top(self, row: int) -> float:
        return self._down + (row * ROW + (APART if row >= self._levels else 0.0)) * self.unit

    def _width_of(self, token: LatticeToken) -> float:
        text = self.sheet.ems(token.text, "token")
        share = SMALL * self.sheet.ems(token.percentage, "digits")
        return max(NARROWEST, 0.8 + text + (0.4 + share if token.percentage else 0.0))


def _rows(tokens: Sequence[LatticeToken]) -> list[int]:
    """Return the row of each token, so that no two tokens overlap.

    Row 0 is the lowest row, and shorter tokens are lower.

    >>> _rows([LatticeToken("a", 0, 1), LatticeToken("b", 1, 2), LatticeToken("ab", 0, 2), LatticeToken("bc", 1, 3)])
    [0, 0, 1, 2]
    """
    rows = [0] * len(tokens)
    free = list[list[tuple[int, int]]]()
    for item in sorted(range(len(tokens)), key=lambda item: (tokens[item].stop - tokens[item].start, item)):
        start = tokens[item].start
        stop = tokens[item].stop
        row = 0 if stop - start == 1 else 1
        while row < len(free) and any(first < stop and start < last for first, last in free[row]):
            row += 1
        free += [[] for _ in range(row + 1 - len(free))]
        free[row].append((start, stop))
        rows[item] = row
    return rows
