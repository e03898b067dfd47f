"""What each vocabulary size would mean: for the text trained on, its groups or files, and one held out."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from PySide6.QtCore import QObject, Signal

from app.session.corpus_texts import CorpusText, reading
from app.session.manifests import EACH, RESULT, SESSION
from app.session.mixed_words import parts_of
from app.session.run import NO_RUN, Run
from app.session.session import Session
from app.window.parts.lines import NO_LINES, ChartLines, NamedLine, Numbers, thinned
from app.window.parts.watched import Exact, Watched
from app.worker.job import Task
from bpe_core import BpeError, Cancelled, History, Progress, WordTable, count_unmixed
from bpe_core.exact.of_texts import bits as exact_bits
from bpe_core.exact.of_texts import sizes as exact_sizes
from bpe_core.insight.cut_words import CutWords
from bpe_core.insight.ranked_words import RankedWords
from bpe_core.learning.methods import METHODS, Method, Wording, has_ranks
from bpe_core.measures.bits_per_byte import HELD_OUT, LIMITS, TRAINING, BitsPerByte, bits_by_text
from bpe_core.measures.measured_sizes import MeasuredSizes, measured_sizes, which_sizes
from bpe_core.measures.size_curves import BYTES, TURN, WORDS, SizeCurves, size_curves
from bpe_core.measures.size_curves import FORMULA as FORMULA
from bpe_core.report.exact_charts import MOST_LINES

REDRAW_MILLISECONDS = 150
NO_WORDS = "The words this was learned from are not known: Training > Count on My Corpus."
MOST_FILES = 24  # that are measured by themselves
FIRST_SHOWN = 6  # texts whose lines are drawn until others are asked for


BITS = "bits_per_byte"  # told by a model that is made only when it is asked for


@dataclass(frozen=True)
class Measure:
    """One way to look at the sizes."""

    title: str
    column: str  # of a text's curves
    is_share: bool = False
    tip: str = ""
    is_of_joins: bool = False  # it has no meaning where texts are cut otherwise than they are joined


MEASURES = (
    Measure("Bytes per token", "bytes_per_token", tip=f"{BYTES} {TURN}"),
    Measure("Tokens per word", "tokens_per_word", tip=WORDS),
    Measure("Rényi efficiency", "renyi_efficiency", tip=FORMULA),
    Measure(
        "Vocabulary in use",
        "share_in_use",
        is_share=True,
        tip="The part of the vocabulary that occurs in the text at all.",
    ),
    Measure(
        "Scaffolds",
        "share_of_scaffolds",
        is_share=True,
        tip="The part of the vocabulary that was only needed on the way: larger tokens have used it up.",
        is_of_joins=True,
    ),
    Measure("Held-out bits per byte", BITS, tip=LIMITS),
)


Curves = SizeCurves | MeasuredSizes


@dataclass(frozen=True, eq=False)
class SizesFacts:
    """The curves of each text, by its name; the first is the text trained on."""

    curves: dict[str, Curves]
    turn: tuple[int, int] | None  # the step and the size of which half would nearly do, if one is so large
    vocabulary: Callable[[int], int]  # after so many steps
    history: History
    words: Mapping[str, WordTable] = field(default_factory=dict)  # of the text trained on, and of the one held out
    bits: Mapping[str, BitsPerByte] = field(default_factory=dict)  # of what was held out, as far as it was asked for

    @classmethod
    def of(cls, curves: dict[str, Curves], words: Mapping[str, WordTable], history: History) -> SizesFacts | None:
        """What they say together; nothing where there is none."""
        first = next(iter(curves.values()), None)
        if first is None:
            return None
        at = first.half_would_do
        if isinstance(first, MeasuredSizes):
            turn = None if at is None else (int(first.steps[at]), int(first.sizes[at]))
            return cls(curves, turn, history.vocabulary_size_at, history, words)
        base = first.base
        return cls(curves, None if at is None else (at, base + at), lambda steps: base + steps, history, words)

    def line(self, name: str, measure: Measure) -> tuple[Numbers, Numbers]:
        """The steps for which a measure is known of a text, in their order, and the measure there."""
        if measure.column == BITS:
            bits = self.bits[name]
            order = np.argsort(bits.steps)
            return bits.steps[order].astype(np.float64), bits.bits[order]
        curves = self.curves[name]
        values: Numbers = getattr(curves, measure.column)
        if isinstance(curves, MeasuredSizes):
            order = np.argsort(curves.steps)
            return curves.steps[order].astype(np.float64), values[order]
        return np.arange(len(values), dtype=np.float64), values


class SizesModel(QObject, Watched):
    """Computes the curves when a run is at rest and somebody looks; they hold for every size at once."""

    chart = "sizes"
    changed = Signal()
    failed = Signal(str)

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.facts: SizesFacts | None = None
        self.measure = MEASURES[0]
        self.progress = ""  # of what takes long
        self.held_out: Path | None = None
        self._runs, self._cursor = session.runs, session.cursor
        self._corpus, self._aside = session.corpus, session.aside
        self._asked: Hashable = None  # what the curves are of
        self._no_bits = ""  # why they cannot be told
        self._is_shown: dict[str, bool] = {}  # by the names of texts about which that was said
        self.refresh_on(REDRAW_MILLISECONDS, session.runs.changed, session.cursor.moved, session.cursor.end_moved)

    def choose_measure(self, index: int) -> None:
        self.measure = self.measures[index]
        self._ask_for_bits()
        self.changed.emit()

    def hold_out(self, path: Path | None) -> None:
        """Name a text that is not learned from; before the training or after it."""
        self.held_out = path
        self.refresh_soon()

    @property
    def command(self) -> tuple[str, ...]:
        """The lines as they are drawn; of bits there are those of what was held out."""
        column, names = self.measure.column, self.names
        if not names:
            return ()
        words: list[str] = []
        if self.held_out is not None and any(name.startswith(HELD_OUT) for name in names):
            words += "--held-out", str(self.held_out.absolute())
        if column != BITS:
            words += ("--lines", *self.shown) if self.shown != names[:MOST_LINES] else ()
            by_itself = [name for name in names if name != TRAINING and not name.startswith(HELD_OUT)]
            words += ("--own",) if by_itself and TRAINING in names else ()
            words += ("--each", EACH) if by_itself else ()
        return ("chart", "sizes", SESSION, "--measure", column, "-o", RESULT, *words)

    def exact(self) -> Exact:
        """Of all texts and measures, whichever are drawn."""
        facts = self.facts
        curves = {} if facts is None else facts.curves
        if facts is not None and self.measure.column == BITS:
            return lambda cancelled: exact_bits(facts.bits)
        return lambda cancelled: exact_sizes(curves)

    @property
    def chart_choices(self) -> dict[str, object]:
        return {"measure": self.measure.column, "texts": self.shown}

    @property
    def lines(self) -> ChartLines:
        if self.facts is None:
            return NO_LINES
        drawn: list[NamedLine] = []
        for name in self.shown:
            steps, y = self.facts.line(name, self.measure)
            places, shown = thinned(y)
            marked: tuple[tuple[float, float, str], ...] = ()
            if self.measure.column == BITS:
                least = int(np.argmin(y))
                marked = ((float(steps[least]), float(y[least]), "the least"),)
            elif self.facts.turn is not None and not drawn:
                step = self.facts.turn[0]
                marked = ((float(step), float(np.interp(step, steps, y)), "half would do"),)
            drawn.append(NamedLine(name, steps[places.astype(np.int64)], shown, marked))
        position, title = float(self._cursor.position), self.wording.steps.capitalize()
        run = self._runs.shown
        return ChartLines(
            tuple(drawn),
            title,
            self.measure.title,
            is_log_x=run is None or not Method.of(run.recipe).drops,  # where the last steps matter most, they have room
            is_share=self.measure.is_share,
            marked_x=position,
        )

    @property
    def usual_sizes(self) -> tuple[str, ...]:
        """Of vocabularies that the method of the run has learned."""
        run = self._runs.shown
        return () if run is None else METHODS[run.recipe.method].usual_sizes

    @property
    def wording(self) -> Wording:
        """What the steps of the run shown are called."""
        return NO_RUN if self._runs.shown is None else self._runs.shown.wording

    @property
    def here(self) -> list[tuple[str, float]]:
        """The measure of each text that is shown, at the moment shown."""
        facts = self.facts
        if facts is None:
            return []
        lines = [(name, facts.line(name, self.measure)) for name in self.shown]
        return [(name, float(np.interp(self._cursor.position, steps, y))) for name, (steps, y) in lines]

    @property
    def least(self) -> tuple[int, int] | None:
        """After how many steps, and with how many tokens, the fewest bits are taken, where these are drawn."""
        facts, names = self.facts, self.shown
        if facts is None or not names or self.measure.column != BITS:
            return None
        bits = facts.bits[names[0]]
        place = int(np.argmin(bits.bits))
        return int(bits.steps[place]), int(bits.sizes[place])

    @property
    def which_sizes(self) -> str:
        """A sentence where the measure was not told of every size."""
        facts, names = self.facts, self.shown
        if facts is None or not names:
            return ""
        steps, _ = facts.line(names[0], self.measure)
        return which_sizes(facts.history.vocabulary_sizes()[steps.astype(np.int64)], facts.history)

    @property
    def why_no_line(self) -> str:
        """Why the measure chosen cannot be told; nothing where it can, or soon."""
        if self.measure.column != BITS or self.facts is None:
            return ""
        return self._no_bits if TRAINING in self.facts.words else NO_WORDS

    @property
    def measures(self) -> list[Measure]:
        """Those that have a meaning for the run shown."""
        run = self._runs.shown
        history = None if run is None else run.history
        all_of_them = history is None or has_ranks(history)
        return [measure for measure in MEASURES if all_of_them or not measure.is_of_joins]

    @property
    def vocabulary_here(self) -> int:
        """How large the vocabulary is at the moment shown."""
        return self.facts.vocabulary(self._cursor.position) if self.facts is not None else 0

    @property
    def names(self) -> list[str]:
        """All texts that were measured."""
        return list(self.facts.curves) if self.facts is not None else []

    @property
    def shown(self) -> list[str]:
        """Those whose lines are drawn: the first few, the one held out, and what was chosen."""
        names = self.names
        if self.measure.column == BITS:
            return list(self.facts.bits) if self.facts is not None else []
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
            if self.measure not in self.measures:
                self.measure = MEASURES[0]
            self._ask(run, run.history)
        self.changed.emit()

    def _ask(self, run: Run, history: History) -> None:
        sources = self._corpus.texts.value if run.words is None else ()  # one that came without texts
        key = (run.stamp, len(history), self.held_out, sources)
        if key == self._asked:
            return
        self._asked, self._no_bits = key, ""
        ranked, held_out, words = self._runs.ranked.of(run), self.held_out, run.words
        parts = parts_of(run, self._corpus.counts, self._runs.mixed)
        texts = {source.name: source for source in sources[:MOST_FILES]}
        if held_out is not None:
            texts[HELD_OUT + held_out.name] = CorpusText(held_out.name, path=held_out)

        by_ranks = has_ranks(history)

        def work(task: Task) -> tuple[SizesFacts | None, list[str]]:
            curves: dict[str, Curves] = {}
            known: dict[str, WordTable] = {} if words is None else {TRAINING: words}
            troubles = []
            if ranked is not None and by_ranks:
                ranks, same = ranked(), _as_of(ranked(), history)
                curves[TRAINING] = size_curves(ranks.words, history, ranked=same, cancelled=task.cancelled)
            elif words is not None:
                curves[TRAINING] = curves_of(words, history, task)
            tables = {} if parts is None else parts()
            for name, table in tables.items() if len(tables) <= MOST_FILES else ():
                curves[name] = curves_of(table, history, task)
            for name, source in texts.items():
                try:
                    with reading([source], task.remarks) as corpus:
                        counted = count_unmixed(corpus, history.recipe, cancelled=task.cancelled)
                    curves[name] = curves_of(counted, history, task)
                    if name.startswith(HELD_OUT):
                        known[name] = counted
                except Cancelled:
                    raise
                except BpeError as error:  # one that is gone by now leaves the others be
                    troubles.append(str(error))
            return SizesFacts.of(curves, known, history), troubles

        self._aside.ask("sizes", work, self._take, self._fail, self._tell_progress)

    def _ask_for_bits(self) -> None:
        """Make the model, where it is wanted and not made."""
        run, facts = self._runs.shown, self.facts
        if self.measure.column != BITS or facts is None or facts.bits or run is None or run.history is None:
            return
        history, words = run.history, facts.words
        if run.is_busy or self._no_bits or TRAINING not in words:
            return

        apart = {name: table for name, table in words.items() if name.startswith(HELD_OUT)}

        def with_bits(task: Task) -> SizesFacts:
            learned = {TRAINING: words[TRAINING]}
            told = bits_by_text(learned, apart, history, progress=task.report, cancelled=task.cancelled)
            return replace(facts, bits=told)

        def take(found: SizesFacts) -> None:
            if self.facts is facts:
                self._take((found, []))

        def fail(sentence: str) -> None:
            self.progress, self._no_bits = "", sentence
            self.changed.emit()

        self._aside.ask("sizes model", with_bits, take, fail, self._tell_progress)

    def _tell_progress(self, progress: Progress) -> None:
        self.progress = f"Measuring size {progress.done + 1:,} of {progress.total or 0:,} …"
        self.changed.emit()

    def _fail(self, sentence: str) -> None:
        self.progress = ""
        self.failed.emit(sentence)

    def _take(self, answer: tuple[SizesFacts | None, list[str]]) -> None:
        (self.facts, troubles), self.progress = answer, ""
        for sentence in troubles:
            self.failed.emit(sentence)
        self._ask_for_bits()
        self.changed.emit()


def _as_of(ranked: RankedWords, history: History) -> RankedWords | None:
    """The ranks serve only a history of the same length; others are found anew."""
    return ranked if len(ranked.history) == len(history) else None


def curves_of(words: WordTable, history: History, task: Task) -> Curves:
    """By ranks all sizes are known at once; otherwise some are measured, one after the other."""
    if has_ranks(history):
        return size_curves(words, history, cancelled=task.cancelled)
    cut = CutWords.of(words, history.recipe, history, cancelled=task.cancelled)
    return measured_sizes(cut, progress=task.report, cancelled=task.cancelled)
