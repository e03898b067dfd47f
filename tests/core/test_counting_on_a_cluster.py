"""Tests that counting on a Dask cluster writes the same bytes as counting by threads, even if a worker dies."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any

import fsspec
import pytest

from bpe_core.command_line.main import run
from bpe_core.counting import on_cluster
from bpe_core.counting.count_words import count_words
from bpe_core.counting.on_cluster import count_on_cluster
from bpe_core.counting.to_files import CountingOrder, count_to_file
from bpe_core.errors import Cancelled, ClusterError, CorpusError, OutputError
from bpe_core.recipes.recipe import Recipe
from bpe_core.support import cluster
from bpe_core.support.progress import Work
from bpe_core.text.corpus import Corpus
from tests.core.corpus_files import files, write

GPT2 = Recipe.preset("gpt2")
TEXTS = 24
pytestmark = pytest.mark.filterwarnings("ignore")  # Dask's own, about ports and event loops


@pytest.fixture(scope="module", autouse=True)
def random_numbers_of_dask() -> None:
    """Give Dask its own random generator, because threads of Dask may draw numbers after these tests have ended.

    Hypothesis fails a test if another thread uses the global generator of the module `random` during the test.
    """
    for module in ("dask.sizeof", "distributed.comm.core", "distributed.scheduler", "distributed.utils_comm"):
        import_module(module).random = Random()  # type: ignore[attr-defined]


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    folder = tmp_path / "texts"
    folder.mkdir()
    for number in range(TEXTS):
        write(folder, f"{number:02}.txt", f"low lower né x{'y' * (number % 5)} new{number % 7}\n" * (number % 3 + 1))
    return Corpus.from_files(folder)


@pytest.fixture(scope="module")
def threads() -> Iterator[Any]:
    """Start a cluster whose workers are threads of this process, so that they share fsspec's file system in memory."""
    import distributed  # importing takes time, which every process that only collects tests would spend

    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=2, processes=False, dashboard_address=None) as local,
        distributed.Client(local) as client,
    ):
        yield client


def test_cluster_workers_write_the_same_files_as_local_threads(tmp_path: Path, corpus: Corpus, threads: Any) -> None:
    bucket = fsspec.filesystem("memory")
    for size in (10**9, 400):
        wanted, order = tmp_path / f"{size}.parquet", dict(partition_size=size, piece_size=60)
        count_to_file(corpus, GPT2, CountingOrder(str(wanted), partition_size=size))
        place = f"memory://bucket/{size}.parquet"
        count_on_cluster(corpus, GPT2, CountingOrder(place, **order), threads)
        if wanted.is_file():
            assert bucket.cat_file(f"/bucket/{size}.parquet") == wanted.read_bytes()
        else:
            written = {path.rpartition("/")[2]: data for path, data in bucket.cat(f"/bucket/{size}.parquet/*").items()}
            assert written == files(wanted)
            assert len(written) > 2
        assert list(count_words(Corpus.from_files([place]), GPT2)) == list(count_words(corpus, GPT2))
    assert [name for name in bucket.find("/bucket") if "counting" in name] == []


def test_failures_on_a_cluster_are_reported_and_finished_counts_are_kept(
    tmp_path: Path, corpus: Corpus, threads: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    memory = type(fsspec.filesystem("memory"))
    original = memory.pipe_file

    def gone(self: Any, path: str, value: bytes, **named: Any) -> None:
        if "range-003" in path:
            raise OSError("the bucket is gone")
        original(self, path, value, **named)

    monkeypatch.setattr(memory, "pipe_file", gone)
    order = CountingOrder("memory://bucket/gone.parquet", piece_size=60)
    with pytest.raises(
        OutputError, match=r"range-003\.parquet: the bucket is gone\. Finished parts are kept in memory"
    ):
        count_on_cluster(corpus, GPT2, order, threads)
    monkeypatch.setattr(memory, "pipe_file", original)
    assert count_on_cluster(corpus, GPT2, order, threads).total == count_words(corpus, GPT2).total

    def lacking(*task: object) -> None:
        raise ModuleNotFoundError("No module named 'bpe_core'", name="bpe_core.counting")

    with monkeypatch.context() as patch:
        patch.setattr(on_cluster, "_count_one", lacking)
        with pytest.raises(
            ClusterError, match=r"a worker of the cluster lacks the package bpe_core\. Install the same"
        ):
            count_on_cluster(corpus, GPT2, CountingOrder("memory://bucket/lacking.parquet"), threads)
    with pytest.raises(Cancelled):
        count_on_cluster(
            corpus, GPT2, CountingOrder("memory://bucket/x.parquet"), threads, Work(cancelled=lambda: True)
        )
    monkeypatch.setattr(cluster, "PATIENCE", 0.3)
    name = write(tmp_path, "a.txt", "low")
    assert run(["count", str(name), "--on", "tcp://127.0.0.1:9", "-o", str(tmp_path / "x.parquet")]) == 1
    assert "The scheduler tcp://127.0.0.1:9 does not answer" in capsys.readouterr().err
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    assert run(["count", str(name), "--on", "local", "-o", str(tmp_path / "x.parquet")]) == 1
    assert "pip install 'bpe-explorer[cluster]'" in capsys.readouterr().err


@pytest.mark.parametrize("size", [10**9, 400])
def test_a_cluster_worker_that_was_declared_lost_changes_no_file_later(
    tmp_path: Path, corpus: Corpus, threads: Any, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    given_up: list[tuple[Any, ...]] = []
    submit = threads.submit

    def noted(*task: Any, **how: Any) -> Any:
        given_up.append(task)
        return submit(*task, **how)

    order = CountingOrder(str(tmp_path / "counts.parquet"), partition_size=size, piece_size=60)
    with monkeypatch.context() as patch:
        patch.setattr(threads, "submit", noted)
        count_on_cluster(corpus, GPT2, order, threads)
    assert {task[2].__name__ for task in given_up} == {"_count_one", "_add_up", "_write_part"}
    write(tmp_path / "texts", "00.txt", "other words")
    count_on_cluster(Corpus.from_files(tmp_path / "texts"), GPT2, order, threads)
    before = {path: path.is_file() and path.read_bytes() for path in tmp_path.rglob("*")}
    for function, *task in given_up:
        with pytest.raises((OutputError, CorpusError), match=r"counts\.parquet\.counting"):
            function(*task)
    assert {path: path.is_file() and path.read_bytes() for path in tmp_path.rglob("*")} == before


def test_counting_on_a_cluster_without_workers_ends_with_an_error(
    tmp_path: Path, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    import distributed

    monkeypatch.setattr(cluster, "SECONDS_BETWEEN_CALLS", 0.05)
    monkeypatch.setattr(cluster, "SECONDS_ALONE", 0.5)
    order = CountingOrder(str(tmp_path / "found.parquet"))
    with (
        distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=None) as local,
        distributed.Client(local) as client,
        pytest.raises(
            ClusterError,
            match=r"The cluster has had no workers .* kept in .*found\.parquet\.counting, and the same command",
        ),
    ):
        count_on_cluster(corpus, GPT2, order, client)


def test_killing_a_cluster_worker_does_not_change_the_counts(
    tmp_path: Path, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    count_to_file(corpus, GPT2, CountingOrder(str(tmp_path / "wanted.parquet")))
    with cluster.cluster("local", workers=1) as client:
        first = next(iter(client.run(os.getpid).values()))
        order = CountingOrder(str(tmp_path / "found.parquet"), piece_size=20)
        killed = threading.Event()

        def kill(progress: object) -> None:
            if not killed.is_set():
                killed.set()
                os.kill(first, signal.SIGKILL)

        count_on_cluster(corpus, GPT2, order, client, Work(kill))
        assert killed.is_set()
        assert next(iter(client.run(os.getpid).values())) != first
        assert (tmp_path / "found.parquet").read_bytes() == (tmp_path / "wanted.parquet").read_bytes()
        killed.clear()
        submit, second = client.submit, next(iter(client.run(os.getpid).values()))

        def kill_once(*task: Any, **how: Any) -> Any:
            future = submit(*task, **how)
            if "write_part" in task[2].__name__ and not killed.is_set():
                killed.set()
                os.kill(second, signal.SIGKILL)
            return future

        monkeypatch.setattr(client, "submit", kill_once)
        count_on_cluster(corpus, GPT2, order, client)
        assert killed.is_set(), "while it was about to write"
        assert (tmp_path / "found.parquet").read_bytes() == (tmp_path / "wanted.parquet").read_bytes()
        mine = cluster.versions()
        monkeypatch.setattr(cluster, "versions", lambda: ("bpe-explorer 99", *mine[1:]))
        with pytest.raises(
            ClusterError, match=r"but this computer has bpe-explorer 99\. Install the same version on all"
        ):
            count_on_cluster(corpus, GPT2, order, client)
