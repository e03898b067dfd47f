"""The compiled reader of short pieces of SentencePiece. Nearly all pieces of a model are short."""

from __future__ import annotations

import numpy as np

from bpe_core.history.laid_texts import LaidTexts
from bpe_core.kernels.scored_pieces import ODD, read_short
from bpe_core.support.arrays import Bytes, Float64s
from bpe_core.text.reading.utf8 import first_invalid_in_joined


class UsualPieces:
    """A compiled reader of pieces.

    `sentencepiece_fields.PieceOffsets` has the same methods and reads pieces one by one.
    """

    def __init__(self, data: bytes, kinds: int, most: int) -> None:
        self._data: Bytes = np.frombuffer(data, np.uint8)
        self._behind_kinds = kinds + 1
        room = min(most, len(data) // 2 + 1)
        self._places = np.empty(room, np.int64)
        self._kinds = np.empty(room, np.uint8)
        self._bits = np.zeros(room, np.uint32)
        self._texts = np.empty(len(data), np.uint8)
        self._starts = np.zeros(room + 1, np.int64)
        self.count = 0

    def skip(self, place: int) -> int:
        """Read all short pieces from the offset `place` up to the first field that is not a short piece.

        Return the offset of that field. A piece is short if its field has fewer than 128 bytes.
        """
        columns = self._places, self._texts, self._starts, self._bits, self._kinds
        behind, self.count = map(int, read_short(self._data, place, self._behind_kinds, *columns, self.count))
        return behind

    def enter(self, place: int) -> None:
        """Record that this class cannot read the piece at the offset `place`. The method `odd` lists such pieces."""
        self._places[self.count] = place
        self._kinds[self.count] = ODD
        self._starts[self.count + 1] = self._starts[self.count]
        self.count += 1

    def columns(self) -> tuple[LaidTexts, Float64s, Bytes]:
        """Return the texts, scores and kinds of all pieces.

        A piece that this class cannot read has the kind ODD and an empty string as its text. If any piece is not valid
        UTF-8, all pieces have the kind ODD.
        """
        kinds = self._kinds[: self.count]
        scores = self._bits[: self.count].view(np.float32)
        starts = self._starts[: self.count + 1]
        texts = self._texts[: starts[-1]]
        if first_invalid_in_joined(texts, starts) >= 0:
            kinds[:] = ODD
        return LaidTexts(texts, starts), scores.astype(np.float64), kinds

    def odd(self) -> list[tuple[int, int]]:
        """Return the id and the offset of each piece that this class cannot read."""
        numbers = np.flatnonzero(self._kinds[: self.count] == ODD)
        return list(zip(numbers.tolist(), self._places[numbers].tolist(), strict=True))
