"""What each vocabulary size would mean: for the text trained on, its files, and one held out."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.session.counts import Counted
from app.session.run import Run
from app.session.session import Session
from app.window.parts.lines import NO_LINES, ChartLines, NamedLine, Numbers, thinned
from app.window.parts.watched import Table, Watched
from app.worker.job import Task
from bpe_core import BpeError, Cancelled, Corpus, History, WordTable, count_words
from bpe_core.insight.ranked_words import RankedWords
from bpe_core.measures.size_curves import FORMULA as FORMULA
from bpe_core.measures.size_curves import SizeCurves, size_curves
from bpe_core.presets import USUAL_SIZES as USUAL_SIZES

REDRAW_MILLISECONDS = 150
MOST_FILES = 24  # that are measured by themselves
HELD_OUT = "held out: "
FIRST_SHOWN = 6  # texts whose lines are drawn until others are asked for


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


class SizesModel(QObject, Watched):
    """Computes the curves when a run is at rest and somebody looks; they hold for every size at once."""

    changed = Signal()
    failed = Signal(str)

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.facts: SizesFacts | None = None
        self.measure = MEASURES[0]
        self.held_out: Path | None = None
        self._runs, self._cursor = session.runs, session.cursor
        self._corpus, self._aside = session.corpus, session.aside
        self._asked: Hashable = None  # what the curves are of
        self._is_shown: dict[str, bool] = {}  # by the names of texts about which that was said
        self.refresh_on(REDRAW_MILLISECONDS, session.runs.changed, session.cursor.moved, session.cursor.end_moved)

    def choose_measure(self, index: int) -> None:
        self.measure = MEASURES[index]
        self.changed.emit()

    def hold_out(self, path: Path | None) -> None:
        """Name a text that is not learned from; before the training or after it."""
        self.held_out = path
        self.refresh_soon()

    def as_table(self) -> Table:
        return self.lines.as_table()

    @property
    def lines(self) -> ChartLines:
        if self.facts is None:
            return NO_LINES
        drawn: list[NamedLine] = []
        for name in self.shown:
            curves = self.facts.curves[name]
            y = self.measure.curve(curves)
            x, shown = thinned(y)
            knee = ((float(curves.knee), float(y[curves.knee]), f"knee at {curves.base + curves.knee:,}"),)
            drawn.append(NamedLine(name, x, shown, () if drawn else knee))
        position = float(self._cursor.position)
        return ChartLines(tuple(drawn), "Merges", self.measure.title, is_share=self.measure.is_share, marked_x=position)

    @property
    def here(self) -> list[tuple[str, float]]:
        """The measure of each text that is shown, at the moment shown."""
        if self.facts is None:
            return []
        at, curves = self._cursor.position, self.facts.curves
        measured = [(name, self.measure.curve(curves[name])) for name in self.shown]
        return [(name, float(curve[min(at, len(curve) - 1)])) for name, curve in measured]

    @property
    def vocabulary_here(self) -> int:
        """How large the vocabulary is at the moment shown."""
        return (self.facts.base if self.facts is not None else 0) + self._cursor.position

    @property
    def names(self) -> list[str]:
        """All texts that were measured."""
        return list(self.facts.curves) if self.facts is not None else []

    @property
    def shown(self) -> list[str]:
        """Those whose lines are drawn: the first few, the one held out, and what was chosen."""
        names = self.names
        by_itself = {*names[:FIRST_SHOWN], *(name for name in names if name.startswith(HELD_OUT))}
        return [name for name in names if self._is_shown.get(name, name in by_itself)]

    def show_text(self, name: str, on: bool) -> None:
        self._is_shown[name] = on
        self.changed.emit()

    def refresh(self) -> None:
        run = self._runs.shown
        if run is None or run.history is None or not len(run.history):
            self.facts, self._asked = None, None
        elif not run.is_busy:
            self._ask(run, run.history)
        self.changed.emit()

    def _ask(self, run: Run, history: History) -> None:
        sources = self._corpus.texts.value if run.words is None else ()  # one that came without texts
        key = (run.stamp, len(history), self.held_out, sources)
        if key == self._asked:
            return
        self._asked = key
        ranked, tables, held_out = self._runs.ranked.of(run), self._tables(run), self.held_out
        texts: dict[str, Callable[[], Corpus]] = {source.name: source.as_corpus for source in sources[:MOST_FILES]}
        if held_out is not None:
            texts[HELD_OUT + held_out.name] = lambda: Corpus.from_files([held_out])

        def work(task: Task) -> tuple[SizesFacts | None, list[str]]:
            curves: dict[str, SizeCurves] = {}
            troubles = []
            if ranked is not None:
                ranks, same = ranked(), _as_of(ranked(), history)
                curves["training text"] = size_curves(ranks.words, history, ranked=same, cancelled=task.cancelled)
            for name, table in tables.items():
                curves[name] = size_curves(table, history, cancelled=task.cancelled)
            for name, open_text in texts.items():
                try:
                    words = count_words(open_text(), history.recipe, cancelled=task.cancelled)
                    curves[name] = size_curves(words, history, cancelled=task.cancelled)
                except Cancelled:
                    raise
                except BpeError as error:  # one that is gone by now leaves the others be
                    troubles.append(str(error))
            first = next(iter(curves.values()), None)
            return SizesFacts(curves, first.knee, first.base) if first is not None else None, troubles

        self._aside.ask("sizes", work, self._take, self.failed.emit)

    def _tables(self, run: Run) -> dict[str, WordTable]:
        """The words of each file, where there are several and their counts are remembered."""
        if not 2 <= len(run.sources) <= MOST_FILES:
            return {}
        outcomes = {source.name: self._corpus.counts.outcome_of(source, run.recipe) for source in run.sources}
        return {name: outcome.table for name, outcome in outcomes.items() if isinstance(outcome, Counted)}

    def _take(self, answer: tuple[SizesFacts | None, list[str]]) -> None:
        self.facts, troubles = answer
        for sentence in troubles:
            self.failed.emit(sentence)
        self.changed.emit()


def _as_of(ranked: RankedWords, history: History) -> RankedWords | None:
    """The ranks serve only a history of the same length; others are found anew."""
    return ranked if len(ranked.history) == len(history) else None
