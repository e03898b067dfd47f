"""A class that connects the Training menu, the speed and the list of runs with the session."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QActionGroup
from PySide6.QtWidgets import QMenu

from app.session.background import Answer
from app.settings import SPEED
from app.window.main_window import Frame
from app.window.parts.widgets import add_tick, filled_menu
from app.window.recipe.recipe_form import RecipeForm
from app.window.training.run_status import TrainingStatusModel, title_of
from app.window.training.training_views import SpeedBox, merges_per_second
from bpe_core.recipes.recipe import title_of as title_of_choice


class TrainingWiring(QObject):
    take_over_wanted = Signal()
    following_to_stop = Signal(object)  # the followed run shown

    def __init__(
        self, frame: Frame, status: TrainingStatusModel, form: RecipeForm, speed: SpeedBox, parent: QObject
    ) -> None:
        super().__init__(parent)
        session = frame.session
        runs = frame.session.runs
        actions = frame.actions
        self._session = session
        self._status = status
        self._frame = frame
        self._form = form
        train, new = (partial(self._if_fields_are_valid, act) for act in (self._train_unless_learned, self._train))
        extend = partial(self._if_fields_are_valid, lambda: runs.extend(session.recipe.value))
        step = partial(self._if_fields_are_valid, lambda: session.step(fits=not form.has_own_size))
        self.train_and_play = partial(self._if_fields_are_valid, partial(self._train_unless_learned, says=False))
        self._acts: dict[str, Callable[[], None]] = {
            "train": train,
            "pause": self._pause,
            "resume": self._resume,
            "extend": extend,
            "take over": self.take_over_wanted.emit,
        }
        actions.connect(main=self._act, step=step, new_run=new, stop=self._stop, extend=extend)
        actions.connect(runs=lambda: frame.window.show_dock("runs"))
        session.size_taken.connect(form.note_size)
        speed.slider.valueChanged.connect(self.set_speed)
        self.set_speed(speed.slider.value())
        self._one_run = QActionGroup(self)
        self.runs_menu = filled_menu("Sho&w Run", frame.window, self._fill_runs, "None yet")
        actions.menus["training"].addSeparator()
        actions.menus["training"].addMenu(self.runs_menu)

    def watch(self) -> None:
        """Train on the sample and play the training in the room Watch, as at the first start of the program."""
        self._frame.window.show_room("watch")
        self.train_and_play()

    def _act(self) -> None:
        self._status.catch_up()  # takes a size that is being typed
        self._acts[self._status.status.main]()

    def _pause(self) -> None:
        run = self._session.runs.shown
        if run is not None and run.followed is not None:
            self._session.following.request(run, "pause")
        else:
            self._session.runs.pause()

    def _resume(self) -> None:
        run = self._session.runs.shown
        if run is not None and run.followed is not None:
            self._session.following.request(run, None)
        else:
            self._session.runs.resume()

    def _stop(self) -> None:
        run = self._session.runs.shown
        if run is not None and run.followed is not None:
            self.following_to_stop.emit(run)
        else:
            self._session.runs.stop()

    def _if_fields_are_valid(self, act: Callable[[], object]) -> None:
        """Call `act` if all fields hold valid values. Otherwise show the message about a refused value.

        Do nothing if the entry that was typed just before was refused.
        """
        if self._form.standing:
            choice, (_, sentence) = next(iter(self._form.standing.items()))
            self._frame.window.show_dock("recipe")
            self._session.background.notify(f"{title_of_choice(choice)}: {sentence}")
        elif not self._frame.actions.is_typing_refused:
            act()

    def _train_unless_learned(self, *, says: bool = True) -> None:
        runs = self._session.runs
        corpus = self._session.corpus
        recipe = self._session.recipe.value
        equal = [run for run in runs.all if run.would_repeat(recipe, corpus.texts.value)]
        if not equal or corpus.is_listing:  # more texts are on their way
            self._train()
            return
        run = runs.shown if runs.shown in equal else equal[-1]
        runs.show(run)
        if self._frame.window.room != "compare":
            self._session.playing.replay()
        if says:
            sentence = f"Run {run.number:,} has the same recipe and texts, so a new run would give the same result."
            answer = Answer("Train It Again", self._train)
            self._session.background.notify(sentence, is_error=False, answers=(answer,))

    def _train(self) -> None:
        if self._frame.window.room != "compare":
            self._session.playing.play_next_run()
        self._session.train(fits=not self._form.has_own_size)

    def set_speed(self, place: int) -> None:
        """Set the speed of training and playback from the position of the slider."""
        self._frame.settings.put(SPEED, place)
        self._session.runs.set_pace(merges_per_second(place))
        self._session.playing.set_speed(merges_per_second(place))

    def _fill_runs(self, menu: QMenu) -> None:
        runs = self._session.runs
        for run in reversed(runs.all):
            action = add_tick(menu, title_of(run, runs.all), run is runs.shown, partial(runs.show, run))
            self._one_run.addAction(action)
