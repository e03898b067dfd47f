"""The background task that makes a copy of a run without some of its tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from PySide6.QtCore import QObject, Signal

from app.session.run import Run, changed_name
from app.session.session import Session
from app.session.tables import EditedTable, add_table, costs_of
from app.window.parts.wording import count_text
from app.window.questions.question_model import QuestionModel
from app.worker.job import Task
from bpe_core.editing.trimming import NEEDED as NEEDED
from bpe_core.editing.trimming import (
    Needed,
    Trimmed,
    check_can_be_edited,
    least_size,
    least_used,
    looks_tokens_up,
    surplus,
    trim,
    trim_indices,
)
from bpe_core.errors import BpeError
from bpe_core.insight.audit import TokenPlaces
from bpe_core.studies.study import Study
from bpe_core.support.progress import Work

What = Literal["selected", "listed", "chosen", "down to"]
TOPIC = "trim"


@dataclass(frozen=True)
class TrimChoices:
    """The choices that a user makes in the dialog that removes tokens: which tokens to remove, and how."""

    what: What
    rows: tuple[int, ...] = ()  # the selected rows
    size: int = 0  # the size to shrink the table to
    needed: Needed = "spare"
    renumber: bool = True


class TrimTask(QObject):
    """A background task that makes a new run from a run, without some of its tokens.

    Only one such task runs at a time.
    """

    trimmed = Signal(int, str)  # the number of the original run, and a sentence
    failed = Signal(str)
    busy_changed = Signal()

    def __init__(self, session: Session, audited: QuestionModel) -> None:
        super().__init__(audited)
        self._session = session
        self.model = audited

    @property
    def is_busy(self) -> bool:
        return self._session.background.is_busy(TOPIC)

    @property
    def study(self) -> Study | None:
        """Return the study that the question `audit` was asked about. Return None if it has no answer yet."""
        asked = self.model.current_question
        return None if self.model.answer is None or asked is None else asked[1]

    @property
    def refusal(self) -> str:
        """Return the reason why no token can be removed now. The text is empty if tokens can be removed."""
        study = self.study
        if study is None:
            return "There is nothing to trim yet."
        try:
            check_can_be_edited(study.history)
        except BpeError as error:
            return str(error)
        return ""

    @property
    def sizes(self) -> tuple[int, int]:
        """Return the smallest and the largest vocabulary size that a user can choose."""
        assert self.study is not None
        return least_size(self.study.history), self.study.history.index_count

    @property
    def needs_parts(self) -> bool:
        """Return whether the encoder can build a token only from the parts of the token.

        If so, the parts must stay in the vocabulary.
        """
        return self.study is not None and not looks_tokens_up(self.study.history)

    @property
    def knows_use(self) -> bool:
        """Return whether the audit counted how often each token is used in a corpus."""
        answer = self.model.answer
        return answer is not None and any(times is not None for times in answer.columns["times"])

    def tokens(self, rows: Sequence[int]) -> list[int]:
        """Return the ids of the tokens in these rows of the audit.

        Rows of tokens that have been removed are skipped, because such tokens have no id.
        """
        assert self.model.answer is not None
        ids = self.model.answer.columns["id"]
        return [ids[row] for row in rows if ids[row] is not None]

    @property
    def chosen_tokens(self) -> list[int]:
        """Return the ids of the tokens whose steps a user selected in the table of steps."""
        study = self.study
        if study is None or self.model.about != [self._session.runs.shown]:
            return []
        numbers = study.history.numbers_of(np.array(self._session.selection.chosen_tokens, np.int64))
        return [number for number in np.asarray(numbers).tolist() if number >= 0]

    def _tokens_of(self, choices: TrimChoices) -> list[int]:
        """Return the ids of the tokens that the user chose in the dialog.

        If the user chose a vocabulary size instead, the list is not used.
        """
        assert self.model.answer is not None
        if choices.what == "chosen":
            return self.chosen_tokens
        return self.tokens(range(len(self.model.answer.table)) if choices.what == "listed" else choices.rows)

    def start(self, choices: TrimChoices) -> None:
        """Start the background task that makes the run without the chosen tokens."""
        study = self.study
        refusal = self.refusal
        if refusal or study is None or self.model.answer is None:
            self.failed.emit(refusal)
            return
        (run,) = self.model.about
        tokens = self._tokens_of(choices)
        name = changed_name(run.recipe.name, "trimmed")
        number = run.number
        text = self._session.text.value

        def work(task: Task) -> EditedTable:
            background = Work(task.report, task.cancelled)
            trimmed = trimmed_by(study, tokens, choices, background)
            sentences = [*trimmed.sentences, *costs_of(study, trimmed.history, text, background)]
            gone = count_text(len(trimmed.removed) + len(trimmed.hidden), "token")
            return EditedTable.of(trimmed.history, name, f"Run {number:,} without {gone}", tuple(sentences))

        self._session.background.run(
            TOPIC, work, lambda table: self._take(run, table), self.failed.emit, ended=self.busy_changed.emit
        )
        self.busy_changed.emit()

    def cancel(self) -> None:
        self._session.background.cancel(TOPIC)
        self.busy_changed.emit()

    def _take(self, run: Run, table: EditedTable) -> None:
        add_table(self._session.runs, table, run)
        self.trimmed.emit(run.number, " ".join(table.sentences))


def trimmed_by(study: Study, tokens: Sequence[int], choices: TrimChoices, work: Work) -> Trimmed:
    """Return the trimmed vocabulary.

    Remove `tokens`, or remove the least used tokens if `choices` names a vocabulary size. Raise BpeError if no token
    could be removed.
    """
    history = study.history
    if choices.what == "down to":
        places = TokenPlaces.of([study.inside.words(TOPIC, work)], history, cancelled=work.cancelled)
        indices = least_used(history, places.counts, surplus(history, choices.size), cancelled=work.cancelled)
        trimmed = trim_indices(
            history, indices, needed=choices.needed, renumber=choices.renumber, cancelled=work.cancelled
        )
    else:
        trimmed = trim(history, tokens, needed=choices.needed, renumber=choices.renumber, cancelled=work.cancelled)
    if trimmed.changes_nothing:
        raise BpeError(
            "Nothing was removed, because other tokens are made of the selected tokens. Select these other tokens, too."
        )
    return trimmed
