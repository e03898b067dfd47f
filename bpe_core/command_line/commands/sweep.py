"""The command `bpe-explorer sweep`. It trains and measures the runs of a plan, and writes one table of results.

After a stop, the same command continues the sweep.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from bpe_core.asking import Answer
from bpe_core.asking.answer import cell_text, ends_of_interval
from bpe_core.asking.caption import caption_from, choices_in_words
from bpe_core.asking.headings import heading_of
from bpe_core.command_line.arguments import number
from bpe_core.command_line.corpora import cluster_of
from bpe_core.command_line.interruption import interruptible
from bpe_core.command_line.paper_options import add_paper_options, is_for_paper, print_for_paper
from bpe_core.errors import BpeError, OutputError, plain
from bpe_core.session_file import EXTENSION, is_session_name
from bpe_core.studies.checksums import checksum_of_texts
from bpe_core.studies.texts import CorpusTexts
from bpe_core.support.data_table import ENDINGS, DataTable, checked_name, write_data
from bpe_core.support.paper_tables import PrintedTable
from bpe_core.support.rounding import with_deviation, with_interval
from bpe_core.support.wording import count_text
from bpe_core.sweep.plan import EXAMPLE, Plan, read_plan
from bpe_core.sweep.results import INTERVALS, MEANINGS, OF_SUMMARY, read_results, summary_of
from bpe_core.sweep.running import cached_runs, sweep
from bpe_core.sweep.runs_in_session import DiskWriter, RunsInSession
from bpe_core.text.corpus import Corpus

examples = """\
examples:
  bpe-explorer sweep --example > plan.toml
      Print a plan to start from. A recipe can have every choice that `presets NAME` prints.

  bpe-explorer sweep plan.toml -o results.parquet --summary summary.csv
      Make all runs, on all cores. The same command again makes only the runs that the table lacks: runs added
      to the plan, and runs missing after a stop. `chart sweep results.parquet` draws its curves.

  bpe-explorer sweep plan.toml -o results.parquet --cached
      Make no runs, and list the runs that the table already has.

  bpe-explorer sweep plan.toml -o results.parquet --on tcp://scheduler:8786
      Make the runs on a Dask cluster (pip install 'bpe-explorer[cluster]' here and on its workers); --on local uses
      this computer as a cluster. All workers must reach the texts. The person who runs the scheduler can run any code
      here, so trust them fully.

columns:
""" + "\n".join(f"  {name}: {meaning}" for name, meaning in MEANINGS.items())
grows = True
WIDTH = 25  # characters of a column
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
    summary = (
        "the mean, standard deviation, minimum and maximum of each measure over the seeds; with a single run, also the "
        "intervals of its measures"
    )
    add("--summary", type=Path, metavar="OUT", help=summary)
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
    add("--workers", type=number, metavar="N", help="how many processes --on local uses (default: the number of cores)")
    add("--cached", action="store_true", help="make no runs, but say which runs are already in the table that -o names")
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument("--json", action="store_true", help="print the summary as JSON")
    add_paper_options(shown, "the summary")


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
        _print_cached(cached_runs(plan, before), plan, options)
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
    prints_data = options.json or is_for_paper(options)
    if table is not None and not prints_data:
        were = "was" if result.known == 1 else "were"
        again = f" ({result.known:,} of these {were} in the table already)" if result.known else ""
        rows = count_text(
            result.left_out, "row that is no longer in the plan was", "rows that are no longer in the plan were"
        )
        gone = f" {rows} left out." if result.left_out else ""
        print(
            f"Wrote {count_text(len(result.table), 'row')} of {count_text(result.runs, 'run')}{again} to "
            f"{plain(str(table))}.{gone}"
        )
    if runs is not None and not prints_data:
        print(f"Wrote {runs.description} to {plain(str(session))}; the window opens it.")
    return 0


def _print_cached(runs: DataTable, plan: Plan, options: argparse.Namespace) -> None:
    rows = runs.records()
    if options.json:
        print(json.dumps(rows, ensure_ascii=False))
        return
    if is_for_paper(options):
        print_for_paper(Answer(runs).printed(), _caption("Runs of a sweep", plan), options)
        return
    for row in rows:
        seed = f", seed {row['seed']}" if row["seed"] else ""
        state = "in the table" if row["is_cached"] else "to be made"
        print(f"{row['recipe']}, {row['corpus']}, {row['ties']}{seed}, sizes {row['sizes']}: {state}")
    known = sum(row["is_cached"] for row in rows)
    print(f"{known:,} of {count_text(len(rows), 'run is', 'runs are')} in the table already.")


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
    if is_for_paper(options):
        print_for_paper(_printed(rows), _caption(f"Measures of a sweep{_spread(rows)}", plan), options)
        return
    for (recipe, corpus, ties), group in groupby(rows, lambda row: (row["recipe"], row["corpus"], row["ties"])):
        print(f"{recipe}, {corpus}, {ties}")
        print(*_lines(list(group)), sep="\n")
        print()


def _spread(rows: list[dict[str, Any]]) -> str:
    """Return the last words of a table's title, which explain what the cells show besides a value.

    The cells may also show a standard deviation or an interval. If they show neither, return an empty string.
    """
    if any(row["runs"] > 1 for row in rows):
        return ": mean ± standard deviation over the seeds"
    has_intervals = any(row[end] is not None for row in rows for end in INTERVALS)
    return ": value, and 95 % interval over resampled documents" if has_intervals else ""


def _printed(rows: list[dict[str, Any]]) -> PrintedTable:
    shown = _measured(rows)
    cells = [
        [
            *(row[name] for name in OF_SUMMARY[:-1]),
            f"{row['size']:,}",
            *(_cell(row, name) for name, _ in shown),
        ]
        for row in rows
    ]
    headings = [*map(heading_of, OF_SUMMARY), *(title for _, title in shown)]
    is_text = [name != "size" for name in OF_SUMMARY] + [False for _ in shown]
    return PrintedTable(headings, cells, is_text)


def _caption(title: str, plan: Plan) -> str:
    """Return the caption of a table. It names the recipes, the texts with their checksums, the sample and the seeds."""
    recipes = [f"{name}: {choices_in_words(recipe)}" for name, recipe in plan.variants]
    recipe = next(iter(plan.recipes.values()))
    learned = [
        f"Texts {name}: {checksum_of_texts(_texts_of(partial(plan.corpus, name)), recipe)}" for name in plan.corpora
    ]
    measured = []
    if plan.held_out:
        measured = [f"Measured on {checksum_of_texts(_texts_of(partial(plan.measured, '')), recipe)}"]
    seeds = [f"Sample of {float(plan.sample):.4%} of the {plan.sample_of}"] if plan.sample != 1 else []
    seeds += [f"Seeds {', '.join(map(str, plan.seeds))}"] if plan.seeds else []
    return caption_from(title, *recipes, *learned, *measured, *seeds)


def _texts_of(read: Callable[[], Corpus]) -> CorpusTexts:
    return CorpusTexts(lambda: nullcontext(read()))


def _measured(rows: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Return the columns that have a value, with their headings."""
    return [(name, title) for name, title in SHOWN if any(row[f"{name}_mean"] is not None for row in rows)]


def _lines(rows: list[dict[str, Any]]) -> Iterator[str]:
    shown = _measured(rows)
    yield f"{'size':>12}" + "".join(f"{title:>{WIDTH}}" for _, title in shown)
    for row in rows:
        yield f"{row['size']:>12,}" + "".join(f"{_cell(row, name):>{WIDTH}}" for name, _ in shown)


def _cell(row: Mapping[str, Any], measure: str) -> str:
    """Return the mean of a measure as text, together with its uncertainty.

    The uncertainty is the deviation over several seeds, or the interval of a single run. It is left out if it is
    unknown.
    """
    mean = row[f"{measure}_mean"]
    deviation = row[f"{measure}_deviation"]
    low, high = (row.get(end) for end in ends_of_interval(measure))
    if mean is not None and deviation is not None:
        return with_deviation(mean, deviation)
    if mean is not None and low is not None and high is not None:
        return with_interval(mean, low, high)
    return cell_text(measure, mean)
