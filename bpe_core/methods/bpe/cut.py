"""The segmenter that merges pairs by priority.

If a table states no priorities, the pair of an earlier step has the higher priority.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bpe_core.history.history import History
from bpe_core.segmenting.by_priority import JoinedWords, join_unknown
from bpe_core.segmenting.cutting import Cutting
from bpe_core.segmenting.text_encoder import WordSegmenter
from bpe_core.support.arrays import Int32s

if TYPE_CHECKING:  # these imports load machine code
    from bpe_core.segmenting.batches import Batch, Texts, Unread
    from bpe_core.segmenting.compiled_encoder import CompiledEncoder, ShortTexts


class PrioritySegmenter(WordSegmenter):
    def __init__(self, history: History, cutting: Cutting) -> None:
        self._words = JoinedWords(history)
        self._each_word = cutting
        self.has_kernels = self._words.is_plain
        # Kernels get each word separately, and several threads may share a text, so unknown words are joined later.
        self._joined = history.alphabet.unknown_id if self._words.puts_unknown_together else None
        super().__init__(history, self._words.cutting(cutting), self._words.cut)

    def make_kernels(self) -> CompiledEncoder:
        from bpe_core.segmenting.compiled_methods import CompiledPriorities  # loads machine code

        return CompiledPriorities(self._words, self._each_word)

    def ids(self, text: str, at: int, allowed: tuple[str, ...]) -> Int32s:
        ids = super().ids(text, at, allowed)
        return ids if self._joined is None else join_unknown(ids, np.array([0, len(ids)]), self._joined)[0]

    def short_texts(self, kernels: CompiledEncoder, at: int) -> ShortTexts | None:
        return super().short_texts(kernels, at) if self._joined is None else None

    def batch(self, texts: Texts | Unread, at: int, allowed: tuple[str, ...], threads: int | None) -> Batch | None:
        batch = super().batch(texts, at, allowed, threads)
        if batch is None or self._joined is None:
            return batch
        ids, offsets = join_unknown(batch.ids, batch.offsets, self._joined)
        return batch._replace(ids=ids, offsets=offsets)
