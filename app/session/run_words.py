"""The words of runs: mixed from counted texts, cut at a step, ranked. Each is found once and remembered."""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from app.session.corpus_texts import CorpusTexts
from app.session.counts import Counted, Counts, Outcome
from app.session.groups import IN_NONE
from app.session.run import Run
from bpe_core.counting.grouped import GroupedWords
from bpe_core.counting.words import WordTable
from bpe_core.history.history import History
from bpe_core.insight.cut_words import CutWords
from bpe_core.insight.ranked_words import RankedWords
from bpe_core.learning.methods import learns_by_ranks
from bpe_core.recipes.mixture import Mixture
from bpe_core.support.progress import CancelCheck

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


Int64s = npt.NDArray[np.int64]


class CutRuns:
    """Shared by the threads of all questions, one at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: tuple[Hashable, CutWords] | None = None

    def counts(self, run: Run) -> Callable[[int, CancelCheck], Int64s] | None:
        """To be called aside: how often each token stands in the corpus after so many steps. None without words."""
        stamp, words, history = run.stamp, run.words, run.history
        if words is None or history is None or not len(history):
            return None
        return lambda at, cancelled: self._counts((stamp, len(history)), words, history, at, cancelled)

    def _counts(self, key: Hashable, words: WordTable, history: History, at: int, cancelled: CancelCheck) -> Int64s:
        with self._lock:
            if self._known is None or self._known[0] != key:
                self._known = None
                self._known = key, CutWords.of(words, history.recipe, history, cancelled=cancelled)
            return self._known[1].counts(at)


KEPT_RUNS = 3


class RankedRuns:
    """Of the runs last asked about. Shared by the threads of all questions."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: OrderedDict[Hashable, RankedWords] = OrderedDict()

    def of(self, run: Run) -> Callable[[], RankedWords] | None:
        """To be called aside: the ranked words of a run as it is now. None if it has no words, steps or ranks."""
        stamp, words, history = run.stamp, run.words, run.history
        if words is None or history is None or not len(history) or not learns_by_ranks(history):
            return None
        return lambda: self._find(stamp, words, history)

    def _find(self, run: Hashable, words: WordTable, history: History) -> RankedWords:
        """Ranks found with more merges serve for fewer, so they are only found anew as a run grows."""
        with self._lock:
            known = self._known.get(run)
            if known is None or known.words is not words or len(known.history) < len(history):
                known = RankedWords.of(words, history)
            self._known[run] = known
            self._known.move_to_end(run)
            while len(self._known) > KEPT_RUNS:
                self._known.popitem(last=False)
            return known
