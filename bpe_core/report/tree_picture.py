"""The merge tree of a word: its symbols along the bottom, each merge above the two that it joined."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from bpe_core.records import dataclass
from bpe_core.report.charts import DIGIT, LETTER
from bpe_core.report.markup import Markup
from bpe_core.report.paper import Paper
from bpe_core.report.sheet import Sheet

LEVEL, LOW, HIGH = 4.0, 1.7, 2.7  # from one row to the next, and how high a symbol is and a token, in sizes of the text
SMALL = 0.8  # of the text that tells step and count
GAP, MARGIN, NARROWEST = 0.8, 1.0, 2.2
ROUND = 1.15  # times as wide as letters are on average: there is room for wide ones

Place = tuple[int, int]


@dataclass(frozen=True)
class Branch:
    """A token over the symbols from `start` to `stop`, and what is said of it."""

    text: str
    start: int
    stop: int
    told: str = ""  # its step and count; of a symbol nothing

    @property
    def width(self) -> float:
        return max(NARROWEST, 1.2 + ROUND * LETTER * len(self.text), 0.8 + SMALL * DIGIT * len(self.told))


@dataclass(frozen=True)
class TreePicture:
    """Its tokens, the parts of each before it."""

    title: str
    sentence: str
    branches: Sequence[Branch]

    def drawn_on(self, paper: Paper) -> Markup:
        """As large as its text wants to be, or smaller where there is less room."""
        places = _placed(self.branches)
        edges = [(x - one.width / 2, x + one.width / 2) for one, (x, _, _) in zip(self.branches, places, strict=True)]
        left, right = min((e[0] for e in edges), default=0.0), max((e[1] for e in edges), default=1.0)
        levels = max((level for _, level, _ in places), default=0)
        wide, high = right - left + 2 * MARGIN, levels * LEVEL + HIGH + 2 * MARGIN
        unit = min(paper.text, paper.width / wide, paper.height / high)
        sheet, small = Sheet(replace(paper, text=unit)), Sheet(replace(paper, text=SMALL * unit))
        across, down = (paper.width - wide * unit) / 2 + (MARGIN - left) * unit, (paper.height - high * unit) / 2
        lines, boxes = [], []
        for one, (x, level, parts) in zip(self.branches, places, strict=True):
            middle, top = across + x * unit, down + (MARGIN + (levels - level) * LEVEL) * unit
            height = (HIGH if one.told else LOW) * unit
            for other in parts:
                below = down + (MARGIN + (levels - places[other][1]) * LEVEL) * unit
                lines.append(sheet.line(middle, top + height, across + places[other][0] * unit, below, "branch"))
            boxes.append(sheet.box(middle - one.width / 2 * unit, top, one.width * unit, height, "token"))
            boxes.append(sheet.text(middle, top + 1.2 * unit, one.text, "axis"))
            if one.told:
                boxes.append(small.text(middle, top + height - 0.45 * unit, one.told, "axis"))
        return Sheet(paper).whole("tree", self.title, self.sentence, *lines, *boxes)


def _placed(branches: Sequence[Branch]) -> list[tuple[float, int, list[int]]]:
    """Of each its middle, its height above the symbols, and its two parts."""
    widths = _widths(branches)
    found: list[tuple[float, int, list[int]]] = []
    open_: list[int] = []  # that nothing stands above yet
    for here, one in enumerate(branches):
        parts: list[int] = []
        while open_ and branches[open_[-1]].start >= one.start:
            parts.insert(0, open_.pop())
        if parts:
            middle = sum(found[part][0] for part in (parts[0], parts[-1])) / 2
        else:
            stop = sum(widths.get(symbol, NARROWEST) + GAP for symbol in range(one.stop)) - GAP
            start = sum(widths.get(symbol, NARROWEST) + GAP for symbol in range(one.start))
            middle = (start + stop) / 2
        found.append((middle, 1 + max((found[part][1] for part in parts), default=-1), parts))
        open_.append(here)
    return found


def _widths(branches: Sequence[Branch]) -> Mapping[int, float]:
    """The room of each symbol; of a token whose parts are not told, a part of its own."""
    found: dict[int, float] = {}
    for one in branches:
        for symbol in range(one.start, one.stop):
            found.setdefault(symbol, one.width / (one.stop - one.start))
    return found
