"""The segmenters for histories whose steps join pairs and drop tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bpe_core.history.history import History
from bpe_core.methods.kit.dropping_words import DroppingWords
from bpe_core.segmenting.cutting import Cutting
from bpe_core.segmenting.text_encoder import WordSegmenter

if TYPE_CHECKING:  # these imports load machine code
    from bpe_core.segmenting.compiled_encoder import CompiledEncoder


class DroppingSegmenter(WordSegmenter):
    has_kernels = True

    def __init__(self, history: History, cutting: Cutting) -> None:
        super().__init__(history, cutting, DroppingWords(history).cut)

    def make_kernels(self) -> CompiledEncoder:
        from bpe_core.segmenting.compiled_runs import WordStepEncoder  # loads machine code

        return WordStepEncoder(self._history, self._cutting)
