"""The shared parts of segmenters that split each word separately."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bpe_core.history.history import History
from bpe_core.segmenting.cutting import Cutting, Part, utf8
from bpe_core.segmenting.text_encoder import WordEncoder
from bpe_core.segmenting.word_tokens import WordCut, WordCuts, WordCutter, Words, WordTokens
from bpe_core.support.progress import CancelCheck, never_cancelled, while_wanted

if TYPE_CHECKING:  # this import loads machine code
    from bpe_core.segmenting.compiled_methods import PiecesOverTime

REMEMBERED_WORDS = 1 << 16


class WordSegmenter(WordEncoder):
    """A `Segmenter` for a method that has a `WordCutter`, and may have kernels."""

    has_kernels = False
    has_pieces_over_time = False  # whether kernels can update the tokens of words step by step

    def __init__(self, history: History, cutting: Cutting, cut: WordCutter) -> None:
        super().__init__(history, cutting)
        self._cut = cut
        self._remembered: dict[bytes, WordCut] = {}

    def pieces_over_time(self) -> PiecesOverTime | None:
        return None

    def ids_of_word(self, word: bytes, at: int) -> Sequence[int]:
        return self.cut(word, at).ids

    def placed_ids(self, word: bytes, at: int) -> tuple[Sequence[int], Sequence[int]]:
        word_cut = self.cut(word, at)
        return word_cut.ids, word_cut.ends

    def cut(self, word: bytes, at: int) -> WordCut:
        known = self._remembered.get(word)
        if known is None or not known.since <= at < known.until:
            if len(self._remembered) >= REMEMBERED_WORDS:
                self._remembered = {}
            known = self._remembered[word] = self._cut(word, at)
        return known

    def cut_words(self, words: Sequence[bytes], at: int) -> WordCuts:
        return WordCuts.of([self.cut(word, at) for word in words])

    def segmentation(self, text: str, allowed: tuple[str, ...], cancelled: CancelCheck = never_cancelled) -> WordTokens:
        data = utf8(text)
        parts = [self._words_of(part, cancelled) for part in self._cutting.parts(text, allowed)]
        return WordTokens(data, Words.joined(parts), self.cut_words)

    def _words_of(self, part: Part, cancelled: CancelCheck) -> Words:
        if part.special is not None:
            return Words.of([self._special_id[part.special]], [0], part.origins[[0, -1]])
        words = list[bytes]()
        starts = list[int]()
        for word, start in while_wanted(self._cutting.placed_words(part.text), cancelled):
            words.append(word)
            starts.append(start)
        return Words.of(words, starts, part.origins)
