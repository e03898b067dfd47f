"""A helper that takes a picture of the window with a trained run.

The picture is for the README, and for checking how the window looks.
"""

from __future__ import annotations

import sys
from pathlib import Path

from PySide6.QtCore import QElapsedTimer, QObject
from PySide6.QtWidgets import QApplication

from app.session.run import Phase
from app.session.time import timer
from app.wiring import Program

LOOK_EVERY_MILLISECONDS = 50
SETTLED_LOOKS = 6  # looks in a row at which nothing was being computed
LONGEST_MILLISECONDS = 600_000


class Screenshot(QObject):
    """An object that takes a picture of the window and then ends the program.

    If a session is open, the step shown stays. Otherwise the object first trains a run, and moves the time slider to
    the middle of the run.
    """

    def __init__(self, program: Program, path: Path) -> None:
        super().__init__(program)
        self._program = program
        self._path = path
        self._quiet = 0
        self._has_begun = self._has_travelled = False
        self._clock = QElapsedTimer()
        self._clock.start()
        self._timer = timer(self, LOOK_EVERY_MILLISECONDS, self._look, repeats=True)
        self._timer.start()

    def _look(self) -> None:
        session = self._program.session
        if not self._has_begun:
            if session.runs.shown is not None:
                self._has_begun = True
                self._has_travelled = self._program.filing.document.path is not None  # the moment of a session stays
            elif session.corpus.texts.value:
                self._has_begun = True
                session.train()
            return
        self._quiet = self._quiet + 1 if self._is_settled() else 0
        if self._quiet >= SETTLED_LOOKS and not self._has_travelled:
            # More can be seen half-way than at the end: pairs that wait, and merges still to come.
            self._has_travelled = True
            self._quiet = 0
            session.playing.pause_for_person()  # a first window plays its run
            session.cursor.go_to(session.cursor.end // 2)
        elif self._quiet >= SETTLED_LOOKS or self._clock.elapsed() > LONGEST_MILLISECONDS:
            self._timer.stop()
            self._take()

    def _is_settled(self) -> bool:
        program = self._program
        run = program.session.runs.shown
        is_done = run is not None and run.phase in (Phase.ENDED, Phase.FAILED, Phase.PAUSED)
        is_asking = program.session.background.is_busy() or program.pages.are_waiting
        return is_done and not (program.encoder.is_behind or is_asking)

    def _take(self) -> None:
        is_saved = self._program.window.grab().save(str(self._path))
        if not is_saved:
            sys.stderr.write(f"The picture could not be saved as {self._path}.\n")
        run = self._program.session.runs.shown
        is_trained = run is not None and run.phase in (Phase.ENDED, Phase.PAUSED)
        if not is_trained:
            sys.stderr.write(f"{run.sentence if run else 'No training ran, so the picture shows no result.'}\n")
        self._program.window.may_close = lambda: True  # close without questions: no user is there to answer
        self._program.window.close()
        QApplication.exit(0 if is_saved and is_trained else 1)
