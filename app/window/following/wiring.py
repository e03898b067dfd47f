"""A class that follows runs of other programs, stops following them, and can continue their training in this window."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject

from app.session.background import Answer
from app.session.run import Phase, Run
from app.settings import LAST_FOLDER
from app.window.main_window import Frame
from app.window.parts.dialogs import SESSION_FILTER, ask_to_open
from app.window.sessions.wiring import SessionWiring

STANDARD_INPUT = "-"


class FollowingWiring(QObject):
    def __init__(self, frame: Frame, filing: SessionWiring, parent: QObject) -> None:
        super().__init__(parent)
        self._frame = frame
        self._session = frame.session
        self._following = frame.session.following
        self._filing = filing
        frame.actions.connect(follow_run=self._ask_and_follow)

    def begin(self, place: str) -> None:
        """Follow the session file at a path. If the path is `-`, follow the steps that arrive on standard input."""
        if place == STANDARD_INPUT:
            self._following.begin_stream(sys.stdin.buffer)
        else:
            self._following.begin(Path(place).absolute())

    def take_over(self) -> None:
        """Open the file of the run shown as the session of this window, and continue its training."""
        run = self._session.runs.shown
        if run is not None and run.followed_file is not None:
            self._filing.take_over(run.followed_file)

    def offer_to_stop(self, run: Run) -> None:
        """Ask whether to stop following the run, or to stop its training in the other program.

        A run is followed if the window shows the steps that another program trains. If no program trains the run any
        more, stop following it without asking.
        """
        if run.phase is not Phase.FOLLOWED:
            self._following.stop(run)
            return
        answers = [Answer("Stop Following", partial(self._following.stop, run))]
        if run.can_request:
            answers.append(Answer("Stop Its Training", partial(self._following.request, run, "stop")))
        name = "" if run.followed is None else run.followed.name
        self._session.background.notify(
            f"Another program is training {name}. The window keeps all steps that it has read.",
            is_error=False,
            answers=tuple(answers),
            is_still_true=lambda: run.followed is not None,
        )

    def _ask_and_follow(self) -> None:
        path = ask_to_open(self._frame.window, "Follow a run", self._frame.settings.get(LAST_FOLDER), SESSION_FILTER)
        if path is not None:
            self.begin(str(path))
