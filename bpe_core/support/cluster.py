"""Functions that use a Dask cluster, on this computer or at an address.

Dask schedules the tasks, repeats the tasks of a lost worker, and shows the dashboard. A task writes its result to a
file in a folder that all workers can reach, so finished work is kept if a worker is lost.
"""

from __future__ import annotations

import logging
import time
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import metadata
from typing import Any

from bpe_core.errors import BpeError, Cancelled, ClusterError, plain
from bpe_core.support.optional_packages import MISSING_CLUSTER, distributed_or_none
from bpe_core.support.progress import CancelCheck

LOCAL = "local"
PATIENCE = 10  # seconds until a scheduler must have answered
SECONDS_BETWEEN_LOOKS = 0.02
SECONDS_BETWEEN_CALLS = 5.0  # seconds between looks at the list of workers
SECONDS_ALONE = 300.0  # seconds without any worker: a lost one may need a while to come back
RETRIES = 2  # retries of a task that failed; tasks of lost workers are given to others anyway

Facts = tuple[str, ...]


@cache
def versions() -> Facts:
    """Return the versions of this program, of Unicode and of the package regex. The results of tasks depend on them.

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
        _keeping_memory(),
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
def _keeping_memory() -> Iterator[None]:
    """Configure the workers to keep memory that they no longer use, until the `with` block ends.

    By default, Dask returns such memory to the system. This is useful for large tables, but it would slow down
    the reading of blocks by a sixth.
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


def results_of_tasks(
    client: Any, work: Callable[..., Any], tasks: Sequence[tuple[Any, ...]], kept_in: str, cancelled: CancelCheck
) -> Iterator[Any]:
    """Let the workers call a function with the arguments of each task. Yield each result when its task is finished.

    `kept_in` is the folder with the files of finished tasks. Messages name this folder.
    """
    distributed = distributed_or_none()
    futures = [client.submit(_checked, versions(), work, *task, pure=False, retries=RETRIES) for task in tasks]
    done = distributed.as_completed(futures, loop=client.loop)
    called = attended = time.monotonic()
    try:
        while not done.is_empty():
            if cancelled():
                raise Cancelled(f"The work on the cluster was stopped. Finished parts are kept in {kept_in}.")
            if done.has_ready():
                yield next(done).result()
                continue
            time.sleep(SECONDS_BETWEEN_LOOKS)
            if (now := time.monotonic()) - called > SECONDS_BETWEEN_CALLS:
                called = now
                attended = now if client.nthreads() else attended
                _check_attendance(now - attended, kept_in)
    finally:
        client.cancel(futures)


def _check_attendance(alone: float, kept_in: str) -> None:
    if alone > SECONDS_ALONE:
        raise ClusterError(
            f"The cluster has had no workers for {alone:,.0f} seconds. Start workers, and repeat the command. "
            f"Finished parts are kept in {kept_in}, and the same command continues from there."
        )


def _checked(wanted: Facts, work: Callable[..., Any], *task: Any) -> Any:
    for theirs, mine in zip(wanted, versions(), strict=True):
        if theirs != mine:
            raise ClusterError(
                f"A worker of the cluster has {mine}, but this computer has {theirs}. Install the same version on "
                "all computers."
            )
    return work(*task)


@contextmanager
def cluster_errors() -> Iterator[None]:
    """Raise ClusterError if Dask or a worker raises an exception in the `with` block."""
    try:
        yield
    except BpeError:
        raise
    except Exception as error:
        if (lacking := _missing_package(error)) is not None:
            raise ClusterError(
                f"The scheduler or a worker of the cluster lacks the package {lacking}. Install the same packages "
                "on all computers: pip install 'bpe-explorer[cluster]'."
            ) from error
        raise ClusterError(
            f"The cluster failed: {_reason(error)}. Finished parts are kept; the same command continues from there."
        ) from error


def _missing_package(error: BaseException | None) -> str | None:
    """Return the name of the missing package that caused an error. Return None if the error has a different cause."""
    while error is not None:
        if isinstance(error, ImportError):
            return (error.name or "bpe_core").partition(".")[0]
        error = error.__cause__
    return None


def _reason(error: Exception) -> str:
    return plain(str(error)).strip().split("\n")[0][:100].rstrip(". ") or type(error).__name__
