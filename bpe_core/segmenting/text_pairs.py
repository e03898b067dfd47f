"""All pairs of texts whose text together is one of them, too: by machine code."""

from __future__ import annotations

import numpy as np

from bpe_core.kernels.splits import Texts, enter_texts, split_texts
from bpe_core.support.arrays import Int32s, Int64s

_ROWS_A_TEXT = 4  # nearly always enough


def text_pairs(data: bytes, starts: Int64s) -> tuple[Int32s, Int32s, Int32s]:
    """Return a row for each: the places of the left text, of the right one, and of both together.

    The texts lie end to end; the last start is the end.

    >>> [column.tolist() for column in text_pairs(b"a" b"b" b"ab" b"aba" b"ba", np.array([0, 1, 2, 4, 7, 9]))]
    [[0, 0, 2, 1], [1, 4, 0, 0], [2, 3, 3, 4]]
    """
    count, longest = len(starts) - 1, int(np.diff(starts).max(initial=0))
    known = Texts(
        data=np.frombuffer(data or bytes(1), np.uint8),
        starts=starts,
        numbers=np.empty(count, np.uint64),
        slots=np.empty(4 << count.bit_length(), np.int32),
        powers=np.empty(longest + 1, np.uint64),
        beginnings=np.empty(longest + 1, np.uint64),
    )
    enter_texts(known)
    found: list[list[Int32s]] = [[], [], []]
    rows = np.empty((3, longest + _ROWS_A_TEXT * count), np.int32)
    progress = np.zeros(2, np.int64)
    while progress[0] < count:
        split_texts(known, progress[0], rows[0], rows[1], rows[2], progress)
        for columns, column in zip(found, rows, strict=True):
            columns.append(column[: progress[1]].copy())
    left, right, whole = (np.concatenate([np.zeros(0, np.int32), *columns]) for columns in found)
    return left, right, whole
