"""Which texts are counted already, and the job that counts the others.

A count belongs to a text and to the choices that decide how it is split. It is kept when
the text is removed or another pattern is tried, so that taking a change back costs nothing;
of the texts that are gone only the last are remembered.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from PySide6.QtCore import QObject, Signal

from app.session.jobs import Jobs
from app.worker.counting import Counted, CountFailed, CountingJob, CountProgress, Text
from app.worker.job import Job
from app.worker.mailbox import Message
from bpe_core import Recipe
from bpe_core.recipe import Splitting

Outcome = Counted | CountFailed
KEPT_SPLITTINGS = 3  # counts under older ones are forgotten
KEPT_TEXTS = 20  # that nobody wants at the moment


class Counts(QObject):
    """Counts texts on demand, one job at a time; a new demand replaces the one before."""

    changed = Signal()  # an outcome or a progress is new
    settled = Signal()  # whatever was wanted is counted, has failed, or was cancelled

    def __init__(self, jobs: Jobs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._jobs = jobs
        self._splitting = Splitting()  # of the job under way
        self._outcomes: dict[Splitting, dict[Hashable, Outcome]] = {}
        self._progress: dict[Hashable, CountProgress] = {}
        self._job: CountingJob | None = None
        self._next: tuple[Sequence[Text], Recipe] | None = None
        jobs.mailbox.arrived.connect(self._receive)
        jobs.ended.connect(self._job_ended)

    @property
    def busy(self) -> bool:
        return self._job is not None

    def outcome_of(self, text: Text, recipe: Recipe) -> Outcome | None:
        return self._outcomes.get(recipe.part(Splitting), {}).get(text.key)

    def progress_of(self, text: Text) -> CountProgress | None:
        return self._progress.get(text.key)

    def want(self, texts: Sequence[Text], recipe: Recipe) -> None:
        """See to it that these texts are counted under this recipe; `settled` tells when."""
        self._next = texts, recipe
        if self._job is None:
            self._start_next()
        elif recipe.part(Splitting) != self._splitting or not self._job.keys <= {text.key for text in texts}:
            self._job.stop()  # it works on something that nobody wants any more

    def cancel(self) -> None:
        """Leave what is not counted yet as it is."""
        self._next = None
        if self._job is not None:
            self._job.stop()

    def _start_next(self) -> None:
        if self._next is None:
            self.settled.emit()
            return
        texts, recipe = self._next
        self._next = None
        self._forget_old(recipe.part(Splitting), {text.key for text in texts})
        missing = [text for text in texts if self.outcome_of(text, recipe) is None]
        if not missing:
            self.settled.emit()
            return
        self._splitting = recipe.part(Splitting)
        self._job = CountingJob(self._jobs.mailbox, self._jobs.next_stamp("counting"), missing, recipe)
        self._jobs.start(self._job)
        self.changed.emit()

    def _forget_old(self, current: Splitting, wanted: set[Hashable]) -> None:
        """What is wanted now is not forgotten."""
        self._outcomes[current] = self._outcomes.pop(current, {})
        for old in list(self._outcomes)[:-KEPT_SPLITTINGS]:
            del self._outcomes[old]
        known = self._outcomes[current]
        for key in [key for key in known if key not in wanted][:-KEPT_TEXTS]:
            del known[key]

    def _receive(self, message: Message) -> None:
        if not isinstance(message, Counted | CountFailed | CountProgress):
            return
        if self._job is None or message.job_stamp != self._job.stamp:
            return
        if isinstance(message, CountProgress):
            self._progress[message.key] = message
        else:
            self._outcomes[self._splitting][message.key] = message
        self.changed.emit()

    def _job_ended(self, job: Job) -> None:
        if job is self._job:
            self._job = None
            self._progress.clear()
            self.changed.emit()
            self._start_next()
