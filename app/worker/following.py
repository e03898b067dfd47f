"""The background work that follows a run of another process. It checks the run repeatedly, and reports new steps."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from app.worker.job import Task
from app.worker.window_first import wait_for_window
from bpe_core.following.followed_run import OVER, FollowedRun
from bpe_core.history.token_texts import TokenTexts, with_names
from bpe_core.session_file.requests import can_request

SECONDS_BETWEEN_LOOKS = 0.15
TIMES_THE_LOOK = 3  # a file that takes long to read is read less often
NAP_SECONDS = 0.05


class Follower(Protocol):
    def look(self) -> FollowedRun: ...


@dataclass(frozen=True, eq=False)
class FollowedSteps:
    """The result of one check of a followed run, with the texts of all tokens."""

    run: FollowedRun
    names: TokenTexts | None
    can_request: bool  # whether this program may ask the training to pause


def follow(follower: Follower, path: Path | None, task: Task) -> FollowedSteps | None:
    """Check a followed run repeatedly until the run ends, and report each result.

    `path` is the file of the run, if there is one.
    """
    names: TokenTexts | None = None
    place = 0
    while not task.cancelled():
        began = time.monotonic()
        run = follower.look()
        if run.history is not None:
            if names is None or run.place != place:
                names = TokenTexts(run.history.alphabet, with_names(run.history.recipe))
                place = run.place
            names.grow(run.history, between=wait_for_window)
        steps = FollowedSteps(run, names, path is not None and can_request(path))
        if run.state in OVER:
            return steps
        task.report(steps)
        took = time.monotonic() - began
        until = time.monotonic() + (0.0 if path is None else max(SECONDS_BETWEEN_LOOKS, TIMES_THE_LOOK * took))
        while time.monotonic() < until and not task.is_stopping:
            time.sleep(NAP_SECONDS)
    return None
