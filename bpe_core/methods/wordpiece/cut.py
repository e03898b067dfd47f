"""The segmenter that splits each word from the left, each time by the longest token that fits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bpe_core.history.history import History
from bpe_core.segmenting.cutting import Cutting
from bpe_core.segmenting.text_encoder import WordSegmenter
from bpe_core.segmenting.word_pieces import LongestPieces

if TYPE_CHECKING:  # these imports load machine code
    from bpe_core.segmenting.compiled_encoder import CompiledEncoder
    from bpe_core.segmenting.compiled_methods import PiecesOverTime


class WordPieceSegmenter(WordSegmenter):
    has_kernels = has_pieces_over_time = True

    def __init__(self, history: History, cutting: Cutting) -> None:
        self.pieces = LongestPieces(history)
        super().__init__(history, cutting, self.pieces.cut)

    def make_kernels(self) -> CompiledEncoder:
        from bpe_core.segmenting.compiled_methods import compiled_pieces  # loads machine code

        return compiled_pieces(self._history, self._cutting, self.pieces)

    def pieces_over_time(self) -> PiecesOverTime:
        from bpe_core.segmenting.compiled_methods import longest_over_time  # loads machine code

        return longest_over_time(self._history, self.pieces)
