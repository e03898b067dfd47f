"""Where the shown run stands, in words, and what can be done with it now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QObject, Signal

from app.session.run import Phase, Run
from app.session.run_titles import name_of
from app.session.session import Session
from app.window.parts.throttle import Throttle
from app.window.parts.wording import count_text, duration_text, rate_text

MainAction = Literal["train", "pause", "resume", "extend"]


@dataclass(frozen=True)
class TrainingStatus:
    """What the toolbar and the status line show."""

    sentence: str = "Ready. Press Train."
    run: str = ""  # the one that is shown
    fraction: float | None = None  # None: nothing is under way
    is_busy: bool = False
    main: MainAction = "train"
    can_step: bool = True
    can_stop: bool = False
    can_extend: bool = False


class TrainingStatusModel(QObject):
    """Says anew where the run stands, at most ten times a second."""

    changed = Signal()

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.status = TrainingStatus()
        self._throttle = throttle = Throttle(100, self._update, self)
        session.runs.changed.connect(self._update)
        session.runs.grew.connect(throttle.call)
        session.recipe.changed.connect(throttle.call)

    def catch_up(self) -> None:
        """Say now rather than soon what can be done: somebody is about to do it."""
        self._throttle.catch_up()

    def _update(self, *_: object) -> None:
        fresh = status_of(self._session.runs.shown, self._session)
        if fresh != self.status:
            self.status = fresh
            self.changed.emit()


def status_of(run: Run | None, session: Session) -> TrainingStatus:
    if run is None:
        return TrainingStatus()
    recipe = session.recipe.value
    extends = run.can_extend_to(recipe)
    goes_on = run.can_go_on() and run.phase is Phase.PAUSED
    return TrainingStatus(
        sentence=sentence_of(run),
        run=name_of(run, session.runs.all),
        fraction=_fraction(run),
        is_busy=run.is_busy,
        main="pause" if run.phase is Phase.LEARNING else "resume" if goes_on else "extend" if extends else "train",
        can_step=not run.is_busy,
        can_stop=run.is_busy or run.phase is Phase.PAUSED,
        can_extend=extends,
    )


def title_of(run: Run, runs: Sequence[Run]) -> str:
    """What a run is called in a list of runs."""
    told = count_text(run.learned, run.wording.step)
    if not run.learned and not run.is_busy and run.history is not None:  # from a file that tells tokens alone
        told = count_text(run.history.vocabulary_size, "token")
    return f"{name_of(run, runs)}, {told}"


def sentence_of(run: Run) -> str:
    learned, gone = count_text(run.learned, run.wording.step), run.gone_through
    learned += f" of {run.planned:,}" if gone is None else f", {gone:.0%} of the text".replace("%", " %")
    if run.phase is Phase.COUNTING:
        return "Counting words …"
    if run.phase is Phase.PREPARING:
        return "Preparing …"
    if run.phase is Phase.LEARNING:
        rate = run.merges_per_second
        left = "" if run.seconds_left is None else f" · {duration_text(run.seconds_left)} left"
        return f"{learned} · {rate_text(rate, run.wording.steps)}{left}" if rate > 0 else f"{learned} · learning"
    if run.phase is Phase.PAUSED:
        return f"Paused after {learned}."
    if run.phase is Phase.ENDED and run.learned:
        return f"{count_text(run.learned, run.wording.step)}. {run.sentence}"
    return run.sentence


def _fraction(run: Run) -> float | None:
    if not run.is_busy and run.phase is not Phase.PAUSED:
        return None
    gone = run.gone_through
    return gone if gone is not None else run.learned / run.planned if run.planned else 0.0
