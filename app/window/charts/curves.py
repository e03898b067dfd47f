"""The curves of a run as of one moment, thinned to what a chart can show."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from PySide6.QtCore import QObject, Signal

from app.session.run import Run
from app.session.session import Session
from app.window.parts.lines import NO_LINES, ChartLines, NamedLine, Numbers
from app.window.parts.watched import Table, Watched
from bpe_core.token_texts import LONGEST_SHOWN

REDRAW_MILLISECONDS = 120
MOST_POINTS = 400

CurveOf = Callable[[Run, int], ChartLines]  # of a run after so many merges; no lines where there is nothing to be shown


class CurveModel(QObject, Watched):
    """One curve of the shown run, which is computed anew when the moment shown is another."""

    changed = Signal()

    def __init__(self, session: Session, curve: CurveOf) -> None:
        super().__init__(session)
        self.lines = NO_LINES
        self._runs, self._cursor, self._curve = session.runs, session.cursor, curve
        cursor = session.cursor
        self.refresh_on(REDRAW_MILLISECONDS, session.runs.changed, cursor.moved, cursor.end_moved)

    def as_table(self) -> Table:
        return self.lines.as_table()

    def refresh(self) -> None:
        run = self._runs.shown
        # Just after another run is shown, the moment is still the old one.
        self.lines = NO_LINES if run is None else self._curve(run, min(self._cursor.position, run.learned))
        self.changed.emit()

    @property
    def hint(self) -> str:
        """What is said where there is no curve yet."""
        run = self._runs.shown
        if run is not None and run.history is not None and len(run.history) and not len(run.symbol_counts):
            return "This table came without texts: Training > Count on My Corpus draws this chart."
        return "This chart appears when training begins."


def rank_frequency(run: Run, at: int) -> ChartLines:
    """How often each token stands in the corpus, most frequent first."""
    if run.history is None or not run.history.only_joins or not len(run.symbol_counts):
        return NO_LINES
    counts = np.sort(run.history.first(at).token_counts(run.symbol_counts))[::-1]
    counts = counts[: int(np.count_nonzero(counts > 0))]
    ranks = _log_spaced(len(counts))
    line = NamedLine("", ranks, counts[ranks.astype(np.int64) - 1].astype(np.float64))
    return ChartLines((line,), "Rank", "Occurrences", is_log_y=True)


def compression(run: Run, at: int) -> ChartLines:
    """Base symbols a token stands for, over the whole run; the moment shown is marked."""
    if run.history is None or not len(run.history) or not run.history.has_counts:
        return NO_LINES
    title = "Bytes per token" if run.recipe.base == "bytes" else "Characters per token"
    merges = np.unique(np.linspace(0, run.learned, MOST_POINTS).astype(np.int64))
    line = NamedLine("", merges.astype(np.float64), run.history.compression[merges])
    return ChartLines((line,), run.wording.steps.capitalize(), title, is_log_x=False, marked_x=float(at))


def token_lengths(run: Run, at: int) -> ChartLines:
    """How many tokens of the vocabulary have how many bytes."""
    if run.names is None or run.history is None:
        return NO_LINES
    tokens = run.history.first(at).vocabulary
    lengths = np.minimum(np.array(run.names.lengths)[tokens], LONGEST_SHOWN)  # absurdly long ones stand at the end
    found = np.bincount(lengths)[1:].astype(float)
    line = NamedLine("", np.arange(1.0, len(found) + 1), found)
    return ChartLines((line,), "Bytes in the token", "Tokens", is_log_x=False, is_bars=True)


def _log_spaced(length: int) -> Numbers:
    """Ranks 1 to `length`, thinner where they lie closer on a logarithmic axis."""
    if length == 0:
        return np.zeros(0)
    return np.unique(np.geomspace(1, length, MOST_POINTS).round())
