"""The functions that run a sweep.

A sweep learns and measures only the runs that are not in its table yet. It uses all cores, and saves each result.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

import bpe_core.sweep.results as results
from bpe_core.counting.count_words import count_words
from bpe_core.counting.words import WordTable
from bpe_core.errors import BpeError, Cancelled
from bpe_core.history.history import History
from bpe_core.measures.morphemes import read_morphemes
from bpe_core.measures.texts_in_words import shared_splitting
from bpe_core.methods.kit.method import Method
from bpe_core.methods.kit.trainer import learn
from bpe_core.methods.registry import METHODS
from bpe_core.recipes.choice import LARGEST_VOCABULARY
from bpe_core.recipes.parts import SplittingChoices
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.data_table import DataTable
from bpe_core.support.fingerprints import fingerprint_of
from bpe_core.support.limits import check_room
from bpe_core.support.progress import ALONE, CancelCheck, Progress, Work, never_cancelled
from bpe_core.support.threads import CANCELLED, Job, WorkerPool
from bpe_core.sweep.measuring import MeasuredTexts, measured
from bpe_core.sweep.plan import Plan
from bpe_core.sweep.runs_in_session import RunsInSession
from bpe_core.text.corpus import Corpus
from bpe_core.text.mixture import Group, Mixture, Sample

Result = TypeVar("Result")
Keep = Callable[[Callable[[], DataTable]], None]  # a function that makes the table so far only when it is called


@dataclass(frozen=True)
class Run:
    """A training run whose steps are measured at all sizes of the plan.

    With some methods the steps depend on the size. Then each size has a separate training run.
    """

    name: str  # the name of the recipe in the plan
    recipe: Recipe  # the recipe by which the run learns
    corpus: str
    seed: int
    sizes: tuple[int, ...]
    key: str

    @property
    def words_key(self) -> Hashable:
        recipe = self.recipe
        first = recipe.recipe_at_first
        at_first = None if first is None else first.part(SplittingChoices)
        asked = recipe.asks_for_line_ends, recipe.serves_languages, at_first
        return self.corpus, recipe.mixture, recipe.part(SplittingChoices), asked


@dataclass(frozen=True)
class SweepResult:
    table: DataTable
    runs: int
    known: int  # the number of runs that were in the table before
    left_out: int  # rows of the former table that belong to no run of the plan
    remarks: tuple[str, ...]  # oddities of the texts, and texts that recipes cannot encode


def runs_of(plan: Plan) -> list[Run]:
    """Return all runs in the order of the plan. Each run has a fingerprint of everything that decides the run."""
    texts = {name: [_print_of(path) for path in paths] for name, paths in plan.corpora.items()}
    measured = [_print_of(path) for path in plan.held_out]
    listed = _print_of(plan.morphemes) if plan.morphemes else ""
    runs = []
    for corpus in plan.corpora:
        about = [texts[corpus], measured, listed, dict(plan.reading), plan.interval_over, plan.bits]
        for name, recipe in plan.variants:
            for seed in plan.seeds or [0]:
                sample = Sample(None, plan.sample, plan.sample_of, seed)
                mixture = None if sample.takes_all else Mixture((Group("", sample=sample),))
                for of_size, sizes in _by_sizes(recipe.with_changes(mixture=mixture), plan):
                    runs.append(Run(name, of_size, corpus, seed, sizes, _key(of_size, about)))
    return runs


def sweep(
    plan: Plan,
    *,
    before: DataTable | None = None,
    session: RunsInSession | None = None,
    keep: Keep = lambda so_far: None,
    threads: int | None = None,
    client: Any = None,
    work: Work = ALONE,
) -> SweepResult:
    """Learn and measure the runs of a plan that the table `before` does not have yet.

    The function `keep` is called with the table each time the table grows. If there is a `session`, all runs of the
    plan are added to it, even those in `before`. If there is a `client` of a Dask cluster, its workers learn and
    measure. They read the texts themselves, so they must reach the files of the plan, and nothing is added to a
    session.
    """
    runs = runs_of(plan)
    rows = _of_before(runs, before)
    known = sum(_is_done(run, rows) for run in runs)
    waiting = [run for run in runs if session is not None or not _is_done(run, rows)]
    bench = _SharedTexts(plan, waiting, {run.key for run in runs if _is_done(run, rows)}, session)
    if client is not None:
        for place, measured_rows in _on_cluster(client, plan, waiting, work):
            rows[waiting[place].key] = measured_rows
            keep(partial(_table, runs, rows))
        waiting = []
    with WorkerPool(threads, work) as pool:
        if waiting:
            bench.prepare(pool)
            for place, (history, measured_rows) in pool.each([bench.piece(run) for run in waiting], "learning", "runs"):
                run = waiting[place]
                rows[run.key] = measured_rows or rows[run.key]
                if session is not None:
                    words = bench.words_of(run)
                    title = _title(run, plan)
                    session.add(place, title, run.corpus, run.recipe, words, history)
                keep(partial(_table, runs, rows))
    wanted = {(run.key, size) for run in runs for size in run.sizes}
    old = [] if before is None else before.records()
    left_out = sum((row["run"], row["size"]) not in wanted for row in old)
    table = _table(runs, rows)
    return SweepResult(table, len(runs), known, left_out, (*bench.remarks, *results.remarks_of(table)))


def cached_runs(plan: Plan, before: DataTable | None) -> DataTable:
    """Return a table of the runs of a plan. A column says whether the table `before` already has the run."""
    runs = runs_of(plan)
    rows = _of_before(runs, before)
    return DataTable(
        {
            "recipe": [run.name for run in runs],
            "corpus": [run.corpus for run in runs],
            "ties": [run.recipe.ties for run in runs],
            "seed": np.array([run.seed for run in runs], np.int64),
            "sizes": [" ".join(map(str, run.sizes)) for run in runs],
            "is_cached": np.array([_is_done(run, rows) for run in runs], np.bool_),
        }
    )


def _on_cluster(client: Any, plan: Plan, runs: list[Run], work: Work) -> Iterator[tuple[int, list[results.Row]]]:
    from bpe_core.support.cluster import cluster_errors, results_of_tasks  # few sweeps need it

    with cluster_errors():
        tasks = [(plan, run, place) for place, run in enumerate(runs)]
        results_by_place = results_of_tasks(client, _run_on_worker, tasks, "the table", work.cancelled)
        for done, (place, rows) in enumerate(results_by_place, 1):
            yield place, rows
            work.progress(Progress("learning", done, len(runs), "runs"))


def _run_on_worker(plan: Plan, run: Run, place: int) -> tuple[int, list[results.Row]]:
    """Learn and measure a run in a worker of a cluster. Return (`place`, rows of the run)."""
    bench = _SharedTexts(plan, [run], set(), None)
    with WorkerPool(1) as pool:
        bench.prepare(pool)
    _, rows = bench.piece(run)(never_cancelled)
    return place, rows


class _SharedTexts:
    """The words and documents that several runs of a sweep share.

    Runs learn from the words, and are measured on the documents.
    """

    def __init__(self, plan: Plan, runs: list[Run], measured: set[str], session: RunsInSession | None) -> None:
        """Store the runs of a plan. `measured` holds the keys of the runs that are in the table already."""
        self._plan = plan
        self._runs = runs
        self._measured = measured
        self._session = session
        self._words: Mapping[Hashable, WordTable] = {}
        self._texts_of_recipe: Mapping[tuple[str, Recipe | None], MeasuredTexts] = {}
        self._morphemes = read_morphemes(plan.morphemes) if plan.morphemes and runs else None
        self.remarks: list[str] = []

    def prepare(self, pool: WorkerPool) -> None:
        """Count the words of all texts and documents, so that no text is read after this call."""
        counted = {run.words_key: run for run in self._runs}
        tables = pool.all([self._count(run) for run in counted.values()], "counting", "corpora")
        self._words = dict(zip(counted, tables, strict=True))
        alike: dict[Hashable, list[Run]] = {}
        for run in self._runs:
            alike.setdefault((run.words_key, run.recipe.with_changes(vocab_size=LARGEST_VOCABULARY)), []).append(run)
        pool.all([self._check(runs) for runs in alike.values()], "checking", "recipes")
        by = {self._measured_by(run): run for run in self._runs if run.key not in self._measured}
        documents = {name: self._documents(name) for name in dict.fromkeys(name for name, _ in by)}

        def made(name: str, run: Run) -> Job[MeasuredTexts]:
            return lambda stopped: MeasuredTexts.of(documents[name], run.recipe, stopped)

        measured_texts = pool.all([made(name, run) for (name, _), run in by.items()], "counting", "texts to measure on")
        self._texts_of_recipe = dict(zip(by, measured_texts, strict=True))

    def words_of(self, run: Run) -> WordTable:
        return self._words[run.words_key]

    def piece(self, run: Run) -> Job[tuple[History, list[results.Row]]]:
        return lambda stopped: _naming_run(run, lambda: self._learned(run, stopped))

    def _learned(self, run: Run, stopped: CancelCheck) -> tuple[History, list[results.Row]]:
        words = self.words_of(run)
        history = None if self._session is None else self._session.history(run.recipe, words)
        if history is None:
            history = learn(words, run.recipe, cancelled=stopped)
        if stopped():
            raise Cancelled(CANCELLED)
        return history, [] if run.key in self._measured else self._rows(run, words, history, stopped)

    def _rows(self, run: Run, words: WordTable, history: History, stopped: CancelCheck) -> list[results.Row]:
        rows = measured(
            history,
            run.sizes,
            self._texts_of_recipe[self._measured_by(run)],
            learned=words if self._plan.bits else None,
            is_held_out=bool(self._plan.held_out),
            morphemes=self._morphemes,
            cancelled=stopped,
        )
        about = {"recipe": run.name, "corpus": run.corpus, "ties": run.recipe.ties, "seed": run.seed, "run": run.key}
        return [about | row for row in rows]

    def _measured_by(self, run: Run) -> tuple[str, Recipe | None]:
        return "" if self._plan.held_out else run.corpus, shared_splitting(run.recipe)

    def _count(self, run: Run) -> Job[WordTable]:
        def count(stopped: CancelCheck) -> WordTable:
            corpus = self._plan.corpus(run.corpus)
            words = _naming_run(run, lambda: count_words(corpus, run.recipe, Work(cancelled=stopped)))
            self._add_remarks(corpus)
            return words

        return count

    def _check(self, runs: list[Run]) -> Job[None]:
        def plan(run: Run) -> None:
            method = Method.of(run.recipe)
            sizes = [size for run in runs for size in run.sizes]
            # the alphabet of this size serves the other sizes, too
            largest = run.recipe.with_changes(vocab_size=max(sizes))
            alphabet = method.tokens_at_first(self._words[run.words_key], largest)
            for size in sizes:
                method.steps_planned(run.recipe.with_changes(vocab_size=size), alphabet)

        return lambda stopped: _naming_run(runs[0], lambda: plan(runs[0]))

    def _documents(self, name: str) -> list[str]:
        corpus = self._plan.measured(name)
        check_room(2 * (corpus.total_size or 0), "Keeping the texts to measure on", "Name fewer texts as held_out.")
        documents = list(corpus.documents())
        if self._plan.interval_over == "lines":
            documents = [line for text in documents for line in text.splitlines(keepends=True)]
        self._add_remarks(corpus)
        return documents

    def _add_remarks(self, corpus: Corpus) -> None:
        self.remarks += [str(skipped) for skipped in corpus.skipped if str(skipped) not in self.remarks]


def _title(run: Run, plan: Plan) -> str:
    corpus = [run.corpus] if len(plan.corpora) > 1 else []
    seed = [f"sample {run.seed}"] if len(plan.seeds) > 1 else []
    return ", ".join([run.name, *corpus, *seed])


def _by_sizes(recipe: Recipe, plan: Plan) -> Iterator[tuple[Recipe, tuple[int, ...]]]:
    if METHODS[recipe.method].size_decides:
        for size in plan.sizes:
            yield recipe.with_changes(vocab_size=size), (size,)
    else:
        yield recipe, tuple(plan.sizes)


def _key(recipe: Recipe, about: list[Any]) -> str:
    choices = recipe.to_dict()
    del choices["name"]
    if not METHODS[recipe.method].size_decides:
        del choices["vocab_size"]
    return hashlib.sha256(json.dumps([choices, about], sort_keys=True, default=str).encode()).hexdigest()[:16]


def _print_of(path: str) -> str:
    return fingerprint_of(Path(path))[1]


def _of_before(runs: list[Run], before: DataTable | None) -> dict[str, list[results.Row]]:
    rows_by_run: dict[str, list[results.Row]] = {}
    of_key = {run.key: run for run in runs}
    for row in [] if before is None else before.records():
        run = of_key.get(row["run"])
        if run is not None:
            rows_by_run.setdefault(run.key, []).append(row | {"recipe": run.name, "corpus": run.corpus})
    return rows_by_run


def _is_done(run: Run, rows: Mapping[str, list[results.Row]]) -> bool:
    return {*run.sizes} <= {row["size"] for row in rows.get(run.key, ())}


def _table(runs: list[Run], rows: Mapping[str, list[results.Row]]) -> DataTable:
    rows_of_runs: list[results.Row] = []
    for run in runs:
        known = {row["size"]: row for row in rows.get(run.key, ())}
        rows_of_runs += [
            {**known[size], "recipe": run.name, "corpus": run.corpus} for size in run.sizes if size in known
        ]
    return results.table_of(rows_of_runs)


def _naming_run(run: Run, work: Callable[[], Result]) -> Result:
    try:
        return work()
    except Cancelled:
        raise
    except BpeError as error:
        error.name_subject(f"The recipe {run.name!r} on {run.corpus!r}")
        raise
