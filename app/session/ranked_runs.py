"""The ranked words of runs, found once for all that is asked about them."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable

from app.session.run import Run
from bpe_core import History, WordTable
from bpe_core.insight.ranked_words import RankedWords
from bpe_core.learning.methods import learns_by_ranks

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
