"""The runs of the session that other processes train.

The window only reads these runs. It may ask a process to pause or stop.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable
from functools import partial
from pathlib import Path
from typing import BinaryIO

from PySide6.QtCore import QObject, Signal

from app.session.background import BackgroundTasks
from app.session.run import Phase, Run
from app.session.runs import Runs
from app.worker.following import FollowedSteps, Follower, follow
from bpe_core.following.file_follower import FileFollower
from bpe_core.following.followed_run import FollowState
from bpe_core.following.stream_follower import StreamFollower
from bpe_core.session_file.requests import Request, make_request, withdraw_request

TOPIC = "training_request"
PHASES: dict[FollowState, Phase] = {"ended": Phase.ENDED, "cut": Phase.ENDED, "stopped": Phase.PAUSED}
REPLACED = "Another run has replaced this run in the file."
_numbers = itertools.count(1)


class FollowedRuns(QObject):
    """An object that adds a followed run to the session, and then adds the steps of the run as they arrive."""

    changed = Signal()  # something else is known of a followed run

    def __init__(self, runs: Runs, background: BackgroundTasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.waiting = ""  # a sentence about a run without any steps, or an empty string
        self._runs = runs
        self._background = background
        self._stamps: set[Hashable] = set()  # of the runs that are followed now

    def begin(self, path: Path) -> None:
        """Follow the run of a session. The session file need not exist yet."""
        self._begin(FileFollower(path), path, path.name)

    def begin_stream(self, stream: BinaryIO) -> None:
        """Follow a run whose steps arrive in a stream."""
        self._begin(StreamFollower(stream), None, "standard input")

    def _begin(self, follower: Follower, path: Path | None, name: str) -> None:
        stamp: Hashable = "follow", next(_numbers)
        take = partial(self._take, stamp, path)
        self.waiting = f"Following {name} …"
        self.changed.emit()
        self._stamps.add(stamp)
        self._background.run(
            stamp,
            partial(follow, follower, path),
            take,
            partial(self._note_failure, stamp),
            progress=take,
            ended=partial(self._stamps.discard, stamp),
        )

    def _take(self, stamp: Hashable, path: Path | None, steps: FollowedSteps | None) -> None:
        if steps is None:
            return
        seen = steps.run
        self.waiting = "" if seen.history is not None else seen.sentence
        run = self._run(stamp)
        if run is not None and run.followed is not None and seen.place != run.followed.place:
            self._leave(run, REPLACED)
            run = None
        if run is None and seen.history is not None and steps.names is not None:
            run = self._runs.add_table(seen.history, steps.names, "", phase=Phase.FOLLOWED)
            run.stamp = stamp
            run.followed_file = path
            run.only_named = seen.texts
        if run is not None and seen.history is not None:
            run.followed = seen
            run.can_request = steps.can_request
            run.names = steps.names
            run.leading = seen.leading or run.leading
            self._runs.grow(run, seen.history)
            if seen.leading is not None and run is self._runs.shown:
                self._runs.leading_changed.emit()
            self._runs.set_phase(run, PHASES.get(seen.state, Phase.FOLLOWED), seen.why if seen.state == "ended" else "")
        self.changed.emit()

    def _run(self, stamp: Hashable) -> Run | None:
        return next((run for run in reversed(self._runs.all) if run.stamp == stamp), None)

    def _note_failure(self, stamp: Hashable, sentence: str) -> None:
        self.waiting = ""
        run = self._run(stamp)
        if run is not None:
            self._leave(run, sentence)
        self._background.notify(sentence)
        self.changed.emit()

    def stop(self, run: Run) -> None:
        """Stop following a run. Its training continues in the other process."""
        self._background.cancel(run.stamp)
        self._leave(run, "This window does not follow the run any more.")
        self.changed.emit()

    def forget(self) -> None:
        """Stop following all runs, because another session is about to be shown."""
        for stamp in self._stamps:
            self._background.cancel(stamp)
        self.waiting = ""
        self.changed.emit()

    def _leave(self, run: Run, sentence: str) -> None:
        run.stamp = ("followed", next(_numbers))
        run.followed = None
        self._runs.set_phase(run, Phase.ENDED, sentence)

    def request(self, run: Run, request: Request | None) -> None:
        """Ask the training of a run to pause or to stop. With None, let the training continue."""
        path = run.followed_file
        if path is not None:
            act = partial(withdraw_request, path) if request is None else partial(make_request, path, request)
            self._background.run(TOPIC, lambda task: act(), failed=self._background.notify, queues=True, writes=True)
