"""The two tokenizers that are compared as one, which keeps the ids of the one shown."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from app.session.run import Run
from app.session.session import Session
from app.session.tables import EditedTable, add_table
from app.window.parts.wording import count_text
from app.window.questions.compare.duel_model import DuelModel
from app.worker.job import Task
from bpe_core.editing.putting_together import put_together

TOPIC = "put together"


class PuttingTogether(QObject):
    """One at a time."""

    done = Signal(int, str)  # the number of the run whose ids it keeps, and what each of the two gave
    failed = Signal(str)
    busy_changed = Signal()

    def __init__(self, session: Session, duel: DuelModel) -> None:
        super().__init__(duel)
        self._session, self._duel = session, duel

    @property
    def can_start(self) -> bool:
        return self._duel.is_ready and not self._session.aside.is_busy(TOPIC)

    def start(self) -> None:
        """Make the table aside."""
        if not self.can_start:
            return
        (run, one), (other, second) = ((lane.run, lane.history) for lane in self._duel.lanes)
        name, first, last = f"{run.recipe.name} + {other.recipe.name}", run.number, other.number

        def work(task: Task) -> EditedTable:
            found = put_together(one, second, progress=task.report, cancelled=task.cancelled)
            gave = count_text(found.new_tokens, "token")
            made = f"Run {first:,} and {gave} of run {last:,}"
            return EditedTable.of(found.history, name, made, tuple(found.told))

        self._session.aside.ask(
            TOPIC, work, lambda table: self._take(run, table), self.failed.emit, ended=self.busy_changed.emit
        )
        self.busy_changed.emit()

    def _take(self, run: Run, table: EditedTable) -> None:
        add_table(self._session.runs, table, run)
        self.done.emit(run.number, " ".join(table.told))
