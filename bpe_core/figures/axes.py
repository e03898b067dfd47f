"""The axes, the legend and the labels of a figure, on paper and on the screen.

Labels are moved so that none overlap.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from bpe_core.figures.figure import DotFigure, LineFigure, Numbers
from bpe_core.figures.scale import Axis, Scale
from bpe_core.figures.sheet import Sheet

SHARE_OF_LEGEND = 0.25  # share of the height, on the screen
LEAST_ON_LOG = 1e-9  # the lowest number at which a logarithmic axis may begin


def axes_of(figure: LineFigure) -> tuple[Axis, Axis]:
    """Return the horizontal and the vertical axis, with ranges that show the whole figure."""
    xs = np.concatenate([np.array(figure.marks, np.float64), *(line.x for line in figure.lines)])
    ys = np.concatenate([line.heights for line in figure.lines] or [np.zeros(0)])
    ys = ys if figure.is_log_y else np.append(ys, figure.first_y)
    upright = _reaching(ys, is_log=figure.is_log_y, is_share=figure.is_share)
    if figure.first_x is None:
        margin = 0.5 if figure.has_bars else 0.0
        return _reaching(xs, is_log=figure.is_log_x, margin=margin, is_whole=figure.has_bars), upright
    last = figure.last_x if figure.last_x is not None else max(xs.tolist(), default=figure.first_x)
    along = Axis(figure.first_x, max(last, figure.first_x + 1), figure.is_log_x, True, is_whole=figure.has_bars)
    return along, upright


def upright_axis_of_dots(figure: DotFigure) -> Axis:
    known = figure.values[np.isfinite(figure.values)]
    return Axis(0.0, float(known.max(initial=0.0)) or 1.0)


def _reaching(
    values: Numbers, *, is_log: bool = False, margin: float = 0.0, is_share: bool = False, is_whole: bool = False
) -> Axis:
    if not len(values):
        values = np.ones(1)
    least = float(values.min()) - margin
    most = float(values.max()) + margin
    if is_log:
        least = max(least, LEAST_ON_LOG)
    if most <= least:
        most = least * 10 if is_log else least + 1
    return Axis(least, most, is_log, is_share=is_share, is_whole=is_whole)


def spread_labels(wanted: Sequence[float], height: float, top: float, bottom: float) -> list[float]:
    """Move labels up or down until they do not overlap. Return the middle of each label.

    All labels have the height `height`. No label moves further than necessary.

    >>> spread_labels([10.0, 11.0, 50.0], 10.0, 0.0, 100.0)
    [5.5, 15.5, 50.0]
    >>> spread_labels([98.0, 99.0], 10.0, 0.0, 100.0), spread_labels([3.0], 10.0, 0.0, 100.0)
    ([85.0, 95.0], [5.0])
    """
    order = sorted(range(len(wanted)), key=lambda label: wanted[label])
    groups: list[list[int]] = []  # groups of labels that touch, from the top down
    middles: list[float] = []
    for label in order:
        groups.append([label])
        middles.append(_middle(groups[-1], wanted, height, top, bottom))
        while len(groups) > 1 and middles[-1] - middles[-2] < height * (len(groups[-1]) + len(groups[-2])) / 2:
            groups[-2:] = [groups[-2] + groups[-1]]
            middles[-2:] = [_middle(groups[-1], wanted, height, top, bottom)]
    places = list(wanted)
    for group, middle in zip(groups, middles, strict=True):
        for row, label in enumerate(group):
            places[label] = middle + height * (row - (len(group) - 1) / 2)
    return places


def _middle(group: Sequence[int], wanted: Sequence[float], height: float, top: float, bottom: float) -> float:
    half = height * len(group) / 2
    mean = sum(wanted[label] for label in group) / len(group)
    return max(top + half, min(mean, bottom - half))


class UprightAxis:
    """The vertical axis of a figure: its title, its numbers, and a horizontal grid line at each number."""

    def __init__(self, axis: Axis, bottom: float, top: float, sheet: Sheet) -> None:
        self.scale = Scale.along(axis, bottom, top)
        self.sheet = sheet
        values = self.scale.ticks()
        self._ticks = list(zip(values, axis.labels(values), strict=True))
        self.left = 4.7 * sheet.paper.text

    def draw(self, right: float) -> None:
        unit = self.sheet.paper.text
        for value, _ in self._ticks:
            self.sheet.line(self.left, self.scale(value), right, self.scale(value), "grid")
        for value, text in self._ticks:
            self.sheet.text(self.left - unit / 2, self.scale(value) + unit / 3, text, "tick end")

    def draw_title(self, title: str) -> None:
        self.sheet.text(1.1 * self.sheet.paper.text, (self.scale.start + self.scale.stop) / 2, title, "axis", turn=True)


class Legend:
    def __init__(self, names: Sequence[str], sheet: Sheet) -> None:
        self.sheet = sheet
        unit = sheet.paper.text
        room = (sheet.paper.width - 2 * unit) / unit
        if sheet.paper.is_screen:
            names = [sheet.shorten(name, room - 4)[0] for name in names]
        self.names = _rows_of_names([(name, self._room_of(name)) for name in names], room)
        if sheet.paper.is_screen:
            self.names = self.names[: int(SHARE_OF_LEGEND * sheet.paper.height / unit / 1.5)]
        self.rows = len(self.names)

    def draw(self, sample: Callable[[float, int, int], None], start: float, to_name: float) -> None:
        """Draw the legend. Each of its entries is a sample, such as a short line or a dot, and a name.

        Each row begins at `start`. In each entry, the name begins `to_name` to the right of the place where the sample
        begins. Both distances are multiples of the text size.

        The function `sample` draws the sample of an entry. Its arguments are the place where the entry begins in its
        row, the row, and the index of the entry.
        """
        number = 0
        unit = self.sheet.paper.text
        for row, names in enumerate(self.names):
            x = start * unit
            y = (1.3 + 1.5 * row) * unit
            for name in names:
                sample(x, row, number)
                self.sheet.text(x + to_name * unit, y, name, "legend")
                x = x + self._room_of(name) * unit
                number = number + 1

    def _room_of(self, name: str) -> float:
        return 3.6 + self.sheet.ems(name, "letters")


def _rows_of_names(names: Sequence[tuple[str, float]], width: float) -> list[list[str]]:
    """Divide names into rows that are at most `width` wide. Each name comes with its own width.

    >>> _rows_of_names([("th", 4.7), ("he", 4.7), ("in", 4.7)], 10.0)
    [['th', 'he'], ['in']]
    """
    rows: list[list[str]] = []
    used = width
    for name, room in names:
        if used + room > width:
            rows.append([])
            used = 0.0
        rows[-1].append(name)
        used += room
    return rows
