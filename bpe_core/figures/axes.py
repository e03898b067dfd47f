"""The upright axis of a figure, the legend above it, and the scale that values need."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import ceil

import numpy as np

from bpe_core.figures.figure import Numbers
from bpe_core.figures.scale import Scale, tick_text
from bpe_core.figures.sheet import Paper, Sheet

SHARE_OF_LEGEND = 0.3  # of the height, on the screen


class UprightAxis:
    """The numbers at the left of a figure, with a line for each, and the title of the axis."""

    def __init__(self, scale: Scale, sheet: Sheet, *, is_share: bool = False) -> None:
        self.scale, self.sheet = scale, sheet
        percent, times = (" %", 100) if is_share else ("", 1)
        self._ticks = [(one, tick_text(round(one * times, 9)) + percent) for one in _apart(scale, sheet.paper)]
        widest = max((sheet.ems(text, "digits") for _, text in self._ticks), default=0.0)
        self.left = sheet.paper.text * (1.2 + widest if sheet.paper.is_screen else 4.7)

    def draw(self, right: float) -> None:
        unit = self.sheet.paper.text
        for value, _ in self._ticks:
            self.sheet.line(self.left, self.scale(value), right, self.scale(value), "grid")
        for value, text in self._ticks:
            self.sheet.text(self.left - unit / 2, self.scale(value) + unit / 3, text, "tick end")

    def draw_title(self, title: str) -> None:
        unit, top, bottom = self.sheet.paper.text, self.scale.stop, self.scale.start
        if self.sheet.paper.is_screen:
            self.sheet.text(unit / 2, top - 0.8 * unit, title, "legend")
        else:
            self.sheet.text(1.1 * unit, (top + bottom) / 2, title, "axis", turn=True)


class Legend:
    def __init__(self, names: Sequence[str], sheet: Sheet) -> None:
        self.sheet, unit = sheet, sheet.paper.text
        room = (sheet.paper.width - 2 * unit) / unit
        if sheet.paper.is_screen:
            names = [sheet.fitting(name, room - 4)[0] for name in names]
        self.names = _in_rows([(name, self._room_of(name)) for name in names], room)
        if sheet.paper.is_screen:
            self.names = self.names[: int(SHARE_OF_LEGEND * sheet.paper.height / unit / 1.5)]
        self.rows = len(self.names)

    def draw(self, sample: Callable[[float, int, int], None], start: float, behind: float) -> None:
        """Draw them from `start`; `sample` draws the sample of a number at a place in a row."""
        number, unit = 0, self.sheet.paper.text
        for row, names in enumerate(self.names):
            x, y = start * unit, (1.3 + 1.5 * row) * unit
            for name in names:
                sample(x, row, number)
                self.sheet.text(x + behind * unit, y, name, "legend")
                x, number = x + self._room_of(name) * unit, number + 1

    def _room_of(self, name: str) -> float:
        return 3.6 + self.sheet.ems(name, "letters")


def _in_rows(names: Sequence[tuple[str, float]], width: float) -> list[list[str]]:
    """Break names of known widths into rows.

    >>> _in_rows([("th", 4.7), ("he", 4.7), ("in", 4.7)], 10.0)
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


def scale_over(values: Numbers, start: float, stop: float, *, is_log: bool, margin: float = 0) -> Scale:
    if not len(values):
        values = np.ones(1)
    least, most = float(values.min()) - margin, float(values.max()) + margin
    if is_log:
        least = max(least, 1e-9)
    if most <= least:
        most = least * 10 if is_log else least + 1
    return Scale(least, most, start, stop, is_log)


def _apart(scale: Scale, paper: Paper) -> list[float]:
    """Return the ticks of an upright axis; on the screen no more than can be read below each other."""
    ticks = scale.ticks()
    if not paper.is_screen or len(ticks) < 2:
        return ticks
    nearest = min(abs(scale(one) - scale(other)) for one, other in pairwise(ticks))
    return ticks[:: max(1, ceil(1.3 * paper.text / max(nearest, 1e-9)))]
