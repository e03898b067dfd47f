"""Charts as SVG that stands in the page itself; its colours are the page's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bpe_core.report.markup import Markup, element, joined
from bpe_core.report.scale import Scale, tick_text

WIDTH, HEIGHT = 460, 250
LEFT, RIGHT, TOP, BOTTOM = 52, 12, 12, 40
MOST_POINTS = 300

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Chart:
    """A line or bars, what the axes mean, and a sentence for those who cannot see it."""

    name: str  # unique in the page
    title: str
    sentence: str
    x: Numbers
    y: Numbers
    x_title: str
    y_title: str
    is_log_x: bool = False
    is_log_y: bool = False
    has_bars: bool = False
    marks: Sequence[float] = ()  # moments worth a line of their own


def figure(chart: Chart) -> Markup:
    """The chart with its title and sentence."""
    caption = element("figcaption", {}, element("strong", {}, chart.title), " ", chart.sentence)
    return element("figure", {}, _drawing(chart), caption)


def thinned(length: int, *, is_log: bool) -> npt.NDArray[np.int64]:
    """Indices of at most some hundred points that show the whole curve.

    >>> thinned(5, is_log=True).tolist(), len(thinned(100_000, is_log=True)) <= MOST_POINTS
    ([0, 1, 2, 3, 4], True)
    """
    if length <= MOST_POINTS:
        return np.arange(length)
    spaced = np.geomspace(1, length, MOST_POINTS) - 1 if is_log else np.linspace(0, length - 1, MOST_POINTS)
    return np.unique(spaced.round().astype(np.int64))


def _drawing(chart: Chart) -> Markup:
    x = _scale(chart.x, LEFT, WIDTH - RIGHT, is_log=chart.is_log_x, margin=0.5 if chart.has_bars else 0)
    from_zero = chart.y if chart.is_log_y else np.append(chart.y, 0.0)
    y = _scale(from_zero, HEIGHT - BOTTOM, TOP, is_log=chart.is_log_y)
    parts = [
        element("title", {"id": f"{chart.name}-title"}, chart.title),
        element("desc", {"id": f"{chart.name}-desc"}, chart.sentence),
        *_grid(x, y),
        *(_line(x(mark), TOP, x(mark), HEIGHT - BOTTOM, "mark") for mark in chart.marks),
        *(_bars(chart, x, y) if chart.has_bars else _curve(chart, x, y)),
        _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, chart.x_title, "axis"),
        _text(12, (TOP + HEIGHT - BOTTOM) / 2, chart.y_title, "axis", turn=True),
    ]
    about = {"role": "img", "aria-labelledby": f"{chart.name}-title {chart.name}-desc"}
    return element("svg", {"viewBox": f"0 0 {WIDTH} {HEIGHT}", **about}, *parts)


def _scale(values: Numbers, start: float, stop: float, *, is_log: bool, margin: float = 0) -> Scale:
    least, most = float(values.min()) - margin, float(values.max()) + margin
    if is_log:
        least = max(least, 1e-9)
    if most <= least:
        most = least * 10 if is_log else least + 1
    return Scale(least, most, start, stop, is_log)


def _grid(x: Scale, y: Scale) -> list[Markup]:
    parts = [_line(LEFT, y(value), WIDTH - RIGHT, y(value), "grid") for value in y.ticks()]
    parts += [_text(LEFT - 6, y(value) + 4, tick_text(value), "tick end") for value in y.ticks()]
    parts += [_line(x(value), HEIGHT - BOTTOM, x(value), HEIGHT - BOTTOM + 4, "grid") for value in x.ticks()]
    parts += [_text(x(value), HEIGHT - BOTTOM + 16, tick_text(value), "tick") for value in x.ticks()]
    return parts


def _curve(chart: Chart, x: Scale, y: Scale) -> list[Markup]:
    points = " ".join(f"{x(a):.1f},{y(b):.1f}" for a, b in zip(chart.x.tolist(), chart.y.tolist(), strict=True))
    return [element("polyline", {"class": "curve", "points": points})]


def _bars(chart: Chart, x: Scale, y: Scale) -> list[Markup]:
    width = max(1.0, 0.8 * (x(1) - x(0)))
    return [
        element(
            "rect",
            {
                "class": "bar",
                "x": f"{x(a) - width / 2:.1f}",
                "y": f"{y(b):.1f}",
                "width": f"{width:.1f}",
                "height": f"{HEIGHT - BOTTOM - y(b):.1f}",
            },
            element("title", {}, f"{a:g}: {b:,.0f}"),
        )
        for a, b in zip(chart.x.tolist(), chart.y.tolist(), strict=True)
        if b > 0
    ]


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> Markup:
    ends = {"x1": f"{x1:.1f}", "y1": f"{y1:.1f}", "x2": f"{x2:.1f}", "y2": f"{y2:.1f}"}
    return element("line", {"class": kind, **ends})


def _text(x: float, y: float, text: str, kind: str, *, turn: bool = False) -> Markup:
    place: dict[str, str] = {"x": f"{x:.1f}", "y": f"{y:.1f}", "class": kind}
    if turn:
        place["transform"] = f"rotate(-90 {x:.1f} {y:.1f})"
    return element("text", place, text)


def figures(charts: Sequence[Chart]) -> Markup:
    return element("div", {"class": "figures"}, joined(figure(chart) for chart in charts))
