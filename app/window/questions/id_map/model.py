"""The model of the question *idmap*, which maps the ids of another run to the ids of the run shown."""

from __future__ import annotations

from app.session.manifests import RESULT, run_of_session
from app.session.run import Run, name_of
from app.session.session import Session
from app.window.questions.question_model import QuestionModel

NO_SECOND = (
    "The map goes from one table to another. Extend, trim or branch this table, or open a second table, and show the "
    "newer table."
)


class IdMapModel(QuestionModel):
    """A model of the map from the ids of another run to the ids of the run shown. Ids that change come first."""

    shows_all_rows = False

    def __init__(self, session: Session) -> None:
        super().__init__(session, "idmap")
        self._old: int | None = None  # the number of the run that a user chose
        self.trouble = NO_SECOND

    @property
    def other_runs(self) -> dict[int, str]:
        """Return a mapping from the number of each other run to its name."""
        return {run.number: name_of(run, self._session.runs.all) for run in self._others()}

    @property
    def old(self) -> int | None:
        """Return the number of the run whose ids are mapped, or None if there is no other run.

        The user's choice comes first. Without a choice, it is the parent of the run shown, or else any other run.
        """
        shown = self._session.runs.shown
        numbers = [run.number for run in self._others()]
        wished = (self._old, None if shown is None else shown.parent)
        return next((number for number in wished if number in numbers), numbers[0] if numbers else None)

    def choose_old(self, number: int) -> None:
        self._old = number
        self.refresh_soon()

    def _others(self) -> list[Run]:
        runs = self._session.runs
        known = [run for run in runs.all if run.history is not None and run.history.index_count]
        return [run for run in known if run is not runs.shown]

    def _runs(self) -> list[Run]:
        shown = self._session.runs.shown
        pair = [*(run for run in self._others() if run.number == self.old), *([] if shown is None else [shown])]
        return pair if len(pair) == len([run for run in pair if run.history is not None]) == 2 else []

    def _reason_to_wait(self) -> str:
        return NO_SECOND

    @property
    def command(self) -> tuple[str, ...]:
        asked = self.current_question
        runs = (run_of_session(run.number) for run in self._runs())
        return (self.question.name, *runs, *asked[0].arguments(), "-o", RESULT) if asked else ()
