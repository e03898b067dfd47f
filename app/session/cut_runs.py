"""The words of the run last asked about, cut as its method cuts them: not of all methods the steps tell the counts."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable

import numpy as np
import numpy.typing as npt

from app.session.run import Run
from bpe_core import History, WordTable
from bpe_core.insight.cut_words import CutWords
from bpe_core.progress import CancelCheck

Counts = npt.NDArray[np.int64]


class CutRuns:
    """Shared by the threads of all questions, one at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: tuple[Hashable, CutWords] | None = None

    def counts(self, run: Run) -> Callable[[int, CancelCheck], Counts] | None:
        """To be called aside: how often each token stands in the corpus after so many steps. None without words."""
        stamp, words, history = run.stamp, run.words, run.history
        if words is None or history is None or not len(history):
            return None
        return lambda at, cancelled: self._counts((stamp, len(history)), words, history, at, cancelled)

    def _counts(self, key: Hashable, words: WordTable, history: History, at: int, cancelled: CancelCheck) -> Counts:
        with self._lock:
            if self._known is None or self._known[0] != key:
                self._known = None
                self._known = key, CutWords.of(words, history.recipe, history, cancelled=cancelled)
            return self._known[1].counts(at)
