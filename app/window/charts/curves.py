"""The curves of a run as of one moment, thinned to what a chart can show."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QObject, Signal

from app.session.run import Run
from app.session.runs import Runs
from app.session.time import TimeCursor
from app.window.parts.throttle import Throttle

Numbers = npt.NDArray[np.float64]

REDRAW_MILLISECONDS = 120
MOST_POINTS = 400


@dataclass(frozen=True)
class Curve:
    """Points of a line, or bars where `is_bars`."""

    x: Numbers
    y: Numbers
    x_title: str
    y_title: str
    is_log: bool = False
    is_bars: bool = False
    marked_x: float | None = None  # the moment shown, where x is time

    def as_table(self) -> list[tuple[str, ...]]:
        """For a CSV file."""
        rows = [(f"{x:g}", f"{y:.6g}") for x, y in zip(self.x.tolist(), self.y.tolist(), strict=True)]
        return [(self.x_title, self.y_title), *rows]


NOTHING_YET = Curve(np.zeros(0), np.zeros(0), "", "")


class CurvesModel(QObject):
    """Tells when the curves may be others; computes one when it is asked for."""

    changed = Signal()
    run_changed = Signal()  # another run is shown, or its counts are known now

    def __init__(self, runs: Runs, cursor: TimeCursor, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._runs, self._cursor = runs, cursor
        throttle = Throttle(REDRAW_MILLISECONDS, self.changed.emit, self)
        runs.changed.connect(throttle.call)
        runs.changed.connect(self.run_changed)
        cursor.moved.connect(throttle.call)
        cursor.end_moved.connect(throttle.call)

    @property
    def hint(self) -> str:
        """What is said where there is no curve yet."""
        run = self._runs.shown
        if run is not None and run.history is not None and len(run.history) and not len(run.symbol_counts):
            return "This table came without texts: Training > Count on My Corpus draws this chart."
        return "This chart appears when training begins."

    def rank_frequency(self) -> Curve:
        """How often each token stands in the corpus, most frequent first."""
        run = self._runs.shown
        if run is None or run.history is None or not len(run.symbol_counts):
            return NOTHING_YET
        k = min(self._cursor.position, run.learned)  # just after another run is shown, the moment is still the old one
        counts = np.sort(run.history.first(k).token_counts(run.symbol_counts))[::-1]
        counts = counts[: int(np.count_nonzero(counts > 0))]
        ranks = _log_spaced(len(counts))
        return Curve(ranks, counts[ranks.astype(np.int64) - 1].astype(np.float64), "Rank", "Occurrences", is_log=True)

    def compression(self) -> Curve:
        """Base symbols a token stands for, over the whole run; the moment shown is marked."""
        run, k = self._runs.shown, self._cursor.position
        if run is None or run.history is None or not len(run.history) or not run.history.has_counts:
            return NOTHING_YET
        merges = np.unique(np.linspace(0, run.learned, MOST_POINTS).astype(np.int64))
        x, y = merges.astype(np.float64), run.history.compression[merges]
        return Curve(x, y, "Merges", _symbols_per_token(run), marked_x=float(k))

    def token_lengths(self) -> Curve:
        """How many tokens of the vocabulary have how many bytes."""
        run = self._runs.shown
        if run is None or run.names is None or run.history is None:
            return NOTHING_YET
        tokens = run.history.first(self._cursor.position).vocabulary
        lengths = np.fromiter(map(len, map(run.names.raw.__getitem__, tokens.tolist())), np.int64, len(tokens))
        found = np.bincount(lengths)
        x = np.arange(1, len(found))
        return Curve(x.astype(float), found[1:].astype(float), "Bytes in the token", "Tokens", is_bars=True)


def _symbols_per_token(run: Run) -> str:
    return "Bytes per token" if run.recipe.base == "bytes" else "Characters per token"


def _log_spaced(length: int) -> Numbers:
    """Ranks 1 to `length`, thinner where they lie closer on a logarithmic axis."""
    if length == 0:
        return np.zeros(0)
    return np.unique(np.geomspace(1, length, MOST_POINTS).round())
