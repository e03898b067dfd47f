"""The words that tokens are looked for in: those a run learned from, else the corpus; by group or file where known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from app.session.corpus import SessionCorpus
from app.session.corpus_texts import reading
from app.session.counts import Counted
from app.session.run import Run
from app.session.studies import MixedWords, Parts, parts_of
from app.worker.job import Task
from bpe_core.counting.count_words import count_words
from bpe_core.counting.words import WordTable
from bpe_core.errors import BpeError, Cancelled
from bpe_core.support.progress import Work

MOST_FILES = 24  # that are told apart


@dataclass(frozen=True, eq=False)
class CorpusTables:
    """A table of words each."""

    tables: tuple[WordTable, ...] = ()
    names: tuple[str, ...] = ()


def corpus_tables(run: Run, corpus: SessionCorpus, mixed: MixedWords) -> Callable[[Task], CorpusTables]:
    """What finds them, aside; what is counted already is not counted again."""
    if run.words is not None and (run.recipe.mixture is not None or any(source.group for source in run.sources)):
        return _of_groups(run.words, parts_of(run, corpus.counts, mixed))
    sources = run.sources if run.words is not None else corpus.texts.value
    outcomes = [corpus.counts.outcome_of(source, run.recipe) for source in sources]
    known = [outcome.table if isinstance(outcome, Counted) else None for outcome in outcomes]
    words, recipe = run.words, run.recipe

    def find(task: Task) -> CorpusTables:
        if words is not None and (None in known or not 2 <= len(known) <= MOST_FILES):
            return CorpusTables((words,), ("the corpus",))
        tables, names = list[WordTable](), list[str]()
        for source, table in zip(sources, known, strict=True):
            if table is None:
                try:
                    with reading([source], task.remarks) as texts:
                        table = count_words(texts, recipe, Work(task.report, task.cancelled))
                except Cancelled:
                    raise
                except BpeError:  # one that is gone by now leaves the others be
                    continue
            tables.append(table)
            names.append(source.name)
        if len(tables) > MOST_FILES:
            return CorpusTables((WordTable.merged(tables),), ("the corpus",))
        return CorpusTables(tuple(tables), tuple(names))

    return find


def _of_groups(words: WordTable, parts: Parts | None) -> Callable[[Task], CorpusTables]:
    """Where texts are mixed, groups are told apart, as often as each counts."""

    def find(task: Task) -> CorpusTables:
        tables = {} if parts is None else parts()
        if not 2 <= len(tables) <= MOST_FILES:
            return CorpusTables((words,), ("the corpus",))
        return CorpusTables(tuple(tables.values()), tuple(tables))

    return find
