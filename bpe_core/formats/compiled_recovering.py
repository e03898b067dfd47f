"""Recovering merges with the compiled kernels, where every token falls into two: the usual case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate

import numpy as np

from bpe_core.history.columns import Int64s
from bpe_core.kernels.encode import IDS
from bpe_core.kernels.merge_word import recover_merges
from bpe_core.segmenting.compiled_encoder import merge_table, room_for

_AT_ONCE = 1 << 16  # tokens: some 20 ms


def recovered_pairs(tokens: Sequence[bytes], base: Mapping[bytes, int]) -> Int64s | None:
    """Return the pair that makes each token, the lowest rank first; None where one is not made so in turn."""
    lengths = list(map(len, tokens))
    starts = np.fromiter(accumulate(lengths, initial=0), np.int64, len(tokens) + 1)
    symbol_of = np.zeros(256, np.int32)
    symbol_of[[byte[0] for byte in base]] = list(base.values())
    left, right = np.zeros((2, len(tokens)), np.int32)
    table = merge_table(len(base), left, right)
    room, _ = room_for(max(lengths, default=0), len(tokens), IDS)
    data = np.frombuffer(b"".join(tokens), np.uint8)
    for first in range(0, len(tokens), _AT_ONCE):
        stop = min(first + _AT_ONCE, len(tokens))
        if recover_merges(table, room, data, starts, symbol_of, first, stop) != stop:
            return None
    return np.stack([left, right], axis=1).astype(np.int64)
