"""The studies about which users ask questions in the window.

Each run has a study, which holds the words of the counted texts.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace

from app.session.corpus_texts import IN_NONE, CorpusTexts, reading
from app.session.counts import Counts, Outcome, TextCount
from app.session.run import Run, name_of
from bpe_core.counting.count_words import count_words
from bpe_core.counting.grouped import GroupedWords
from bpe_core.counting.words import WordTable
from bpe_core.errors import BpeError, Cancelled, CorpusError
from bpe_core.history.history import History
from bpe_core.recipes.recipe import Recipe
from bpe_core.studies.study import Study, free_name
from bpe_core.studies.texts import KnownWords
from bpe_core.support.progress import ALONE, Work
from bpe_core.text.corpus import Corpus
from bpe_core.text.mixture import Mixture

KEPT = 4  # studies that are kept with their computed results
MOST_LOOKED_AT = 100  # most files that are checked for changes
NO_TEXTS = "The corpus has no text to measure the tokenizers on. Add a text."

Parts = Callable[[], Mapping[str, WordTable]]  # is called in the background
Tables = Mapping[str, Sequence[WordTable]]  # the tables of texts, by group


def tables_by_group(sources: CorpusTexts, outcomes: Sequence[Outcome | None]) -> dict[str, list[WordTable]]:
    """Return a mapping from the name of each group to the word tables of its counted texts.

    A group that was counted as a whole has one table.
    """
    tables: dict[str, list[WordTable]] = {}
    for source, outcome in zip(sources, outcomes, strict=True):
        if isinstance(outcome, TextCount) and not (outcome.is_of_group and source.group in tables):
            tables.setdefault(source.group, []).append(outcome.table)
    return tables


def with_named_groups(sources: CorpusTexts) -> CorpusTexts:
    """Return the texts with a group for each text.

    If no text has a group, then each text becomes a group with its own name. If only some texts have a group, all
    others are put into one group, `IN_NONE`.
    """
    if any(source.group for source in sources):
        return tuple(replace(source, group=source.group or IN_NONE) for source in sources)
    named: dict[int, str] = {}
    for source in sources:
        named[source.number] = free_name(source.name, named.values())
    return tuple(replace(source, group=named[source.number]) for source in sources)


def parts_of(run: Run, counts: Counts, mixed: MixedWords) -> Parts | None:
    """Return a function that computes the words of each part of a run. A part is a group or a text.

    Return None if there is only one part, or if a count is not cached any more.
    """
    sources = run.sources
    mixture = run.recipe.mixture
    if len(sources) <= MOST_LOOKED_AT:
        outcomes = [counts.outcome_of(source, run.recipe) for source in sources]
    else:
        outcomes = counts.last_outcomes(sources, run.recipe)
    if len(sources) < 2 or None in outcomes:
        return None
    if mixture is None and not any(source.group for source in sources):
        tables: dict[str, WordTable] = {}
        for source, outcome in zip(sources, outcomes, strict=True):
            if isinstance(outcome, TextCount):
                tables[free_name(source.name, tables)] = outcome.table
        return lambda: tables
    groups = tables_by_group(sources, outcomes)
    return None if len(groups) < 2 else lambda: mixed.parts(groups, mixture)


class MixedWords:
    """A cache of the merged word tables of the groups that were used last.

    With the cache, the words for a different mixture of the same groups are computed quickly.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: tuple[dict[str, list[WordTable]], GroupedWords] | None = None

    def words(self, tables: Tables, recipe: Recipe) -> WordTable:
        """Return the words of all groups, weighted by the mixture of a recipe.

        This is slow: call it in a background task.
        """
        if recipe.mixture is None:
            return WordTable.merged(table for group in tables.values() for table in group)
        return self.grouped_words(tables).learned_by(recipe)

    def parts(self, tables: Tables, mixture: Mixture | None) -> dict[str, WordTable]:
        """Return the weighted words of each group. This is slow: call it in a background task."""
        parts = self.grouped_words(tables).weighted_parts(mixture)
        return {name or IN_NONE: table for name, table in parts.items() if len(table)}

    def forget(self) -> None:
        """Empty the cache, because another session is about to be shown."""
        with self._lock:
            self._known = None

    def grouped_words(self, tables: Tables) -> GroupedWords:
        with self._lock:
            if self._known is None or not hold_same_tables(self._known[0], tables):
                of_groups = {name: WordTable.merged(group) for name, group in tables.items()}
                self._known = {name: list(group) for name, group in tables.items()}, GroupedWords.of(of_groups)
            return self._known[1]


def hold_same_tables(tables: Tables, others: Tables) -> bool:
    """Return whether both mappings contain the same table objects. Comparing the content of tables would take long."""
    first, second = ([(name, [*map(id, group)]) for name, group in each.items()] for each in (tables, others))
    return first == second


class RunTexts(KnownWords):
    """The texts of a run. The words of these texts have already been counted."""

    def __init__(self, words: WordTable, parts: Parts | None, sources: CorpusTexts) -> None:
        super().__init__(words)
        self._parts = parts
        self._sources = (
            sources if parts is None else with_named_groups(sources)
        )  # so that texts and parts have the same names
        self.has_parts = parts is not None

    def parts(self, recipe: Recipe, work: Work = ALONE) -> Mapping[str, WordTable]:
        return super().parts(recipe, work) if self._parts is None else self._parts()

    def reading(self) -> AbstractContextManager[Corpus]:
        return reading(self._sources, [])


class SessionTexts:
    """The current texts of the corpus. Counts that are cached are reused."""

    def __init__(self, sources: CorpusTexts, known: Mapping[int, WordTable], remarks: list[str]) -> None:
        """Store the texts. `known` is a dictionary from the number of a text to its cached words.

        Sentences about skipped parts of a text are added to `remarks`.
        """
        self._sources = with_named_groups(sources)
        self._known = known
        self._remarks = remarks

    def words(self, recipe: Recipe, work: Work = ALONE) -> WordTable:
        return WordTable.merged(self.parts(recipe, work).values())

    def parts(self, recipe: Recipe, work: Work = ALONE) -> Mapping[str, WordTable]:
        groups: dict[str, list[WordTable]] = {}
        for source in self._sources:
            table = self._known.get(source.number)
            if table is None:
                try:
                    with reading([source], self._remarks) as texts:
                        table = count_words(texts, recipe.of_one_text, work=work)
                except Cancelled:
                    raise
                except BpeError:  # a missing file does not stop the others
                    continue
            groups.setdefault(source.group, []).append(table)
        return {name: WordTable.merged(tables) for name, tables in groups.items()}

    def reading(self) -> AbstractContextManager[Corpus]:
        if not self._sources:
            raise CorpusError(NO_TEXTS)
        return reading(self._sources, self._remarks)


class Studies:
    """A cache of the studies of runs, with the results that were computed for them. Only the studies used last are
    kept.
    """

    def __init__(self, counts: Counts, mixed: MixedWords) -> None:
        self._counts = counts
        self._mixed = mixed
        self._lock = threading.Lock()
        self._known: OrderedDict[Hashable, Study] = OrderedDict()

    def of(self, run: Run | None, runs: list[Run] | None = None) -> Study | None:
        """Return the study of a run, or None if the run has no history yet."""
        if run is None or run.history is None:
            return None
        key = run.stamp, len(run.history), id(run.words), run.is_busy
        with self._lock:
            study = self._known.pop(key, None) or self._make_study(run, run.history, runs or [run])
            self._known[key] = study
            while len(self._known) > KEPT:
                self._known.popitem(last=False)
            return study

    def forget(self) -> None:
        """Empty the cache, because another session is about to be shown."""
        with self._lock:
            self._known.clear()

    def by_corpus(self, study: Study, run: Run, sources: CorpusTexts, remarks: list[str]) -> Study:
        """Return a study of the same tokenizer on the texts of the corpus."""
        outcomes = {source.number: self._counts.outcome_of(source, run.recipe) for source in sources}
        known = {number: outcome.table for number, outcome in outcomes.items() if isinstance(outcome, TextCount)}
        return study.with_texts(SessionTexts(sources, known, remarks))

    def _make_study(self, run: Run, history: History, runs: list[Run]) -> Study:
        texts = None
        if run.words is not None:
            parts = None if run.is_busy else parts_of(run, self._counts, self._mixed)
            texts = RunTexts(run.words, parts, run.sources)
        sources = tuple((source.name, source.path, source.text, source.group) for source in run.sources)
        return Study(history, texts, name=name_of(run, runs), sources=sources, texts_are_own=True)
