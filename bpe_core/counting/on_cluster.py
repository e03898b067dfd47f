"""The counting of a corpus by the workers of a Dask cluster.

There are two kinds of tasks. A task of the first kind counts a piece of the corpus. A task of the second kind adds up
the counts of a range of words.

Dask schedules the tasks, repeats the tasks of a lost worker, and shows the dashboard. A task writes its result to a
file, and the next task reads this file. All workers can reach the folder of these files, so finished work is kept when
a worker is lost.
"""

from __future__ import annotations

import logging
import time
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from importlib import metadata
from typing import Any

import numpy as np

from bpe_core.counting.runs import CorpusPiece, Place, count_piece, pieces_to_count
from bpe_core.counting.to_files import (
    CountingOrder,
    FileCount,
    PartTask,
    Range,
    WrittenCounts,
    add_up_range,
    write_part,
)
from bpe_core.errors import BpeError, Cancelled, ClusterError, CorpusError, plain
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.arrays import Int64s
from bpe_core.support.optional_packages import MISSING_CLUSTER, distributed_or_none
from bpe_core.support.progress import ALONE, Progress, Work
from bpe_core.text.corpus import Corpus, SkippedText
from bpe_core.text.mixture import Mixture
from bpe_core.text.reading.counts_head import CountsHead

LOCAL = "local"
PATIENCE = 10  # seconds until a scheduler must have answered
SECONDS_BETWEEN_LOOKS = 0.02
SECONDS_BETWEEN_CALLS = 5.0  # seconds between looks at the list of workers
SECONDS_ALONE = 300.0  # seconds without any worker: a lost one may need a while to come back
RETRIES = 2  # retries of a task that failed; tasks of lost workers are given to others anyway
PIECE_SIZE = 2**28  # bytes of text for each task: small enough that all workers are busy to the end
TASKS_A_THREAD = 4  # tasks that add up: enough to keep all workers busy to the end, few enough to cost little
ROOM = 2**29  # bytes of a task's tables, if no memory was given
RANKS = "ranks"

Facts = tuple[str, ...]


@cache
def versions() -> Facts:
    """Return the versions of this program, of Unicode and of the package regex. They decide which words a text has.

    All workers must have the same versions.
    """
    try:
        version = metadata.version("bpe-explorer")
    except metadata.PackageNotFoundError:
        version = "from its source code"
    return (
        f"bpe-explorer {version}",
        f"Unicode {unicodedata.unidata_version}",
        f"the package regex {metadata.version('regex')}",
    )


@contextmanager
def cluster(on: str, workers: int | None = None, memory: int | None = None) -> Iterator[Any]:
    distributed = distributed_or_none()
    if distributed is None:
        raise ClusterError(f"--on {on} {MISSING_CLUSTER}")
    if on != LOCAL:
        with _answering(distributed, on) as client:
            yield client
        return
    each = None if memory is None or workers is None else memory // workers
    with (
        _memory_kept(),
        distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,  # a task that fails is reported in a sentence
            **({} if each is None else {"memory_limit": each}),
        ) as local,
        distributed.Client(local) as client,
    ):
        yield client


@contextmanager
def _memory_kept() -> Iterator[None]:
    """Let workers keep the memory that they no longer use, inside the `with` block.

    Dask's default setting suits large tables. It would make reading blocks a sixth slower.
    """
    import dask

    key = "distributed.nanny.pre-spawn-environ"
    kept = {name: value for name, value in dask.config.get(key).items() if name != "MALLOC_TRIM_THRESHOLD_"}
    with dask.config.set({key: kept}):
        yield


@contextmanager
def _answering(distributed: Any, address: str) -> Iterator[Any]:
    try:
        client = distributed.Client(address, timeout=PATIENCE)
    except (OSError, ValueError, TypeError, ImportError) as error:
        raise ClusterError(
            f"The scheduler {address} does not answer: {_reason(error)}. Check the address (tcp://host:8786, or "
            "tls:// with certificates in Dask's settings), and check that the scheduler runs."
        ) from error
    try:
        if not client.scheduler_info()["workers"]:
            raise ClusterError(f"The scheduler {address} has no workers. Start workers (dask worker {address}).")
        yield client
    finally:
        client.close()


def count_on_cluster(
    corpus: Corpus, recipe: Recipe, order: CountingOrder, client: Any, watched: Work = ALONE
) -> WrittenCounts:
    """Count with the workers of a cluster. The files equal the files of `count_to_file` byte for byte."""
    count = _ClusterCount(corpus, recipe, order, watched)
    count.client = client
    for source in corpus.sources:
        if source.path is None and source.opens is None and source.kind != "texts":
            raise CorpusError(
                f"{source.name} cannot be read by a cluster. Save the text to a file that all workers can read."
            )
    with _cluster_errors():
        return count.run()


class _ClusterCount(FileCount):
    client: Any

    def counted_directly(self, pieces: list[CorpusPiece]) -> None:
        return None

    def count(self, pieces: list[CorpusPiece]) -> None:
        wanted = pieces_to_count(pieces, self.work)
        remarks = self.corpus.remarks
        for group in (self.recipe.mixture or Mixture()).groups:
            if group.must_be_read_whole:
                name = f"The group {group.name!r}" if group.name else "The whole corpus"
                why = "the sample of a text depends on the texts before it"
                remarks.add(group.name, f"{name} is counted by one worker: {why}")
        done = sum(piece.corpus.total_size or 0 for piece in set(pieces) - set(wanted))
        room = self.order.room or ROOM
        tasks = [
            (
                replace(piece_wanted, corpus=piece_wanted.corpus.independent_copy()),
                self.recipe,
                self.head,
                self.work,
                room,
            )
            for piece_wanted in wanted
        ]
        for size, skipped in self._each(_count_one, tasks):
            done += size
            for report in skipped:
                remarks.add(report.source, report.sentence, report.count)
            self.watched.progress(Progress("counting", done, self.corpus.total_size, "bytes"))

    def added_up(self, runs: Sequence[str], count: int) -> list[Range]:
        together = max(1, count // (TASKS_A_THREAD * sum(self.client.nthreads().values())))
        shares = [range(first, min(first + together, count)) for first in range(0, count, together)]
        added: dict[int, Range] = {}
        for some in self._each(_add_up, [(self.work, runs, self.head, share) for share in shares]):
            added |= some
            self.watched.progress(Progress("adding up", len(added), count, "parts"))
        return [added[number] for number in range(count)]

    def write(self, output: str, tasks: Sequence[PartTask]) -> None:
        """Write the files of the result.

        Workers write these files into the folder for work in progress. Only this process moves them to their final
        places. So a worker that Dask no longer uses cannot replace a result.
        """
        lean = []
        for task in tasks:
            with self.work.writing(task.name_at_work(RANKS)) as file:
                file.write(np.concatenate(task.ranks).tobytes())
            lean.append((task._replace(ranks=()), np.cumsum([len(ranks) for ranks in task.ranks])[:-1]))
        for _ in self._each(_write_part, [(self.work, self.head, *fields_of_task) for fields_of_task in lean]):
            pass
        for task in tasks:
            place, name = task.place_in(output)
            place.take(name, self.work, task.name_at_work(self.head))

    def _each(self, work: Callable[..., Any], tasks: Sequence[tuple[Any, ...]]) -> Iterator[Any]:
        client = self.client
        distributed = distributed_or_none()
        futures = [client.submit(_checked, versions(), work, *task, pure=False, retries=RETRIES) for task in tasks]
        done = distributed.as_completed(futures, loop=client.loop)
        called = attended = time.monotonic()
        try:
            while not done.is_empty():
                if self.watched.cancelled():
                    raise Cancelled("Counting was stopped.")
                if done.has_ready():
                    yield next(done).result()
                    continue
                time.sleep(SECONDS_BETWEEN_LOOKS)
                if (now := time.monotonic()) - called > SECONDS_BETWEEN_CALLS:
                    called = now
                    attended = now if client.nthreads() else attended
                    self._check_attendance(now - attended)
        finally:
            client.cancel(futures)

    def _check_attendance(self, alone: float) -> None:
        if alone > SECONDS_ALONE:
            raise ClusterError(
                f"The cluster has had no workers for {alone:,.0f} seconds. Start workers, and count again. "
                f"Finished parts are kept in {self.work.name}, and the same command continues from there."
            )


def _checked(wanted: Facts, work: Callable[..., Any], *task: Any) -> Any:
    for theirs, mine in zip(wanted, versions(), strict=True):
        if theirs != mine:
            raise ClusterError(
                f"A worker of the cluster has {mine}, but this computer has {theirs}. Install the same version on "
                "all computers."
            )
    return work(*task)


def _count_one(
    piece: CorpusPiece, recipe: Recipe, head: CountsHead, work: Place, room: int
) -> tuple[int, tuple[SkippedText, ...]]:
    skipped = count_piece(piece, recipe, head, work, room, threads=1)
    return piece.corpus.total_size or 0, skipped


def _add_up(work: Place, runs: Sequence[str], head: CountsHead, numbers: range) -> dict[int, Range]:
    return {number: add_up_range(work, runs, head, number) for number in numbers}


def _write_part(work: Place, head: CountsHead, task: PartTask, borders: Int64s) -> None:
    with work.open(task.name_at_work(RANKS)) as file:
        ranks = np.frombuffer(file.read(), np.int64)
    write_part(work, head, task._replace(ranks=np.split(ranks, borders)), work, task.name_at_work(head))


@contextmanager
def _cluster_errors() -> Iterator[None]:
    try:
        yield
    except BpeError:
        raise
    except Exception as error:
        if (lacking := _lacking(error)) is not None:
            raise ClusterError(
                f"The scheduler or a worker of the cluster lacks the package {lacking}. Install the same packages "
                "on all computers: pip install 'bpe-explorer[cluster]'."
            ) from error
        raise ClusterError(
            f"The cluster failed: {_reason(error)}. Finished parts are kept; the same command continues from there."
        ) from error


def _lacking(error: BaseException | None) -> str | None:
    """Return the name of a missing package that caused an error, or None if the error has another cause."""
    while error is not None:
        if isinstance(error, ImportError):
            return (error.name or "bpe_core").partition(".")[0]
        error = error.__cause__
    return None


def _reason(error: Exception) -> str:
    return plain(str(error)).strip().split("\n")[0][:100].rstrip(". ") or type(error).__name__
