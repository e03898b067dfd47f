"""Encoding in plain Python: for short texts, and until the kernels can be used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from bpe_core.history.history import History
from bpe_core.segmenting.boundaries import PATTERN_CUT, PlacedSymbols
from bpe_core.segmenting.cutting import Cutting
from bpe_core.segmenting.greedy import LongestMatch
from bpe_core.segmenting.merging import MergedWord, Merges
from bpe_core.segmenting.segmentation import Int32s
from bpe_core.segmenting.spelling import Spelling
from bpe_core.text.stand_ins import raw_bytes

REMEMBERED_WORDS = 1 << 15
LONGEST_REMEMBERED = 64  # bytes


class PlainEncoder:
    """Encodes normalized text word by word, and remembers the words it has met."""

    def __init__(self, history: History, cutting: Cutting) -> None:
        self.spelling = Spelling(history)
        self._cutting = cutting
        self._merges = Merges(history)
        self._remembered: dict[bytes, MergedWord] = {}

    def ids(self, text: str, at: int) -> Int32s:
        """The tokens after so many merges."""
        ids: list[int] = []
        tokens_of: dict[str, list[int]] = {}  # of this text's words
        for word in self._cutting.words(text):
            tokens = tokens_of.get(word)
            if tokens is None:
                tokens = tokens_of[word] = self._merges.tokens(self.merged(raw_bytes(word)), at)
            ids += tokens
        return np.array(ids, np.int32)

    def ids_of_words(self, words: Iterable[tuple[str, str | None]], specials: Mapping[str, int], at: int) -> Int32s:
        """The tokens of words, and of special tokens between them, that were found before."""
        ids: list[int] = []
        tokens_of: dict[str, list[int]] = {}
        for word, special in words:
            tokens = [specials[special]] if special else tokens_of.get(word)
            if tokens is None:
                tokens = tokens_of[word] = self._merges.tokens(self.merged(raw_bytes(word)), at)
            ids += tokens
        return np.array(ids, np.int32)

    def greedy_ids(self, text: str, at: int, longest: LongestMatch) -> Int32s:
        """The tokens when the longest that fits is taken."""
        ids: list[int] = []
        tokens_of: dict[str, list[int]] = {}
        for word in self._cutting.words(text):
            tokens = tokens_of.get(word)
            if tokens is None:
                tokens = tokens_of[word] = longest.tokens(self.spelling.symbols(raw_bytes(word)), at)
            ids += tokens
        return np.array(ids, np.int32)

    def symbols(self, text: str) -> PlacedSymbols:
        """The base symbols with the ranks of their boundaries, and their places in the bytes of the text."""
        ids: list[int] = []
        ranks: list[int] = []
        starts: list[int] = []
        stops: list[int] = []
        for word, place in self._cutting.placed_words(text):
            merged = self.merged(word)
            ids += merged.symbols
            ranks.append(PATTERN_CUT)
            ranks += merged.ranks
            for width in self.spelling.widths(word, merged.symbols):
                starts.append(place)
                place += width
                stops.append(place)
        narrow = np.array(ids, np.int32), np.array(ranks, np.int32)
        return PlacedSymbols(*narrow, np.array(starts, np.int64), np.array(stops, np.int64))

    def byte_ranks(self, text: str) -> Int32s:
        """The rank of the boundary before each byte, where each is a symbol and belongs to a word."""
        ranks: list[int] = []
        for word in self._cutting.words(text):
            ranks.append(PATTERN_CUT)
            ranks += self.merged(raw_bytes(word)).ranks
        return np.array(ranks, np.int32)

    def merged(self, word: bytes) -> MergedWord:
        known = self._remembered.get(word)
        if known is None:
            known = self._merges.merged(self.spelling.symbols(word))
            if len(word) <= LONGEST_REMEMBERED:
                if len(self._remembered) >= REMEMBERED_WORDS:
                    self._remembered = {}
                self._remembered[word] = known
        return known

    def steps(self, word: bytes) -> list[tuple[int, list[int]]]:
        """Each merge that changes a word, and the tokens after it."""
        return list(self._merges.steps(self.merged(word)))
