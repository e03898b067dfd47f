"""Pieces of work on several threads, told of as each is done, and given up as soon as nobody wants them.

>>> with OnThreads(2) as threads:
...     threads.all([lambda stopped, n=n: n * n for n in range(4)], "squaring", "numbers")
[0, 1, 4, 9]
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Self, TypeVar

from bpe_core.errors import Cancelled
from bpe_core.progress import CancelCheck, Progress, ProgressReport, ignore_progress, never_cancelled

if TYPE_CHECKING:
    from concurrent.futures import Future

Result = TypeVar("Result")
Item = TypeVar("Item")
Piece = Callable[[CancelCheck], Result]  # told how to ask whether it is still wanted

WAIT = 0.05  # seconds between two questions whether anybody still wants to know
TOLD_EVERY = 0.3  # seconds, though nothing was done meanwhile
CANCELLED = "The measuring was stopped."


class Steps:
    """What is told of where pieces consist of many steps: how many of all are done."""

    def __init__(self, total: int) -> None:
        self.total, self.done = total, 0
        self._lock = threading.Lock()

    def add(self) -> None:
        with self._lock:
            self.done += 1

    def counted(self, items: Iterable[Item]) -> Iterator[Item]:
        """
        >>> steps = Steps(3)
        >>> [steps.done for _ in steps.counted("abc")], steps.done
        ([0, 1, 2], 3)
        """
        for item in items:
            yield item
            self.add()


class OnThreads:
    """A pool that is left when all that was begun has ended."""

    def __init__(
        self,
        threads: int | None = None,
        progress: ProgressReport = ignore_progress,
        cancelled: CancelCheck = never_cancelled,
    ) -> None:
        from concurrent.futures import ThreadPoolExecutor  # takes a while to load

        self.count = threads or os.cpu_count() or 1
        self._pool = ThreadPoolExecutor(self.count)
        self._progress, self._cancelled = progress, cancelled
        self._is_stopped = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._is_stopped = True
        self._pool.shutdown(cancel_futures=True)

    def all(self, pieces: Sequence[Piece[Result]], stage: str, unit: str, steps: Steps | None = None) -> list[Result]:
        """What each came to, in their order; the first that fails ends all."""
        found: list[Result | None] = [None] * len(pieces)
        for place, result in self.each(pieces, stage, unit, steps):
            found[place] = result
        return found  # type: ignore[return-value]  # each has its place

    def each(
        self, pieces: Sequence[Piece[Result]], stage: str, unit: str, steps: Steps | None = None
    ) -> Iterator[tuple[int, Result]]:
        """The same one by one, each with its place, as soon as it is done."""
        from concurrent.futures import FIRST_COMPLETED, wait

        place_of: dict[Future[Result], int] = {
            self._pool.submit(piece, lambda: self._is_stopped): place for place, piece in enumerate(pieces)
        }
        waiting, told, told_at = set(place_of), -1, 0.0
        counted = steps or Steps(len(pieces))
        while waiting or told < counted.done:
            if counted.done != told or time.monotonic() - told_at > TOLD_EVERY:
                told, told_at = counted.done, time.monotonic()
                self._progress(Progress(stage, told, counted.total, unit))
            done, waiting = wait(waiting, WAIT, FIRST_COMPLETED)
            if self._cancelled():
                raise Cancelled(CANCELLED)
            for one in done:
                yield place_of[one], one.result()
                if steps is None:
                    counted.add()
