"""The model of a sweep that runs in the window.

The results are in a file beside the plan. If a sweep was stopped and continues, finished runs are not repeated.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from app.session.session import Session
from app.window.parts.wording import count_text
from app.window.questions.question_model import QuestionModel
from app.worker.job import Task
from bpe_core.questions.sweep_results import SweepResults
from bpe_core.session_file import EXTENSION
from bpe_core.support.atomic import reserve
from bpe_core.support.data_table import DataTable
from bpe_core.support.progress import Progress, Work
from bpe_core.sweep.plan import read_plan
from bpe_core.sweep.results import read_results
from bpe_core.sweep.running import SweepResult, sweep
from bpe_core.sweep.runs_in_session import DiskWriter, RunsInSession

TOPIC = "sweep"
RESULTS = ".results.csv"  # added to the name of a plan: its table, and with EXTENSION its runs
NOTHING_YET = "Make a new sweep, continue the plan of a sweep, or choose the results of a sweep."
STOPPED = "The sweep was stopped. Finished measurements are kept. Choose the plan again to continue."


class SweepModel(QuestionModel):
    """A model of the results of a sweep. It shows results while the sweep still runs."""

    def __init__(self, session: Session) -> None:
        super().__init__(session, "sweep_results")
        self.trouble = NOTHING_YET
        self.said = ""
        self._runs_at: Path | None = None

    @property
    def sentences(self) -> tuple[str, ...]:
        return (*filter(None, [self.said]), *super().sentences)

    @property
    def session(self) -> Path | None:
        """Return the path of the session file with the runs of a finished sweep, or None if there is no such file."""
        path = self._runs_at
        return path if path is not None and not self.progress and not self.trouble and path.exists() else None

    def make(self, plan: Path, keeps_runs: bool = False) -> None:
        """Train and measure the runs of a plan.

        If the file of results exists, skip the runs that it lists as finished.
        """
        path = plan.with_suffix(EXTENSION)
        self._runs_at = session = path if keeps_runs or path.exists() else None
        results = plan.with_name(plan.stem + RESULTS)

        def made(task: Task) -> SweepResult:
            wanted = read_plan(plan)
            before = read_results(results) if results.exists() else None
            runs = None if session is None else RunsInSession(session, wanted)
            kept = DiskWriter(results, runs)

            def keep(so_far: Callable[[], DataTable]) -> None:
                kept(so_far)
                task.report(so_far())

            try:
                result = sweep(wanted, before=before, session=runs, keep=keep, work=Work(task.report, task.cancelled))
                kept(lambda: result.table)
                return result
            finally:
                kept.write()

        def work(task: Task) -> str:
            with reserve(results, *filter(None, [session])):
                result = made(task)
            task.remarks.extend(result.remarks)
            again = f", {result.known:,} of which were finished before" if result.known else ""
            where = results.name if session is None else f"{results.name} and {session.name}"
            return f"{count_text(result.runs, 'run')}{again}; saved in {where}."

        def take(said: str) -> None:
            self.said = said
            self.choose("results", str(results.absolute()))

        self.progress = "Measuring …"
        self.said = ""
        self._session.background.run(
            TOPIC, work, take, lambda sentence: self._take(None, sentence), self._hear, writes=True
        )
        self.changed.emit()

    def _hear(self, news: DataTable | Progress) -> None:
        if isinstance(news, DataTable):
            values = {"results": ""} | self._values()
            self._take(SweepResults(**values).answer_of(news), "", self.progress)
        else:
            self.progress = f"{news.stage.capitalize()} … {news.done:,} of {news.total or 0:,} {news.unit}"
            self.changed.emit()

    def stop(self) -> None:
        if self._session.background.is_busy(TOPIC):
            self._session.background.cancel(TOPIC)
            self.progress = ""
            self.said = STOPPED
            self.changed.emit()
        else:
            super().stop()
