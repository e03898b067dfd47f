"""Charts as SVG: in a page, whose colours they take, or as a picture of their own.

Nothing is computed here: what is drawn is thinned to what can be seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bpe_core.report.markup import Markup, element, joined
from bpe_core.report.paper import POINTS_A_MILLIMETRE, Paper
from bpe_core.report.scale import Scale, tick_text

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


def figure(chart: Chart) -> Markup:
    """The chart with its title and sentence."""
    caption = element("figcaption", {}, element("strong", {}, chart.title), " ", chart.sentence)
    return element("figure", {}, drawing(chart, Paper()), caption)


def picture(chart: Chart, paper: Paper) -> bytes:
    """The chart as a file of its own, in SVG."""
    return b'<?xml version="1.0" encoding="UTF-8"?>\n' + drawing(chart, paper).encode() + b"\n"


def thinned(length: int, *, is_log: bool) -> npt.NDArray[np.int64]:
    """Indices of at most some hundred points that show the whole curve.

    >>> thinned(5, is_log=True).tolist(), len(thinned(100_000, is_log=True)) <= MOST_POINTS
    ([0, 1, 2, 3, 4], True)
    """
    if length <= MOST_POINTS:
        return np.arange(length)
    spaced = np.geomspace(1, length, MOST_POINTS) - 1 if is_log else np.linspace(0, length - 1, MOST_POINTS)
    return np.unique(spaced.round().astype(np.int64))


def drawing(chart: Chart, paper: Paper) -> Markup:
    """The chart alone."""
    plot = _Plot(chart, paper)
    marks = (plot.line(plot.x(mark), plot.top, plot.x(mark), plot.bottom, "mark") for mark in chart.marks)
    curves = plot.bars() if chart.has_bars else [plot.curve(place, line) for place, line in enumerate(chart.lines)]
    parts = [
        element("title", {"id": f"{chart.name}-title"}, chart.title),
        element("desc", {"id": f"{chart.name}-desc"}, chart.sentence),
        *plot.ground(),
        *plot.grid(),
        *marks,
        *(plot.band(place, line) for place, line in enumerate(chart.lines) if line.band is not None),
        *curves,
        *plot.legend(),
        plot.text((plot.left + plot.right) / 2, paper.height - 0.55 * paper.text, chart.x_title, "axis"),
        plot.text(1.1 * paper.text, (plot.top + plot.bottom) / 2, chart.y_title, "axis", turn=True),
    ]
    about = {"role": "img", "aria-labelledby": f"{chart.name}-title {chart.name}-desc"}
    return element("svg", {**plot.frame(), **about}, *parts)


class _Plot:
    """Where everything of a chart stands on its paper."""

    def __init__(self, chart: Chart, paper: Paper) -> None:
        self.chart, self.paper = chart, paper
        unit = paper.text
        named = [line.name for line in chart.lines] if len(chart.lines) > 1 else []
        self._rows = _in_rows(named, (paper.width - 2 * unit) / unit)
        self.left, self.right = 4.7 * unit, paper.width - 1.1 * unit
        self.top, self.bottom = (1.1 + 1.5 * len(self._rows)) * unit, paper.height - 3.6 * unit
        xs = np.concatenate([line.x for line in chart.lines] or [np.zeros(0)])
        ys = np.concatenate([line.heights for line in chart.lines] or [np.zeros(0)])
        margin = 0.5 if chart.has_bars else 0
        self.x = _scale(xs, self.left, self.right, is_log=chart.is_log_x, margin=margin)
        self.y = _scale(
            ys if chart.is_log_y else np.append(ys, chart.first_y), self.bottom, self.top, is_log=chart.is_log_y
        )

    def frame(self) -> dict[str, str]:
        """What the picture itself is told: of its own, how large it is on paper."""
        paper = self.paper
        box = {"viewBox": f"0 0 {paper.width:.7g} {paper.height:.7g}"}
        if not paper.is_alone:
            return box
        width, height = (f"{side / POINTS_A_MILLIMETRE:.7g}mm" for side in (paper.width, paper.height))
        return {"xmlns": "http://www.w3.org/2000/svg", "width": width, "height": height, **box}

    def ground(self) -> list[Markup]:
        paper = self.paper
        size = {"width": f"{paper.width:.7g}", "height": f"{paper.height:.7g}", "fill": paper.ground}
        return [element("rect", size)] if paper.is_alone else []

    def grid(self) -> list[Markup]:
        left, right, bottom, unit = self.left, self.right, self.bottom, self.paper.text
        x, y = self.x, self.y
        parts = [self.line(left, y(value), right, y(value), "grid") for value in y.ticks()]
        parts += [self.text(left - unit / 2, y(value) + unit / 3, tick_text(value), "tick end") for value in y.ticks()]
        parts += [self.line(x(value), bottom, x(value), bottom + unit / 3, "grid") for value in x.ticks()]
        for value in x.ticks():
            told = tick_text(value)
            middle = min(
                x(value), self.paper.width - DIGIT * unit * (len(told) / 2 + 0.2)
            )  # the last is on the paper, too
            parts.append(self.text(middle, bottom + 1.45 * unit, told, "tick"))
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
            element(
                "rect",
                {
                    "class": "bar",
                    "x": f"{self.x(a) - width / 2:.1f}",
                    "y": f"{self.y(b):.1f}",
                    "width": f"{width:.1f}",
                    "height": f"{self.bottom - self.y(b):.1f}",
                    **self.paper.look("bar"),
                },
                element("title", {}, f"{a:g}: {b:,.0f}"),
            )
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
                x += _room(name) * unit
                place += 1
        return parts

    def line(self, x1: float, y1: float, x2: float, y2: float, kind: str) -> Markup:
        ends = {"x1": f"{x1:.1f}", "y1": f"{y1:.1f}", "x2": f"{x2:.1f}", "y2": f"{y2:.1f}"}
        return element("line", {"class": kind, **ends, **self.paper.look(kind)})

    def text(self, x: float, y: float, text: str, kind: str, *, turn: bool = False) -> Markup:
        place: dict[str, str] = {"x": f"{x:.1f}", "y": f"{y:.1f}", "class": kind, **self.paper.look(kind)}
        if turn:
            place["transform"] = f"rotate(-90 {x:.1f} {y:.1f})"
        return element("text", place, text)


def _in_rows(names: Sequence[str], width: float) -> list[list[str]]:
    """Names in rows of at most that width, in sizes of the text.

    >>> _in_rows(["th", "he", "in"], 10.0)
    [['th', 'he'], ['in']]
    """
    rows: list[list[str]] = []
    used = width
    for name in names:
        if used + _room(name) > width:
            rows.append([])
            used = 0.0
        rows[-1].append(name)
        used += _room(name)
    return rows


def _room(name: str) -> float:
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
