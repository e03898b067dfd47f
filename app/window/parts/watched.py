"""What the models of all pages share."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from PySide6.QtCore import QObject, SignalInstance

from app.session.aside import Aside
from app.session.run import Run
from app.window.parts.throttle import Throttle
from bpe_core.data_table import DataTable
from bpe_core.progress import CancelCheck

Exact = Callable[[CancelCheck], DataTable]  # called aside: of a hundred thousand rows it takes a while


class Watched:
    """They are refreshed when the world has moved, while somebody looks.

    Inherited beside a class of Qt; `refresh_on` is called once, in the constructor.
    """

    _lookers = 0
    chart = ""  # the name of the chart that is drawn from its exact values, if there is one

    @property
    def chart_choices(self) -> dict[str, object]:
        """How that chart is drawn, where there is a choice."""
        return {}

    @property
    def command(self) -> tuple[str, ...]:
        """What makes the table of its exact values without a window, in words of `app.session.manifests`, if any does.

        Behind it stand the arguments of the picture, where it is one.
        """
        return ()

    def refresh_on(self, milliseconds: int, *news: SignalInstance) -> None:
        """Be refreshed after any of these, at most once in so many milliseconds."""
        self._least = milliseconds
        self._throttle = Throttle(milliseconds, self._refresh_if_watched, cast(QObject, self))
        for signal in news:
            signal.connect(self._throttle.call)

    def watch(self, on: bool) -> None:
        """One more looks, or one less: a question may be answered by several pages."""
        self._lookers += 1 if on else -1
        if on:
            self._throttle.call()

    @property
    def is_watched(self) -> bool:
        """Whether somebody looks."""
        return self._lookers > 0

    def refresh_soon(self) -> None:
        """As when the world had moved: something else is asked for."""
        self._throttle.call()

    def refresh(self) -> None:
        """Find out what there is to be shown now."""
        raise NotImplementedError

    @property
    def is_waiting(self) -> bool:
        """Whether what is shown may be of an earlier moment."""
        return self._throttle.is_pending

    def catch_up(self) -> None:
        """Be refreshed now rather than soon: what is shown is about to be kept."""
        self._throttle.catch_up()

    def exact(self) -> Exact:
        """All that what is shown is drawn from, none of it rounded or left out, for a file."""
        return lambda cancelled: DataTable({})

    def _rest_as_long(self, aside: Aside, topic: str, run: Run | None) -> None:
        """While a run goes on, leave it most of the processor."""
        self._throttle.set_pause(aside.pause(topic, run, self._least))

    def _refresh_if_watched(self) -> None:
        if self.is_watched:
            self.refresh()
