"""The layout of a merge tree. Symbols are along the bottom, and each merge is above the two tokens that it joined.

Merges that are not yet visible have their positions already, so nothing moves while a tree grows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

from bpe_core.figures.figure import Branch, TreeFigure
from bpe_core.figures.sheet import Layout, Sheet

# In sizes of the text: from one row to the next, and the heights of a symbol and of a token.
LEVEL = 4.0
LOW = 1.7
HIGH = 2.7
LEVEL_ON_SCREEN = 3.4
SMALL = 0.8  # size of the text for step and count
FAINT = 0.5  # the strength of tokens that were split again
GAP = 0.8
MARGIN = 1.0
NARROWEST = 2.2


class Tree(Layout):
    """A drawing of a tree in the middle of its sheet, with text of the usual size.

    If there is not enough room, the drawing is made smaller.
    """

    def __init__(self, figure: TreeFigure, sheet: Sheet) -> None:
        self.figure = figure
        self.sheet = sheet
        self._level = LEVEL_ON_SCREEN if sheet.paper.is_screen else LEVEL
        self._measure()
        paper = sheet.paper
        self.unit = unit = min(paper.text, paper.width / self.natural_width, paper.height / self.natural_height)
        self._across = (paper.width - self.natural_width * unit) / 2 + (MARGIN - self._left) * unit
        self._down = (paper.height - self.natural_height * unit) / 2

    def _measure(self) -> None:
        sheet = self.sheet
        branches = self.figure.branches
        self._widths = [
            max(NARROWEST, 1.2 + sheet.ems(branch.text, "token"), 0.8 + SMALL * sheet.ems(branch.written, "digits"))
            for branch in branches
        ]
        self._edges = column_edges([(branch.start, branch.stop) for branch in branches], self._widths, GAP)
        self._places: list[tuple[float, int, list[int]]] = []  # the middle, the height in levels, and the parts
        open_: list[int] = []  # branches without a branch above them so far
        for here, branch in enumerate(branches):
            parts: list[int] = []
            while open_ and branches[open_[-1]].start >= branch.start:
                parts.insert(0, open_.pop())
            left = self._edges[branch.start]
            right = self._edges[branch.stop] - GAP
            middle = sum(self._places[part][0] for part in (parts[0], parts[-1])) / 2 if parts else (left + right) / 2
            half = self._widths[here] / 2  # a box stays above its symbols, so it covers no neighbour
            middle = min(max(middle, left + half), right - half)
            level = 1 + max((self._places[part][1] for part in parts), default=-1)
            self._places.append((middle, level, parts))
            open_.append(here)
        both = list(zip(self._places, self._widths, strict=True))
        self._left = min((middle - width / 2 for (middle, _, _), width in both), default=0.0)
        right = max((middle + width / 2 for (middle, _, _), width in both), default=1.0)
        self._levels = max((level for _, level, _ in self._places), default=0)
        self.natural_width = right - self._left + 2 * MARGIN
        self.natural_height = self._levels * self._level + HIGH + 2 * MARGIN

    def draw(self) -> None:
        unit = self.unit
        branches = self.figure.branches
        sheet, small = (self.sheet.of_paper(replace(self.sheet.paper, text=size)) for size in (unit, SMALL * unit))
        if self.figure.mark is not None:
            x = self.gap_before(self.figure.mark)
            sheet.line(x, self._down, x, self._down + self.natural_height * unit, "mark")
        for here, (branch, (_, _, parts)) in enumerate(zip(branches, self._places, strict=True)):
            sheet.strength = _strength(branch)
            x = self._middle(here)
            bottom = self._top(here) + self._height(here)
            for part in parts if branch.strength else ():
                sheet.line(x, bottom, self._middle(part), self._top(part), "branch")
        for here, branch in enumerate(branches):
            if branch.strength:
                sheet.strength = small.strength = _strength(branch)
                x = self._middle(here)
                top = self._top(here)
                height = self._height(here)
                top += (1 - branch.strength) * height / 2  # a branch that grows comes from below
                half = self._widths[here] / 2 * unit
                sheet.box(x - half, top, 2 * half, height, "token part" if branch.is_part else "token")
                sheet.text(x, top + 1.2 * unit, branch.text, "axis", is_strong=True)
                if branch.written:
                    small.text(x, top + height - 0.45 * unit, branch.written, "axis")
        sheet.strength = 1.0

    def box_of(self, branch: int) -> tuple[float, float, float, float]:
        width = self._widths[branch] * self.unit
        return self._middle(branch) - width / 2, self._top(branch), width, self._height(branch)

    def gap_before(self, symbol: int) -> float:
        return self._across + (self._edges[symbol] - GAP / 2) * self.unit

    def item_at(self, x: float, y: float) -> int:
        for here, branch in enumerate(self.figure.branches):
            left, top, width, height = self.box_of(here)
            if branch.strength and left <= x <= left + width and top <= y <= top + height:
                return here
        return -1

    def place_at(self, x: float, y: float) -> float:
        return float(min(range(len(self._edges)), key=lambda symbol: abs(self.gap_before(symbol) - x)))

    def values_at(self, x: float, y: float) -> str:
        item = self.item_at(x, y)
        return self.figure.branches[item].tip if item >= 0 else ""

    def _middle(self, branch: int) -> float:
        return self._across + self._places[branch][0] * self.unit

    def _top(self, branch: int) -> float:
        return self._down + (MARGIN + (self._levels - self._places[branch][1]) * self._level) * self.unit

    def _height(self, branch: int) -> float:
        return (HIGH if self.figure.branches[branch].written else LOW) * self.unit


def _strength(branch: Branch) -> float:
    return branch.strength * (FAINT if branch.has_fallen else 1.0)


def column_edges(spans: Sequence[tuple[int, int]], widths: Sequence[float], gap: float) -> list[float]:
    """Return the position where each base symbol begins, and the end of the last symbol.

    `spans` are the symbols that each token covers, and `widths` are the widths of the boxes of the tokens. The symbols
    of each token are at least as wide as its box.

    >>> column_edges([(0, 1), (1, 2), (0, 2)], [2.0, 2.0, 5.0], 1.0)
    [0.0, 3.0, 6.0]
    """
    rooms = [0.0] * max((stop for _, stop in spans), default=0)
    for (start, stop), width in zip(spans, widths, strict=True):
        lacking = max(0.0, width + gap - sum(rooms[start:stop]))
        for symbol in range(start, stop):
            rooms[symbol] += lacking / (stop - start)
    return [0.0, *accumulate(rooms)]
