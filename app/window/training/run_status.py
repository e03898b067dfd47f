"""The models of training: the state of the run shown, the actions that are possible now, and the list of runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QFont

from app.session.corpus import SessionCorpus
from app.session.counts import CountFailure
from app.session.run import Phase, Run, as_tree, name_of
from app.session.session import Session
from app.window.parts.row_list import Index, Role, RowListModel
from app.window.parts.timing import Throttle
from app.window.parts.wording import count_text, duration_text, rate_text
from bpe_core.kernels.readiness import MachineCode
from bpe_core.recipes.ties import TIE_RULES

MainAction = Literal["train", "pause", "resume", "extend", "take over"]
UNREADABLE = "None of these texts can be read. Point at a text in Corpus to see why."
NO_TEXTS = "Open a text, then press Train."
READY = "Ready. Press Train."


@dataclass(frozen=True)
class TrainingStatus:
    sentence: str = NO_TEXTS
    run: str = ""  # the run shown
    fraction: float | None = None  # None if nothing is at work
    is_busy: bool = False
    main: MainAction = "train"
    can_stop: bool = False
    can_extend: bool = False


class TrainingStatusModel(QObject):
    """A model of the state of the run shown. It changes at most ten times a second."""

    changed = Signal()

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.status = TrainingStatus()
        self._throttle = throttle = Throttle(100, self._update, self)
        session.runs.changed.connect(self._update)
        session.runs.grew.connect(throttle.call)
        session.opening_changed.connect(self._update)
        session.following.changed.connect(throttle.call)
        texts = session.corpus
        for chosen in (session.recipe.changed, texts.texts.changed, texts.listed, texts.counts.changed):
            chosen.connect(throttle.call)

    @property
    def machine_code(self) -> MachineCode:
        return self._session.machine_code

    def update_if_busy(self) -> None:
        """Update the state of a busy run. Such a run may be waiting until kernels are compiled."""
        if self.status.is_busy:
            self._update()

    def catch_up(self) -> None:
        """Update the state immediately, before an action uses it."""
        self._throttle.catch_up()

    def _update(self, *_: object) -> None:
        fresh = status_of(self._session.runs.shown, self._session)
        if fresh != self.status:
            self.status = fresh
            self.changed.emit()


def status_of(run: Run | None, session: Session) -> TrainingStatus:
    if session.opening:
        return TrainingStatus(f"Opening {session.opening} …")
    if run is None:
        return TrainingStatus(session.following.waiting or _before_any_run(session.corpus))
    recipe = session.recipe.value
    texts = session.corpus.texts.value
    extends = run.can_extend_to(recipe)
    is_paused = run.can_go_on() and run.phase is Phase.PAUSED
    # Texts that were opened since need a new run. They are no reason to continue the run on the texts before.
    is_wanted = not session.corpus.is_listing and (not texts or run.learned_from(texts))
    return TrainingStatus(
        sentence=sentence_of(run, session.machine_code),
        run=name_of(run, session.runs.all),
        fraction=_fraction(run),
        is_busy=run.is_busy,
        main=_main_action(run, goes_on=is_paused and is_wanted, extends=extends and is_wanted),
        can_stop=run.is_busy or run.phase is Phase.PAUSED,
        can_extend=extends,
    )


def _before_any_run(corpus: SessionCorpus) -> str:
    if not corpus.texts.value:
        return NO_TEXTS
    are_refused = all(isinstance(outcome, CountFailure) for outcome in corpus.last_outcomes())
    return UNREADABLE if are_refused else READY


def _main_action(run: Run, *, goes_on: bool, extends: bool) -> MainAction:
    if run.phase is Phase.LEARNING:
        return "pause"
    if run.followed is not None and run.followed.can_be_taken_over:
        return "take over"
    if run.phase is Phase.FOLLOWED and run.followed is not None and run.can_request:
        return "resume" if run.followed.state == "paused" else "pause"
    if goes_on:
        return "resume"
    return "extend" if extends else "train"


def title_of(run: Run, runs: Sequence[Run]) -> str:
    text = count_text(run.learned, run.wording.step)
    if not run.learned and not run.is_busy and run.history is not None:  # a table from a file without merges
        text = count_text(run.history.vocabulary_size, "token")
    return f"{name_of(run, runs)}, {text}"


def sentence_of(run: Run, machine_code: MachineCode) -> str:
    learned = count_text(run.learned, run.wording.step)
    gone = run.gone_through
    if run.followed is not None:
        return run.followed.sentence
    learned += f" of {run.planned:,}" if gone is None else f", {gone[0]:.0%} of {gone[1]}".replace("%", " %")
    if run.phase is Phase.COUNTING:
        return "Counting words …"
    if run.phase is Phase.PREPARING:
        return f"Machine code is being made: {machine_code.percent}" if machine_code.is_being_made else "Preparing …"
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
    if gone is not None:
        return gone[0]
    return run.learned / run.planned if run.planned else 0.0


REFRESH_MILLISECONDS = 200
MOST_NAMED = 2  # most texts that a line names
INDENT, BRANCH = "\u2003", "↳\u2002"  # before a run below its parent


class RunListModel(RowListModel[Run]):
    """A list model with a row for each run. The newest run is first. Branches come right below their run."""

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent=parent)
        self._session = session
        self._depths: list[int] = []
        throttle = Throttle(REFRESH_MILLISECONDS, self._refresh, self)
        session.runs.changed.connect(throttle.call)
        session.runs.grew.connect(throttle.call)

    @property
    def shown_row(self) -> int:
        """Return the row of the run shown, or -1 if no run is shown."""
        return next((row for row, run in enumerate(self.rows) if run is self._session.runs.shown), -1)

    def show(self, row: int) -> None:
        if self.rows[row] is not self._session.runs.shown:
            self._session.runs.show(self.rows[row])

    def delete(self, row: int) -> None:
        if 0 <= row < len(self.rows):
            self._session.delete(self.rows[row])

    def flags(self, index: Index) -> Qt.ItemFlag:
        return super().flags(index) | Qt.ItemFlag.ItemIsEditable

    def setData(self, index: Index, value: str, role: int = Role.EditRole) -> bool:
        self._session.rename(self.rows[index.row()], value)
        return True

    def rules(self, row: int) -> list[str]:
        run = self.rows[row]
        others = [name for name, rule in TIE_RULES.items() if rule.fits(run.recipe.base) and name != run.recipe.ties]
        return others if run.sources else []

    def train_again(self, row: int, rule: str) -> None:
        """Start a new training run on the same texts with a different tie rule.

        The new run has no interventions, because interventions name token ids, and the new run may have different
        ids.
        """
        run = self.rows[row]
        self._session.runs.train(run.sources, run.recipe.with_changes(ties=rule, interventions=(), grown_from=0))

    def _refresh(self) -> None:
        tree = as_tree(self._session.runs.all)
        self._depths = [depth for _, depth in tree]
        runs = [run for run, _ in tree]
        self.set_rows(runs, are_same=runs == self.rows)

    def description(self, row: int) -> str:
        run = self.rows[row]
        text = f"{title_of(run, self.rows)}\n{texts_of(run, most=20)}\n{sentence_of(run, self._session.machine_code)}"
        return f"{text}\nContinues run {run.parent}." if run.parent is not None else text

    def value_in_role(self, row: int, role: int) -> Any:
        run = self.rows[row]
        depth = self._depths[row]
        if role == Role.EditRole:
            return run.recipe.name
        if role == Role.DisplayRole:
            branch = INDENT * (depth - 1) + BRANCH if depth else ""
            return f"{branch}{title_of(run, self.rows)}\n{INDENT * depth}{texts_of(run)}"
        if role == Role.FontRole and run is self._session.runs.shown:
            font = QFont()
            font.setBold(True)
            return font
        return None


def texts_of(run: Run, most: int = MOST_NAMED) -> str:
    if not run.sources and run.parent is not None:
        return run.sentence.partition(". ")[0]
    names = [source.name for source in run.sources] or run.only_named
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}" or "imported"
