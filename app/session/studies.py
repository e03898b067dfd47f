"""Runs as studies: what all questions about a run are asked of."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from contextlib import AbstractContextManager

from app.session.corpus_texts import CorpusTexts, reading
from app.session.counts import Counts
from app.session.run import Run, name_of
from app.session.run_words import MixedWords, parts_of
from bpe_core.counting.words import WordTable
from bpe_core.insight.ranked_words import RankedWords
from bpe_core.learning.methods import learns_by_ranks
from bpe_core.recipes.recipe import Recipe
from bpe_core.studies.study import Study
from bpe_core.support.progress import ALONE, Work
from bpe_core.text.corpus import Corpus

KEPT = 4  # studies that remember what was found out about them

Parts = Callable[[], Mapping[str, WordTable]]


class RunTexts:
    """The texts of a run: their words are counted already."""

    def __init__(self, words: WordTable, parts: Parts | None, sources: CorpusTexts) -> None:
        self._words, self._parts, self._sources = words, parts, sources

    def words(self, recipe: Recipe, work: Work = ALONE) -> WordTable:
        return self._words

    def parts(self, recipe: Recipe, work: Work = ALONE) -> Mapping[str, WordTable]:
        return {"the corpus": self._words} if self._parts is None else self._parts()

    def reading(self) -> AbstractContextManager[Corpus]:
        return reading(self._sources, [])


class Studies:
    """The study of each run as it is now; those last asked about are kept, with what was computed for them."""

    def __init__(self, counts: Counts, mixed: MixedWords) -> None:
        self._counts, self._mixed = counts, mixed
        self._lock = threading.Lock()
        self._known: OrderedDict[Hashable, Study] = OrderedDict()

    def of(self, run: Run | None, runs: list[Run] | None = None) -> Study | None:
        """The study of a run; None before it has learned anything."""
        if run is None or run.history is None:
            return None
        key = run.stamp, len(run.history), id(run.words), run.is_busy
        with self._lock:
            found = self._known.pop(key, None) or self._made(run, runs or [run])
            self._known[key] = found
            while len(self._known) > KEPT:
                self._known.popitem(last=False)
            return found

    def ranked(self, run: Run | None) -> Callable[[], RankedWords] | None:
        """Ranks the words of a run, when called aside; None where it has no words, steps or ranks."""
        study = self.of(run)
        if study is None or study.texts is None or not len(study.history) or not learns_by_ranks(study.history):
            return None
        return study.ranked

    def all(self, runs: list[Run]) -> dict[str, Study]:
        """The studies of all runs that have learned something, by their names."""
        made = {name_of(run, runs): self.of(run, runs) for run in runs}
        return {name: study for name, study in made.items() if study is not None}

    def _made(self, run: Run, runs: list[Run]) -> Study:
        assert run.history is not None  # asked above
        texts = None
        if run.words is not None:
            parts = None if run.is_busy else parts_of(run, self._counts, self._mixed)
            texts = RunTexts(run.words, parts, run.sources)
        return Study(run.history, texts, name=name_of(run, runs), texts_are_own=True)
