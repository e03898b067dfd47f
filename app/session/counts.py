"""The counts of words in texts. Counts are cached, and a background task counts the texts that are not in the cache.

A count belongs to a text and to a way to split it. It stays in the cache when the text is removed or another pattern
is chosen, so undoing takes no time. The cache keeps only the last few counts of removed texts.
"""

from __future__ import annotations

import time
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

import numpy as np
from PySide6.QtCore import QObject, Signal

from app.session.background import BackgroundTasks
from app.session.corpus_texts import CorpusText, CorpusTexts, reading
from app.worker.job import Task
from bpe_core.counting.count_words import count_unmixed
from bpe_core.counting.words import WordTable
from bpe_core.errors import BpeError, Cancelled, CorpusError, EncodingError
from bpe_core.insight.listed_words import LONG_SHARE, LongWords, find_long_words, share_of
from bpe_core.recipes.parts import SplittingChoices
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.progress import Progress, Work
from bpe_core.text.corpus import Corpus, WrongSymbols
from bpe_core.text.mixture import Group, Mixture
from bpe_core.text.reading.rows import FieldNeeded

TOPIC = "counts"
SECONDS_BETWEEN_REPORTS = 0.05  # more reports, as from thousands of small files, would slow the window
WORDS_SHOWN = 8  # most frequent words that are shown for a text
KEPT_KINDS = 3  # ways to split whose counts are kept
KEPT_TEXTS = 20  # removed texts whose counts are kept


@dataclass(frozen=True)
class Unit:
    """A set of texts that are counted together.

    A unit is usually one text. If only a part of a group is in the mixture, then the whole group is one unit.
    """

    sources: CorpusTexts
    choice: Group | None  # how much of the group is taken; None for a single text, taken whole
    key: object  # the key of its count, which does not depend on weights


def units_of(texts: CorpusTexts, recipe: Recipe) -> dict[int, Unit]:
    """Return a dictionary from the number of each text to the unit in which it is counted."""
    mixture = recipe.mixture or Mixture()
    units = {}
    of_groups = dict[str, Unit]()
    for text in texts:
        choice = replace(mixture.of(text.group), weight=Fraction(1))
        if choice.takes_all:
            units[text.number] = Unit((text,), None, text.key())
            continue
        if text.group not in of_groups:
            members = tuple(member for member in texts if member.group == text.group)
            key = (choice, tuple(member.key() for member in members))
            of_groups[text.group] = Unit(members, choice, key)
        units[text.number] = of_groups[text.group]
    return units


Kind = Hashable


def kind_of(recipe: Recipe) -> Kind:
    """Return the choices of a recipe that affect the counts: how texts are split, and whether line ends matter."""
    first = recipe.recipe_at_first
    return (
        recipe.part(SplittingChoices),
        recipe.asks_for_line_ends,
        None if first is None else first.part(SplittingChoices),
    )


@dataclass(frozen=True)
class TableLayout:
    """The layout of a table of texts.

    It says which columns could contain texts, which column is read, and whether the table lists words with counts.
    """

    columns: tuple[str, ...] = ()
    column: str = ""
    is_word_list: bool = False

    @classmethod
    def of(cls, corpus: Corpus) -> TableLayout:
        sources = corpus.sources
        columns = tuple(dict.fromkeys(column for source in sources for column in source.fields))
        column = " and ".join(dict.fromkeys(source.field for source in sources if source.field))
        return cls(columns, column, any(source.is_word_list for source in sources))


@dataclass(frozen=True)
class TextCount:
    table: WordTable
    words: int
    longest_word: int  # in bytes
    share_in_long_words: float  # their part of all bytes
    long_words: LongWords | None  # where they are, if there are many
    encoding: str
    file_state: tuple[int, int] | None  # size and time of its file when reading began
    files: int  # number of files: more than one for a folder or group
    size: int  # in bytes, of all its files
    read: TableLayout  # the columns that were read, if it is a table
    word_bytes: int  # bytes of all words together
    most_frequent: tuple[tuple[bytes, int], ...] = ()  # words with their counts
    is_of_group: bool = False  # its texts were counted together, as only a part of their group is taken


@dataclass(frozen=True)
class CountFailure:
    """The reason why one text could not be counted. All other texts are still counted."""

    sentence: str
    read: TableLayout = TableLayout()  # the columns, as far as they are known
    needs_column: bool = False  # only a user can choose its text column
    needs_encoding: bool = False  # another encoding could read it
    held_symbols: str = ""  # the kind of symbols in the file, if the recipe is for other symbols


@dataclass(frozen=True)
class CountProgress:
    key: Hashable
    done: int
    total: int | None
    bytes_per_second: float


Outcome = TextCount | CountFailure
Outcomes = dict[Hashable, Outcome]


class Counts(QObject):
    """A counter of the words in texts. It counts on one thread.

    A new request replaces the previous request.
    """

    changed = Signal()  # there is a new outcome or new progress
    settled = Signal()  # each wanted text is counted, has failed, or was cancelled

    def __init__(self, background: BackgroundTasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._background = background
        self._outcomes: dict[Kind, Outcomes] = {}  # the thread adds to those of the kind at work
        self._progress: CountProgress | None = None
        self._under_way: tuple[Kind, set[Hashable]] = None, set()
        self._next: tuple[CorpusTexts, Recipe] | None = None
        self._wanted: dict[int, Hashable] = {}  # the key of each text when it was last wanted, by its number

    @property
    def is_busy(self) -> bool:
        return self._background.is_busy(TOPIC)

    def outcome_of(self, source: CorpusText, recipe: Recipe) -> Outcome | None:
        if (recipe.mixture or Mixture()).of(source.group).takes_all:
            return self._outcomes.get(kind_of(recipe), {}).get(source.key())
        return self.last_outcomes((source,), recipe)[0]

    def last_outcomes(self, sources: Sequence[CorpusText], recipe: Recipe) -> list[Outcome | None]:
        """Return the outcomes of the last request for these texts. Their files may have changed since that request."""
        known = self._outcomes.get(kind_of(recipe), {})
        return [known.get(self._wanted.get(source.number)) for source in sources]

    def progress_of(self, source: CorpusText) -> CountProgress | None:
        if self._progress is None or self._progress.key not in (source.key(), self._wanted.get(source.number)):
            return None
        return self._progress

    def request(self, sources: CorpusTexts, recipe: Recipe) -> None:
        """Count these texts for a recipe. The signal `settled` reports the end."""
        self._next = sources, recipe
        kind, keys = self._under_way
        if not self.is_busy:
            self._start_next()
        elif kind_of(recipe) != kind or not keys <= {unit.key for unit in units_of(sources, recipe).values()}:
            self._background.cancel(TOPIC)  # it counts texts that are not wanted any more

    def cancel(self) -> None:
        self._next = None
        self._background.cancel(TOPIC)

    def forget(self) -> None:
        """Empty the cache of counts, and stop counting, because another session is about to be shown."""
        self.cancel()
        self._outcomes = {}
        self._wanted = {}

    def _start_next(self) -> None:
        if self._next is None:
            self.settled.emit()
            return
        (sources, recipe) = self._next
        self._next = None
        units = units_of(sources, recipe)
        self._wanted = {number: unit.key for number, unit in units.items()}
        wanted = {unit.key: unit for unit in units.values()}
        kind = kind_of(recipe)
        self._forget_old(kind, wanted)
        outcomes = self._outcomes[kind]
        missing = {key: unit for key, unit in wanted.items() if key not in outcomes}
        if not missing:
            self.settled.emit()
            return
        self._under_way = kind, set(missing)
        work = partial(count_texts, missing, recipe, outcomes)
        self._background.run(TOPIC, work, progress=self._take_progress, ended=self._end)
        self.changed.emit()

    def _forget_old(self, current: Kind, wanted: Mapping[Hashable, Unit]) -> None:
        self._outcomes[current] = self._outcomes.pop(current, {})
        for old in list(self._outcomes)[:-KEPT_KINDS]:
            del self._outcomes[old]
        known = self._outcomes[current]
        for key in [key for key in known if key not in wanted][:-KEPT_TEXTS]:
            del known[key]

    def _take_progress(self, progress: CountProgress | None) -> None:
        self._progress = progress
        self.changed.emit()

    def _end(self) -> None:
        self._take_progress(None)
        self._start_next()


def count_texts(units: Mapping[Hashable, Unit], recipe: Recipe, outcomes: Outcomes, task: Task) -> None:
    """Count the given units one after another. A unit is a set of texts that are counted together.

    The counts are stored in `outcomes`. If the task is stopped, the counts that are complete remain there.
    """
    for key, unit in units.items():
        if task.is_stopping:
            raise Cancelled("Counting was stopped.")
        try:
            outcomes[key] = _count_unit(unit, recipe, task)
        except Cancelled:
            raise
        except BpeError as error:
            outcomes[key] = CountFailure(str(error))
        task.report(None)


def _count_unit(unit: Unit, recipe: Recipe, task: Task) -> Outcome:
    began = reported = time.monotonic()

    def report(progress: Progress) -> None:
        nonlocal reported
        now = time.monotonic()
        if now - reported >= SECONDS_BETWEEN_REPORTS:
            reported = now
            task.report(CountProgress(unit.key, progress.done, progress.total, progress.done / (now - began)))

    file_state = unit.sources[0].file_state() if unit.choice is None else None
    with reading(unit.sources, task.remarks) as corpus:
        part = corpus if unit.choice is None else corpus.part(unit.choice)
        try:
            table = count_unmixed(part, recipe, Work(report, task.cancelled))
        except CorpusError as error:
            return CountFailure(
                str(error),
                TableLayout.of(corpus),
                needs_column=isinstance(error, FieldNeeded),
                needs_encoding=isinstance(error, EncodingError),
                held_symbols=error.held if isinstance(error, WrongSymbols) else "",
            )
    if task.is_stopping:
        raise Cancelled("Counting was stopped.")
    lengths = np.diff(table.starts)
    weights = lengths * table.counts
    share = share_of(table)
    splits = recipe.pattern != "none" and corpus.has_texts
    is_long = splits and share >= LONG_SHARE
    encodings = sorted({source.encoding for source in corpus.sources if source.encoding})
    return TextCount(
        table=table,
        words=table.total,
        longest_word=int(lengths.max(initial=0)),
        share_in_long_words=share,
        long_words=find_long_words(corpus, table, recipe, task.cancelled) if is_long else None,
        encoding=" and ".join(encodings) or "UTF-8",
        file_state=file_state,
        files=len(corpus.sources),
        size=corpus.total_size or 0,
        read=TableLayout.of(corpus),
        word_bytes=int(weights.sum()),
        most_frequent=table.most_frequent(WORDS_SHOWN),
        is_of_group=unit.choice is not None,
    )
