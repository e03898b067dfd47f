"""An encoder without machine code. Tests compare the kernels with it."""

from __future__ import annotations

from bpe_core.history.history import History
from bpe_core.segmenting.cutting import Cutting
from bpe_core.segmenting.merging import MergedWord, Merges, WordMerger
from bpe_core.support.arrays import Int32s
from tests.machine_code import machine_code


class SpecifiedWords(WordMerger):
    """An encoder that merges every word in plain Python, even if machine code is ready."""

    def merged(self, word: bytes) -> MergedWord:
        with machine_code(is_used=False):
            return super().merged(word)


def specified_words(history: History) -> SpecifiedWords:
    return SpecifiedWords(history, Cutting(history.recipe))


def specified_ranks(symbols: Int32s, history: History) -> Int32s:
    with machine_code(is_used=False):
        return Merges(history).ranks_of(symbols)
