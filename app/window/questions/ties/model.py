"""The tie ledger as a table, and the question what another rule would have made of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt, Signal

from app.session.manifests import RESULT, SESSION
from app.session.run import NO_RUN, Run
from app.session.session import Session
from app.window.parts.watched import Exact, Watched
from bpe_core import Cancelled, History, Tokenizer, Trainer, WordTable
from bpe_core.exact.of_run import tie_list
from bpe_core.exact.tokens import TokenColumns
from bpe_core.history.history import NOTHING
from bpe_core.insight.table_comparison import compare_tables, compare_texts
from bpe_core.insight.ties import Tie, ties
from bpe_core.learning.methods import METHODS, Method, Wording
from bpe_core.learning.ties import TIE_RULES as TIE_RULES
from bpe_core.progress import CancelCheck
from bpe_core.token_texts import shown

REDRAW_MILLISECONDS = 300
TEXT_CHARACTERS = 600  # of the person's text, shown under both rules
COLUMNS = ("Step", "{}", "Instead of", "Count", "Which was {}")

_Index = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True)
class CutToken:
    """A token of a text that two have cut; `text` shows what would not be seen."""

    text: str
    id: int
    differs: bool  # it lies in a stretch that the two cut differently


@dataclass(frozen=True)
class WhatIf:
    """The same text learned again under another rule."""

    rule: str
    merges: int
    step: int | None
    one: str  # the pair merged at that step here
    other: str  # and there
    shared: str  # how many tokens are in both, in a sentence
    text: tuple[CutToken, ...]  # the person's text as tokens here
    other_text: tuple[CutToken, ...]  # and there


class TiesModel(QAbstractTableModel, Watched):
    """One row a merge that a tie decided."""

    answered = Signal()  # about another rule
    failed = Signal(str)

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.what_if: WhatIf | None = None
        self.is_training = False
        self._ties: list[Tie] = []
        self._names: list[str] = []
        self._merges = 0
        self._of: Run | None = None
        self._runs, self._cursor = session.runs, session.cursor
        self._text, self._aside = session.text, session.aside
        self.refresh_on(REDRAW_MILLISECONDS, session.runs.changed, session.runs.grew)

    @property
    def summary(self) -> str:
        if self._of is not None and not self.has_ties:
            method = METHODS[self._of.recipe.method]
            told = f"The table of {method.wording.steps} tells why each {method.wording.choice} was chosen."
            if not Method.of(self._of.recipe).reasons(self._of.recipe):
                told = f"Of those that are used as often, the {method.wording.choice} that was made last goes first."
            return f"{method.title} has no rule for ties that could be chosen. {told}"
        if not self._merges:
            return f"The {self._wording.steps} that a tie decided are listed here when training begins."
        if self._of is not None and self._of.history is not None and not self._of.history.has_counts:
            return "This table does not tell how often its pairs stood, so its ties are not known"
        return f"{len(self._ties):,} of {self._merges:,} {self._wording.steps} were decided by a tie"

    @property
    def _wording(self) -> Wording:
        return NO_RUN if self._of is None else self._of.wording

    @property
    def rule(self) -> str | None:
        """The one the shown run was learned by."""
        return self._runs.shown.recipe.ties if self._runs.shown is not None and self.has_ties else None

    def travel_to_row(self, row: int) -> None:
        """To the moment before that merge, when both pairs still stood there."""
        self.travel_to(self._ties[row].step - 1)

    def travel_to(self, at: int) -> None:
        self._cursor.go_to(at)

    # -- the table -------------------------------------------------------------------------

    def rowCount(self, parent: _Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self._ties)

    def columnCount(self, parent: _Index = QModelIndex()) -> int:
        return len(COLUMNS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role == Qt.ItemDataRole.DisplayRole and orientation == Qt.Orientation.Horizontal:
            return self._titles[section]
        return None

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        return self.cells(self._ties[index.row()])[index.column()]

    def cells(self, tie: Tie) -> tuple[str, ...]:
        later = f"at step {tie.loser_step:,}" if tie.loser_step is not None else "never"
        return f"{tie.step:,}", self._pair(tie.winner), self._pair(tie.loser), f"{tie.count:,}", later

    @property
    def command(self) -> tuple[str, ...]:
        return ("ties", "--merges", SESSION, "-o", RESULT)

    def exact(self) -> Exact:
        run, found = self._of, self._ties
        if run is None or run.history is None or not run.history.has_counts:  # of which no tie is known
            return super().exact()
        history, numbers = run.history, run.shown_numbers
        return lambda cancelled: tie_list(found, TokenColumns.for_history(history, numbers))

    @property
    def _titles(self) -> tuple[str, ...]:
        done = self._wording.done
        return tuple(title.format(done) if len(title) > 2 else done.capitalize() for title in COLUMNS)

    @property
    def has_ties(self) -> bool:
        """Whether there is a rule for them."""
        return self._of is None or self._of.recipe.applies("ties")

    def _pair(self, pair: tuple[int, int]) -> str:
        return " + ".join(self._names[id] for id in pair if id != NOTHING)

    # -- asking ----------------------------------------------------------------------------

    def refresh(self) -> None:
        run = self._runs.shown
        self._rest_as_long(self._aside, "ties", run)
        if run is None or run.history is None or run.names is None:
            self._take(None, [], 0)
            return
        history = run.history
        self._aside.ask(
            "ties",
            lambda task: ties(history, cancelled=task.cancelled),
            lambda found: self._take(run, found, len(history)),
        )

    def _take(self, run: Run | None, found: list[Tie], merges: int) -> None:
        self.beginResetModel()
        if run is not self._of:
            self._of, self.what_if = run, None
        self._ties, self._merges = found, merges
        self._names = run.names.text if run is not None and run.names is not None else []
        self.endResetModel()

    def ask_what_if(self, rule: str) -> None:
        """Learn again under this rule, aside."""
        run = self._runs.shown
        if run is None or run.words is None or run.history is None:
            self.failed.emit("There is no text at hand to learn again from; train first.")
            return
        words, history, text = run.words, run.history, self._text.value[:TEXT_CHARACTERS]
        self.is_training = True
        self._aside.ask(
            "what if",
            lambda task: train_again(words, history, rule, text, task.cancelled),
            self._take_what_if,
            self._fail_what_if,
        )
        self.answered.emit()

    def _take_what_if(self, found: WhatIf) -> None:
        self.what_if, self.is_training = found, False
        self.answered.emit()

    def _fail_what_if(self, sentence: str) -> None:
        self.is_training = False
        self.answered.emit()
        self.failed.emit(sentence)


def train_again(words: WordTable, history: History, rule: str, text: str, cancelled: CancelCheck) -> WhatIf:
    """As many merges as there are, chosen by another rule; then the two side by side."""
    trainer = Trainer(words, history.recipe.with_changes(ties=rule, merges=len(history)))
    while not trainer.advance(seconds=0.1).finished:
        if cancelled():
            raise Cancelled("Nobody wants to know any more.")
    other = trainer.history
    found = compare_tables(history, other, cancelled=cancelled)
    cut, data = compare_texts(Tokenizer(history), Tokenizer(other), text), text.encode()
    one, there = found.parted or ((), ())
    return WhatIf(
        rule=rule,
        merges=len(other),
        step=None if found.first is None else found.first + 1,
        one=" + ".join(map(shown, one)),
        other=" + ".join(map(shown, there)),
        shared=found.overlap.in_words,
        text=cut_tokens(data, cut.spans, cut.regions),
        other_text=cut_tokens(data, cut.other_spans, cut.regions),
    )


def cut_tokens(
    data: bytes, spans: Sequence[tuple[int, int, int]], regions: Sequence[tuple[int, int]]
) -> tuple[CutToken, ...]:
    """The tokens that cover bytes, as text that a person can read.

    >>> cut_tokens(b"a b", [(0, 1, 97), (1, 3, 300)], [(1, 3)])
    (CutToken(text='a', id=97, differs=False), CutToken(text='␣b', id=300, differs=True))
    """
    inside = np.zeros(len(data) + 1, bool)
    for start, stop in regions:
        inside[start:stop] = True
    return tuple(
        CutToken(shown(data[start:stop]), id, bool(inside[start])) for start, stop, id in spans if stop > start
    )
