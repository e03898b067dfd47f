"""How long work tells where it is, and how it is told to stop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """A moment in long work; `total` is None where it cannot be known beforehand."""

    stage: str  # "reading", "counting", "training", ...
    done: int
    total: int | None
    unit: str  # "bytes", "merges", ...
    detail: str = ""  # such as the file being read


ProgressReport = Callable[[Progress], None]
CancelCheck = Callable[[], bool]


def ignore_progress(progress: Progress) -> None:
    """For callers who do not care where the work is."""


def never_cancelled() -> bool:
    """For callers who never stop the work."""
    return False
