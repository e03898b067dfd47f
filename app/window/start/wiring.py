"""Shows the start page, and hides it when there is something else to see."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, SignalInstance

from app.session.runs import Runs
from app.session.time import timer
from app.settings import START_HERE
from app.window.lessons.wiring import Teaching
from app.window.main_window import Frame
from app.window.start.start_page import StartPage

STAGE = "start"


class Starting(QObject):
    """The start page in the window; it makes room at any of the `news`."""

    def __init__(
        self,
        runs: Runs,
        frame: Frame,
        page: StartPage,
        teaching: Teaching,
        news: Sequence[SignalInstance],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._window, self._page, self._settings = frame.window, page, frame.settings
        self._teaching, self._runs, self._shown = teaching, runs, runs.shown
        page.at_start.setChecked(frame.settings.get(START_HERE))
        page.at_start.toggled.connect(lambda on: frame.settings.put(START_HERE, on))
        page.train.clicked.connect(frame.actions["main"].trigger)
        page.lesson_wanted.connect(self._take_lesson)
        page.left.connect(self.leave)
        frame.actions["start_here"].triggered.connect(self.open)
        runs.changed.connect(self._leave_for_another_run)
        frame.actions["main"].triggered.connect(self.leave)
        self._leave_soon = timer(self, 0, self.leave)  # in the next turn of the event loop
        for signal in news:
            signal.connect(lambda: self._leave_soon.start())

    def open_at_start(self) -> None:
        if self._settings.get(START_HERE):
            self.open()

    def open(self) -> None:
        self._shown = self._runs.shown
        self._leave_soon.stop()  # earlier news do not close it
        self._window.set_stage(STAGE)
        self._page.field.setFocus()

    def leave(self) -> None:
        if self._window.stage == STAGE:
            self._window.set_stage("")

    def _leave_for_another_run(self) -> None:
        """Leave for a new run; one that was shown already may go on."""
        if self._runs.shown is not self._shown:
            self.leave()

    def _take_lesson(self) -> None:
        self.leave()
        self._teaching.open()
