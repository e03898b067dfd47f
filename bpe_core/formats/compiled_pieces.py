"""Read the pieces of a SentencePiece model by machine code, as far as they are written as usual."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bpe_core.kernels.scored_pieces import read_usual
from bpe_core.support.arrays import Bytes

_AT_ONCE = 1 << 16  # pieces


class UsualPieces:
    def __init__(self, data: bytes, kinds: int) -> None:
        self._data: Bytes = np.frombuffer(data, np.uint8)
        self._behind_kinds = kinds + 1
        self._spans = np.zeros((_AT_ONCE, 2), np.int64)
        self._bits, self._kinds = np.zeros(_AT_ONCE, np.uint32), np.zeros(_AT_ONCE, np.uint8)

    def those_from(self, place: int) -> tuple[int, Iterator[tuple[int, int, float, int]]]:
        """Return where the first begins that is written otherwise; of each before where its text is, score and kind."""
        place, found = read_usual(self._data, place, self._behind_kinds, self._spans, self._bits, self._kinds, 0)
        columns = (*self._spans[:found].T, self._bits[:found].view(np.float32), self._kinds[:found])
        return int(place), zip(*(column.tolist() for column in columns), strict=True)
