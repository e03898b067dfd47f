"""Charts as SVG: in a page, whose colours they take, or as a picture of their own.

Nothing is computed here: what is drawn is thinned to what can be seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from bpe_core.records import dataclass
from bpe_core.report.markup import Markup, element, joined
from bpe_core.report.paper import Paper
from bpe_core.report.scale import Scale, tick_text
from bpe_core.report.sheet import Picture, Sheet

MOST_POINTS = 300
LETTER, DIGIT = 0.56, 0.64  # of the size of a text: how wide its characters are on average, and its digits

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Line:
    """One curve and its name; with stairs, a value holds until the next one. A band lies between two more."""

    name: str
    x: Numbers
    y: Numbers
    has_stairs: bool = False
    band: tuple[Numbers, Numbers] | None = None

    @property
    def heights(self) -> Numbers:
        """All that must have room."""
        found: Numbers = np.concatenate([self.y, *(self.band or ())])
        return np.compress(np.isfinite(found), found)


@dataclass(frozen=True, eq=False)
class Chart:
    """Lines or bars, what the axes mean, and a sentence for those who cannot see it."""

    name: str  # unique in the page
    title: str
    sentence: str
    lines: Sequence[Line]  # of bars one, and the only one needs no name
    x_title: str
    y_title: str
    is_log_x: bool = False
    is_log_y: bool = False
    has_bars: bool = False
    marks: Sequence[float] = ()  # moments worth a line of their own
    first_y: float = 0.0  # what an axis that is not logarithmic must hold; all values, too

    def drawn_on(self, paper: Paper) -> Markup:
        """The chart alone."""
        return Sheet(paper).whole(self.name, self.title, self.sentence, *_parts(self, paper))


@dataclass(frozen=True)
class SideBySide:
    """Charts of the same things, which share a sheet."""

    name: str
    title: str
    sentence: str
    charts: Sequence[Chart]

    def drawn_on(self, paper: Paper) -> Markup:
        """Beside each other, or one below the other where the sheet is higher than wide."""
        across = paper.width >= paper.height
        width, height = paper.width / (len(self.charts) if across else 1), paper.height
        height /= 1 if across else len(self.charts)
        parts = []
        for place, chart in enumerate(self.charts):
            at = f"translate({place * width:.1f} 0)" if across else f"translate(0 {place * height:.1f})"
            parts.append(element("g", {"transform": at}, *_parts(chart, replace(paper, width=width, height=height))))
        return Sheet(paper).whole(self.name, self.title, self.sentence, *parts)


def figure(chart: Chart) -> Markup:
    """The chart with its title and sentence."""
    caption = element("figcaption", {}, element("strong", {}, chart.title), " ", chart.sentence)
    return element("figure", {}, chart.drawn_on(Paper()), caption)


def picture(drawn: Picture, paper: Paper) -> bytes:
    """A chart, or whatever can be drawn, as a file of its own, in SVG."""
    return b'<?xml version="1.0" encoding="UTF-8"?>\n' + drawn.drawn_on(paper).encode() + b"\n"


def thinned(length: int, *, is_log: bool) -> npt.NDArray[np.int64]:
    """Indices of at most some hundred points that show the whole curve.

    >>> thinned(5, is_log=True).tolist(), len(thinned(100_000, is_log=True)) <= MOST_POINTS
    ([0, 1, 2, 3, 4], True)
    """
    if length <= MOST_POINTS:
        return np.arange(length)
    spaced = np.geomspace(1, length, MOST_POINTS) - 1 if is_log else np.linspace(0, length - 1, MOST_POINTS)
    return np.unique(spaced.round().astype(np.int64))


def _parts(chart: Chart, paper: Paper) -> list[Markup]:
    """All that is drawn of it."""
    plot = _Plot(chart, paper)
    marks = (plot.line(plot.x(mark), plot.top, plot.x(mark), plot.bottom, "mark") for mark in chart.marks)
    curves = plot.bars() if chart.has_bars else [plot.curve(place, line) for place, line in enumerate(chart.lines)]
    return [
        *plot.grid(),
        *marks,
        *(plot.band(place, line) for place, line in enumerate(chart.lines) if line.band is not None),
        *curves,
        *plot.legend(),
        plot.text(plot.middle_of(chart.x_title), paper.height - 0.55 * paper.text, chart.x_title, "axis"),
        plot.text(1.1 * paper.text, (plot.top + plot.bottom) / 2, chart.y_title, "axis", turn=True),
    ]


class _Plot(Sheet):
    """Where everything of a chart stands on its paper."""

    def __init__(self, chart: Chart, paper: Paper) -> None:
        super().__init__(paper)
        self.chart = chart
        unit = paper.text
        named = [line.name for line in chart.lines] if len(chart.lines) > 1 else []
        self._rows = in_rows(named, (paper.width - 2 * unit) / unit)
        self.left, self.right = 4.7 * unit, paper.width - 1.1 * unit
        self.top, self.bottom = (1.1 + 1.5 * len(self._rows)) * unit, paper.height - 3.6 * unit
        xs = np.concatenate([np.array(chart.marks, np.float64), *(line.x for line in chart.lines)])
        ys = np.concatenate([line.heights for line in chart.lines] or [np.zeros(0)])
        margin = 0.5 if chart.has_bars else 0
        self.x = _scale(xs, self.left, self.right, is_log=chart.is_log_x, margin=margin)
        self.y = _scale(
            ys if chart.is_log_y else np.append(ys, chart.first_y), self.bottom, self.top, is_log=chart.is_log_y
        )

    def middle_of(self, title: str) -> float:
        """Below the middle of the axis, as far as all of the title is on the paper."""
        half = LETTER * self.paper.text * len(title) / 2
        return max(half, min((self.left + self.right) / 2, self.paper.width - half))

    def grid(self) -> list[Markup]:
        left, right, bottom, unit = self.left, self.right, self.bottom, self.paper.text
        x, y = self.x, self.y
        parts = [self.line(left, y(value), right, y(value), "grid") for value in y.ticks()]
        parts += [self.text(left - unit / 2, y(value) + unit / 3, tick_text(value), "tick end") for value in y.ticks()]
        parts += [self.line(x(value), bottom, x(value), bottom + unit / 3, "grid") for value in x.ticks()]
        free = 0.0  # from where on there is room for the next one
        for value in x.ticks():
            told = tick_text(value)
            half = DIGIT * unit * (len(told) / 2 + 0.2)
            middle = min(x(value), self.paper.width - half)  # the last is on the paper, too
            if middle - half >= free:
                parts.append(self.text(middle, bottom + 1.45 * unit, told, "tick"))
                free = middle + half
        return parts

    def curve(self, place: int, line: Line) -> Markup:
        x, y = line.x, line.y
        if line.has_stairs:
            x, y = np.repeat(x, 2)[1:], np.repeat(y, 2)[:-1]
        points = " ".join(f"{self.x(a):.1f},{self.y(b):.1f}" for a, b in zip(x.tolist(), y.tolist(), strict=True))
        return element("polyline", {"class": "curve", "points": points, **self.paper.look("curve", place)})

    def band(self, place: int, line: Line) -> Markup:
        """Where it is known."""
        low, high = line.band or (line.y, line.y)
        known = np.isfinite(low) & np.isfinite(high)
        there = [*zip(line.x[known].tolist(), high[known].tolist(), strict=True)]
        back = [*zip(line.x[known].tolist(), low[known].tolist(), strict=True)][::-1]
        points = " ".join(f"{self.x(a):.1f},{self.y(b):.1f}" for a, b in there + back)
        return element("polygon", {"class": "band", "points": points, **self.paper.look("band", place)})

    def bars(self) -> list[Markup]:
        width = max(1.0, 0.8 * (self.x(1) - self.x(0)))
        return [
            self.box(self.x(a) - width / 2, self.y(b), width, self.bottom - self.y(b), "bar", f"{a:g}: {b:,.0f}")
            for line in self.chart.lines
            for a, b in zip(line.x.tolist(), line.y.tolist(), strict=True)
            if b > 0
        ]

    def legend(self) -> list[Markup]:
        """The names of the lines, above them, each behind a piece of its line."""
        parts, place, unit = [], 0, self.paper.text
        for row, names in enumerate(self._rows):
            x, y = unit, (1.3 + 1.5 * row) * unit
            for name in names:
                middle = y - unit / 3
                sample = {"class": "curve", "points": f"{x:.1f},{middle:.1f} {x + 2 * unit:.1f},{middle:.1f}"}
                parts.append(element("polyline", {**sample, **self.paper.look("curve", place)}))
                parts.append(self.text(x + 2.4 * unit, y, name, "legend"))
                x += room_of(name) * unit
                place += 1
        return parts


def in_rows(names: Sequence[str], width: float) -> list[list[str]]:
    """Names in rows of at most that width, in sizes of the text.

    >>> in_rows(["th", "he", "in"], 10.0)
    [['th', 'he'], ['in']]
    """
    rows: list[list[str]] = []
    used = width
    for name in names:
        if used + room_of(name) > width:
            rows.append([])
            used = 0.0
        rows[-1].append(name)
        used += room_of(name)
    return rows


def room_of(name: str) -> float:
    """Of a name in a legend, with the sample before it, in sizes of the text."""
    return 3.6 + LETTER * len(name)


def _scale(values: Numbers, start: float, stop: float, *, is_log: bool, margin: float = 0) -> Scale:
    if not len(values):
        values = np.ones(1)
    least, most = float(values.min()) - margin, float(values.max()) + margin
    if is_log:
        least = max(least, 1e-9)
    if most <= least:
        most = least * 10 if is_log else least + 1
    return Scale(least, most, start, stop, is_log)


def figures(charts: Sequence[Chart]) -> Markup:
    return element("div", {"class": "figures"}, joined(figure(chart) for chart in charts))
