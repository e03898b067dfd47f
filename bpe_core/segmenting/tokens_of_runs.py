"""Whole runs of words as tokens of the merges within words.

Runs are cut where two bytes are that meet in no token: so a merge joins the same in the parts as in the whole, and most
parts were met before.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bpe_core.history.history import History
from bpe_core.history.meeting import meeting
from bpe_core.kernels import NEVER
from bpe_core.kernels.runs import cut_runs, find_borders
from bpe_core.support.arrays import Bytes, Int32s, Int64s

# How that many merges of a history cut words that lie end to end (the last start is the end): their tokens, end to end.
Cut = Callable[[Bytes, Int32s, int], Int32s]


class TokensOfRuns:
    def __init__(self, history: History, cut: Cut) -> None:
        """Begin with tokens that are single bytes."""
        byte = np.array([text[0] for text in history.alphabet.decoded])
        before, behind = meeting(history)
        self._cut = cut
        self._meets = np.zeros((256, 256), np.uint8)
        self._meets[byte[before], byte[behind]] = 1
        self._lengths = np.minimum(history.token_lengths(), NEVER).astype(np.int32)

    def of(self, data: Bytes, runs: Int32s, at: int) -> tuple[Int32s, Int64s]:
        """Return the tokens of runs that lie end to end (the last start is the end), and where those of each begin."""
        cuts, borders = np.empty(len(data) + 2, np.int32), np.empty(len(runs), np.int64)
        ids = self._cut(data, cuts[: cut_runs(data, runs, self._meets.reshape(-1), cuts)], at)
        find_borders(ids, self._lengths, runs, borders)
        return ids, borders
