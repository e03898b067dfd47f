"""What each vocabulary size would mean: for the text trained on, its files, and one held out."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PySide6.QtCore import QObject, Signal

from app.models.lines import NO_LINES, Lines, NamedLine, Numbers, thinned
from app.models.throttle import Throttle
from app.session.questions import Questions
from app.session.run import Run
from app.session.runs import Runs
from app.session.shelf import Shelf
from app.session.time import TimeCursor
from app.worker.counting import Counted
from app.worker.questions import IsStopping
from bpe_core import Corpus, MergeHistory, WordTable, count_words
from bpe_core.insight.ranked_words import RankedWords
from bpe_core.insight.vocabulary_size import ADVICE as ADVICE
from bpe_core.insight.vocabulary_size import FORMULA as FORMULA
from bpe_core.insight.vocabulary_size import SizeCurves, size_curves

REDRAW_MILLISECONDS = 150
MOST_FILES = 5  # that have a line of their own


@dataclass(frozen=True)
class Measure:
    """One way to look at the sizes."""

    title: str
    curve: Callable[[SizeCurves], Numbers]
    is_share: bool = False
    tip: str = ""


MEASURES = (
    Measure("Bytes per token", lambda curves: curves.bytes_per_token),
    Measure("Tokens per word", lambda curves: curves.tokens_per_word),
    Measure("Rényi efficiency", lambda curves: curves.renyi_efficiency, tip=FORMULA),
    Measure(
        "Vocabulary in use",
        lambda curves: curves.share_in_use,
        is_share=True,
        tip="The part of the vocabulary that occurs in the text at all.",
    ),
    Measure(
        "Scaffolds",
        lambda curves: curves.share_of_scaffolds,
        is_share=True,
        tip="The part of the vocabulary that was only needed on the way: larger tokens have used it up.",
    ),
)


@dataclass(frozen=True, eq=False)
class SizesFacts:
    """The curves of each text, by its name; the first is the text trained on."""

    curves: dict[str, SizeCurves]
    knee: int
    base: int


class SizesModel(QObject):
    """Computes the curves when a run is at rest and somebody looks; they hold for every size at once."""

    changed = Signal()
    failed = Signal(str)

    def __init__(
        self, runs: Runs, cursor: TimeCursor, shelf: Shelf, questions: Questions, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self.facts: SizesFacts | None = None
        self.measure = MEASURES[0]
        self.held_out: Path | None = None
        self._runs, self._cursor, self._shelf, self._questions = runs, cursor, shelf, questions
        self._asked: Hashable = None  # what the curves are of
        self._watched = False
        self._throttle = throttle = Throttle(REDRAW_MILLISECONDS, self._look, self)
        for signal in (runs.changed, cursor.moved, cursor.end_moved):
            signal.connect(throttle.call)

    @property
    def is_waiting(self) -> bool:
        return self._throttle.is_pending

    def watch(self, on: bool) -> None:
        self._watched = on
        if on:
            self._throttle.call()

    def choose_measure(self, index: int) -> None:
        self.measure = MEASURES[index]
        self.changed.emit()

    def hold_out(self, path: Path | None) -> None:
        """Name a text that is not learned from; before the training or after it."""
        self.held_out = path
        self._throttle.call()

    @property
    def lines(self) -> Lines:
        if self.facts is None:
            return NO_LINES
        drawn: list[NamedLine] = []
        for name, curves in self.facts.curves.items():
            y = self.measure.curve(curves)
            x, shown = thinned(y)
            knee = (
                ((float(curves.knee), float(y[curves.knee]), f"knee at {curves.base + curves.knee:,}"),)
                if not drawn
                else ()
            )
            drawn.append(NamedLine(name, x, shown, knee))
        position = float(self._cursor.position)
        return Lines(tuple(drawn), "Merges", self.measure.title, is_share=self.measure.is_share, marked_x=position)

    @property
    def here(self) -> list[tuple[str, float]]:
        """The measure of each text at the moment shown."""
        if self.facts is None:
            return []
        at = self._cursor.position
        curves = self.facts.curves.items()
        return [(name, float(self.measure.curve(one)[min(at, len(one.tokens) - 1)])) for name, one in curves]

    def _look(self) -> None:
        run = self._runs.shown
        if not self._watched:
            return
        ranked = self._questions.ranked(run) if run is not None else None
        if run is None or ranked is None or run.history is None:
            self.facts, self._asked = None, None
        elif not run.is_busy:
            self._ask(run, run.history, ranked)
        self.changed.emit()

    def _ask(self, run: Run, history: MergeHistory, ranked: Callable[[], RankedWords]) -> None:
        key = (run.stamp, len(history), self.held_out)
        if key == self._asked:
            return
        self._asked = key
        tables, held_out = self._tables(run), self.held_out

        def question(is_stopping: IsStopping) -> SizesFacts:
            curves = {"training text": size_curves(ranked().words, history, ranked=_as_of(ranked(), history))}
            for name, table in tables.items():
                curves[name] = size_curves(table, history)
            if held_out is not None:
                words = count_words(Corpus.from_files([held_out]), history.recipe, cancelled=is_stopping)
                curves[f"held out: {held_out.name}"] = size_curves(words, history)
            first = next(iter(curves.values()))
            return SizesFacts(curves, first.knee, first.base)

        self._questions.ask("sizes", question, self._take, self.failed.emit)

    def _tables(self, run: Run) -> dict[str, WordTable]:
        """The words of each file, where there are several and their counts are remembered."""
        if not 2 <= len(run.sources) <= MOST_FILES:
            return {}
        outcomes = {source.name: self._shelf.counts.outcome_of(source.as_text(), run.recipe) for source in run.sources}
        return {name: outcome.table for name, outcome in outcomes.items() if isinstance(outcome, Counted)}

    def _take(self, facts: SizesFacts) -> None:
        self.facts = facts
        self.changed.emit()


def _as_of(ranked: RankedWords, history: MergeHistory) -> RankedWords | None:
    """The ranks serve only a history of the same length; others are found anew."""
    return ranked if len(ranked.history) == len(history) else None


def advice_text() -> str:
    """The sizes that are usual, for the line beside the chart."""
    return " · ".join(f"{size}: {purpose}" for size, purpose in ADVICE)


def nearest_merges(x: float, end: int) -> int:
    """The moment a click on the chart means."""
    return int(np.clip(round(x), 0, end))
