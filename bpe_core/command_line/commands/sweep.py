"""The command `bpe-explorer sweep`. It trains and measures the runs of a plan, and writes one table of results.

After a stop, the same command continues the sweep.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from bpe_core.command_line.arguments import number
from bpe_core.command_line.corpora import cluster_of
from bpe_core.command_line.interruption import interruptible
from bpe_core.errors import BpeError, OutputError, plain
from bpe_core.session_file import EXTENSION, is_session_name
from bpe_core.support.data_table import ENDINGS, DataTable, checked_name, write_data
from bpe_core.sweep.plan import EXAMPLE, Plan, read_plan
from bpe_core.sweep.results import MEANINGS, read_results, summary_of
from bpe_core.sweep.running import cached_runs, sweep
from bpe_core.sweep.runs_in_session import DiskWriter, RunsInSession

examples = """\
examples:
  bpe-explorer sweep --example > plan.toml
      Print a plan to start from. A recipe can have every choice that `presets NAME` prints.

  bpe-explorer sweep plan.toml -o results.parquet --summary summary.csv
      Make all runs, on all cores. The same command again makes only the runs that the table lacks: runs added
      to the plan, and runs missing after a stop. `chart sweep results.parquet` draws its curves.

  bpe-explorer sweep plan.toml -o results.parquet --cached
      Make no runs, and list the runs that the table has already.

  bpe-explorer sweep plan.toml -o results.parquet --on tcp://scheduler:8786
      Make the runs on a Dask cluster (pip install 'bpe-explorer[cluster]' here and on its workers); --on local uses
      this computer as a cluster. All workers must reach the texts. The person who runs the scheduler can run any code
      here, so trust them fully.

columns:
""" + "\n".join(f"  {name}: {meaning}" for name, meaning in MEANINGS.items())
grows = True
SHOWN = (
    ("bytes_per_token", "bytes/token"),
    ("tokens_per_word", "tokens/word"),
    ("renyi_efficiency", "Rényi"),
    ("bits_per_byte", "bits/byte"),
    ("morpheme_f1", "morphemes F1"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(one_of={"plan": "PLAN", "example": "--example"})
    add = parser.add_argument
    add("plan", nargs="?", metavar="PLAN", help="the plan: what to learn and to measure, as TOML")
    add("--example", action="store_true", help="print a plan to start from")
    output = (
        f"the table ({', '.join(ENDINGS)}), with a row for each run and size; or {EXTENSION}, a session with all runs"
    )
    add("-o", "--output", type=Path, action="append", default=[], metavar="OUT", help=output)
    add("--summary", type=Path, metavar="OUT", help="mean, standard deviation, minimum and maximum over the seeds")
    add(
        "--threads",
        type=number,
        metavar="N",
        help="how many runs to make at the same time (default: the number of cores)",
    )
    on = (
        "make the runs on a Dask cluster: tls://scheduler:8786, tcp:// without encryption, or local; the scheduler can "
        "run any code here"
    )
    add("--on", metavar="CLUSTER", help=on)
    add("--workers", type=number, metavar="N", help="processes of --on local (default: the number of cores)")
    add("--cached", action="store_true", help="make no runs; say which runs the table of -o has already")
    add("--json", action="store_true", help="print the summary as JSON")


def texts_in(options: argparse.Namespace) -> list[str]:
    if options.example:
        return []
    plan = read_plan(options.plan)
    learned = [path for paths in plan.corpora.values() for path in paths]
    return [*learned, *plan.held_out, *filter(None, [plan.morphemes])]


def run(options: argparse.Namespace) -> int:
    if options.example:
        print(EXAMPLE, end="")
        return 0
    if options.threads is not None and options.threads < 1:
        raise BpeError("A sweep needs at least one thread: --threads 1.")
    plan = read_plan(Path(options.plan).absolute() if options.on else options.plan)
    table, session = _outputs(options)
    if options.on and session is not None:
        raise BpeError(f"A sweep on a cluster writes a table, and no session: leave out {session}.")
    before = read_results(table) if table is not None and table.exists() else None
    if options.cached:
        _print_cached(cached_runs(plan, before), as_json=options.json)
        return 0
    runs = None if session is None else RunsInSession(session, plan)
    kept = DiskWriter(table, runs)
    with interruptible(stopped="") as interruption:
        try:
            with cluster_of(options, "The runs are made") as client:
                threads = options.threads
                work = interruption.work
                result = sweep(plan, before=before, session=runs, keep=kept, threads=threads, client=client, work=work)
        finally:
            kept.write()
    sys.stderr.writelines(f"{plain(remark)}\n" for remark in result.remarks)
    kept(lambda: result.table)
    kept.write()
    summary = summary_of(result.table)
    if options.summary is not None:
        write_data(summary, options.summary)
    _print_result(options, plan, summary)
    if table is not None and not options.json:
        were = "was" if result.known == 1 else "were"
        again = f" ({result.known:,} of these {were} there already)" if result.known else ""
        gone = f" {result.left_out:,} rows that are no longer in the plan were left out." if result.left_out else ""
        print(f"Wrote {len(result.table):,} rows of {result.runs:,} runs{again} to {plain(str(table))}.{gone}")
    if runs is not None and not options.json:
        print(f"Wrote {runs.description} to {plain(str(session))}; the window opens it.")
    return 0


def _print_cached(runs: DataTable, *, as_json: bool) -> None:
    rows = runs.records()
    if as_json:
        print(json.dumps(rows, ensure_ascii=False))
        return
    for row in rows:
        seed = f", seed {row['seed']}" if row["seed"] else ""
        state = "in the table" if row["is_cached"] else "to be made"
        print(f"{row['recipe']}, {row['corpus']}, {row['ties']}{seed}, sizes {row['sizes']}: {state}")
    known = sum(row["is_cached"] for row in rows)
    print(f"{known:,} of {len(rows):,} runs are in the table already.")


def _outputs(options: argparse.Namespace) -> tuple[Path | None, Path | None]:
    sessions = [path for path in options.output if is_session_name(path)]
    tables = [path for path in options.output if not is_session_name(path)]
    if max(len(sessions), len(tables)) > 1:
        raise OutputError("A sweep writes one table and one session at most. Give -o once for each.")
    for path in (*sessions, *map(checked_name, filter(None, (*tables, options.summary)))):
        if not path.absolute().parent.is_dir():
            raise OutputError(f"Could not write {path}: the folder {path.parent} does not exist.")
    return next(iter(tables), None), next(iter(sessions), None)


def _print_result(options: argparse.Namespace, plan: Plan, summary: DataTable) -> None:
    rows = summary.records()
    if options.json:
        print(json.dumps(rows, ensure_ascii=False))
        return
    for (recipe, corpus, ties), group in groupby(rows, lambda row: (row["recipe"], row["corpus"], row["ties"])):
        print(f"{recipe}, {corpus}, {ties}")
        for line in _lines(list(group), several=len(plan.seeds) > 1):
            print(line)
        print()


def _lines(rows: list[dict[str, Any]], *, several: bool) -> Iterator[str]:
    shown = [(name, title) for name, title in SHOWN if any(row[f"{name}_mean"] is not None for row in rows)]
    yield f"{'size':>12}" + "".join(f"{title:>18}" for _, title in shown)
    for row in rows:
        cells = (_cell(row[f"{name}_mean"], row[f"{name}_deviation"], several=several) for name, _ in shown)
        yield f"{row['size']:>12,}" + "".join(f"{cell:>18}" for cell in cells)


def _cell(mean: float | None, deviation: float | None, *, several: bool) -> str:
    if mean is None:
        return ""
    return f"{mean:.3f} ± {deviation:.3f}" if several and deviation is not None else f"{mean:.3f}"
