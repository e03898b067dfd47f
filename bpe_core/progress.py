"""How long work tells where it is, and how it is told to stop."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from bpe_core.errors import Cancelled
from bpe_core.records import dataclass

Item = TypeVar("Item")

ASKED_EVERY = 1024  # items; some milliseconds


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


def while_wanted(items: Iterable[Item], cancelled: CancelCheck, every: int = ASKED_EVERY) -> Iterator[Item]:
    """The items, as long as somebody wants to know what comes of them.

    >>> list(while_wanted("abc", never_cancelled))
    ['a', 'b', 'c']
    """
    for number, item in enumerate(items):
        if number % every == 0 and cancelled():
            raise Cancelled("Nobody wants to know any more.")
        yield item
