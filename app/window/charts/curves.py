"""The curves of a run as of one moment, thinned to what a chart can show."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QObject, Signal

from app.session.manifests import RESULT, SESSION
from app.session.run import Run
from app.session.runs import Runs
from app.session.session import Session
from app.window.parts.lines import NO_LINES, ChartLines, NamedLine, Numbers
from app.window.parts.watched import Exact, Watched
from bpe_core.data_table import DataTable
from bpe_core.exact import of_run
from bpe_core.exact.tokens import TokenColumns
from bpe_core.progress import CancelCheck
from bpe_core.token_texts import LONGEST_SHOWN

REDRAW_MILLISECONDS = 120
MOST_POINTS = 400

# Of a run after so many steps; no lines where there is nothing to be shown, work to be done aside where it takes long.
Aside = Callable[[CancelCheck], ChartLines]
CurveOf = Callable[[Run, int, Runs], ChartLines | Aside]
ExactOf = Callable[[Run, int, Runs], Exact]  # all that the curve is drawn from


class CurveModel(QObject, Watched):
    """One curve of the shown run, which is computed anew when the moment shown is another."""

    changed = Signal()

    def __init__(self, session: Session, curve: CurveOf, exact: ExactOf, chart: str) -> None:
        super().__init__(session)
        self.chart = chart
        self.lines = NO_LINES
        self._runs, self._cursor, self._curve, self._exact = session.runs, session.cursor, curve, exact
        self._aside, self._topic = session.aside, f"curve {id(self)}"
        cursor = session.cursor
        self.refresh_on(REDRAW_MILLISECONDS, session.runs.changed, cursor.moved, cursor.end_moved)

    def exact(self) -> Exact:
        run = self._runs.shown
        if run is None or run.history is None:
            return super().exact()
        exact = self._exact(run, self._cursor.position, self._runs)

        def known(cancelled: CancelCheck) -> DataTable:
            """A run that came without texts has no values, not none of them."""
            found = exact(cancelled)
            return found if len(found) else DataTable({})

        return known

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

    @property
    def command(self) -> tuple[str, ...]:
        if not self.chart:
            return ()
        at = () if self.chart == "compression" else ("--at", str(self._cursor.position))
        return ("chart", self.chart, SESSION, *at, "-o", RESULT)

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


def exact_ranks(run: Run, at: int, runs: Runs) -> Exact:
    """Every token that occurs after so many steps."""
    history, symbols, numbers = run.history, run.symbol_counts, run.shown_numbers
    assert history is not None
    then = history.first(at)
    counts = None if then.only_joins else runs.cut.counts(run)

    def table(cancelled: CancelCheck) -> DataTable:
        found = np.zeros(0, np.int64)
        if then.only_joins and len(symbols):
            found = then.token_counts(symbols)
        elif counts is not None:
            found = counts(at, cancelled)
        return of_run.ranks(found, TokenColumns.for_history(history, numbers))

    return table


def exact_compression(run: Run, at: int, runs: Runs) -> Exact:
    """Every step of the run, whatever the moment."""
    history, symbols = run.history, run.symbol_counts
    assert history is not None
    return lambda cancelled: of_run.compression(history, symbols)


def exact_lengths(run: Run, at: int, runs: Runs) -> Exact:
    """Every length that a token has after so many steps."""
    history = run.history
    assert history is not None
    then = history.first(at)
    return lambda cancelled: of_run.lengths(then, TokenColumns.for_history(then))


def _log_spaced(length: int) -> Numbers:
    """Ranks 1 to `length`, thinner where they lie closer on a logarithmic axis."""
    if length == 0:
        return np.zeros(0)
    return np.unique(np.geomspace(1, length, MOST_POINTS).round())
