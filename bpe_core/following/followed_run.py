"""A snapshot of a run while a different program trains it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bpe_core.history.history import History
from bpe_core.methods.kit.leading import LeadingPairs

FollowState = Literal[
    "waiting",  # no step is known yet
    "training",
    "paused",  # a request asks the training to wait
    "stopped",  # the training has not ended, but no process writes the file
    "ended",
    "unreadable",  # the file is missing or incomplete at present; the steps are those read before
    "cut",  # the stream of steps has ended before the training
]
OVER: tuple[FollowState, ...] = ("ended", "cut")


@dataclass(frozen=True, eq=False)
class FollowedRun:
    """The state of a followed run at one moment. Later steps do not change its history.

    Parameters
    ----------
    name
        The name of the file, or of the stream.
    state
        What the training is doing, if this is known.
    history
        The steps that are known, or None before the first look that succeeds.
    age
        The seconds since the newest steps were written.
    why
        A sentence about the state, such as why the file cannot be read.
    texts
        The names of the texts that the run learns from.
    place
        A number that grows by one each time another run replaces the run in the same file or stream.
    is_written
        Whether a process writes the file. None if this is unknown.
    leading
        The pairs that lead after the last step, if they are known.
    """

    name: str
    state: FollowState
    history: History | None = None
    age: float = 0.0
    why: str = ""
    texts: tuple[str, ...] = ()
    place: int = 1
    is_written: bool | None = None
    leading: LeadingPairs | None = None

    @property
    def learned(self) -> int:
        return 0 if self.history is None else len(self.history)

    @property
    def can_be_taken_over(self) -> bool:
        """Return whether another program may continue the run.

        The run must not have ended, and no process may be writing to its file.
        """
        return self.state == "stopped" and self.is_written is False

    @property
    def sentence(self) -> str:
        """Return a readable sentence about the state."""
        step = (
            f"step {self.learned:,}" if self.history is None else f"{self.history.recipe.wording.step} {self.learned:,}"
        )
        following = f"Following {self.name}"
        if self.state == "waiting":
            begun = "the training has begun, and no step is saved yet" if self.is_written else "no step is there yet"
            return f"{following}: {begun}. {self.why}".rstrip()
        if self.state == "training":
            return f"{following}: {step}, {_age(self.age)} old"
        if self.state == "paused":
            return f"{following}: paused after {step}."
        if self.state == "unreadable":
            return f"{following}: {step}, {_age(self.age)} old. The file cannot be read at present."
        if self.state == "cut":
            return f"The connection to {self.name} has ended after {step}."
        if self.state == "stopped":
            free = "No program is writing its file, so this program can take over the training."
            return f"The training of {self.name} has stopped after {step}. {free}"
        return f"The training of {self.name} has ended after {step}. {self.why}".rstrip()


def _age(seconds: float) -> str:
    """Return an age in words.

    >>> _age(3.4), _age(125), _age(7_300)
    ('3 s', '2 min', '2 h')
    """
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{seconds // 60:.0f} min" if seconds < 3_600 else f"{seconds // 3_600:.0f} h"
