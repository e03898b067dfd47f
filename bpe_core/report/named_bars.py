"""Bars that lie below each other, each behind its name: as many of the first ones as there is room for."""

from __future__ import annotations

from collections.abc import Sequence

from bpe_core.records import dataclass
from bpe_core.report.charts import DIGIT, LETTER
from bpe_core.report.markup import Markup
from bpe_core.report.paper import Paper
from bpe_core.report.sheet import Sheet

ROW = 1.6  # the height of one, in sizes of the text
WIDE = 0.76
MOST_OF_WIDTH = 0.5  # that names may take


@dataclass(frozen=True)
class NamedBar:
    name: str
    value: float
    told: str  # the value as it is written behind the bar
    kind: str = ""  # "next" or "tied", or neither


@dataclass(frozen=True)
class NamedBars:
    """The best one first."""

    name: str
    title: str
    sentence: str
    bars: Sequence[NamedBar]
    below: str  # what is said below all of them

    def drawn_on(self, paper: Paper) -> Markup:
        sheet, unit = Sheet(paper), paper.text
        shown = self.bars[: max(1, int((paper.height / unit - 3.2) / ROW))]
        most_letters = int(MOST_OF_WIDTH * paper.width / unit / LETTER)
        names = unit * (1.6 + max((_width(bar.name[:most_letters]) for bar in shown), default=0.0))
        numbers = unit * (1.4 + DIGIT * max((len(bar.told) for bar in shown), default=0))
        longest = max(0.0, paper.width - names - numbers)
        most = max((abs(bar.value) for bar in shown), default=0.0) or 1.0
        parts = []
        for row, bar in enumerate(shown):
            middle = (0.7 + ROW * (row + 0.5)) * unit
            length = longest * abs(bar.value) / most
            name = bar.name if len(bar.name) <= most_letters else bar.name[: most_letters - 1] + "…"
            parts.append(sheet.text(names - 0.5 * unit, middle + unit / 3, name, "tick end"))
            parts.append(sheet.box(names, middle - 0.55 * unit, length, 1.1 * unit, f"bar {bar.kind}".strip()))
            parts.append(sheet.text(names + length + 0.4 * unit, middle + unit / 3, bar.told, "legend"))
        parts.append(sheet.text(paper.width / 2, paper.height - 0.7 * unit, self.below, "axis"))
        return sheet.whole(self.name, self.title, self.sentence, *parts)


def _width(text: str) -> float:
    """In sizes of the text: capitals and signs are wide."""
    return sum(LETTER if one.islower() or one in " .,'" else WIDE for one in text)
