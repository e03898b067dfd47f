"""The curves of a run as of one moment, thinned to what a chart can show."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QObject, Signal

from app.session.run import Run
from app.session.runs import Runs
from app.session.session import Session
from app.window.parts.lines import NO_LINES, ChartLines, NamedLine, Numbers
from app.window.parts.watched import Table, Watched
from bpe_core.progress import CancelCheck
from bpe_core.token_texts import LONGEST_SHOWN

REDRAW_MILLISECONDS = 120
MOST_POINTS = 400

# Of a run after so many steps; no lines where there is nothing to be shown, work to be done aside where it takes long.
Aside = Callable[[CancelCheck], ChartLines]
CurveOf = Callable[[Run, int, Runs], ChartLines | Aside]


class CurveModel(QObject, Watched):
    """One curve of the shown run, which is computed anew when the moment shown is another."""

    changed = Signal()

    def __init__(self, session: Session, curve: CurveOf) -> None:
        super().__init__(session)
        self.lines = NO_LINES
        self._runs, self._cursor, self._curve = session.runs, session.cursor, curve
        self._aside, self._topic = session.aside, f"curve {id(self)}"
        cursor = session.cursor
        self.refresh_on(REDRAW_MILLISECONDS, session.runs.changed, cursor.moved, cursor.end_moved)

    def as_table(self) -> Table:
        return self.lines.as_table()

    def refresh(self) -> None:
        run = self._runs.shown
        self._rest_as_long(self._aside, self._topic, run)
        # Just after another run is shown, the moment is still the old one.
        lines = NO_LINES if run is None else self._curve(run, min(self._cursor.position, run.learned), self._runs)
        if isinstance(lines, ChartLines):
            self._aside.cancel(self._topic)
            self._take(lines)
        else:
            work = lines
            self._aside.ask(self._topic, lambda task: work(task.cancelled), self._take)

    def _take(self, lines: ChartLines) -> None:
        self.lines = lines
        self.changed.emit()

    @property
    def hint(self) -> str:
        """What is said where there is no curve yet."""
        run = self._runs.shown
        if run is not None and run.history is not None and len(run.history) and not len(run.symbol_counts):
            return "This table came without texts: Training > Count on My Corpus draws this chart."
        return "This chart appears when training begins."


def rank_frequency(run: Run, at: int, runs: Runs) -> ChartLines | Aside:
    """How often each token stands in the corpus, most frequent first."""
    if run.history is None:
        return NO_LINES
    if run.history.only_joins:
        known = len(run.symbol_counts) > 0
        return _ranked(run.history.first(at).token_counts(run.symbol_counts)) if known else NO_LINES
    counts = runs.cut.counts(run)
    return NO_LINES if counts is None else lambda cancelled: _ranked(counts(at, cancelled))


def _ranked(token_counts: npt.NDArray[np.int64]) -> ChartLines:
    counts = np.sort(token_counts)[::-1]
    counts = counts[: int(np.count_nonzero(counts > 0))]
    ranks = _log_spaced(len(counts))
    line = NamedLine("", ranks, counts[ranks.astype(np.int64) - 1].astype(np.float64))
    return ChartLines((line,), "Rank", "Occurrences", is_log_y=True)


def compression(run: Run, at: int, runs: Runs | None = None) -> ChartLines:
    """Base symbols a token stands for, over the whole run; the moment shown is marked."""
    history = run.history
    if history is None or not len(history) or not history.has_counts:
        return NO_LINES
    if not history.only_joins and not len(run.symbol_counts):
        return NO_LINES
    ratio = history.compression if history.only_joins else history.compression_of(int(run.symbol_counts.sum()))
    unit = "bytes" if run.recipe.base == "bytes" else "characters"
    title = f"Base symbols ({unit}) per token"  # blanks that were dropped are none, markers are
    steps = np.unique(np.linspace(0, run.learned, MOST_POINTS).astype(np.int64))
    line = NamedLine("", steps.astype(np.float64), ratio[steps])
    return ChartLines((line,), run.wording.steps.capitalize(), title, is_log_x=False, marked_x=float(at))


def token_lengths(run: Run, at: int, runs: Runs) -> ChartLines:
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
