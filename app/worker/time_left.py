"""How long a run will still take, as far as its own steadiness lets anybody know."""

from __future__ import annotations

from collections import deque

LOOKED_BACK = 3.0  # seconds
STEADY = 2.0  # a rate that changes by more than this from one half of them to the other tells nothing


class TimeLeft:
    """The first merges touch nearly every word and take long, the last ones take next to nothing.

    A run that becomes faster and faster would be said to take many times as long as it does, so nothing is said of it.

    >>> left = TimeLeft()
    >>> [left.seconds(float(now), 100 * now, 1_000 - 100 * now) for now in range(6)]
    [None, None, None, 7.0, 6.0, 5.0]
    >>> left = TimeLeft()
    >>> [left.seconds(float(now), 2**now, 2**20 - 2**now) for now in range(12)] == [None] * 12
    True
    """

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque()

    def seconds(self, now: float, made: int, to_make: int) -> float | None:
        """So many merges are made by now; None where nobody knows how long those to make will take."""
        self._seen.append((now, made))
        while len(self._seen) > 2 and now - self._seen[1][0] >= LOOKED_BACK:
            self._seen.popleft()
        began, at_first = self._seen[0]
        if now - began < LOOKED_BACK:
            return None
        middle, halfway = min(self._seen, key=lambda seen: abs(seen[0] - (began + now) / 2))
        if not began < middle < now:
            return None
        slower, faster = sorted(((halfway - at_first) / (middle - began), (made - halfway) / (now - middle)))
        if faster == 0 or faster > STEADY * slower:
            return None
        return to_make * (now - began) / (made - at_first)
