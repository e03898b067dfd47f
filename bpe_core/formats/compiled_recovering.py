"""Recovering merges with the compiled kernels: what each token falls into, all of them at once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from bpe_core.kernels.encode import JOINED
from bpe_core.kernels.merge_word import enter_pairs
from bpe_core.kernels.splits import find_halves
from bpe_core.segmenting.compiled_encoder import merge_table, room_for
from bpe_core.segmenting.text_pairs import text_pairs
from bpe_core.support.arrays import Bools, Int32s


def parts_of(tokens: Sequence[str] | Sequence[bytes]) -> tuple[list[Any], Int32s, Int32s, Bools]:
    """Return all symbols, the two parts of each token, the lowest rank first, and which are made of a later one."""
    plain: list[bytes] = [token if isinstance(token, bytes) else token.encode() for token in tokens]
    if isinstance(tokens[0], bytes):
        codes = np.frombuffer(b"".join(plain), np.uint8)
    else:
        codes = np.frombuffer(b"".join(plain).decode().encode("utf-32-le"), np.uint32)
    is_there = np.zeros(int(codes.max()) + 1, np.bool_)
    is_there[codes] = True
    letters = np.flatnonzero(is_there).tolist()
    symbols: list[Any] = [bytes([one]) if isinstance(tokens[0], bytes) else chr(one) for one in letters]
    texts = [*(one if isinstance(one, bytes) else one.encode() for one in symbols), *plain]

    rows = text_pairs(texts)
    nothing = np.zeros(len(rows[0]), np.int32)
    table = merge_table(len(symbols), nothing, nothing)
    table = table._replace(joined=np.zeros(len(table.keys), np.int32))
    enter_pairs(table, *rows[:2], rows[2] - np.int32(len(symbols)), rows[2])

    starts = np.fromiter(accumulate(map(len, tokens), initial=0), np.int64, len(tokens) + 1)
    room, _ = room_for(int(np.diff(starts).max()), 0, JOINED)
    left, right, late = np.zeros((3, len(tokens)), np.int32)
    find_halves(table, room, (np.cumsum(is_there, dtype=np.int32) - np.int32(1))[codes], starts, left, right, late)
    return symbols, left, right, late != 0
