"""Recovering merges with the compiled kernels: what each token falls into, all of them at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bpe_core.kernels.encode import JOINED
from bpe_core.kernels.merge_word import enter_pairs
from bpe_core.kernels.splits import Halves, find_halves
from bpe_core.segmenting.compiled_encoder import merge_table, room_for
from bpe_core.segmenting.text_pairs import text_pairs
from bpe_core.support.arrays import Bools, Bytes, Int32s, Int64s
from bpe_core.text.characters import CodePoints, code_points


def parts_of(tokens: Sequence[str] | Sequence[bytes]) -> tuple[list[Any], Int32s, Int32s, Bools]:
    """Return all symbols, the two parts of each token, the lowest rank first, and which are made of a later one."""
    lengths = np.fromiter(map(len, tokens), np.int64, len(tokens))
    if isinstance(tokens[0], bytes):
        written = b"".join(tokens)  # type: ignore[arg-type]  # all are bytes
        codes: Bytes | CodePoints = np.frombuffer(written, np.uint8)
        widths: Int64s = np.ones(256, np.int64)
    else:
        together = "".join(tokens)  # type: ignore[arg-type]
        written, codes = together.encode(), code_points(together)
        widths = 1 + np.searchsorted([0x80, 0x800, 0x10000], np.arange(int(codes.max()) + 1), side="right")
    is_there = np.zeros(int(codes.max()) + 1, np.bool_)
    is_there[codes] = True
    letters = np.flatnonzero(is_there)
    symbols: list[Any] = [bytes([one]) if isinstance(tokens[0], bytes) else chr(one) for one in letters.tolist()]
    starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
    ends = np.cumsum(np.concatenate((widths[letters], np.add.reduceat(widths[codes], starts[:-1]))))
    first = b"".join(one if isinstance(one, bytes) else one.encode() for one in symbols)

    ways = text_pairs(first + written, np.concatenate((np.zeros(1, np.int64), ends)))
    nothing = np.zeros(len(ways.whole), np.int32)
    table = merge_table(len(symbols), nothing, nothing)
    table = table._replace(joined=np.zeros(len(table.keys), np.int32))
    enter_pairs(table, ways.left, ways.right, ways.whole - np.int32(len(symbols)), ways.whole)

    room, _ = room_for(int(lengths.max()), 0, JOINED)
    halves = Halves(*np.full((2, len(tokens)), -1, np.int32), *np.zeros((2, len(tokens)), np.bool_))
    find_halves(table, room, (np.cumsum(is_there, dtype=np.int32) - np.int32(1))[codes], starts, ways, halves)
    return symbols, halves.left, halves.right, halves.is_late
