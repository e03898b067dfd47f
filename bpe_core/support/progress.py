"""Reports of the progress of long work, and checks whether the work is cancelled."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import TypeVar

from bpe_core.errors import Cancelled

Item = TypeVar("Item")

PERCENT = "%"  # the unit of work of which only the share is known
ASKED_EVERY = 1024  # items; some milliseconds of work
# Bytes of texts. For larger texts, a report comes before the first text is opened, because opening an archive of very
# many files takes a second.
WORTH_TELLING = 1_000_000


@dataclass(frozen=True)
class Progress:
    """A report of the progress of long work.

    Parameters
    ----------
    stage
        The current work: "reading", "counting", "training" ...
    done, total
        How many units are done, and how many there are in all. `total` is None if it cannot be known beforehand.
    unit
        The name of the units: "bytes", "merges" ...
    detail
        A detail, such as the file that is read.
    so_far
        A preliminary answer, if there is one. Later reports have better answers.

    Examples
    --------
    >>> Progress("training", 20, 50, "merges").total
    50
    """

    stage: str
    done: int
    total: int | None
    unit: str
    detail: str = ""
    so_far: object = field(default=None, compare=False)


ProgressReport = Callable[[Progress], None]
CancelCheck = Callable[[], bool]


def ignore_progress(progress: Progress) -> None:
    """Ignore a report of progress. This is the default for callers that do not show progress."""


def never_cancelled() -> bool:
    """Return False. This is the default for callers that never cancel the work."""
    return False


def while_wanted(items: Iterable[Item], cancelled: CancelCheck, every: int = ASKED_EVERY) -> Iterator[Item]:
    """Yield the items. Raise Cancelled if the work is cancelled.

    The check comes before the first item, and then after every `every` items.

    >>> list(while_wanted("abc", never_cancelled))
    ['a', 'b', 'c']
    """
    for number, item in enumerate(items):
        if number % every == 0 and cancelled():
            raise Cancelled("Cancelled.")
        yield item


def ignore_remark(remark: str) -> None:
    """Ignore a remark. This is the default for callers that do not show remarks, or show them in another way."""


@dataclass(frozen=True)
class Work:
    """A group of callbacks for long work: they report progress, report remarks, and cancel the work.

    Parameters
    ----------
    progress
        The function that is called repeatedly with a `Progress` during the work.
    cancelled
        The function that returns whether the work should stop. If it returns True, the work raises `Cancelled`.
    remark
        The function that is called with a sentence for each unusual fact about a text.

    Examples
    --------
    >>> Work().cancelled()
    False
    """

    progress: ProgressReport = ignore_progress
    cancelled: CancelCheck = never_cancelled
    remark: Callable[[str], object] = ignore_remark

    def check(self) -> None:
        if self.cancelled():
            raise Cancelled("Cancelled.")

    def limited_to(self, seconds: float) -> Work:
        """Return the same callbacks, except that the work is also cancelled when `seconds` have passed from now on."""
        end = monotonic() + seconds
        return replace(self, cancelled=lambda: self.cancelled() or monotonic() >= end)


ALONE = Work()  # without reports, and never cancelled
