"""What a chart of lines shows, as numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]

MOST_POINTS = 600


@dataclass(frozen=True, eq=False)
class NamedLine:
    """One line; `marked` are places on it worth a dot, each with a word."""

    name: str
    x: Numbers
    y: Numbers
    marked: tuple[tuple[float, float, str], ...] = ()
    is_faint: bool = False  # shown only beside another
    band: tuple[Numbers, Numbers] | None = None  # between what it may lie; no number where that is not known

    @property
    def highest(self) -> float:
        """All that must have room below it."""
        known = np.concatenate([self.y, *(self.band or ())])
        return float(np.nanmax(known, initial=0.0))

    def value_at(self, x: float, *, is_stairs: bool = False) -> float:
        """Between two points, or the one that holds until the next.

        >>> line = NamedLine("", np.array([1.0, 3.0]), np.array([10.0, 20.0]))
        >>> line.value_at(2.0), line.value_at(2.0, is_stairs=True)
        (15.0, 10.0)
        """
        if is_stairs:
            return float(self.y[max(0, int(np.searchsorted(self.x, x, side="right")) - 1)])
        return float(np.interp(x, self.x, self.y))


@dataclass(frozen=True, eq=False)
class ChartLines:
    """All lines of a chart."""

    lines: tuple[NamedLine, ...]
    x_title: str
    y_title: str
    is_log_x: bool = True
    is_log_y: bool = False
    is_bars: bool = False  # each point is a bar
    is_share: bool = False  # y is a part of a whole, shown in per cent
    is_stairs: bool = False  # a value holds until the next one
    marked_x: float | None = None  # the moment shown
    first_x: float = 0.0  # what the axis begins with
    last_x: float | None = None  # and ends with, if not with the last point
    first_y: float = 0.0  # what the other axis begins with

    def told_at(self, state: float) -> str:
        """The values of all lines there, a line of text for each."""
        told = [f"{self.x_title}: {state:,.0f}"]
        for line in self.lines:
            if len(line.x):
                value = line.value_at(state, is_stairs=self.is_stairs or self.is_bars)
                name = line.name or self.y_title
                told.append(f"{name}: {value:.1%}" if self.is_share else f"{name}: {_number(value)}")
        return "\n".join(told)

    @property
    def is_empty(self) -> bool:
        return not any(len(line.x) for line in self.lines)


NO_LINES = ChartLines((), "", "")


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:,.3f}"


def thinned(y: Numbers, most: int = MOST_POINTS) -> tuple[Numbers, Numbers]:
    """Points enough for a chart whose x axis is logarithmic: all early ones, fewer later.

    >>> x, y = thinned(np.arange(10_000.0))
    >>> x[:4].tolist(), len(x) <= 600, float(x[-1])
    ([0.0, 1.0, 2.0, 3.0], True, 9999.0)
    """
    if len(y) <= most:
        return np.arange(len(y), dtype=np.float64), y
    places = np.unique((np.geomspace(1, len(y), most) - 1).round().astype(np.int64))
    return places.astype(np.float64), y[places]
