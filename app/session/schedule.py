"""When each step of a history is shown while it is played."""

from __future__ import annotations

import math
from dataclasses import dataclass

WHOLE_SECONDS = 18.5  # however long the history is, playing it at full speed takes about so long: twenty with learning
FIRST_PER_SECOND = 1.0  # so slowly it begins
_HALVINGS = 60  # of the range in which the growth is sought: more than a float can tell apart


@dataclass(frozen=True)
class Schedule:
    """From one step to another: at a steady speed, or slow at first and then faster and faster.

    >>> played = Schedule(0, 256)
    >>> [int(played.place(second)) for second in (0, 1, 3, 10, 18.49)]
    [0, 1, 4, 36, 255]
    >>> int(Schedule(10, 256, speed=2.0).place(5))
    20
    """

    start: int
    end: int
    speed: float | None = None  # steps a second; None: what it takes to be through in about 20 seconds

    @property
    def seconds(self) -> float:
        """How long it takes."""
        steps = self.end - self.start
        return steps / self.speed if self.speed else min(WHOLE_SECONDS, steps / FIRST_PER_SECOND)

    def place(self, seconds: float) -> float:
        """Which step is reached after so long, and how much of the way to the next."""
        if seconds >= self.seconds:
            return float(self.end)
        if self.speed:
            return self.start + self.speed * seconds
        return self.start + FIRST_PER_SECOND * _grown(self._growth, seconds)

    def pace(self, seconds: float) -> float:
        """Steps a second at that time."""
        return self.speed or FIRST_PER_SECOND * math.exp(self._growth * seconds)

    @property
    def _growth(self) -> float:
        """How fast the speed grows so that it is all through in time."""
        wanted = (self.end - self.start) / FIRST_PER_SECOND
        if wanted <= self.seconds:
            return 0.0
        low, high = 0.0, 1 / self.seconds
        while _grown(high, self.seconds) < wanted:
            high *= 2
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if _grown(middle, self.seconds) < wanted else (low, middle)
        return low


def _grown(growth: float, seconds: float) -> float:
    """How far one comes whose speed is 1 at first and grows by this rate."""
    return seconds if growth < 1e-9 else math.expm1(growth * seconds) / growth
