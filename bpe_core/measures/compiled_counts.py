"""Counting the tokens of a text by its words, with the compiled kernel."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bpe_core.kernels import word_rows

Int64s = npt.NDArray[np.int64]


def counts_of_tokens(ids: Int64s, starts: Int64s, rows: Int64s, times: Int64s, id_count: int) -> Int64s:
    """How often each token stands in words of these numbers, each of which occurs so many times.

    `ids` are the tokens of all words, and `starts` tells where those of each begin.
    """
    counts = np.zeros(id_count, np.int64)
    word_rows.count_tokens(ids, starts, rows, times, counts)
    return counts
