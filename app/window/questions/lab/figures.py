"""What the lab tells of a corpus: curves over sizes, what vocabularies have in common, the words that differ most.

All are measured on the words of one run, so that the same words are compared: of the first whose pattern keeps all of a
text, for blanks that were left out cannot be found again, or else of the first that has words.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from app.session.manifests import RESULT, run_of_session
from app.session.run import Run
from app.session.session import Session
from app.window.parts.timing import Throttle
from app.window.parts.watched import Exact
from app.window.questions.lab.lanes import Lane
from app.window.questions.lab.model import LabModel
from bpe_core.counting.words import WordTable
from bpe_core.figures.figure import Line, LineFigure, Numbers, Point
from bpe_core.history.history import History
from bpe_core.insight.cut_words import CutWords, whose_words
from bpe_core.insight.side_by_side import DifferingWord, Overlap, Vocabularies, differing_words
from bpe_core.measures.size_curves import BYTES, FORMULA, WORDS, SizeCurves, measured_sizes
from bpe_core.questions.lab import words_table
from bpe_core.questions.sizes import table_of_curves
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.data_table import DataTable
from bpe_core.support.progress import CancelCheck, Work

FOLLOW_MILLISECONDS = 120
TOPIC = "lab figures"
BAR = "|"  # between two tokens of a word


@dataclass(frozen=True)
class Measure:
    """One of the curves."""

    title: str
    of: str  # the name of the number among those measured
    tip: str


MEASURES = (
    Measure("Tokens per word", "tokens_per_word", f"Fewer: shorter sequences for the same text. {WORDS}"),
    Measure("Bytes per token", "bytes_per_token", f"More: each token stands for more of the text. {BYTES}"),
    Measure("Rényi efficiency", "renyi_efficiency", FORMULA),
)


@dataclass(frozen=True)
class WordRow:
    """A word that is cut differently, as it is listed."""

    word: str  # to be shown as a text
    place: int  # the first one, in bytes, where some cut it and some do not
    cells: tuple[str, ...]  # how each cuts it, how often it occurs, and in how many places they differ


@dataclass(frozen=True, eq=False)
class Figures:
    """What is known by now; of what is not known yet there is none."""

    letters: tuple[str, ...] = ()
    source: str = ""  # whose words were measured
    words: tuple[WordRow, ...] | None = None
    overlaps: tuple[tuple[int, int, Overlap], ...] = ()  # of two lanes by their indices
    here: tuple[SizeCurves | None, ...] = ()  # each lane at the size shown
    curves: tuple[SizeCurves | None, ...] = ()  # over all sizes
    is_final: bool = False

    def beside(self, before: Figures) -> Figures:
        """With what was known before, of the same lanes, where nothing is known yet."""
        if (before.letters, before.source) != (self.letters, self.source):
            return self
        here = tuple(one or other for one, other in zip(self.here, before.here, strict=True))
        return replace(self, words=before.words if self.words is None else self.words, here=here)

    def figure(self, measure: Measure, first: int, last: int, size: int) -> LineFigure | None:
        """A curve for each lane, with a dot at the size shown."""
        lines: list[Line] = []
        for letter, curve, here in zip(self.letters, self.curves, self.here, strict=True):
            x, y = (np.zeros(0), np.zeros(0)) if curve is None else (curve.sizes.astype(float), _values(curve, measure))
            dot = () if here is None else (Point(float(here.sizes[0]), float(_values(here, measure)[0]), letter),)
            lines.append(Line(letter, x, y, points=dot if len(x) else ()))
        if not any(len(line.x) for line in lines):
            return None
        return LineFigure(
            measure.of,
            measure.title,
            "",
            lines,
            "Vocabulary",
            measure.title,
            is_log_x=True,
            marks=(float(size),),
            first_x=float(first),
            last_x=float(last),
        )


def _values(measured: SizeCurves, measure: Measure) -> Numbers:
    values: Numbers = getattr(measured, measure.of)
    return values


@dataclass(frozen=True)
class _Asked:
    """What is to be found out."""

    letters: tuple[str, ...]
    keys: tuple[Hashable, ...]
    histories: tuple[History, ...]
    at: tuple[int, ...]
    words: WordTable | None
    counted_by: Recipe | None
    words_of: Hashable  # the run whose words they are
    source: str


@dataclass
class _Bench:
    """What was found once and serves for every size. Only one thread at a time works at it."""

    words_of: Hashable = None
    cuts: dict[Hashable, CutWords] = field(default_factory=dict)
    curves: dict[Hashable, SizeCurves] = field(default_factory=dict)
    vocabularies: tuple[tuple[Hashable, ...], Vocabularies] | None = None

    def answer(self, asked: _Asked, report: Callable[[Figures], None], cancelled: CancelCheck) -> Figures:
        """What is quickly found first: it is reported as soon as it is known."""
        self._leave_out_what_is_old(asked)
        count = len(asked.keys)
        nothing: tuple[SizeCurves | None, ...] = (None,) * count
        found = Figures(asked.letters, asked.source, here=nothing, curves=self._known_curves(asked))
        found = replace(found, overlaps=self._overlaps(asked, cancelled))
        report(found)
        if asked.words is None or asked.counted_by is None or not len(asked.words):
            return replace(found, is_final=True)
        both = zip(asked.keys, asked.histories, strict=True)
        cuts = [self._cut(asked.words, asked.counted_by, *one, cancelled) for one in both]
        listed = tuple(_listed(word) for word in differing_words(cuts, asked.at))
        here = tuple(
            measured_sizes(cut, np.array([cut.history.vocabulary_size_at(at)]), work=Work(cancelled=cancelled))
            for cut, at in zip(cuts, asked.at, strict=True)
        )
        found = replace(found, words=listed, here=here)
        report(found)
        for key, cut in zip(asked.keys, cuts, strict=True):
            if key not in self.curves:
                self.curves[key] = measured_sizes(cut, work=Work(cancelled=cancelled))
                found = replace(found, curves=self._known_curves(asked))
                report(found)
        return replace(found, is_final=True)

    def differing(self, asked: _Asked, cancelled: CancelCheck) -> DataTable:
        """Of what was cut to be listed."""
        cuts = [cut for cut in map(self.cuts.get, asked.keys) if cut is not None]
        if asked.words is None or len(cuts) < len(asked.keys):
            return DataTable({})
        return words_table(differing_words(cuts, asked.at, len(asked.words)), asked.letters)

    def _leave_out_what_is_old(self, asked: _Asked) -> None:
        if asked.words_of != self.words_of:
            self.words_of, self.cuts, self.curves = asked.words_of, {}, {}
        self.cuts = {key: cut for key, cut in self.cuts.items() if key in asked.keys}
        self.curves = {key: curve for key, curve in self.curves.items() if key in asked.keys}

    def _known_curves(self, asked: _Asked) -> tuple[SizeCurves | None, ...]:
        return tuple(self.curves.get(key) for key in asked.keys)

    def _overlaps(self, asked: _Asked, cancelled: CancelCheck) -> tuple[tuple[int, int, Overlap], ...]:
        if self.vocabularies is None or self.vocabularies[0] != asked.keys:
            self.vocabularies = asked.keys, Vocabularies.of(asked.histories, cancelled=cancelled)
        both = self.vocabularies[1]
        count = len(asked.keys)
        pairs = ((one, other) for one in range(count) for other in range(one + 1, count))
        return tuple((one, other, both.overlap(one, other, asked.at)) for one, other in pairs)

    def _cut(
        self, words: WordTable, counted_by: Recipe, key: Hashable, history: History, cancelled: CancelCheck
    ) -> CutWords:
        known = self.cuts.get(key)
        if known is None:
            known = self.cuts[key] = CutWords.of(words, counted_by, history, cancelled=cancelled)
        return known


class LabFigures(QObject):
    """Asks aside whenever lanes or size are others; what was found before is shown until the answer comes."""

    changed = Signal()

    def __init__(self, session: Session, lab: LabModel) -> None:
        super().__init__(session)
        self.found = Figures()
        self.is_asking = False
        self._lab, self._aside = lab, session.aside
        self._bench = _Bench()
        self._asked: Hashable = None
        self._throttle = Throttle(FOLLOW_MILLISECONDS, self._ask, self)
        lab.changed.connect(self._throttle.call)

    def figure(self, measure: Measure) -> LineFigure | None:
        return self.found.figure(measure, *self._lab.sizes, self._lab.size)

    def exact(self) -> Exact:
        """What is measured of each lane, by its letter."""
        found = self.found
        known = {letter: one for letter, one in zip(found.letters, found.curves, strict=True) if one is not None}
        return lambda cancelled: table_of_curves(known)

    @property
    def command_of_words(self) -> tuple[str, ...]:
        """By which all of them are listed without a window."""
        sides = (run_of_session(number) for number in self._lab.numbers)
        return ("lab", *sides, "--size", str(self._lab.size), "--words", "-o", RESULT)

    def exact_words(self) -> Exact:
        """All words that are cut differently at this size."""
        asked, bench = _asked_of(self._lab.lanes), self._bench
        return lambda cancelled: bench.differing(asked, cancelled)

    def _ask(self) -> None:
        lanes = self._lab.lanes
        if not self._lab.is_ready:
            self._asked, self.found = None, Figures()
            self.changed.emit()
            return
        key = tuple((lane.key, lane.wanted) for lane in lanes)
        if key == self._asked or not self._lab.is_watched:
            return
        self._asked, self.is_asking = key, True
        asked, bench = _asked_of(lanes), self._bench
        self._aside.ask(
            TOPIC,
            lambda task: bench.answer(asked, task.report, task.cancelled),
            self._take,
            self._fail,
            self._take,
        )

    def _take(self, found: Figures) -> None:
        if found.letters != tuple(lane.letter for lane in self._lab.lanes):
            return
        self.is_asking = not found.is_final
        self.found = found if found.is_final else found.beside(self.found)
        self.changed.emit()

    def _fail(self, sentence: str) -> None:
        self._asked, self.is_asking = None, False
        self._lab.trouble = sentence
        self._lab.changed.emit()


def _asked_of(lanes: Sequence[Lane]) -> _Asked:
    source = _whose_words([lane.run for lane in lanes])
    return _Asked(
        letters=tuple(lane.letter for lane in lanes),
        keys=tuple(lane.key for lane in lanes),
        histories=tuple(lane.history for lane in lanes),
        at=tuple(lane.wanted for lane in lanes),
        words=None if source is None else source.words,
        counted_by=None if source is None else source.recipe,
        words_of=None if source is None else source.stamp,
        source="" if source is None else next(lane.letter for lane in lanes if lane.run is source),
    )


def _whose_words(runs: Sequence[Run]) -> Run | None:
    """The run whose words all are measured on."""
    place = whose_words([(run.words, run.recipe) for run in runs])
    return None if place is None else runs[place]


def _listed(found: DifferingWord) -> WordRow:
    cuts = [set(own) for own in found.cut_by_each]
    everywhere: set[int] = set.intersection(*cuts)
    cells = (*(found.shown_as_cut(lane, BAR) for lane in range(len(cuts))), f"{found.count:,}", f"{found.places:,}")
    return WordRow(found.word.decode(errors="replace"), min(set.union(*cuts) - everywhere), cells)


Index = QModelIndex | QPersistentModelIndex
Role = Qt.ItemDataRole

NUMBERS = ("Times", "Cuts")  # behind a column for each lane
TIPS = (
    "How often the word occurs",
    "In how many cuts of it they differ; the word that makes most such cuts in the whole corpus comes first",
)


class DifferingWordsModel(QAbstractTableModel):
    """One row a word, one column a lane: how that one cuts it."""

    def __init__(self, figures: LabFigures, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._figures = figures
        self._rows: Sequence[WordRow] = ()
        self._letters: tuple[str, ...] = ()
        figures.changed.connect(self._refresh)

    def row(self, row: int) -> WordRow:
        return self._rows[row]

    def is_number(self, column: int) -> bool:
        return column >= len(self._letters)

    def lane_of(self, column: int) -> int:
        """The lane that a column is about; of a number the first."""
        return 0 if self.is_number(column) else column

    def _refresh(self) -> None:
        found = self._figures.found
        rows = found.words or ()
        if rows is not self._rows or found.letters != self._letters:
            self.beginResetModel()
            self._rows, self._letters = rows, found.letters
            self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:
        return len(self._letters) + len(NUMBERS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Role.DisplayRole) -> Any:
        if orientation != Qt.Orientation.Horizontal or section >= self.columnCount():
            return None
        if role == Role.DisplayRole:
            return (*self._letters, *NUMBERS)[section]
        if role == Role.ToolTipRole:
            return (*(f"How {letter} cuts it" for letter in self._letters), *TIPS)[section]
        return None

    def data(self, index: Index, role: int = Role.DisplayRole) -> Any:
        if role in (Role.DisplayRole, Role.ToolTipRole) and index.isValid():
            cell = self._rows[index.row()].cells[index.column()]
            return cell if role == Role.DisplayRole else f"{cell}\nClick to see it in the rows, and why it is cut so"
        if role == Role.TextAlignmentRole and self.is_number(index.column()):
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        return None
