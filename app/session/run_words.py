"""The words of runs, mixed from counted texts. The mixture of the last groups is remembered."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from app.session.corpus_texts import CorpusTexts
from app.session.counts import Counted, Counts, Outcome
from app.session.groups import IN_NONE
from app.session.run import Run
from bpe_core.counting.grouped import GroupedWords
from bpe_core.counting.words import WordTable
from bpe_core.recipes.mixture import Mixture

MOST_LOOKED_AT = 100  # files that the disk is asked about whether they are as they were

Tables = Mapping[str, Sequence[WordTable]]  # by the names of groups


def tables_by_group(sources: CorpusTexts, outcomes: Sequence[Outcome | None]) -> dict[str, list[WordTable]]:
    """Of the texts that could be counted. Those of a group that was read as one have one table together."""
    tables: dict[str, list[WordTable]] = {}
    for source, outcome in zip(sources, outcomes, strict=True):
        if isinstance(outcome, Counted) and not (outcome.is_of_group and source.group in tables):
            tables.setdefault(source.group, []).append(outcome.table)
    return tables


Parts = Callable[[], Mapping[str, WordTable]]  # to be called aside


def parts_of(run: Run, counts: Counts, mixed: MixedWords) -> Parts | None:
    """The words of each group of a run, as often as it counts them; of each text where there are no groups.

    None where there is one part only, or nobody remembers all counts.
    """
    sources, mixture = run.sources, run.recipe.mixture
    look = counts.outcome_of if len(sources) <= MOST_LOOKED_AT else counts.outcome_as_wanted
    outcomes = [look(source, run.recipe) for source in sources]
    if len(sources) < 2 or None in outcomes:
        return None
    if mixture is None and not any(source.group for source in sources):
        named = Counter[str]()
        tables: dict[str, WordTable] = {}
        for source, outcome in zip(sources, outcomes, strict=True):
            if isinstance(outcome, Counted):
                named[source.name] += 1
                times = f" ({named[source.name]})" if named[source.name] > 1 else ""
                tables[source.name + times] = outcome.table
        return lambda: tables
    groups = tables_by_group(sources, outcomes)
    return None if len(groups) < 2 else lambda: mixed.parts(groups, mixture)


class MixedWords:
    """Remembers how the words of the last groups hang together: another weight is then a matter of a moment."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: tuple[dict[str, list[WordTable]], GroupedWords] | None = None

    def words(self, tables: Tables, mixture: Mixture | None) -> WordTable:
        """To be called aside."""
        if mixture is None:
            return WordTable.merged(table for group in tables.values() for table in group)
        return self.grouped(tables).weighted(mixture)

    def parts(self, tables: Tables, mixture: Mixture | None) -> dict[str, WordTable]:
        """What each group gives to the words; to be called aside."""
        parts = self.grouped(tables).weighted_parts(mixture)
        return {name or IN_NONE: table for name, table in parts.items() if len(table)}

    def grouped(self, tables: Tables) -> GroupedWords:
        with self._lock:
            if self._known is None or not _are_same(self._known[0], tables):
                of_groups = {name: WordTable.merged(group) for name, group in tables.items()}
                self._known = {name: list(group) for name, group in tables.items()}, GroupedWords.of(of_groups)
            return self._known[1]


def _are_same(known: Tables, tables: Tables) -> bool:
    if [*known] != [*tables] or any(len(known[name]) != len(tables[name]) for name in known):
        return False
    return all(one is other for name in known for one, other in zip(known[name], tables[name], strict=True))
