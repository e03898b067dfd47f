"""Curves of many runs: of all in this window, or of a sweep, which is made or goes on, or was made before."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from PySide6.QtCore import QObject, Signal

from app.session.corpus_texts import CorpusText, CorpusTexts, reading
from app.session.manifests import CORPUS, RESULT, SESSION
from app.session.run import name_of
from app.session.session import Session
from app.window.parts.watched import Drawn, Exact, Watched
from app.window.parts.wording import count_text
from app.worker.job import Task
from bpe_core.counting.words import WordTable
from bpe_core.figures.figure import LineFigure
from bpe_core.figures.from_table import MOST_LINES, sweep_chart
from bpe_core.history.history import History
from bpe_core.measures.benchmark import MEANINGS
from bpe_core.measures.bits_per_byte import LIMITS
from bpe_core.measures.morphemes import own_lists, read_morphemes
from bpe_core.session_file import EXTENSION
from bpe_core.support.data_table import DataTable
from bpe_core.support.progress import Progress, Work
from bpe_core.sweep.overlay import overlay, samples_of
from bpe_core.sweep.plan import read_plan
from bpe_core.sweep.results import BAND, MEASURES, BandedCurve, curves_of, read_results
from bpe_core.sweep.running import sweep
from bpe_core.sweep.runs_in_session import KeptOnDisk, RunsInSession

REDRAW_MILLISECONDS = 400
TOPIC = "curves"
RESULTS = ".results.csv"  # behind the name of a plan: where its table is kept, and with EXTENSION its runs
NOTHING_YET = "Train, or open a tokenizer: the curves of all runs are drawn side by side. Or make a sweep."
NO_TEXTS = "There is no text in the corpus to measure by."
STOPPED = "Stopped; what was measured is kept. Choose the plan again to go on."
BITS, OF_MORPHEMES = "bits_per_byte", "morpheme_"
BY_HELD_OUT = "Measured by {}."
MORPHEMES = (
    "Of the words of a list with their morphemes: cuts that stand at a border of morphemes (precision), borders that "
    "are cut (recall), and the harmonic mean of both (F1)."
)
SHARES = {"share_in_use", "unknown_share", "morpheme_precision", "morpheme_recall", "morpheme_f1"}


Measuring = Callable[[Task], tuple[DataTable, str]]  # the table, and what is said of it


class AtRest(NamedTuple):
    """What a run has learned, from which words, and of which texts these are."""

    history: History
    words: WordTable | None
    texts: Hashable


class Yardsticks(NamedTuple):
    """What runs are measured by, and what is asked that takes longer."""

    texts: CorpusTexts
    are_held_out: bool
    wants_bits: bool
    list: str  # of words with morphemes


@dataclass(frozen=True)
class Source:
    """What is drawn: the runs of this window, what a plan says, or a table of a sweep."""

    held_out: Path | None = None  # a text that the runs are measured by, instead of those of the corpus
    plan: Path | None = None
    results: Path | None = None
    keeps_runs: bool = False  # of a plan: in a session, which is gone on with where it is there

    @property
    def session(self) -> Path | None:
        """Where the runs are kept."""
        path = None if self.plan is None else self.plan.with_suffix(EXTENSION)
        return path if path is not None and (self.keeps_runs or path.exists()) else None

    @property
    def is_runs(self) -> bool:
        return self.plan is None and self.results is None


class CurvesModel(QObject, Watched):
    """Measures the runs of the window when somebody looks; a sweep when it is asked for."""

    has_figure = True
    changed = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.table: DataTable | None = None
        self.source, self.measure, self.list = Source(), "bytes_per_token", "en"  # type: Source, str, str
        self.progress = self.trouble = self.told = ""
        self.figure: LineFigure | None = None
        self._curves: list[BandedCurve] = []
        self._asked: Hashable = None
        self._runs, self._corpus, self._aside = session.runs, session.corpus, session.aside
        self.refresh_on(REDRAW_MILLISECONDS, session.runs.changed, session.corpus.texts.changed)

    # -- asking ----------------------------------------------------------------------------

    def choose_source(self, source: Source) -> None:
        """A plan that is chosen again goes on where it was stopped."""
        self.source, self._asked = source, None
        self._aside.cancel(TOPIC)
        self._forget()
        self.refresh()

    def choose_measure(self, name: str) -> None:
        self.measure = name
        self.refresh()
        self._draw()

    def choose_list(self, name: str) -> None:
        """Of words with their morphemes: one of the program's own, or a file."""
        self.list = name
        self.refresh()

    def refresh(self) -> None:
        if self.source.is_runs:
            self._measure_runs()
        elif self._asked is None:
            self._asked = self.source
            if self.source.plan is not None:
                self._make(self.source.plan, self.source.session)
            elif self.source.results is not None:
                path = self.source.results
                self._ask(lambda task: (read_results(path), f"Read from {path.name}."))

    def _measure_runs(self) -> None:
        runs, texts, apart = self._runs_at_rest(), self._corpus.texts.value, self.source.held_out
        if apart is not None:
            texts = (CorpusText(apart.name, path=apart, number=0),)
        wanted = self.measure == BITS, self.list if self.measure.startswith(OF_MORPHEMES) else ""
        key = (tuple((run.stamp, run.learned) for run in self._runs.all if not run.is_busy), texts, wanted)
        if key == self._asked:
            return
        self._asked = key
        self._aside.cancel(TOPIC)
        self.trouble = NOTHING_YET if not runs else NO_TEXTS if not texts else ""
        if self.trouble:
            self._forget()
        else:
            told = "" if apart is None else BY_HELD_OUT.format(apart.name)
            by = Yardsticks(texts, apart is not None, *wanted)
            self._ask(lambda task: (_measured(runs, by, task), told))
        self.changed.emit()

    def _runs_at_rest(self) -> dict[str, AtRest]:
        found = {}
        for run in self._runs.all:
            if run.history is not None and not run.is_busy and run.history.id_count:
                texts = tuple((one.name, one.path, one.text, one.group) for one in run.sources)
                found[name_of(run, self._runs.all)] = AtRest(run.history, run.words, texts)
        return found

    def _make(self, path: Path, session: Path | None) -> None:
        """What is there already is not made again; what is made is kept beside the plan, and drawn at once."""
        results = path.with_name(path.stem + RESULTS)

        def work(task: Task) -> tuple[DataTable, str]:
            plan = read_plan(path)
            before = read_results(results) if results.exists() else None
            runs = None if session is None else RunsInSession(session, plan)
            kept = KeptOnDisk(results, runs)

            def keep(table: DataTable) -> None:
                kept(table)
                task.report(table)

            try:
                told = Work(task.report, task.cancelled)
                found = sweep(plan, before=before, session=runs, keep=keep, work=told)
                kept(found.table)
            finally:
                kept.write()
            task.remarks.extend(found.remarks)
            again = f", {found.known:,} of them made before" if found.known else ""
            where = results.name if session is None else f"{results.name} and {session.name}"
            return found.table, f"{count_text(found.runs, 'run')}{again}; kept in {where}."

        self._ask(work, writes=True)

    def _ask(self, work: Measuring, *, writes: bool = False) -> None:
        self.progress, self.trouble = "Measuring …", ""
        self._aside.ask(TOPIC, work, self._take, self._fail, self._hear, writes=writes)
        self.changed.emit()

    def _take(self, found: tuple[DataTable, str]) -> None:
        (self.table, self.told), self.progress, self.trouble = found, "", ""
        if not self._has(self.measure):
            self.measure = "bytes_per_token"
        self._draw()

    def _hear(self, news: DataTable | Progress) -> None:
        if isinstance(news, DataTable):
            self.table = news
            self._draw()
            return
        self.progress = f"{news.stage.capitalize()} … {news.done:,} of {news.total or 0:,} {news.unit}"
        self.changed.emit()

    def _fail(self, sentence: str) -> None:
        self._forget()
        self.trouble = sentence
        self.changed.emit()

    def stop(self) -> None:
        self._aside.cancel(TOPIC)
        self.progress, self.told = "", STOPPED
        self.changed.emit()

    def _forget(self) -> None:
        self.table, self.figure, self._curves, self.progress, self.told = None, None, [], "", ""

    # -- what is told ----------------------------------------------------------------------

    @property
    def measures(self) -> list[tuple[str, str]]:
        """The name and the title of each that can be drawn."""
        return [(name, title) for name, title in MEASURES.items() if self.source.is_runs or self._has(name)]

    @property
    def lists(self) -> list[tuple[str, str]]:
        """Those of words with morphemes, where they matter and can be chosen."""
        if not (self.source.is_runs and self.measure.startswith(OF_MORPHEMES)):
            return []
        own = [("en", "English words"), ("de", "German words")]
        return own if self.list in dict(own) else [*own, (self.list, Path(self.list).name)]

    @property
    def tip(self) -> str:
        meaning = LIMITS if self.measure == BITS else MEANINGS.get(self.measure, MORPHEMES)
        return f"{meaning}\n{BAND}"

    @property
    def summary(self) -> str:
        """How far it is, what went wrong, or what is drawn."""
        if self.progress or self.trouble:
            return self.progress or self.trouble
        hidden = len(self._curves) - MOST_LINES
        more = f" The first {MOST_LINES} of {len(self._curves)} curves are drawn; the table saved holds all."
        return self.told + (more if hidden > 0 else "")

    @property
    def session(self) -> Path | None:
        """Of a sweep that is made: where its runs can be opened."""
        path = self.source.session
        return path if path is not None and not self.progress and not self.trouble and path.exists() else None

    def drawn(self) -> Drawn:
        exact, name = self.exact(), self.measure
        return lambda cancelled: sweep_chart(exact(cancelled), name)

    @property
    def command(self) -> tuple[str, ...]:
        plan, results = self.source.plan, self.source.results
        if self.source.is_runs:
            of_list = ("--list", self.list) if self.measure.startswith(OF_MORPHEMES) else ()
            apart = self.source.held_out
            by = (CORPUS,) if apart is None else ("--held-out", str(apart.absolute()))
            return ("curves", SESSION, "--runs", "--measure", self.measure, *of_list, "-o", RESULT, *by)
        kept = results if plan is None else plan.with_name(plan.stem + RESULTS)
        return () if kept is None else ("sweep-results", str(kept.absolute()), "--measure", self.measure, "-o", RESULT)

    def exact(self) -> Exact:
        table = DataTable({}) if self.table is None else self.table
        return lambda cancelled: table

    def _has(self, measure: str) -> bool:
        return self.table is not None and any(value == value for value in self.table.columns[measure])

    def _draw(self) -> None:
        """Draw the figure of the command, with an axis of per cent where the measure is a share."""
        self._curves, self.figure = [], None
        if self.table is not None and (found := curves_of(self.table, self.measure)):
            figure = sweep_chart(self.table, self.measure)
            self._curves, self.figure = found, replace(figure, is_share=self.measure in SHARES)
        self.changed.emit()


def _measured(runs: dict[str, AtRest], by: Yardsticks, task: Task) -> DataTable:
    with reading(by.texts, task.remarks) as corpus:
        documents = list(corpus.documents())
    own = own_lists()
    return overlay(
        {name: run.history for name, run in runs.items()},
        documents,
        learned={name: run.words for name, run in runs.items() if run.words is not None and by.wants_bits},
        is_held_out=by.are_held_out,
        morphemes=(own[by.list] if by.list in own else read_morphemes(by.list)) if by.list else None,
        samples=samples_of({name: (run.history.recipe, run.texts) for name, run in runs.items()}),
        work=Work(task.report, task.cancelled),
    )
