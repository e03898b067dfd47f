"""What the models of all pages share."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from PySide6.QtCore import QObject, SignalInstance

from app.session.aside import Aside
from app.session.manifests import RESULT, SESSION
from app.session.run import Run
from app.window.parts.timing import Throttle
from bpe_core.asking import Question
from bpe_core.figures.figure import Figure
from bpe_core.studies.study import Study
from bpe_core.support.data_table import DataTable
from bpe_core.support.progress import CancelCheck, Work

Asked = tuple[Question, Study]
Drawn = Callable[[CancelCheck], Figure | None]  # called aside, too
Exact = Callable[[CancelCheck], DataTable]  # called aside: of a hundred thousand rows it takes a while


def command_of(asked: Asked | None) -> tuple[str, ...]:
    if asked is None:
        return ()
    return (asked[0].name.replace("_", "-"), *asked[0].arguments(), "--merges", SESSION, "-o", RESULT)


def exact_of(asked: Asked | None) -> Exact:
    if asked is None:
        return lambda cancelled: DataTable({})
    question, study = asked
    return lambda cancelled: question.answer(study, Work(cancelled=cancelled)).table


class Watched:
    """Is refreshed while somebody looks. Inherited beside a class of Qt, whose constructor calls `refresh_on` once."""

    _lookers = 0
    has_figure = False  # whether it is printed from its answer, not as it is on screen

    @property
    def asked(self) -> Asked | None:
        """The question behind what is shown, and the study it is asked of; None where nothing can be asked yet."""
        return None

    @property
    def command(self) -> tuple[str, ...]:
        """The command that answers the same, in words of `app.session.manifests`; arguments of a picture follow."""
        return command_of(self.asked)

    def exact(self) -> Exact:
        """The table behind what is shown, nothing rounded or left out, for a file."""
        return exact_of(self.asked)

    def drawn(self) -> Drawn:
        """The figure behind what is shown; None where the page is printed as it is on screen."""
        if (asked := self.asked) is None:
            return lambda cancelled: None
        return lambda cancelled: asked[0].answer(asked[1], Work(cancelled=cancelled)).figure

    def refresh_on(self, milliseconds: int, *news: SignalInstance) -> None:
        """Refresh after any of these signals, at most once in that time."""
        self._least = milliseconds
        self._throttle = Throttle(milliseconds, self._refresh_if_watched, cast(QObject, self))
        for signal in news:
            signal.connect(self._throttle.call)

    def watch(self, on: bool) -> None:
        """Count one more or one fewer who looks: several pages may show one question."""
        self._lookers += 1 if on else -1
        if on:
            self._throttle.call()

    @property
    def is_watched(self) -> bool:
        return self._lookers > 0

    def refresh_soon(self) -> None:
        """Refresh as after a signal: something else is asked for."""
        self._throttle.call()

    def refresh(self) -> None:
        """Find out what to show now."""
        raise NotImplementedError

    @property
    def is_waiting(self) -> bool:
        """Whether what is shown may be out of date."""
        return self._throttle.is_pending

    def catch_up(self) -> None:
        """Refresh now rather than soon: what is shown is about to be saved."""
        self._throttle.catch_up()

    def _rest_as_long(self, aside: Aside, topic: str, run: Run | None) -> None:
        """While a run goes on, leave it most of the processor."""
        self._throttle.set_pause(aside.pause(topic, run, self._least))

    def _refresh_if_watched(self) -> None:
        if self.is_watched:
            self.refresh()
