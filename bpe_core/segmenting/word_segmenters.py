"""Cut texts word by word: what methods share that cut every word by itself, and the small ones among them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bpe_core.history.history import History
from bpe_core.segmenting.by_priority import JoinedWords
from bpe_core.segmenting.cutting import Cutting, GivenWords, Part, ids_looked_for, utf8
from bpe_core.segmenting.plain_encoder import ids_of_each
from bpe_core.segmenting.text_encoder import end_to_end, worth_kernels
from bpe_core.segmenting.word_pieces import LongestPieces
from bpe_core.segmenting.word_tokens import WordCut, WordCuts, WordCutter, Words, WordTokens
from bpe_core.support.arrays import Int32s, Int64s
from bpe_core.support.progress import CancelCheck, never_cancelled, while_wanted
from bpe_core.text.stand_ins import raw_bytes

if TYPE_CHECKING:  # which load machine code
    from bpe_core.segmenting.compiled_encoder import CompiledEncoder
    from bpe_core.segmenting.compiled_methods import PiecesOverTime
    from bpe_core.segmenting.laid_words import Laid

REMEMBERED_WORDS = 1 << 16


class WordSegmenter:
    """A `Segmenter` for a method that brings a `WordCutter`, and kernels if it has any."""

    has_kernels = False
    has_pieces_over_time = False  # whether kernels follow the cuts of words step after step

    def __init__(self, history: History, cutting: Cutting, cut: WordCutter) -> None:
        self._history = history
        self._cutting = cutting
        self._cut = cut
        self._special_id = ids_looked_for(history)
        self._remembered: dict[bytes, WordCut] = {}
        self._compiled: CompiledEncoder | None = None

    # -- what a method may bring ---------------------------------------------------------------

    def make_kernels(self) -> CompiledEncoder:
        """The kernels that cut as this does, where `has_kernels` says that there are any."""
        raise NotImplementedError

    def pieces_over_time(self) -> PiecesOverTime | None:
        return None

    def kernels_for(self, size: int) -> CompiledEncoder | None:
        """The kernels where they are loaded, or where loading them takes less time than doing without."""
        if self._compiled is None and self.has_kernels and worth_kernels(size):
            self._compiled = self.make_kernels()
        return self._compiled

    # -- a text as ids -------------------------------------------------------------------------

    def ids(self, text: str, at: int, allowed: tuple[str, ...]) -> Int32s:
        if not allowed and not self._cutting.gives_words and not self._cutting.recipe.normalizes:
            return self._ids_of_part(text, at)
        utf8(text)  # so that an error names the place in the given text
        if self._cutting.gives_words:
            return self._ids_of_words(text, at, allowed)
        return end_to_end(
            self._ids_of_part(part, at) if special is None else self._special(special)
            for part, special in self._cutting.normalized_parts(text, allowed)
        )

    def _special(self, token: str) -> Int32s:
        return np.array([self._special_id[token]], np.int32)

    def _ids_of_words(self, text: str, at: int, allowed: tuple[str, ...]) -> Int32s:
        if not worth_kernels(len(text)):
            return ids_of_each(
                self._cutting.normalized_parts(text, allowed),
                lambda part: self._cut_text(part[0], at) if part[1] is None else [self._special_id[part[1]]],
            )
        return end_to_end(
            self._special(special or "") if laid is None else self._ids_of_laid(laid, at)
            for laid, special in self._cutting.laid_parts(text, allowed)
        )

    def _ids_of_laid(self, laid: Laid, at: int) -> Int32s:
        kernels = self.kernels_for(len(laid.data))
        if kernels is not None:
            return kernels.ids_of_words(laid.data, laid.cuts, at)
        return ids_of_each(laid.words(), lambda word: self.cut(word, at).ids)

    def _ids_of_part(self, text: str, at: int) -> Int32s:
        """The tokens of a normalized text without special tokens."""
        kernels = self.kernels_for(len(text))
        if kernels is not None:
            return kernels.ids(text, at)
        utf8(text)
        return ids_of_each(self._cutting.words(text), lambda word: self._cut_text(word, at))

    def ids_of_given(
        self, given: GivenWords, at: int, cancelled: CancelCheck = never_cancelled
    ) -> tuple[Int32s, Int64s] | None:
        """The tokens of the given words after so many steps, and where those of each word begin, and the end.

        None where the words are too few for kernels, or there are none: then a segmentation serves.
        """
        kernels = self.kernels_for(len(given.data))
        return None if kernels is None else kernels.ids_of_given(given.data, given.starts, at, cancelled)

    # -- words ---------------------------------------------------------------------------------

    def cut(self, word: bytes, at: int) -> WordCut:
        known = self._remembered.get(word)
        if known is None or not known.since <= at < known.until:
            if len(self._remembered) >= REMEMBERED_WORDS:
                self._remembered = {}
            known = self._remembered[word] = self._cut(word, at)
        return known

    def _cut_text(self, word: str, at: int) -> Sequence[int]:
        return self.cut(raw_bytes(word), at).ids

    def cut_words(self, words: Sequence[bytes], at: int) -> WordCuts:
        return WordCuts.of([self.cut(word, at) for word in words])

    def segmentation(self, text: str, allowed: tuple[str, ...], cancelled: CancelCheck = never_cancelled) -> WordTokens:
        data = utf8(text)
        parts = [self._words_of(part, cancelled) for part in self._cutting.parts(text, allowed)]
        return WordTokens(data, Words.joined(parts), self.cut_words)

    def _words_of(self, part: Part, cancelled: CancelCheck) -> Words:
        if part.special is not None:
            return Words.of([self._special_id[part.special]], [0], part.origins[[0, -1]])
        words, starts = list[bytes](), list[int]()
        for word, start in while_wanted(self._cutting.placed_words(part.text), cancelled):
            words.append(word)
            starts.append(start)
        return Words.of(words, starts, part.origins)


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


class PrioritySegmenter(WordSegmenter):
    def __init__(self, history: History, cutting: Cutting) -> None:
        self._words = JoinedWords(history)
        self.has_kernels = self._words.is_plain
        super().__init__(history, cutting, self._words.cut)

    def make_kernels(self) -> CompiledEncoder:
        from bpe_core.segmenting.compiled_methods import CompiledPriorities  # loads machine code

        return CompiledPriorities(self._words, self._cutting)
