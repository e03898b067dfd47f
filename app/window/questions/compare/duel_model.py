"""Another tokenizer beside the run shown: both at the moment shown, or put together."""

from __future__ import annotations

from collections.abc import Hashable

from PySide6.QtCore import Signal

from app.session.run import Run, name_of
from app.session.session import Session
from app.session.tables import EditedTable, add_table
from app.window.parts.wording import count_text
from app.window.questions.compare.lanes_model import LanesModel
from app.worker.job import Task
from bpe_core.editing.putting_together import put_together
from bpe_core.history.history import NOTHING

PUT_TOGETHER = "put together"


class DuelModel(LanesModel):
    """Knows the run that a person chose for comparison."""

    put_together = Signal(int, str)  # the number of the run whose ids the table keeps, and a sentence about both
    failed = Signal(str)
    topic = "duel"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.other: Run | None = None
        self._parents_offered: set[Hashable] = set()  # stamps of runs
        for signal in (session.cursor.moved, session.cursor.live_changed):
            signal.connect(self.refresh_soon)

    @property
    def choices(self) -> list[tuple[int, str]]:
        """The other runs and tables of the session: number and title."""
        runs = self._session.runs
        return [(run.number, name_of(run, runs.all)) for run in reversed(self.usable_runs) if run is not runs.shown]

    def choose(self, number: int | None) -> None:
        """Compare with the run of that number, or with none."""
        self._offer_parent()
        self.other = self._session.runs.numbered(number)
        self.refresh_soon()

    def _offer_parent(self) -> None:
        """Compare a branch with its parent, unless a person chooses another run."""
        runs, run = self._session.runs, self._session.runs.shown
        if run is not None and run.parent is not None and run.stamp not in self._parents_offered:
            self._parents_offered.add(run.stamp)
            self.other = runs.numbered(run.parent) or self.other

    def wanted_runs(self) -> list[Run]:
        self._offer_parent()
        shown = self._session.runs.shown
        usable = [run for run in self.usable_runs if run in (shown, self.other)]
        return sorted(usable, key=lambda run: run is not shown) if len(usable) == 2 else []

    def wanted_step(self, place: int) -> int:
        """The other run is at its end, or at the same step if the person has gone back."""
        cursor, learned = self._session.cursor, [len(lane.history) for lane in self.lanes]
        at = min(cursor.position, learned[0])  # where another run is shown, the cursor follows a moment later
        return learned[1] if place and (cursor.live or at == learned[0]) else min(at, learned[place])

    def title(self, place: int) -> str:
        lane, runs = self.lanes[place], self._session.runs.all
        return f"{lane.unit} · {name_of(lane.run, runs)} after {count_text(lane.wanted, lane.run.wording.step)}"

    @property
    def totals(self) -> str:
        """A line about how both cut the text and the corpus."""
        cuts = [lane.cut for lane in self.lanes if lane.cut is not None]
        if len(cuts) < 2:
            return self.summary
        here, there = (cut.count for cut in cuts)
        text = f"{self.summary} It has {count_text(here, 'token')} here, {there:,} there."
        corpus = self._corpus_sizes()
        return f"{text} The corpus: {count_text(corpus[0], 'token')} here, {corpus[1]:,} there." if corpus else text

    def _corpus_sizes(self) -> list[int]:
        """The tokens of a common corpus at these steps of both."""
        one, other = (lane.run for lane in self.lanes)
        if one.words is None or other.words is None or not (one.words is other.words or one.sources == other.sources):
            return []
        if not all(lane.history.has_counts for lane in self.lanes):
            return []
        sizes = [int(lane.history.tokens_after[lane.wanted]) for lane in self.lanes]
        return [] if NOTHING in sizes else sizes

    # -- both as one -----------------------------------------------------------------------

    @property
    def can_put_together(self) -> bool:
        return self.is_ready and not self._session.aside.is_busy(PUT_TOGETHER)

    def start_putting_together(self) -> None:
        """Make one table of both with the ids of the one shown."""
        if not self.can_put_together:
            return
        (run, one), (other, second) = ((lane.run, lane.history) for lane in self.lanes)
        name, first, last = f"{run.recipe.name} + {other.recipe.name}", run.number, other.number

        def work(task: Task) -> EditedTable:
            found = put_together(one, second, progress=task.report, cancelled=task.cancelled)
            made = f"Run {first:,} and {count_text(found.new_tokens, 'token')} of run {last:,}"
            return EditedTable.of(found.history, name, made, tuple(found.sentences))

        def take(table: EditedTable) -> None:
            add_table(self._session.runs, table, run)
            self.put_together.emit(run.number, " ".join(table.sentences))

        self._session.aside.ask(PUT_TOGETHER, work, take, self.failed.emit, ended=self.changed.emit)
        self.changed.emit()
