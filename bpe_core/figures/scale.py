"""The scale of an axis. It gives the position of each number, and the numbers to write along the axis.

Paper and screen use the same scale.

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
from functools import cached_property

import numpy as np

from bpe_core.figures.figure import Numbers

WANTED_TICKS = 5
FINER = 4  # times finer than the ticks: steps at which an axis may begin
NEAR_NOTHING = 0.15  # share of the largest value: an axis with smaller values begins at 0
LEAST_LOGARITHM = 1e-12  # the smallest number that a logarithmic axis can show


@dataclass(frozen=True)
class Axis:
    """An axis of a figure: the range of its numbers, their spacing, and the form in which they are written.

    There are three kinds of spacing: even, logarithmic, and by the logarithm of the distance from `least`. The third
    kind can show `least` even if it is 0.
    """

    least: float
    most: float
    is_log: bool = False
    is_from_least: bool = False  # a logarithmic axis counts from `least`, as from 0
    is_share: bool = False  # shares of 1, written in per cent
    is_whole: bool = False  # only whole numbers are written

    def place(self, number: float) -> float:
        """Return the position of a number on the axis.

        The position is the number, or its logarithm if `is_log` is set. If `is_from_least` is set too, the
        position is the logarithm of 1 plus the distance between the number and `least`.

        >>> Axis(0, 9).place(3), Axis(1, 100, is_log=True).place(10), Axis(0, 9, True, True).place(0)
        (3, 1.0, 0.0)
        """
        if self.is_log and self.is_from_least:
            return math.log1p(max(0.0, number - self.least))
        return math.log10(max(number, LEAST_LOGARITHM)) if self.is_log else number

    def places(self, numbers: Numbers) -> Numbers:
        """Return the positions of many numbers on the axis.

        On an ordinary logarithmic axis, a number that is not positive has the position NaN.

        >>> Axis(1, 100, is_log=True).places(np.array([0.0, 1.0, 100.0])).tolist()
        [nan, 0.0, 2.0]
        """
        if self.is_log and self.is_from_least:
            return np.log1p(np.maximum(0.0, numbers - self.least))
        return np.log10(np.where(numbers > 0, numbers, np.nan)) if self.is_log else numbers

    def number(self, place: float) -> float:
        """Return the number at a position. This is the inverse of `place`.

        >>> Axis(1, 100, is_log=True).number(1.0), Axis(0, 99, True, True).number(math.log1p(9))
        (10.0, 9.0)
        """
        if not self.is_log:
            return place
        return round(self.least + math.expm1(place) if self.is_from_least else 10.0**place, 9)

    def ticks(self, least: float, most: float, wanted: int = WANTED_TICKS) -> list[float]:
        """Return about `wanted` round numbers from `least` to `most`.

        The range may be the whole axis or an enlarged part.

        >>> axis = Axis(0, 5000, is_log=True, is_from_least=True)
        >>> axis.ticks(0, 5000), axis.ticks(200, 900, 4)
        ([0, 10.0, 100.0, 1000.0, 5000], [200.0, 400.0, 600.0, 800.0])
        """
        numbers = self._powers(least, most) if self.is_log else []
        if len(numbers) < 2:
            numbers = even_ticks(least, most, wanted)
        return [value for value in numbers if not self.is_whole or value == round(value)]

    def _powers(self, least: float, most: float) -> list[float]:
        if self.is_from_least:
            round_ones = (10.0**power for power in range(1, 13))
            known = [self.least, *(value for value in round_ones if self.least < value < self.most / 2), self.most]
            return [value for value in known if least <= value <= most]
        first, last = (math.log10(max(end, LEAST_LOGARITHM)) for end in (least, most))
        return [10.0**power for power in range(math.ceil(first - 1e-9), math.floor(last + 1e-9) + 1)]

    def labels(self, ticks: Sequence[float]) -> list[str]:
        """Return ticks as short texts. Different ticks have different texts.

        >>> Axis(0, 1, is_share=True).labels([0.0, 0.05]), Axis(0, 1).labels([0.0, 2e6])
        (['0 %', '5 %'], ['0', '2M'])
        >>> Axis(0, 1).labels([1_234_567.0, 1_234_568.0])
        ['1,234,567', '1,234,568']
        """
        percent, times = (" %", 100) if self.is_share else ("", 1)
        numbers = [round(value * times, 9) for value in ticks]
        texts = [tick_text(value) for value in numbers]
        if len(set(texts)) < len(texts):
            texts = [f"{value:,.12g}" for value in numbers]
        return [text + percent for text in texts]


@dataclass(frozen=True)
class Scale:
    """A function that maps numbers to positions. It maps `least` to `start`, and `most` to `stop`."""

    least: float
    most: float
    start: float
    stop: float
    is_log: bool = False
    is_clipped: bool = False  # numbers outside get the place of the end; a logarithmic axis counts from `least`, as 0

    @classmethod
    def along(cls, axis: Axis, start: float, stop: float) -> Scale:
        return cls(axis.least, axis.most, start, stop, axis.is_log, axis.is_from_least)

    @cached_property
    def axis(self) -> Axis:
        return Axis(self.least, self.most, self.is_log, self.is_clipped)

    def __call__(self, value: float) -> float:
        low = self.axis.place(self.least)
        high = self.axis.place(self.most)
        if self.is_clipped:
            value = min(max(value, self.least), self.most)
        share = (self.axis.place(value) - low) / (high - low) if high > low else 0.5
        return self.start + (self.stop - self.start) * share

    def value_at(self, place: float) -> float:
        """Return the number at a position. For a position beyond the end of an axis, return the number at this end.

        >>> Scale(1, 1000, 0, 300, is_log=True).value_at(200), Scale(0, 9, 0, 90).value_at(-5)
        (100.0, 0.0)
        >>> scale = Scale(0, 99, 0, 100, is_log=True, is_clipped=True)
        >>> scale(0), scale(9), scale.value_at(50), scale.ticks()
        (0.0, 50.0, 9.0, [0, 10.0, 99])
        """
        low = self.axis.place(self.least)
        high = self.axis.place(self.most)
        share = (place - self.start) / (self.stop - self.start) if self.stop != self.start else 0.0
        return self.axis.number(low + (high - low) * min(1.0, max(0.0, share)))

    def ticks(self) -> list[float]:
        return self.axis.ticks(self.least, self.most)


def even_ticks(least: float, most: float, wanted: int = WANTED_TICKS) -> list[float]:
    step = _round_step(most - least, wanted)
    first = math.ceil(least / step - 1e-9)
    return [i * step for i in range(first, math.floor(most / step + 1e-9) + 1)]


def start_of_axis(values: Sequence[float]) -> float:
    """Return the number at which a chart's axis begins if the axis is to show small differences between the values.

    This is a round number below the smallest value. Return 0 if the smallest value is near 0 compared with the largest,
    or if all values are equal.

    >>> start_of_axis([1.52, 2.07]), start_of_axis([0.1, 2.0]), start_of_axis([0.5]), start_of_axis([])
    (1.5, 0.0, 0.0, 0.0)
    """
    known = [value for value in values if math.isfinite(value)]
    least = min(known, default=0.0)
    most = max(known, default=0.0)
    if least <= NEAR_NOTHING * most or least == most:
        return 0.0
    step = _round_step((most - least) / FINER)
    return round(step * math.floor((least - step / 10) / step), 12)


def title_of_axis(title: str, start: float) -> str:
    """Return the title of an axis. If the axis does not begin at 0, the title gives its first number.

    The reader needs this number, because small differences look large on such an axis.

    >>> title_of_axis("Bytes per token", 1.5), title_of_axis("Bytes per token", 0.0)
    ('Bytes per token (axis from 1.5)', 'Bytes per token')
    """
    return f"{title} (axis from {start:g})" if start else title


def _round_step(range: float, wanted: int = WANTED_TICKS) -> float:
    rough = max(range, 1e-9) / wanted
    power = 10.0 ** math.floor(math.log10(rough))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough)


def tick_text(value: float) -> str:
    """Return a number as a short text for an axis.

    >>> [tick_text(value) for value in (0.0, 1.5, 200.0, 30_000.0, 2_500_000.0)]
    ['0', '1.5', '200', '30k', '2.5M']
    """
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= size:
            return f"{value / (1e3 if unit == 'k' else size):g}{unit}"
    return f"{value:g}"
