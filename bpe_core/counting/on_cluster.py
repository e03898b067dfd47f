"""Counting on a Dask cluster: each task counts one piece with our kernel, others add up one range each.

Scheduling, retries after a lost worker, and the dashboard are Dask's. Tasks hand on files, not tables: a place that
all workers reach holds the runs, so what was done stays done, whoever dies.
"""

from __future__ import annotations

import logging
import time
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, partial
from importlib import metadata
from typing import Any

from bpe_core.counting import to_files
from bpe_core.counting.count_files import needed_pyarrow
from bpe_core.counting.joining import Int64s
from bpe_core.counting.pieces import Piece, count_piece, head_of, not_done, pieces_of, runs_of
from bpe_core.counting.places import Place
from bpe_core.counting.ranges import range_bits
from bpe_core.counting.to_files import CountingOrder, Range, Written
from bpe_core.errors import BpeError, Cancelled, ClusterError, CorpusError, plain
from bpe_core.mixture import Mixture
from bpe_core.optional import MISSING_CLUSTER, distributed_or_none
from bpe_core.progress import CancelCheck, Progress, ProgressReport, ignore_progress, never_cancelled
from bpe_core.recipe import Recipe
from bpe_core.text.corpus import Corpus, Skipped
from bpe_core.text.reading.counted import CountsHead

LOCAL = "local"
PATIENCE = 10  # seconds until a scheduler must have answered
SECONDS_BETWEEN_LOOKS = 0.02
RETRIES = 2  # of a task that failed; those of workers that were lost are given to others anyway
PIECE_SIZE = 2**28  # bytes of text a task: small enough that all workers are busy to the end
TASKS_A_THREAD = 4  # that add up: enough that all are busy to the end, few enough that handing them out costs nothing
ROOM = 2**29  # bytes of a task's tables, where no memory was said

Facts = tuple[str, ...]
Each = Callable[[Callable[..., Any], Sequence[tuple[Any, ...]]], Iterator[Any]]


@cache
def facts() -> Facts:
    """What decides which words are found; all who count must agree in it."""
    try:
        version = metadata.version("bpe-explorer")
    except metadata.PackageNotFoundError:
        version = "from its sources"
    return (
        f"bpe-explorer {version}",
        f"Unicode {unicodedata.unidata_version}",
        f"the package regex {metadata.version('regex')}",
    )


@contextmanager
def cluster(on: str, workers: int | None = None, memory: int | None = None) -> Iterator[Any]:
    """A client of the scheduler at that address, or of a cluster of this computer."""
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
            silence_logs=logging.CRITICAL,  # a task that fails is told in a sentence
            **({} if each is None else {"memory_limit": each}),
        ) as local,
        distributed.Client(local) as client,
    ):
        yield client


@contextmanager
def _memory_kept() -> Iterator[None]:
    """Dask lets its workers give memory back at once, for the sake of large tables; reading blocks of text is a
    sixth slower so, and they hold no large tables."""
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
            f"The scheduler {address} does not answer: {_reason(error)}. Is its address right (tcp://host:8786), and "
            "does it run?"
        ) from error
    try:
        if not client.scheduler_info()["workers"]:
            raise ClusterError(f"The scheduler {address} has no workers; start some (dask worker {address}).")
        yield client
    finally:
        client.close()


def count_on_cluster(
    corpus: Corpus,
    recipe: Recipe,
    order: CountingOrder,
    client: Any,
    *,
    progress: ProgressReport = ignore_progress,
    cancelled: CancelCheck = never_cancelled,
) -> Written:
    """What `count_to_file` does, byte for byte, by the workers of a cluster."""
    needed_pyarrow()
    each = partial(_each, client, cancelled)
    to_files.check_output(order.output)
    for source in corpus.sources:
        if source.path is None and source.opens is None and source.kind != "texts":
            raise CorpusError(f"{source.name} cannot be read by a cluster; save it to a file all workers reach.")
    head, work = head_of(corpus, recipe), to_files.working_place(order)
    with to_files.keeping(work), _told():
        pieces = pieces_of(corpus, recipe, order.piece_size_for(recipe))
        _count(each, pieces, recipe, head, work, order.room or ROOM, corpus, progress)
        runs = [*runs_of(pieces, work)]
        count, tasks_at_most = 1 << range_bits(corpus.total_size), TASKS_A_THREAD * sum(client.nthreads().values())
        together = max(1, count // tasks_at_most)
        shares = [range(first, min(first + together, count)) for first in range(0, count, together)]
        added: dict[int, Range] = {}
        for found in each(_add_up, [(work, runs, head, share) for share in shares]):
            added |= found
            progress(Progress("adding up", len(added), count, "parts"))
        ranges = [added[number] for number in range(count)]
        files, ranks = to_files.files_of(ranges, order), to_files.ranks_of(ranges)
        to_files.prepare_output(order.output, files)
        held = [to_files.ranges_of(number, files, len(ranges)) for number in range(files)]
        places = client.scatter([ranks[one.start : one.stop] for one in held])
        tasks = [(work, head, order.output, i, files, held[i], places[i]) for i in range(files)]
        for _ in each(_write, tasks):
            pass
        to_files.finish_output(order.output, head, files)
    to_files.clear(work, corpus)
    return to_files.written(ranges, files)


def _count(
    each: Each,
    pieces: list[Piece],
    recipe: Recipe,
    head: CountsHead,
    work: Place,
    room: int,
    corpus: Corpus,
    progress: ProgressReport,
) -> None:
    """Have those pieces counted that are not done."""
    wanted = not_done(pieces, work)
    for group in (recipe.mixture or Mixture()).groups:
        if group.hangs_together:
            name = f"The group {group.name!r}" if group.name else "All of it"
            corpus.remarks.add(
                group.name, f"{name} is counted by one worker: what is taken of a text hangs on those before it"
            )
    total = corpus.total_size
    done = sum(piece.corpus.total_size or 0 for piece in pieces) - sum(one.corpus.total_size or 0 for one in wanted)
    tasks = [(replace(piece, corpus=piece.corpus.apart()), recipe, head, work, room) for piece in wanted]
    for size, skipped in each(_count_one, tasks):
        done += size
        for report in skipped:
            corpus.remarks.add(report.source, report.sentence, report.count)
        progress(Progress("counting", done, total, "bytes"))


def _each(
    client: Any, cancelled: CancelCheck, work: Callable[..., Any], tasks: Sequence[tuple[Any, ...]]
) -> Iterator[Any]:
    """What the workers find out, as it comes in; the first that fails ends it."""
    distributed = distributed_or_none()
    futures = [client.submit(_checked, facts(), work, *task, pure=False, retries=RETRIES) for task in tasks]
    done = distributed.as_completed(futures)
    try:
        while not done.is_empty():
            if cancelled():
                raise Cancelled("Nobody wants the counts any more.")
            if done.has_ready():
                yield next(done).result()
            else:
                time.sleep(SECONDS_BETWEEN_LOOKS)
    finally:
        client.cancel(futures)


def _checked(wanted: Facts, work: Callable[..., Any], *task: Any) -> Any:
    """On a worker: who would find other words does not begin."""
    for theirs, mine in zip(wanted, facts(), strict=True):
        if theirs != mine:
            raise ClusterError(f"A worker of the cluster has {mine}, but here is {theirs}; install the same on all.")
    return work(*task)


def _count_one(
    piece: Piece, recipe: Recipe, head: CountsHead, work: Place, room: int
) -> tuple[int, tuple[Skipped, ...]]:
    skipped = count_piece(piece, recipe, head, work, room, threads=1)
    return piece.corpus.total_size or 0, skipped


def _add_up(work: Place, runs: Sequence[str], head: CountsHead, numbers: range) -> dict[int, Range]:
    return {number: to_files.add_up_range(work, runs, head, number) for number in numbers}


def _write(
    work: Place, head: CountsHead, output: str, number: int, files: int, ranges: range, ranks: Sequence[Int64s]
) -> None:
    to_files.write_part(work, head, output, number, files, ranges, ranks)


@contextmanager
def _told() -> Iterator[None]:
    """What Dask raises is any of many things; a person wants to know that it is the cluster, and what is kept."""
    try:
        yield
    except BpeError:
        raise
    except Exception as error:
        if (lacking := _lacking(error)) is not None:
            raise ClusterError(
                f"The scheduler or a worker of the cluster lacks the package {lacking}; install the same on all, with "
                "pip install 'bpe-explorer[cluster]'."
            ) from error
        raise ClusterError(
            f"The cluster failed: {_reason(error)}. What is counted is kept; the same command goes on from there."
        ) from error


def _lacking(error: BaseException | None) -> str | None:
    """The package for want of which a task, or the list of all tasks, could not be read."""
    while error is not None:
        if isinstance(error, ImportError):
            return (error.name or "bpe_core").partition(".")[0]
        error = error.__cause__
    return None


def _reason(error: Exception) -> str:
    """The first line of what Dask says."""
    return plain(str(error)).strip().split("\n")[0][:100].rstrip(". ") or type(error).__name__
