"""Read the pieces of a SentencePiece model by machine code, as far as they are written as usual."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from bpe_core.kernels.scored_pieces import ODD, read_short
from bpe_core.support.arrays import Bytes, Float64s, Int64s


class UsualPieces:
    """Twin of `sentencepiece_fields.OddPieces`, which reads none at once."""

    def __init__(self, data: bytes, kinds: int, most: int) -> None:
        self._data: Bytes = np.frombuffer(data, np.uint8)
        self._behind_kinds = kinds + 1
        room = min(most, len(data) // 2 + 1)
        self._places, self._ends = np.empty(room, np.int64), np.zeros(room + 1, np.int64)
        self._bits, self._kinds = np.zeros(room, np.uint32), np.empty(room, np.uint8)
        self._texts = np.empty(len(data), np.uint8)
        self.count = 0

    def skip(self, place: int) -> int:
        """Take all short pieces from a place on; return where there is something else."""
        columns = self._places, self._texts, self._ends, self._bits, self._kinds
        behind, count = read_short(self._data, place, self._behind_kinds, *columns, self.count)
        self.count = int(count)
        return int(behind)

    def enter(self, place: int) -> None:
        """Take the piece at a place, which is longer."""
        self._places[self.count], self._kinds[self.count] = place, ODD
        self._ends[self.count + 1] = self._ends[self.count]
        self.count += 1

    def columns(self) -> tuple[list[str], Float64s, Int64s]:
        """Return all texts, scores and kinds, which say nothing of odd pieces; where a text is broken, all are odd."""
        kinds, ends, scores = self._kinds[: self.count], self._ends[: self.count + 1], self._bits[: self.count]
        data = self._texts[: ends[-1]]
        begins = (data & 0xC0) != 0x80  # a character
        try:
            together = data.tobytes().decode() if begins[ends[:-1][np.diff(ends) > 0]].all() else None
        except UnicodeDecodeError:
            together = None
        if together is None:
            kinds[:] = ODD
            return [""] * self.count, np.zeros(self.count), kinds.astype(np.int64)
        borders = np.concatenate((np.zeros(1, np.int64), np.cumsum(begins)))[ends].tolist()
        texts = [together[first:behind] for first, behind in pairwise(borders)]
        return texts, scores.view(np.float32).astype(np.float64), kinds.astype(np.int64)

    def odd(self) -> list[tuple[int, int]]:
        """Return the numbers of those that have to be read one by one, and their places."""
        numbers = np.flatnonzero(self._kinds[: self.count] == ODD)
        return list(zip(numbers.tolist(), self._places[numbers].tolist(), strict=True))
