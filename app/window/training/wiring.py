"""The Training menu's part of the window: the run's buttons, its speed, and the runs there are."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QMenu

from app.session.notices import Notice
from app.session.session import Session
from app.settings import SPEED
from app.window.main_window import Frame
from app.window.recipe.model import RecipeForm
from app.window.training.speed_box import SpeedBox, merges_per_second
from app.window.training.status import TrainingStatusModel, title_of
from bpe_core.choice_titles import title_of as title_of_choice


class Training(QObject):
    """Connects the runs of the session with the window's actions."""

    def __init__(
        self,
        session: Session,
        frame: Frame,
        status: TrainingStatusModel,
        form: RecipeForm,
        speed: SpeedBox,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._session, self._status = session, status
        runs, actions = session.runs, frame.actions
        self._frame, self._form = frame, form
        actions["main"].triggered.connect(self._act)
        actions["new_run"].triggered.connect(lambda: self._if_all_is_said(self._train))
        actions["runs"].triggered.connect(lambda: frame.window.show_dock("runs"))
        actions["step"].triggered.connect(lambda: self._if_all_is_said(self._step))
        actions["stop"].triggered.connect(runs.stop)
        actions["extend"].triggered.connect(lambda: self._if_all_is_said(self._extend))
        session.fitting.taken.connect(form.note_size)
        speed.changed.connect(self._set_speed)
        speed.slider.valueChanged.connect(lambda place: frame.settings.put(SPEED, place))
        self._set_speed(merges_per_second(speed.slider.value()))
        self.runs_menu = QMenu("Sho&w Run", frame.window)
        self.runs_menu.aboutToShow.connect(self._fill_runs)
        actions.menus["training"].addSeparator()
        actions.menus["training"].addMenu(self.runs_menu)

    def _act(self) -> None:
        """What the one button of the training says."""
        runs = self._session.runs
        acts: dict[str, Callable[[], None]] = {
            "train": lambda: self._if_all_is_said(self._train),
            "pause": runs.pause,
            "resume": runs.resume,
            "extend": lambda: self._if_all_is_said(self._extend),
        }
        self._status.catch_up()  # with a size that was typed just now
        acts[self._status.status.main]()

    def _if_all_is_said(self, act: Callable[[], object]) -> None:
        """Nothing else is learned than what stands in the fields: what was refused there has to be mended first."""
        if self._form.standing:
            choice, (_, sentence) = next(iter(self._form.standing.items()))
            self._frame.window.show_dock("recipe")
            self._frame.messages.show_notice(Notice(f"{title_of_choice(choice)}: {sentence}"))
        elif not self._frame.actions.is_typing_refused:
            act()

    def _train(self) -> None:
        """A small run is played once it is learned, unless one looks at the lab, where time has other sliders."""
        if self._frame.window.stage != "lab":
            self._session.playing.play_next_run()
        self._session.train(fits=not self._form.has_own_size)

    def _step(self) -> None:
        self._session.step(fits=not self._form.has_own_size)

    def _set_speed(self, merges_per_second: float | None) -> None:
        """The one speed: of learning, and of playing what was learned."""
        self._session.runs.set_pace(merges_per_second)
        self._session.playing.set_speed(merges_per_second)

    def _extend(self) -> None:
        self._session.runs.extend(self._session.recipe.value)

    def _fill_runs(self) -> None:
        """All runs of this session, the newest first; the one that is shown is ticked."""
        self.runs_menu.clear()
        for run in reversed(self._session.runs.all):
            action = self.runs_menu.addAction(title_of(run, self._session.runs.all))
            action.setCheckable(True)
            action.setChecked(run is self._session.runs.shown)
            action.triggered.connect(lambda _, r=run: self._session.runs.show(r))
        if self.runs_menu.isEmpty():
            self.runs_menu.addAction("None yet").setEnabled(False)
