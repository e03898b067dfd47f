"""The encoding of whole runs of words by merges that never cross the borders of words.

If no token holds two bytes as neighbours, no merge can join across the place between these bytes. So a run is divided
there, and each part is encoded separately. Most parts are already in a cache.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bpe_core.history.history import History
from bpe_core.history.meeting import meeting
from bpe_core.kernels import NEVER
from bpe_core.kernels.runs import cut_runs, find_borders
from bpe_core.support.arrays import Bytes, Int32s, Int64s

# A function that cuts words, given end to end with their starts, after a number of merges; returns all tokens.
Cut = Callable[[Bytes, Int32s, int], Int32s]


class TokensOfRuns:
    def __init__(self, history: History, cut: Cut) -> None:
        """Store the function that encodes parts of runs, and find the pairs of bytes that are neighbours in a token."""
        byte = np.array([text[0] for text in history.alphabet.decoded])
        before, behind = meeting(history)
        self._cut = cut
        self._meets = np.zeros((256, 256), np.uint8)
        self._meets[byte[before], byte[behind]] = 1
        self._lengths = np.minimum(history.token_lengths(), NEVER).astype(np.int32)

    def of(self, data: Bytes, runs: Int32s, at: int) -> tuple[Int32s, Int64s]:
        """Encode runs that are stored end to end. Return all tokens, and the offset of each run's first token."""
        cuts = np.empty(len(data) + 2, np.int32)
        borders = np.empty(len(runs), np.int64)
        ids = self._cut(data, cuts[: cut_runs(data, runs, self._meets.reshape(-1), cuts)], at)
        find_borders(ids, self._lengths, runs, borders)
        return ids, borders
