"""The leading pairs on their way from one moment to the next: rows glide, the winner leaves, others shrink."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.window.charts.pairs_model import Bar
from app.window.parts.motion import away, smooth

LEFT = 0.45  # of the time, by which the winner has left
NEW_ROWS = 1.5  # from how far below a new pair comes


@dataclass(frozen=True)
class Placed:
    """A bar as it is drawn now."""

    bar: Bar
    row: float
    value: float
    strength: float = 1.0
    aside: float = 0.0  # how far it has left, as a share of the width


def at_rest(bars: Sequence[Bar], rows: int) -> list[Placed]:
    return [Placed(bar, row, bar.value) for row, bar in enumerate(bars[:rows])]


def on_their_way(before: Sequence[Bar], now: Sequence[Bar], rows: int, progress: float) -> list[Placed]:
    """What is drawn between two moments, those that go first; at the end it is as at rest.

    >>> a, b = Bar("a", "b", 9, True, False, (1, 2), 9.0), Bar("c", "d", 8, False, False, (3, 4), 8.0)
    >>> [(drawn.bar.left, drawn.row) for drawn in on_their_way([a, b], [b], 5, 1.0)]
    [('c', 0.0)]
    """
    was = {bar.pair: (row, bar) for row, bar in enumerate(before)}
    stay = {bar.pair for bar in now}
    left = away(min(1.0, progress / LEFT))
    glided = smooth(max(0.0, (progress - LEFT / 2) / (1 - LEFT / 2)))
    drawn: list[Placed] = []
    for row, bar in enumerate(before[:rows]):
        if bar.pair not in stay and progress < 1.0:
            drawn.append(Placed(bar, row, bar.value, 1.0 - left, left if bar.is_next else 0.0))
    for row, bar in enumerate(now):
        row_before, bar_before = was.get(bar.pair, (row + NEW_ROWS, None))
        value = bar.value if bar_before is None else bar_before.value + (bar.value - bar_before.value) * glided
        place = row_before + (row - row_before) * glided
        if place < rows and (row < rows or row_before < rows):
            drawn.append(Placed(bar, place, value, glided if bar_before is None else 1.0))
    if progress < 1.0:  # whoever falls far passes in front of the others
        drawn.sort(key=lambda one: one.row - was[one.bar.pair][0] if one.bar.pair in was else 0.0)
    return drawn


def losses(before: Sequence[Bar], now: Sequence[Bar], made: str) -> dict[tuple[int, int], str]:
    """What is said of pairs that occur less often than a moment ago.

    >>> a, b = Bar("h", "e", 9, True, False, (1, 2)), Bar("t", "h", 8, False, False, (3, 1))
    >>> losses([a, b], [Bar("t", "h", 6, False, False, (3, 1))], "he")
    {(3, 1): '−2, taken by he'}
    """
    counts = {bar.pair: bar.count for bar in before}
    fewer = ((bar.pair, counts.get(bar.pair, bar.count) - bar.count) for bar in now)
    return {pair: f"−{lost:,}, taken by {made}" for pair, lost in fewer if lost > 0}
