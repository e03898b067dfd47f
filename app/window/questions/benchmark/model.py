"""All runs measured by texts: by sentences that say the same in several languages, or by those of the corpus."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt, Signal

from app.session.corpus_texts import CorpusTexts, reading
from app.session.manifests import EACH, RESULT, SESSION
from app.session.run import name_of
from app.session.session import Session
from app.window.parts.watched import Drawn, Exact, Watched
from app.window.parts.wording import count_text, tip
from app.window.questions.benchmark.reading import Documents, Reading, Row
from app.worker.job import Task
from bpe_core.figures.figure import DotFigure
from bpe_core.figures.from_table import dots_chart
from bpe_core.history.history import History
from bpe_core.measures.benchmark import MEANINGS, Benchmark, benchmark
from bpe_core.measures.morphemes import MEANINGS as MORPHEMES
from bpe_core.measures.morphemes import Agreement, Lists, morpheme_agreement, own_lists, read_morphemes
from bpe_core.measures.parity import MEANINGS as OF_PARITY
from bpe_core.measures.parity import Parity, checked, parallel_texts, parity_of
from bpe_core.support.data_table import DataTable
from bpe_core.support.progress import Progress, Work
from resources import parallel_samples

REDRAW_MILLISECONDS = 400
TOPIC = "benchmark"
MOST_PLACES = 8  # files of a group that are named
NOTHING_YET = "Train, or open a tokenizer, to measure it. All runs are measured side by side."
NO_TEXTS = "There is no text in the corpus to measure by."
EACH_ONCE = "Each word is cut as it is behind a blank, and counts once, however frequent it is."
STOPPED = "Stopped. Choose the texts again to measure once more."
Texts = Mapping[str, Sequence[str]]
Index = QModelIndex | QPersistentModelIndex
Role = Qt.ItemDataRole


@dataclass(frozen=True)
class Column:
    """One column of the table, and how its numbers are written."""

    title: str
    name: str  # of the measure
    form: str = ""  # of a number
    tip: str = ""


COLUMNS = (
    Column("Tokenizer", "tokenizer", tip="All runs at their end, and the run shown at the moment shown"),
    Column("Text", "text", tip="A language, a text of the corpus, or a group of them"),
    Column("Tokens", "tokens", "{:,}", MEANINGS["tokens"]),
    Column("Parity", "premium", "{:.3f}", OF_PARITY["premium"]),
    Column("Bytes/token", "bytes_per_token", "{:.3f}", MEANINGS["bytes_per_token"]),
    Column("Tokens/word", "tokens_per_word", "{:.3f}", MEANINGS["tokens_per_word"]),
    Column("Rényi", "renyi_efficiency", "{:.3f}", MEANINGS["renyi_efficiency"]),
    Column("In use", "share_in_use", "{:.1%}", MEANINGS["share_in_use"]),
    Column("Unknown", "unknown_share", "{:.2%}", MEANINGS["unknown_share"]),
    Column("Not encoded", "unencoded_share", "{:.2%}", MEANINGS["unencoded_share"]),
    Column("To the first", "relative_tokens", "{:.3f}", MEANINGS["relative_tokens"]),
    Column("Seconds", "seconds", "{:.4f}", MEANINGS["seconds"]),
)
OF_MORPHEMES = (
    Column("Words", "words", "{:,}"),
    Column("Borders", "borders", "{:,}", MORPHEMES["borders"]),
    Column("Cuts", "cuts", "{:,}", MORPHEMES["cuts"]),
    Column("Precision", "precision", "{:.3f}", MORPHEMES["precision"]),
    Column("Recall", "recall", "{:.3f}", MORPHEMES["recall"]),
    Column("F1", "f1", "{:.3f}", MORPHEMES["f1"]),
    Column("Whole", "share_whole", "{:.1%}", MORPHEMES["share_whole"]),
    Column("Alike", "share_alike", "{:.1%}", MORPHEMES["share_alike"]),
)
SOURCES = (
    "Ten sentences in eight languages",
    "Texts of the corpus",
    "Parallel texts of a folder …",
    "Morphemes of English and German words",
    "Words with their morphemes, in a file …",
)
SENTENCES, CORPUS, FOLDER, WORDS, LIST = range(len(SOURCES))


@dataclass(frozen=True, eq=False)
class Found:
    """What was measured; parity only where the texts say the same."""

    measured: Benchmark | Agreement
    parity: Parity | None
    texts: Texts
    tokenizers: Mapping[str, tuple[History, int]]
    places: Mapping[str, str] = field(default_factory=dict)  # the files that texts lie in

    @property
    def columns(self) -> dict[str, Any]:
        more = {} if self.parity is None else {"premium": self.parity.columns["premium"]}
        return {**self.measured.columns, **more}


class BenchmarkModel(QAbstractTableModel, Watched):
    """One row a tokenizer and text."""

    has_figure = True
    changed = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.found: Found | None = None
        self.source, self.folder = SENTENCES, None  # type: int, Path | None
        self.reference: str | None = "en"
        self.measure = COLUMNS[3]
        self.progress = self.trouble = ""
        self.reading = Reading(session.aside, self)
        self._order: list[int] = []
        self._sorted = (0, False)
        self._asked: Hashable = None
        self._runs, self._cursor, self._corpus = session.runs, session.cursor, session.corpus
        self._aside = session.aside
        moved = session.cursor.moved, session.cursor.end_moved
        self.refresh_on(REDRAW_MILLISECONDS, session.runs.changed, session.corpus.texts.changed, *moved)

    # -- asking ----------------------------------------------------------------------------

    def choose_source(self, source: int, folder: Path | None = None) -> None:
        self.source, self.folder = source, folder
        self._asked = None
        self.refresh()

    def choose_reference(self, language: str) -> None:
        """Compare with another language: nothing is counted again."""
        self.reference = language
        found = self.found
        if found is not None and found.parity is not None and isinstance(found.measured, Benchmark):
            self._take(Found(found.measured, parity_of(found.measured, language), found.texts, found.tokenizers))

    def choose_measure(self, name: str) -> None:
        self.measure = next(column for column in self.columns if column.name == name)
        self.changed.emit()

    def refresh(self) -> None:
        tokenizers = self._tokenizers()
        sources = self._corpus.texts.value if self.source == CORPUS else ()
        stands = tuple((name, at) for name, (_, at) in tokenizers.items())
        key = (stands, tuple(run.stamp for run in self._runs.all), self.source, self.folder, sources)
        if key == self._asked:
            return
        self._asked = key
        self._aside.cancel(TOPIC)
        self.trouble = "" if tokenizers else NOTHING_YET
        if tokenizers and self.source == CORPUS and not sources:
            self.trouble = NO_TEXTS
        if self.trouble:
            self._forget()
        else:
            self._ask(tokenizers, sources)
        self.changed.emit()

    def _tokenizers(self) -> dict[str, tuple[History, int]]:
        """All runs that are at rest at their end, and the one shown where the slider stands."""
        found = {}
        for run in self._runs.all:
            if run.history is None or run.is_busy or not run.history.id_count:
                continue
            name = name_of(run, self._runs.all)
            found[name] = run.history, len(run.history)
            at = self._cursor.position
            if run is self._runs.shown and at < len(run.history):
                found[f"{name}, after {run.wording.counted(at)}"] = run.history, at
        return found

    def _ask(self, tokenizers: dict[str, tuple[History, int]], sources: CorpusTexts) -> None:
        source, folder, wanted = self.source, self.folder, self.reference
        self.progress = "Measuring …"

        def work(task: Task) -> Found:
            if source in (WORDS, LIST):
                return _agreement(tokenizers, folder, task)
            if source == CORPUS:
                texts: Texts = _texts_of(sources, task)
            else:
                texts = parallel_samples() if folder is None else parallel_texts(folder)
            measured = benchmark(tokenizers, texts, work=Work(task.report, task.cancelled))
            if source == CORPUS:
                return Found(measured, None, texts, tokenizers, _places_of(sources))
            reference = wanted if wanted in checked(texts) else None
            return Found(measured, parity_of(measured, reference), texts, tokenizers)

        self._aside.ask(TOPIC, work, self._take, self._fail, self._tell_progress)

    def _take(self, found: Found) -> None:
        self.found, self.progress, self.trouble = found, "", ""
        self.reading.close()
        if self.measure not in self.columns:
            self.measure = OF_MORPHEMES[5] if isinstance(found.measured, Agreement) else COLUMNS[4]
        self._list()

    def _fail(self, sentence: str) -> None:
        self.trouble = sentence
        self._forget()
        self.changed.emit()

    def _tell_progress(self, progress: Progress) -> None:
        self.progress = f"Measuring … {progress.done:,} of {progress.total or 0:,}"
        self.changed.emit()

    def stop(self) -> None:
        self._aside.cancel(TOPIC)
        self.progress, self.trouble = "", STOPPED
        self.changed.emit()

    def _forget(self) -> None:
        self.beginResetModel()
        self.found, self.progress, self._order = None, "", []
        self.endResetModel()
        self.reading.close()

    # -- what is told ----------------------------------------------------------------------

    @property
    def summary(self) -> str:
        """How evenly each treats the languages; or how much was measured."""
        if self.progress or self.trouble or self.found is None:
            return self.progress or self.trouble
        parity, measured = self.found.parity, self.found.measured
        remarks = measured.remarks if isinstance(measured, Benchmark) else ()
        if parity is None:
            both = f"{count_text(len(measured.tokenizers), 'tokenizer')} by {count_text(len(measured.texts), 'text')}."
            return f"{both} {EACH_ONCE}" if isinstance(measured, Agreement) else "\n".join((*remarks, both))
        return "\n".join((*remarks, *parity.sentences))

    @property
    def languages(self) -> Sequence[str]:
        """Those that can be the reference."""
        return self.found.measured.texts if self.found is not None and self.found.parity is not None else ()

    @property
    def figure(self) -> DotFigure | None:
        """The measure chosen of all texts."""
        if self.found is None:
            return None
        measured, measure = self.found.measured, self.measure
        values = np.asarray(self.found.columns[self.measure.name], np.float64)
        values = values.reshape(len(measured.tokenizers), len(measured.texts))
        sentence = f"{measure.title} of {len(measured.texts)} texts by {len(measured.tokenizers)} tokenizers."
        return DotFigure(measure.title, sentence, measured.tokenizers, measured.texts, values, measure.form or "{:g}")

    def look_at(self, row: int) -> None:
        """Show the text of a row in the tokens of its tokenizer."""
        if self.found is None or not 0 <= row < len(self._order):
            return
        place, found = self._order[row], self.found
        name, text = found.columns["tokenizer"][place], found.columns["text"][place]
        documents = Documents(found.texts[text])
        self.reading.look_at(Row(text, name, documents, *found.tokenizers[name], found.places.get(text, "")))

    # -- the table -------------------------------------------------------------------------

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        self._sorted = column, order == Qt.SortOrder.DescendingOrder
        self._list()

    def _list(self) -> None:
        self.beginResetModel()
        if self.found is not None:
            column, from_end = self._sorted
            by = self.columns[min(column, len(self.columns) - 1)]
            values = list(self.found.columns[by.name])
            places = range(len(values))
            known = [place for place in places if values[place] == values[place]]
            unknown = [place for place in places if values[place] != values[place]]  # stand last, either way
            self._order = [*sorted(known, key=values.__getitem__, reverse=from_end), *unknown]
        self.endResetModel()
        self.changed.emit()

    @property
    def columns(self) -> list[Column]:
        if self.found is None:
            return list(COLUMNS)
        known = (*COLUMNS[:2], *OF_MORPHEMES) if isinstance(self.found.measured, Agreement) else COLUMNS
        return [one for one in known if one.name in self.found.columns]

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self._order)

    def columnCount(self, parent: Index = QModelIndex()) -> int:
        return len(self.columns)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Role.DisplayRole) -> Any:
        if orientation != Qt.Orientation.Horizontal or section >= len(self.columns):
            return None
        column = self.columns[section]
        return column.title if role == Role.DisplayRole else tip(column.tip) if role == Role.ToolTipRole else None

    def data(self, index: Index, role: int = Role.DisplayRole) -> Any:
        if role == Role.DisplayRole:
            return self._cell(index.row(), self.columns[index.column()])
        if role == Role.ToolTipRole:
            told = "" if index.column() else f"{self._cell(index.row(), self.columns[0])}\n"
            return tip(f"{told}Click to see this text in these tokens")
        if role == Role.TextAlignmentRole and self.columns[index.column()].form:
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        return None

    def tokenizer_at(self, row: int) -> int:
        """Which of the tokenizers of the dots it is."""
        assert self.found is not None
        return self.found.measured.tokenizers.index(self.found.columns["tokenizer"][self._order[row]])

    def _cell(self, row: int, column: Column) -> str:
        assert self.found is not None
        value = self.found.columns[column.name][self._order[row]]
        return value if isinstance(value, str) else "" if value != value else column.form.format(value)

    @property
    def command(self) -> tuple[str, ...]:
        """By the tokenizers as they stand in the session that is kept beside."""
        if self.found is None:
            return ()
        drawn = ("--measure", self.measure.name)
        if self.source in (WORDS, LIST):
            listed = () if self.folder is None else ("--list", str(self.folder.absolute()))
            return ("morphemes", SESSION, "--runs", *drawn, "-o", RESULT, *listed)
        if self.source == CORPUS:
            return ("benchmark", SESSION, "--runs", *drawn, "-o", RESULT, EACH)
        folder = () if self.folder is None else (str(self.folder.absolute()),)
        against = () if self.found.parity is None else ("--reference", self.found.parity.reference)
        return ("benchmark", SESSION, "--runs", *drawn, "-o", RESULT, *against, "--parallel", *folder)

    def drawn(self) -> Drawn:
        exact, name = self.exact(), self.measure.name
        return lambda cancelled: dots_chart(exact(cancelled), name)

    def exact(self) -> Exact:
        columns = {} if self.found is None else self.found.columns
        return lambda cancelled: DataTable(columns)


def _agreement(tokenizers: Mapping[str, tuple[History, int]], path: Path | None, task: Task) -> Found:
    """By the program's own lists, or by the one in a file."""
    lists: Lists = own_lists() if path is None else {path.name: read_morphemes(path)}
    found = morpheme_agreement(tokenizers, lists, work=Work(task.report, task.cancelled))
    return Found(found, None, {name: [f" {' '.join(one)}"] for name, one in lists.items()}, tokenizers)


def _members(sources: CorpusTexts) -> dict[str, CorpusTexts]:
    """The texts of each group, where there are groups, else each by itself."""
    has_groups = any(source.group for source in sources)
    members: dict[str, CorpusTexts] = {}
    for source in sources:
        name = source.group if has_groups else source.name
        members[name or "in no group"] = (*members.get(name or "in no group", ()), source)
    return members


def _texts_of(sources: CorpusTexts, task: Task) -> Texts:
    """The documents of each."""
    found = {}
    for name, texts in _members(sources).items():
        with reading(texts, task.remarks) as corpus:
            found[name] = list(corpus.documents())
    return found


def _places_of(sources: CorpusTexts) -> dict[str, str]:
    """Where the first files of each lie."""
    return {
        name: "\n".join(str(one.path or one.address) for one in texts[:MOST_PLACES] if one.path or one.address)
        for name, texts in _members(sources).items()
    }
