"""The base class of the models of all pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

from PySide6.QtCore import QObject, SignalInstance

from app.session.background import BackgroundTasks
from app.session.manifests import RESULT, SESSION
from app.session.run import Run
from app.window.parts.timing import Throttle
from bpe_core.asking import Question, answered
from bpe_core.figures.figure import Figure
from bpe_core.studies.study import Study
from bpe_core.support.data_table import DataTable
from bpe_core.support.progress import CancelCheck, Work

Asked = tuple[Question, Study]
Drawn = Callable[[CancelCheck], Figure | None]  # may be called on another thread
Exact = Callable[[CancelCheck], DataTable]  # called on another thread: a hundred thousand rows take a while


def command_of(asked: Asked | None) -> tuple[str, ...]:
    if asked is None:
        return ()
    about = asked[0]
    arguments = tuple(asked[0].arguments())
    words = (SESSION, *arguments) if about.table_first else (*arguments, "--merges", SESSION)
    return (about.name.replace("_", "-"), *words, "-o", RESULT)


def table_function_of(asked: Asked | None) -> Exact:
    if asked is None:
        return lambda cancelled: DataTable({})
    question, study = asked
    return lambda cancelled: answered(question, study, Work(cancelled=cancelled)).table


class LazyModel:
    """A model that is refreshed only while a page shows it.

    The constructor of each subclass calls `refresh_on` once.
    """

    _lookers = 0
    has_figure = False  # whether it is printed from its answer, not as on screen

    @property
    def current_question(self) -> Asked | None:
        """Return the question of the page with its study. Return None if no question can be asked yet."""
        return None

    @property
    def command(self) -> tuple[str, ...]:
        """Return the command that prints the answer of the page.

        The command contains the placeholders of `app.session.manifests`.
        """
        return command_of(self.current_question)

    @property
    def opens_in_python(self) -> Mapping[str, str]:
        """Return the parts of the session file that a Python script must open to repeat the answer of this page.

        Pass the result as the argument `opened` to `app.session.repeat_code.as_python`, which explains its form.
        """
        return {"": ""}

    def table_function(self) -> Exact:
        """Return a function that computes the complete table of the page with exact values, for saving in a file."""
        return table_function_of(self.current_question)

    def figure_function(self) -> Drawn:
        """Return a function that computes the figure of the page.

        If the function returns None, the page is printed as it looks on the screen.
        """
        if (asked := self.current_question) is None:
            return lambda cancelled: None
        return lambda cancelled: asked[0].answer(asked[1], Work(cancelled=cancelled)).figure

    def own_files(self) -> Mapping[str, Callable[[], bytes]]:
        """Return the additional file types in which the answer can be saved, besides tables and pictures.

        The result is a dictionary from a file name extension to the function that makes the file's content.
        """
        return {}

    def refresh_on(self, milliseconds: int, *news: SignalInstance) -> None:
        """Refresh the model after any of these signals, but at most once in the given number of milliseconds."""
        self._least = milliseconds
        self._throttle = Throttle(milliseconds, self._refresh_if_watched, cast(QObject, self))
        for signal in news:
            signal.connect(self._throttle.call)

    def watch(self, on: bool) -> None:
        """Count the pages that show the model.

        `on` is true if one more page shows the model now, and false if a page has stopped showing it.
        """
        self._lookers += 1 if on else -1
        if on:
            self._throttle.call()

    @property
    def is_watched(self) -> bool:
        return self._lookers > 0

    def refresh_soon(self) -> None:
        """Schedule a refresh of the model, as the signals do that were given to `refresh_on`."""
        self._throttle.call()

    def refresh(self) -> None:
        """Compute the content of the page."""
        raise NotImplementedError

    @property
    def is_waiting(self) -> bool:
        """Return whether the model will be refreshed soon. Until then the page may be out of date."""
        return self._throttle.is_pending

    def catch_up(self) -> None:
        """Refresh the model now if it waits for a refresh. Call this before the page is saved."""
        self._throttle.catch_up()

    def _set_refresh_pause(self, background: BackgroundTasks, topic: str, run: Run | None) -> None:
        """Set the pause between two refreshes.

        It is longer while a run is trained, because training needs most of the processor.
        """
        self._throttle.set_pause(background.pause(topic, run, self._least))

    def _refresh_if_watched(self) -> None:
        if self.is_watched:
            self.refresh()
