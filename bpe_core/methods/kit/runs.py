"""The ordinary words inside runs of words."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bpe_core.counting.words import WordTable
from bpe_core.support.arrays import Int32s, Int64s


class Inside(NamedTuple):
    """The ordinary words of all runs with their counts, in first-seen order, and the rows of each run's words."""

    words: WordTable
    rows: Int32s
    first: Int64s  # the first index in `rows` of each run, and the end

    @property
    def starts(self) -> Int64s:
        """Return the offset of each word in the runs, which lie end to end."""
        lengths = np.diff(self.words.starts)[self.rows]
        starts: Int64s = np.cumsum(lengths) - lengths
        return starts
