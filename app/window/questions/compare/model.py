"""A second tokenizer beside the shown one: where their tables part ways, and how both cut the person's text."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt, Signal

from app.session.manifests import RESULT, run_of_session
from app.session.run import Run, name_of
from app.session.session import Session
from app.window.parts.watched import Exact, Watched
from app.window.parts.wording import count_text, tip
from app.worker.job import Task
from bpe_core.history.history import NOTHING, History
from bpe_core.history.token_texts import shown
from bpe_core.insight.table_comparison import DifferingMerge, TableComparison, compare_tables, differing_regions
from bpe_core.questions.diff import Diff
from bpe_core.segmenting.segmentation import Segmentation
from bpe_core.segmenting.tokenizer import Tokenizer
from bpe_core.support.progress import Work, while_wanted

Index = QModelIndex | QPersistentModelIndex
Role = Qt.ItemDataRole
Span = tuple[int, int, int]  # where a token begins and ends, in bytes, and its id

REDRAW_MILLISECONDS = 150
LONGEST_TEXT = 10_000  # characters of the person's text that are compared
KEPT_TOKENIZERS = 4
FIRST_NUMBER = 2  # among the columns
COLUMNS = ("Left", "Right", "Here", "There")
TIPS = (
    "The left half of the pair",
    "The right half of the pair",
    "Which step it is in the run shown; – where it is none",
    "Which step it is in the other one; – where it is none",
)


@dataclass(frozen=True)
class CutText:
    """One text as one of the two cuts it."""

    title: str
    segmentation: Segmentation
    at: int  # the step after which it stands so
    ids: tuple[int, ...]
    differing: tuple[tuple[int, int], ...]  # stretches of bytes that the other one cuts otherwise

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True)
class Side:
    """One tokenizer of the two, as it was when the question was asked."""

    title: str
    stamp: Hashable
    history: History
    at: int
    step: str  # what one is called
    corpus: int | None = None  # tokens of the corpus then, where both learned from the same


@dataclass(frozen=True)
class _Encoded:
    """The text in both, at every merge."""

    data: bytes
    both: tuple[Segmentation, Segmentation]


class CompareModel(QAbstractTableModel, Watched):
    """One row a merge that does not stand at the same place in both tables."""

    changed = Signal()  # what is compared, or what came of it
    choices_changed = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.found: TableComparison | None = None
        self.cut: tuple[CutText, CutText] | None = None
        self.regions = 0
        self.other: Run | None = None
        self.trouble = ""
        runs, cursor = session.runs, session.cursor
        self._runs, self._cursor, self._text, self._aside = runs, cursor, session.text, session.aside
        self._tokenizers: OrderedDict[Hashable, Tokenizer] = OrderedDict()
        self._encoded: _Encoded | None = None
        self._tables: tuple[Hashable, ...] = ()  # what `found` is about
        self._texts: tuple[Hashable, ...] = ()  # what `_encoded` is about
        self._is_whole = True  # the text is compared to its end
        self._parents_offered: set[Hashable] = set()  # of runs by their stamps
        runs.changed.connect(self._offer_parent)  # before what is shown follows, which may be at once
        self.refresh_on(
            REDRAW_MILLISECONDS, runs.changed, runs.grew, session.text.changed, cursor.moved, cursor.live_changed
        )
        runs.changed.connect(self.choices_changed)
        self._offer_parent()  # a run that was shown before somebody compared

    # What is compared

    def choices(self) -> list[tuple[int, str]]:
        """The other runs and tables of the session: number and title."""
        others = [run for run in self._runs.all if run is not self._runs.shown and run.history is not None]
        return [(run.number, name_of(run, self._runs.all)) for run in reversed(others)]

    def _offer_parent(self) -> None:
        """A run that goes on from another is compared with that one, unless a person chooses otherwise."""
        run = self._runs.shown
        if run is not None and run.parent is not None and run.stamp not in self._parents_offered:
            self._parents_offered.add(run.stamp)
            self.other = next((one for one in self._runs.all if one.number == run.parent), self.other)

    def choose(self, number: int | None) -> None:
        """Compare with the run of that number; None: with none."""
        self.other = next((run for run in self._runs.all if run.number == number), None)
        self.choices_changed.emit()
        self._forget()
        self.refresh_soon()

    def travel_to_row(self, row: int) -> None:
        """To the moment of that merge, if it is one of the shown run's."""
        assert self.found is not None
        place = self.found.differing[row].place
        if place is not None:
            self._cursor.go_to(place + 1)

    def _sides(self) -> tuple[Side, Side] | None:
        """Both as they are now: the other one at its end, or at the same merge where the person has gone back."""
        run, other = self._runs.shown, self.other
        if run is None or other is None or run is other or other not in self._runs.all:
            return None
        if run.history is None or other.history is None:
            return None
        at = min(self._cursor.position, run.learned)  # where another run is shown, the cursor follows a moment later
        other_at = other.learned if self._cursor.live or at == run.learned else min(at, other.learned)
        sizes = _corpus_sizes(run, at, other, other_at)
        return (
            Side(name_of(run, self._runs.all), run.stamp, run.history, at, run.wording.step, sizes[0]),
            Side(name_of(other, self._runs.all), other.stamp, other.history, other_at, other.wording.step, sizes[1]),
        )

    # Asking

    def refresh(self) -> None:
        sides = self._sides()
        if sides is None:
            self._forget()
            return
        tables = tuple((side.stamp, len(side.history), side.history.has_counts) for side in sides)
        if tables != self._tables:
            self._ask_for_tables(sides, tables)
        self._is_whole = len(self._text.value) <= LONGEST_TEXT
        text = self._text.value[:LONGEST_TEXT].encode(errors="replace").decode()
        texts = (*tables, text)
        if texts != self._texts:
            self._ask_for_texts(sides, texts, text)
        elif self._encoded is not None:
            self._cut(sides)

    def _ask_for_tables(self, sides: tuple[Side, Side], key: tuple[Hashable, ...]) -> None:
        one, other = (side.history for side in sides)
        self._tables = key
        self._aside.ask(
            "compared tables",
            lambda task: compare_tables(one, other, cancelled=task.cancelled),
            self._take_tables,
            self._fail,
        )

    def _ask_for_texts(self, sides: tuple[Side, Side], key: tuple[Hashable, ...], text: str) -> None:
        tokenizers = [self._tokenizers.get(side_key) for side_key in key[:2]]
        histories = [side.history for side in sides]

        def work(task: Task) -> tuple[_Encoded, list[Tokenizer]]:
            known = while_wanted(zip(tokenizers, histories, strict=True), task.cancelled, every=1)
            ready = [tokenizer or Tokenizer(history) for tokenizer, history in known]
            wanted = while_wanted(ready, task.cancelled, every=1)
            one, other = (
                tokenizer.segmentation(text, allowed_special="all", cancelled=task.cancelled) for tokenizer in wanted
            )
            return _Encoded(text.encode(), (one, other)), ready

        self._texts = key
        self._aside.ask("compared texts", work, lambda answer: self._take_texts(key, answer), self._fail)

    def _take_tables(self, found: TableComparison) -> None:
        self.beginResetModel()
        self.found, self.trouble = found, ""
        self.endResetModel()
        self.changed.emit()

    def _take_texts(self, key: tuple[Hashable, ...], answer: tuple[_Encoded, list[Tokenizer]]) -> None:
        self._encoded, ready = answer
        for side_key, tokenizer in zip(key[:2], ready, strict=True):
            self._tokenizers[side_key] = tokenizer
            self._tokenizers.move_to_end(side_key)
        while len(self._tokenizers) > KEPT_TOKENIZERS:
            self._tokenizers.popitem(last=False)
        sides = self._sides()
        if sides is not None:
            self._cut(sides)

    def _fail(self, sentence: str) -> None:
        self._forget()
        self.trouble = sentence
        self.changed.emit()

    def _forget(self) -> None:
        self.beginResetModel()
        self.found = self.cut = self._encoded = None
        self._tables = self._texts = ()
        self.regions, self.trouble = 0, ""
        self.endResetModel()
        self.changed.emit()

    def _cut(self, sides: tuple[Side, Side]) -> None:
        """Both texts at the moments shown: only a comparison of arrays."""
        assert self._encoded is not None
        found = self._encoded.both
        spans = [one.tokens(side.at).spans().tolist() for one, side in zip(found, sides, strict=True)]
        regions = tuple(differing_regions(*spans))
        self.regions = len(regions)
        one, other = (
            CutText(
                f"{side.title} after {count_text(side.at, side.step)}",
                segmentation,
                side.at,
                tuple(id for _, _, id in cut),
                regions,
            )
            for side, segmentation, cut in zip(sides, found, spans, strict=True)
        )
        self.cut = one, other
        self.changed.emit()

    # What is told

    @property
    def totals(self) -> str:
        """How the text differs, in a line."""
        if self.cut is None:
            return "" if self._sides() is None else "Comparing …"
        one, other = (len(cut) for cut in self.cut)
        places = count_text(self.regions, "place is", "places are") if self.regions else "no place is"
        what = "Your text" if self._is_whole else f"The first {LONGEST_TEXT:,} characters of your text"
        text = f"{what}: {count_text(one, 'token')} here, {other:,} there; {places} cut differently."
        sides = self._sides()
        if sides is None or sides[0].corpus is None:
            return text
        return f"{text} The corpus: {count_text(sides[0].corpus, 'token')} here, {sides[1].corpus:,} there."

    @property
    def summary(self) -> str:
        """How the tables differ, in a few sentences."""
        found = self.found
        if found is None:
            return ""
        one, other = found.merges
        parted = "" if found.first is None else f" They part ways at merge {found.first + 1:,}."
        is_guess = found.cause not in ("none", "length", "tokens", "not known")
        cause = f" Likely cause, {found.cause}:" if is_guess else ""
        only = f"{len(found.only_in_first):,} only here, {len(found.only_in_second):,} only there"
        tokens = f"{found.overlap.in_words} {only}."
        return f"{one:,} and {other:,} merges.{parted}{cause} {found.explanation} {tokens}"

    @property
    def command(self) -> tuple[str, ...]:
        run, other = self._runs.shown, self.other
        if run is None or other is None or self.found is None:
            return ()
        return ("diff", run_of_session(run.number), run_of_session(other.number), "-o", RESULT)

    def exact(self) -> Exact:
        studies = self._runs.studies
        one, other = studies.of(self._runs.shown), studies.of(self.other)
        if one is None or other is None:
            return super().exact()
        return lambda cancelled: Diff().answer({"here": one, "there": other}, Work(cancelled=cancelled)).table

    @property
    def _rows(self) -> Sequence[DifferingMerge]:
        return self.found.differing if self.found is not None else ()

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:
        return len(COLUMNS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Role.DisplayRole) -> Any:
        if role == Role.DisplayRole and orientation == Qt.Orientation.Horizontal:
            return COLUMNS[section]
        if role == Role.ToolTipRole and orientation == Qt.Orientation.Horizontal:
            return TIPS[section]
        return None

    def data(self, index: Index, role: int = Role.DisplayRole) -> Any:
        if role in (Role.DisplayRole, Role.ToolTipRole) and index.isValid():
            told = _cells(self._rows[index.row()])[index.column()]
            return tip(told) if role == Role.ToolTipRole else told
        if role == Role.TextAlignmentRole and index.column() >= FIRST_NUMBER:
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        return None


def _corpus_sizes(run: Run, at: int, other: Run, other_at: int) -> tuple[int | None, int | None]:
    """How many tokens the corpus has after so many steps of each, where it is the same corpus."""
    if run.words is None or other.words is None or not (run.words is other.words or run.sources == other.sources):
        return None, None
    found = [
        int(one.history.tokens_after[steps]) if one.history is not None and one.history.has_counts else NOTHING
        for one, steps in ((run, at), (other, other_at))
    ]
    return (None, None) if NOTHING in found else (found[0], found[1])


def _cells(merge: DifferingMerge) -> tuple[str, ...]:
    places = (f"{place + 1:,}" if place is not None else "–" for place in (merge.place, merge.other_place))
    return shown(merge.left), shown(merge.right), *places
