"""Recovering merges with the compiled kernels: what each token falls into, all of them at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bpe_core.kernels.splits import Halves, Texts, find_halves, join_halves
from bpe_core.segmenting.text_pairs import entered, ways_among
from bpe_core.support.arrays import Bools, Bytes, Int32s, Int64s
from bpe_core.text.characters import CodePoints, code_points
from bpe_core.text.laid_texts import LaidTexts, end_to_end


def parts_of(tokens: Sequence[str] | Sequence[bytes]) -> tuple[list[Any], Int32s, Int32s, Bools]:
    """Return all symbols, the two parts of each token, the lowest rank first, and which are made of a later one."""
    codes: Bytes | CodePoints
    are_bytes = isinstance(tokens[0], bytes)
    if are_bytes:
        data, starts = end_to_end(tokens)  # type: ignore[arg-type]  # all are bytes
        codes, edges = data, starts
    else:
        laid = tokens if isinstance(tokens, LaidTexts) else LaidTexts.of(tokens)  # type: ignore[arg-type]  # all are text
        data, starts = laid.data, laid.starts
        codes, edges = code_points(laid.together), laid.edges
    is_there = np.zeros(int(codes.max()) + 1, np.bool_)
    is_there[codes] = True
    letters = np.flatnonzero(is_there).tolist()
    symbols: list[Any] = [bytes([one]) if are_bytes else chr(one) for one in letters]
    first, begin = end_to_end([one if isinstance(one, bytes) else one.encode() for one in symbols])

    texts = entered(np.concatenate((first, data)), np.concatenate((begin, begin[-1] + starts[1:])))
    halves = Halves(*np.full((2, len(tokens)), -1, np.int32), *np.zeros((2, len(tokens)), np.bool_))
    done = find_halves(texts, halves)
    if done < len(tokens):
        cells = (np.cumsum(is_there, dtype=np.int32) - np.int32(1))[codes]
        _join(texts, halves, done, cells, edges, len(symbols))
    return symbols, halves.left, halves.right, halves.is_late


def _join(texts: Texts, halves: Halves, done: int, cells: Int32s, edges: Int64s, symbols: int) -> None:
    """Find the parts of all tokens from one on, where needed by joining their symbols."""
    from bpe_core.kernels.encode import JOINED
    from bpe_core.segmenting.compiled_encoder import joining_table, room_for  # few tables need it, and it loads much

    left, right, whole = ways_among(texts)
    table = joining_table(symbols, np.zeros(0, np.int64), left, right, whole - np.int32(symbols), whole)
    room, _ = room_for(int(np.diff(edges).max()), 0, JOINED)
    join_halves(texts, table, room, cells, edges, halves, done)
