"""Map numbers to places on an axis, and choose the numbers to write beside it.

>>> Scale(0, 100, 0, 200)(25)
50.0
>>> Scale(1, 1000, 0, 300, is_log=True)(10)
100.0
>>> Scale(0, 87, 0, 1).ticks()
[0.0, 20.0, 40.0, 60.0, 80.0]
>>> Scale(3, 2000, 0, 1, is_log=True).ticks()
[10.0, 100.0, 1000.0]
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

WANTED_TICKS = 5
FINER = 4  # than the ticks: steps at which an axis may begin
NEAR_NOTHING = 0.15  # of the largest value: an axis with smaller values begins at 0


@dataclass(frozen=True)
class Scale:
    """Maps `least` to `start` and `most` to `stop`."""

    least: float
    most: float
    start: float
    stop: float
    is_log: bool = False
    is_clipped: bool = False  # numbers outside get the place of the end; a logarithmic axis counts from `least`, as 0

    def __call__(self, value: float) -> float:
        low, high = self._inside(self.least), self._inside(self.most)
        if self.is_clipped:
            value = min(max(value, self.least), self.most)
        share = (self._inside(value) - low) / (high - low) if high > low else 0.5
        return self.start + (self.stop - self.start) * share

    def value_at(self, place: float) -> float:
        """Return the number that lies at a place, or the end of the axis beyond it.

        >>> Scale(1, 1000, 0, 300, is_log=True).value_at(200), Scale(0, 9, 0, 90).value_at(-5)
        (100.0, 0.0)
        >>> scale = Scale(0, 99, 0, 100, is_log=True, is_clipped=True)
        >>> scale(0), scale(9), scale.value_at(50), scale.ticks()
        (0.0, 50.0, 9.0, [0, 10.0, 99])
        """
        low, high = self._inside(self.least), self._inside(self.most)
        share = (place - self.start) / (self.stop - self.start) if self.stop != self.start else 0.0
        inside = low + (high - low) * min(1.0, max(0.0, share))
        if not self.is_log:
            return inside
        return round(self.least + math.expm1(inside) if self.is_clipped else 10.0**inside, 9)

    def ticks(self) -> list[float]:
        if self.is_log and self.is_clipped:
            round_ones = (10.0**power for power in range(1, 13))
            return [self.least, *(value for value in round_ones if self.least < value < self.most / 2), self.most]
        if self.is_log:
            powers = range(math.ceil(math.log10(self.least) - 1e-9), math.floor(math.log10(self.most) + 1e-9) + 1)
            found = [10.0**power for power in powers]
            if len(found) >= 2:
                return found
        return self._even_ticks()

    def _even_ticks(self) -> list[float]:
        step = _round_step(self.most - self.least)
        first = math.ceil(self.least / step - 1e-9)
        return [i * step for i in range(first, math.floor(self.most / step + 1e-9) + 1)]

    def _inside(self, value: float) -> float:
        if self.is_log and self.is_clipped:
            return math.log1p(max(0.0, value - self.least))
        return math.log10(max(value, 1e-12)) if self.is_log else value


def start_of_axis(values: Sequence[float]) -> float:
    """Return where an axis that shows differences begins: at a round number below the least value.

    >>> start_of_axis([1.52, 2.07]), start_of_axis([0.1, 2.0]), start_of_axis([0.5]), start_of_axis([])
    (1.5, 0.0, 0.0, 0.0)
    """
    known = [value for value in values if math.isfinite(value)]
    least, most = min(known, default=0.0), max(known, default=0.0)
    if least <= NEAR_NOTHING * most or least == most:
        return 0.0
    step = _round_step((most - least) / FINER)
    return round(step * math.floor((least - step / 10) / step), 12)


def said_of_axis(title: str, start: float) -> str:
    """Add to the title of an axis that it does not begin at 0: small differences look large there.

    >>> said_of_axis("Bytes per token", 1.5), said_of_axis("Bytes per token", 0.0)
    ('Bytes per token (axis from 1.5)', 'Bytes per token')
    """
    return f"{title} (axis from {start:g})" if start else title


def _round_step(range: float) -> float:
    rough = max(range, 1e-9) / WANTED_TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough)


def tick_text(value: float) -> str:
    """Write a number briefly enough for an axis.

    >>> [tick_text(value) for value in (0.0, 1.5, 200.0, 30_000.0, 2_500_000.0)]
    ['0', '1.5', '200', '30k', '2.5M']
    """
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= size:
            return f"{value / (1e3 if unit == 'k' else size):g}{unit}"
    return f"{value:g}"
