"""The division of each run of words into its ordinary words."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bpe_core.counting.words import WordTable
from bpe_core.support.arrays import Int32s, Int64s


class Inside(NamedTuple):
    """The words inside runs of words: each different word with its count, in first-seen order.

    A run of words is a stretch of text with several words. `rows` lists the words of all runs, one run after the other,
    as indices in `words`.
    """

    words: WordTable
    rows: Int32s
    first: Int64s  # the first index in `rows` of each run, and the end

    @classmethod
    def of_other_texts(cls, words: WordTable) -> Inside:
        """Store words that were counted in whole lines of text, not in runs of words. The result has no runs."""
        return cls(words, np.zeros(0, np.int32), np.zeros(1, np.int64))

    @property
    def starts(self) -> Int64s:
        """Return the offset of each word in the joined bytes of all runs.

        A run is a stretch of text with several words.
        """
        lengths = np.diff(self.words.starts)[self.rows]
        starts: Int64s = np.cumsum(lengths) - lengths
        return starts
