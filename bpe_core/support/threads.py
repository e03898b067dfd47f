"""Functions that run work on several threads. The work must be code that does not block other threads.

>>> run_in_threads(sum, [(1, 2), (3, 4)])
[3, 7]
>>> with WorkerPool(2) as threads:
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
from bpe_core.support.progress import ALONE, CancelCheck, Progress, Work

if TYPE_CHECKING:
    from concurrent.futures import Future

WORTH_THREADS = 1 << 22  # bytes of text to encode: some 20 ms

Part = TypeVar("Part")
Result = TypeVar("Result")
Item = TypeVar("Item")
Job = Callable[[CancelCheck], Result]  # a function that gets a check for cancellation

WAIT = 0.05  # seconds between two checks for cancellation
REPORTED_EVERY = 0.3  # seconds between two reports even if nothing was done
CANCELLED = "The measuring was stopped."


def available_threads() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_in_threads(work: Callable[[Part], Result], parts: Sequence[Part]) -> list[Result]:
    """Call `work` for each part in a separate thread, and return the results in order.

    A single part is processed in the calling thread.
    """
    if len(parts) < 2:
        return list(map(work, parts))
    from concurrent.futures import ThreadPoolExecutor  # takes a while to load, and few texts are so large

    with ThreadPoolExecutor(len(parts)) as pool:
        return list(pool.map(work, parts))


class Steps:
    """A counter of the finished steps of several jobs. With such a counter, progress is reported even within a job."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.done = 0
        self._lock = threading.Lock()

    def add(self) -> None:
        with self._lock:
            self.done += 1

    def counted(self, items: Iterable[Item]) -> Iterator[Item]:
        for item in items:
            yield item
            self.add()


class WorkerPool:
    """A pool of threads that runs jobs and reports each finished job.

    At the end of the `with` block, the pool cancels jobs that have not started, and waits for all other jobs.
    """

    def __init__(self, threads: int | None = None, work: Work = ALONE) -> None:
        from concurrent.futures import ThreadPoolExecutor  # takes a while to load

        self.count = threads or os.cpu_count() or 1
        self._pool = ThreadPoolExecutor(self.count)
        self._progress = work.progress
        self._cancelled = work.cancelled
        self._is_stopped = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._is_stopped = True
        self._pool.shutdown(cancel_futures=True)

    def all(self, jobs: Sequence[Job[Result]], stage: str, unit: str, steps: Steps | None = None) -> list[Result]:
        """Return the results of the jobs in order. If a job fails, the other jobs are stopped, too."""
        results: list[Result | None] = [None] * len(jobs)
        for place, result in self.each(jobs, stage, unit, steps):
            results[place] = result
        return results  # type: ignore[return-value]  # each has its place

    def each(
        self, jobs: Sequence[Job[Result]], stage: str, unit: str, steps: Steps | None = None
    ) -> Iterator[tuple[int, Result]]:
        """Yield the index and the result of each job, in the order in which the jobs finish."""
        from concurrent.futures import FIRST_COMPLETED, wait

        place_of: dict[Future[Result], int] = {
            self._pool.submit(job, lambda: self._is_stopped): place for place, job in enumerate(jobs)
        }
        waiting = set(place_of)
        reported = -1
        reported_at = 0.0
        counted = steps or Steps(len(jobs))
        while waiting or reported < counted.done:
            if counted.done != reported or time.monotonic() - reported_at > REPORTED_EVERY:
                reported = counted.done
                reported_at = time.monotonic()
                self._progress(Progress(stage, reported, counted.total, unit))
            done, waiting = wait(waiting, WAIT, FIRST_COMPLETED)
            if self._cancelled():
                raise Cancelled(CANCELLED)
            for future in done:
                yield place_of[future], future.result()
                if steps is None:
                    counted.add()
