"""Tests of sweeps on a Dask cluster: they have the same rows as sweeps on local threads, and repeat no finished run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any

import pytest

from bpe_core.command_line.main import run
from bpe_core.errors import CorpusError
from bpe_core.sweep.plan import read_plan
from bpe_core.sweep.running import cached_runs, sweep

PLAN = """
sizes = [260, 262]
seeds = [1, 2]
sample = "50%"
sample_of = "lines"
[corpora]
book = ["book.txt"]
[recipes.bytes]
preset = "gpt2"
[recipes.words]
preset = "gpt2"
pattern = "english"
"""
pytestmark = pytest.mark.filterwarnings("ignore")  # Dask's own, about ports and event loops


@pytest.fixture(scope="module", autouse=True)
def random_numbers_of_dask() -> None:
    """Give Dask its own random generator, because Hypothesis fails if another thread draws from Python's generator."""
    for module in ("dask.sizeof", "distributed.comm.core", "distributed.scheduler", "distributed.utils_comm"):
        import_module(module).random = Random()  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    import distributed  # importing takes time, which every process that only collects tests would spend

    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as local,
        distributed.Client(local) as client,
    ):
        yield client


@pytest.fixture
def plan_file(tmp_path: Path) -> Path:
    lines = (f"low lower newest wide{number % 5} wider{number % 3}\n" for number in range(60))
    (tmp_path / "book.txt").write_text("".join(lines))
    path = tmp_path / "plan.toml"
    path.write_text(PLAN)
    return path


def test_cluster_workers_produce_the_same_rows_as_local_threads(plan_file: Path, client: Any) -> None:
    plan = read_plan(plan_file)
    tables: list[Any] = []
    made = sweep(plan, client=client, keep=lambda table: tables.append(table()))
    assert made.table.records() == sweep(plan).table.records()
    assert [len(table) for table in tables] == [2, 4, 6, 8]


def test_a_sweep_on_a_cluster_trains_only_the_runs_that_are_missing_from_the_table(
    plan_file: Path, client: Any
) -> None:
    whole = sweep(read_plan(plan_file)).table
    plan_file.write_text(PLAN.replace("[1, 2]", "[1, 2, 3]"))
    tables: list[Any] = []
    made = sweep(read_plan(plan_file), before=whole, client=client, keep=lambda table: tables.append(table()))
    assert (made.known, made.runs, len(tables)) == (4, 6, 2)


def test_an_error_of_a_cluster_worker_names_the_text_that_cannot_be_read(plan_file: Path, client: Any) -> None:
    plan = read_plan(plan_file)
    (plan_file.parent / "book.txt").write_bytes(b"\xff\xfe\xff")
    with pytest.raises(CorpusError, match=r"book\.txt"):
        sweep(plan, client=client)


def test_the_cached_option_of_a_sweep_reports_which_runs_are_already_in_the_table(
    plan_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = str(tmp_path / "results.csv")
    assert run(["sweep", str(plan_file), "-o", table, "--cached"]) == 0
    assert "0 of 4 runs are in the table already" in capsys.readouterr().out
    assert not Path(table).exists()
    run(["sweep", str(plan_file), "-o", table])
    plan_file.write_text(PLAN.replace("[1, 2]", "[1, 2, 3]"))
    capsys.readouterr()
    assert run(["sweep", str(plan_file), "-o", table, "--cached", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["is_cached"] for row in rows] == [True, True, False] * 2
    assert [*cached_runs(read_plan(plan_file), None).columns["is_cached"]] == [False] * 6


def test_a_sweep_on_a_cluster_writes_no_session(
    plan_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["sweep", str(plan_file), "-o", str(tmp_path / "runs.bpex"), "--on", "local"]) != 0
    assert "no session" in capsys.readouterr().err
