"""The follower of a session that another process writes.

For example, the process runs `train -o run.bpex` on another computer.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from bpe_core.errors import BpeError
from bpe_core.following.followed_run import FollowedRun, FollowState
from bpe_core.history.history import History
from bpe_core.methods.kit.leading import LeadingPairs
from bpe_core.session_file.newest_steps import read_newest_steps, steps_file
from bpe_core.session_file.reading import read_growing_run
from bpe_core.session_file.requests import request_for
from bpe_core.session_file.values import SavedRun
from bpe_core.support.atomic import is_being_written

FileState = tuple[int, int, int]  # inode, time of change, size


class FileFollower:
    """An object that repeatedly checks a session file for new steps.

    It never writes to the file, and it continues after any failure. The file may be missing at first, vanish for
    a while, be incomplete, or be replaced. The known steps are kept until the file contains more steps of the
    same run, or a different run.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self._run: SavedRun | None = None
        self._read: FileState | None = None  # of the file when it was read last
        self._read_steps: FileState | None = None  # of the file of the newest steps
        self._leading: LeadingPairs | None = None
        self._changed = 0.0  # by the monotonic clock
        self._place = 1

    def look(self) -> FollowedRun:
        """Return what is known about the run now. The file is read if it has changed."""
        is_written = is_being_written(self.path)  # asked first: what a process wrote before it ended is read then
        # The steps beside the session are newer. A killed training may have left them there.
        has_newest = is_written is not False and self._read_newest_steps()
        why = "" if has_newest else self._read_if_changed()
        run = self._run
        if run is None:
            return FollowedRun(self.path.name, "waiting", why=why, is_written=is_written)
        return FollowedRun(
            self.path.name,
            self._state(run, is_written, is_readable=not why),
            run.history,
            age=time.monotonic() - self._changed,
            why=why or run.sentence,
            texts=run.names_of_texts,
            place=self._place,
            is_written=is_written,
            leading=self._leading,
        )

    def _state(self, run: SavedRun, is_written: bool | None, *, is_readable: bool) -> FollowState:
        if not is_readable:
            return "unreadable"
        if run.state != "paused":
            return "ended"
        if is_written is False:
            return "stopped"
        return "paused" if request_for(self.path) == "pause" else "training"

    def _read_newest_steps(self) -> bool:
        """Read the file of the newest steps beside the session if it has changed. Return whether it can be read."""
        path = steps_file(self.path)
        try:
            status = path.stat()
            state = status.st_ino, status.st_mtime_ns, status.st_size
            if state != self._read_steps:
                newest = read_newest_steps(path)
                run = SavedRun(1, newest.history.recipe, history=newest.history, names=newest.names)
                self._store_run(run)
                self._read_steps = state
                self._leading = newest.leading
                self._changed = time.monotonic()
        except (OSError, BpeError):  # it may be missing or of another version; the session holds the steps, too
            return False
        return True

    def _read_if_changed(self) -> str:
        """Read the file if it has changed. Return the reason if it cannot be read, and otherwise an empty string."""
        try:
            status = self.path.stat()
            state = status.st_ino, status.st_mtime_ns, status.st_size
            if state == self._read:
                return ""
            run = read_growing_run(self.path)
        except FileNotFoundError:
            return f"There is no file {self.path}."
        except OSError as error:
            return f"Could not read {self.path}: {error.strerror or error}."
        except BpeError as error:
            return str(error)
        is_first = self._run is None
        self._store_run(run)
        self._read = state
        since = max(0.0, time.time() - status.st_mtime) if is_first else 0.0  # clocks of two computers may differ
        self._changed = time.monotonic() - since
        return ""

    def _store_run(self, run: SavedRun) -> None:
        """Replace the known run with the run that was read.

        Do nothing if both are the same run, but the run that was read has fewer steps. An older copy of the file, for
        example, has fewer steps.
        """
        known = self._run
        if known is not None and not _is_same_run(known, run):
            self._place += 1
        elif known is not None and run.learned < known.learned:
            return
        self._run = run


def _is_same_run(known: SavedRun, run: SavedRun) -> bool:
    if known.history is None or run.history is None:
        return known.recipe == run.recipe
    return known.recipe == run.recipe and is_continued(known.history, run.history)


def is_continued(known: History, history: History) -> bool:
    """Return whether two histories have the same alphabet and steps, up to the end of the shorter history."""
    both = min(len(known), len(history))
    return known.alphabet == history.alphabet and all(
        np.array_equal(getattr(known.columns, name)[:both], getattr(history.columns, name)[:both])
        for name in known.columns._fields
    )
