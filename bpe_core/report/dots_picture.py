"""One measure of many texts: a place for each text, a dot for each tokenizer in its colour."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bpe_core.records import dataclass
from bpe_core.report.charts import LETTER, Numbers, in_rows, room_of
from bpe_core.report.markup import Markup, element
from bpe_core.report.paper import Paper
from bpe_core.report.scale import Scale, tick_text
from bpe_core.report.sheet import Sheet

RADIUS, APART = 0.35, 0.55  # in sizes of the text
ROW = 1.5


@dataclass(frozen=True, eq=False)
class DotsPicture:
    """A row of values for each tokenizer, one for each text; what is not known is no number."""

    title: str
    sentence: str
    tokenizers: Sequence[str]
    texts: Sequence[str]
    values: Numbers

    def drawn_on(self, paper: Paper) -> Markup:
        sheet, unit = Sheet(paper), paper.text
        left, right = 4.7 * unit, paper.width - 0.8 * unit
        named = in_rows(self.tokenizers, paper.width / unit - 2)
        top, bottom = (0.9 + ROW * len(named)) * unit, paper.height - 1.9 * unit
        known = self.values[self.values == self.values]
        scale = Scale(0.0, float(known.max(initial=0.0)) or 1.0, bottom, min(top, bottom - unit), is_log=False)
        parts = []
        for value in scale.ticks():
            parts.append(sheet.line(left, scale(value), right, scale(value), "grid"))
            parts.append(sheet.text(left - unit / 2, scale(value) + unit / 3, tick_text(value), "tick end"))
        parts.append(sheet.text(1.1 * unit, (top + bottom) / 2, self.title, "axis", turn=True))
        room = (right - left) / max(1, len(self.texts))
        most = max(1, int(room / unit / LETTER))
        for place, text in enumerate(self.texts):
            told = text if len(text) <= most else text[: max(1, most - 1)] + "…"
            parts.append(sheet.text(left + (place + 0.5) * room, bottom + 1.3 * unit, told, "tick"))
        for row in range(len(self.tokenizers)):
            beside = (row - (len(self.tokenizers) - 1) / 2) * APART * unit
            for place, value in enumerate(self.values[row].tolist()):
                if value == value:
                    parts.append(_dot(paper, left + (place + 0.5) * room + beside, scale(value), row))
        parts += self._legend(sheet, named)
        return sheet.whole("dots", self.title, self.sentence, *parts)

    def _legend(self, sheet: Sheet, rows: Sequence[Sequence[str]]) -> Iterator[Markup]:
        unit, place = sheet.paper.text, 0
        for row, names in enumerate(rows):
            x = 1.2 * unit
            for name in names:
                yield _dot(sheet.paper, x, (1.0 + ROW * row) * unit, place)
                yield sheet.text(x + 0.8 * unit, (1.3 + ROW * row) * unit, name, "legend")
                x, place = x + room_of(name) * unit, place + 1


def _dot(paper: Paper, x: float, y: float, row: int) -> Markup:
    place = {"cx": f"{x:.1f}", "cy": f"{y:.1f}", "r": f"{RADIUS * paper.text:.2f}", "class": "dot"}
    return element("circle", {**place, **paper.look("dot", row)})
