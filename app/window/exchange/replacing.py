"""The background task that replaces the tokens that the corpus needs least.

The new tokens get the ids of the old tokens.
"""

from __future__ import annotations

from PySide6.QtCore import QObject

from app.session.background import Answer
from app.session.run import Run, changed_name
from app.session.session import Session
from app.session.tables import EditedTable, add_table, costs_of
from app.worker.job import Task
from bpe_core.editing.replacing import replace_on
from bpe_core.editing.trimming import check_can_be_edited
from bpe_core.errors import BpeError
from bpe_core.support.progress import Work

TOPIC = "replace"
NO_TEXTS = "There is no text to learn from. Add texts to the corpus first."
REPLACING = "Replacing tokens …"


class TokenReplacement(QObject):
    """A background task that replaces tokens of the run shown. Only one such task runs at a time."""

    def __init__(self, session: Session, parent: QObject) -> None:
        super().__init__(parent)
        self._session = session

    @property
    def refusal(self) -> str:
        """Return the reason why no token of the run shown can be replaced.

        If tokens can be replaced, the text is empty.
        """
        run = self._session.runs.shown
        if run is None or run.history is None:
            return "There is no table to change."
        try:
            check_can_be_edited(run.history)
        except BpeError as error:
            return str(error)
        return "" if self._session.corpus.texts.value else NO_TEXTS

    @property
    def most(self) -> int:
        """Return the largest number of tokens that a user can ask to replace."""
        run = self._session.runs.shown
        return 1 if run is None or run.history is None else max(1, len(run.history))

    def start(self, swap: int) -> None:
        """Start to replace `swap` tokens.

        At the end, the window shows the new run, and a message says how many tokens the corpus needs now.
        """
        session = self._session
        run = session.runs.shown
        if self.refusal or run is None or run.history is None:
            session.background.notify(self.refusal)
            return
        remarks: list[str] = []
        own = session.runs.studies.of(run, session.runs.all)
        assert own is not None  # the run has a history
        study = session.runs.studies.by_corpus(own, run, session.corpus.texts.value, remarks)
        text = session.text.value
        name, number = changed_name(run.recipe.name, "replaced"), run.number

        def work(task: Task) -> EditedTable:
            background = Work(task.report, task.cancelled)
            parts = study.inside.parts(work=background)
            replaced = replace_on([*parts.values()], study.history, swap, {}, background)
            sentences = [*replaced.sentences, *costs_of(study, replaced.history, text, background)]
            return EditedTable.of(replaced.history, name, f"Run {number:,} with replaced tokens", tuple(sentences))

        session.background.run(TOPIC, work, lambda table: self._take(run, table), session.background.notify)
        stop = Answer("Cancel", self.cancel)
        session.background.notify(REPLACING, is_error=False, answers=(stop,))

    def cancel(self) -> None:
        self._session.background.cancel(TOPIC)

    def _take(self, run: Run, table: EditedTable) -> None:
        add_table(self._session.runs, table, run)
        *about, corpus, text = table.sentences
        self._session.background.notify(f"{corpus} {text}", "\n".join(about), is_error=False)
