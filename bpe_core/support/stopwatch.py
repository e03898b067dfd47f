"""A stopwatch for work that reports from time to time. It does not count the time while the computer sleeps."""

from __future__ import annotations

import time

LONGEST_SILENCE = 60.0  # seconds between two reports; a longer time is a machine that slept, or a clock that was set


class Stopwatch:
    def __init__(self) -> None:
        self.seconds = 0.0
        self._last = time.monotonic()

    def tick(self) -> float:
        """Add the seconds since the last report, and return the sum.

        After a long time without a report, only `LONGEST_SILENCE` seconds are added.
        """
        now = time.monotonic()
        self.seconds += min(max(0.0, now - self._last), LONGEST_SILENCE)
        self._last = now
        return self.seconds
