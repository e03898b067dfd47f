"""The model of the words of the corpus, which can be filtered and sorted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QObject, Signal

from app.session.corpus_texts import IN_NONE
from app.session.counts import CountFailure, TextCount
from app.session.manifests import RESULT, SESSION, TEXTS
from app.session.session import Session
from app.session.studies import hold_same_tables, tables_by_group
from app.window.parts.lazy_model import Exact, LazyModel
from app.window.parts.wording import count_text
from app.worker.job import Task
from bpe_core.counting.words import WordTable
from bpe_core.errors import Cancelled
from bpe_core.insight.listed_words import COUNT, WORD, ListedWords
from bpe_core.support.arrays import Int64s
from bpe_core.support.data_table import DataTable

REDRAW_MILLISECONDS = 300
COLUMNS = ("Word", "Count", "Share")
TIPS = (
    "A word of the texts, as the recipe splits them. ␣ is a space, ⏎ is a newline",
    "The count of the word in the texts, without weights",
    "The share of this word in all words of the texts, with repetitions",
)
TOPIC = "words_of_the_corpus"
NOTHING_YET = "Open a text to list its words here, the most frequent first."
COUNTING = "The texts are being counted …"


@dataclass(frozen=True)
class Choice:
    """A filter and an order for the list of words."""

    holding: str = ""
    column: int = 1
    ascending: bool = False

    def by(self, groups: Sequence[str]) -> str:
        """Return the key by which `ListedWords` sorts the rows if the user sorts by this column.

        Each of the `groups` has a column, and its name is the key. Other keys are `WORD` and `COUNT`. The columns Share
        and Count have the same key, because they give the same order.
        """
        place = self.column - len(COLUMNS)
        if 0 <= place < len(groups):
            return groups[place]
        return COUNT if self.column else WORD


class WordsModel(QObject, LazyModel):
    """A table model with a row for each word. The text of a row is written only when the row is visible."""

    changed = Signal()
    failed = Signal(str)

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._corpus = session.corpus
        self._background = session.background
        self._mixed = session.runs.mixed
        self.choice = Choice()
        self.listed_words: ListedWords | None = None
        self.order: Int64s = np.zeros(0, np.int64)  # the rows that are listed
        self._tables: Mapping[str, Sequence[WordTable]] = {}  # the tables behind the answer
        self._asked: Choice | None = None
        self._missing_text = ""  # a sentence about texts without counts
        news = (session.corpus.texts.changed, session.recipe.changed, session.corpus.counts.changed)
        self.refresh_on(REDRAW_MILLISECONDS, *news, session.corpus.counts.settled)

    # -- asking ----------------------------------------------------------------------------

    def refresh(self) -> None:
        texts = self._corpus.texts.value
        outcomes = self._corpus.last_outcomes()
        tables = tables_by_group(texts, outcomes)
        failed = sum(isinstance(outcome, CountFailure) for outcome in outcomes)
        missing = sum(not isinstance(outcome, TextCount) for outcome in outcomes) - failed
        self._missing_text = f" {count_text(missing, 'text')} must still be counted." if missing else ""
        self._missing_text += f" {count_text(failed, 'text')} could not be counted." if failed else ""
        if self._asked != self.choice or not hold_same_tables(tables, self._tables):
            self._tables = tables
            self._asked = self.choice
            self._ask(tables, self.choice)
        self.changed.emit()

    def _ask(self, tables: Mapping[str, Sequence[WordTable]], choice: Choice) -> None:
        if not tables:
            self._background.cancel(TOPIC)
            self._take((None, np.zeros(0, np.int64)))
            return

        def work(task: Task) -> tuple[ListedWords | None, Int64s]:
            words = ListedWords(self._mixed.grouped_words(tables))
            if task.cancelled():
                raise Cancelled("Cancelled.")
            by = choice.by(tuple(words.of_groups))
            return words, words.sorted_by(by, choice.holding, from_end=choice.ascending != (by == WORD))

        self._background.run(TOPIC, work, self._take, self.failed.emit)

    def _take(self, answer: tuple[ListedWords | None, Int64s]) -> None:
        self.listed_words, self.order = answer
        self.changed.emit()

    def filter_by_text(self, text: str) -> None:
        """List only the words that contain a text."""
        self._choose(Choice(text, self.choice.column, self.choice.ascending))

    def sort(self, column: int, *, from_end: bool) -> None:
        self._choose(Choice(self.choice.holding, column, not from_end))

    def _choose(self, choice: Choice) -> None:
        if choice != self.choice:
            self.choice = choice
            self.refresh_soon()

    @property
    def groups(self) -> tuple[str, ...]:
        return () if self.listed_words is None else tuple(self.listed_words.of_groups)

    @property
    def summary(self) -> str:
        if self.listed_words is None:
            return COUNTING if self._corpus.counts.is_busy else NOTHING_YET + self._missing_text
        some = f"{len(self.order):,} of " if len(self.order) != len(self.listed_words) else ""
        words = count_text(len(self.listed_words), "different word")
        return f"{some}{words}, {self.listed_words.total:,} with repetitions.{self._missing_text}"

    @property
    def command(self) -> tuple[str, ...]:
        choice = self.choice
        by = self.choice.by(self.groups)
        held = ("--holding", choice.holding) if choice.holding else ()
        reverse = ("--reverse",) if choice.ascending != (by == WORD) else ()
        return ("count", "--recipe", SESSION, *held, "--sort", by, *reverse, "--list", RESULT, TEXTS)

    def table_function(self) -> Exact:
        matching = self.listed_words
        rows = self.order
        return lambda cancelled: DataTable({}) if matching is None else matching.table(rows, cancelled)

    # -- the table -------------------------------------------------------------------------

    @property
    def headings(self) -> list[str]:
        return [*COLUMNS, *(group or IN_NONE for group in self.groups)]

    def meaning(self, column: int) -> str:
        if column < len(COLUMNS):
            return TIPS[column]
        group = self.groups[column - len(COLUMNS)]
        return (
            f"The count of the word in the group {group}"
            if group
            else ("The count of the word in texts without a group")
        )

    def is_text(self, column: int) -> bool:
        return column == 0

    def word(self, row: int) -> bytes:
        assert self.listed_words is not None  # rows exist only with an answer
        return self.listed_words.words.words.word(row)

    def cell(self, row: int, column: int) -> str:
        matching = self.listed_words
        assert matching is not None  # rows exist only with an answer
        if column == 0:
            return matching.text(row)
        count = int(matching.words.words.counts[row])
        if column == 1:
            return f"{count:,}"
        if column == 2:
            return f"{100 * count / matching.total:.2f} %"
        return f"{int(matching.of_groups[self.groups[column - len(COLUMNS)]][row]):,}"
