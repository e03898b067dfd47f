"""The Training menu's part of the window: the run's buttons, its speed, and the runs there are."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QMenu

from app.session.session import Session
from app.settings import SPEED
from app.window.main_window import Frame
from app.window.training.speed_box import SpeedBox, merges_per_second
from app.window.training.status import TrainingStatusModel, title_of


class Training(QObject):
    """Connects the runs of the session with the window's actions."""

    def __init__(
        self, session: Session, frame: Frame, status: TrainingStatusModel, speed: SpeedBox, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._session, self._status = session, status
        runs, actions = session.runs, frame.actions
        actions["main"].triggered.connect(self._act)
        actions["new_run"].triggered.connect(lambda: session.train())
        actions["runs"].triggered.connect(lambda: frame.window.show_dock("runs"))
        actions["step"].triggered.connect(session.step)
        actions["stop"].triggered.connect(runs.stop)
        actions["extend"].triggered.connect(self._extend)
        speed.changed.connect(runs.set_pace)
        speed.slider.valueChanged.connect(lambda place: frame.settings.put(SPEED, place))
        runs.set_pace(merges_per_second(speed.slider.value()))
        self.runs_menu = QMenu("Sho&w Run", frame.window)
        self.runs_menu.aboutToShow.connect(self._fill_runs)
        actions.menus["training"].addSeparator()
        actions.menus["training"].addMenu(self.runs_menu)

    def _act(self) -> None:
        """What the one button of the training says."""
        runs = self._session.runs
        acts: dict[str, Callable[[], None]] = {
            "train": self._session.train,
            "pause": runs.pause,
            "resume": runs.resume,
            "extend": self._extend,
        }
        acts[self._status.status.main]()

    def _extend(self) -> None:
        self._session.runs.extend(self._session.recipe.value)

    def _fill_runs(self) -> None:
        """All runs of this session, the newest first; the one that is shown is ticked."""
        self.runs_menu.clear()
        for run in reversed(self._session.runs.all):
            action = self.runs_menu.addAction(title_of(run))
            action.setCheckable(True)
            action.setChecked(run is self._session.runs.shown)
            action.triggered.connect(lambda _, r=run: self._session.runs.show(r))
        if self.runs_menu.isEmpty():
            self.runs_menu.addAction("None yet").setEnabled(False)
