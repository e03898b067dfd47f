"""The ordinary words inside runs of words."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bpe_core.counting.words import WordTable
from bpe_core.support.arrays import Int32s, Int64s


class Inside(NamedTuple):
    """The ordinary words inside all runs.

    It holds the different words with their counts, in first-seen order, and the rows of the words in each run.
    """

    words: WordTable
    rows: Int32s
    first: Int64s  # the first index in `rows` of each run, and the end

    @property
    def starts(self) -> Int64s:
        """Return the offset of each word in the bytes of all runs, which are stored one after another."""
        lengths = np.diff(self.words.starts)[self.rows]
        starts: Int64s = np.cumsum(lengths) - lengths
        return starts
