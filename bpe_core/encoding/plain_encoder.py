"""Encoding in plain Python: for short texts, and until the kernels can be used."""

from __future__ import annotations

import numpy as np

from bpe_core.encoding.boundaries import PATTERN_CUT, Boundaries, Symbols
from bpe_core.encoding.cutting import Cutting, Offsets, Part
from bpe_core.encoding.greedy import LongestMatch
from bpe_core.encoding.merging import MergedWord, Merges
from bpe_core.encoding.spelling import Spelling
from bpe_core.history import MergeHistory

REMEMBERED_WORDS = 1 << 15
LONGEST_REMEMBERED = 64  # bytes


class PlainEncoder:
    """Encodes word by word, and remembers the words it has met."""

    def __init__(self, history: MergeHistory, cutting: Cutting) -> None:
        self._cutting = cutting
        self._spelling = Spelling(history)
        self._merges = Merges(history)
        self._base = len(history.alphabet)
        specials = history.recipe.special_tokens
        self._special_id = {token: self._base + len(history) + j for j, token in enumerate(specials)}
        self._remembered: dict[bytes, MergedWord] = {}

    def encode(self, text: str, at: int, allowed: tuple[str, ...]) -> list[int]:
        ids: list[int] = []
        tokens_of: dict[str, list[int]] = {}  # of this text's words
        for word, is_special in self._cutting.words(text, allowed):
            if is_special:
                ids.append(self._special_id[word])
                continue
            tokens = tokens_of.get(word)
            if tokens is None:
                tokens = tokens_of[word] = self._merges.tokens(self.merged(word.encode()), at)
            ids += tokens
        return ids

    def encode_greedily(self, text: str, at: int, allowed: tuple[str, ...], longest: LongestMatch) -> list[int]:
        ids: list[int] = []
        tokens_of: dict[str, list[int]] = {}
        for word, is_special in self._cutting.words(text, allowed):
            if is_special:
                ids.append(self._special_id[word])
                continue
            tokens = tokens_of.get(word)
            if tokens is None:
                tokens = tokens_of[word] = longest.tokens(self._spelling.symbols(word.encode()), at)
            ids += tokens
        return ids

    def steps(self, word: bytes) -> list[tuple[int, list[int]]]:
        return list(self._merges.steps(self.merged(word)))

    def merged(self, word: bytes) -> MergedWord:
        known = self._remembered.get(word)
        if known is None:
            known = self._merges.merged(self._spelling.symbols(word))
            if len(word) <= LONGEST_REMEMBERED:
                if len(self._remembered) >= REMEMBERED_WORDS:
                    self._remembered = {}
                self._remembered[word] = known
        return known

    def boundaries(self, text: str, allowed: tuple[str, ...]) -> Boundaries:
        parts = [self._symbols_of(part) for part in self._cutting.parts(text, allowed)]
        if not parts:
            empty = np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros(0, np.int64)
            parts = [Symbols(*empty)]
        symbols = Symbols(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
        data = text.encode()
        if self._spelling.is_plain_bytes and not self._cutting.recipe.normalizes and len(symbols.ids) == len(data):
            ranks = np.append(symbols.ranks, np.int32(PATTERN_CUT))
            if not any(part in text for part in allowed):
                return Boundaries.of_bytes(data, ranks)
        return Boundaries.of_symbols(len(data), symbols, self._base)

    def _symbols_of(self, part: Part) -> Symbols:
        """The base symbols of a part with their ranks and places."""
        if part.special is not None:
            id, cut = [self._special_id[part.special]], [PATTERN_CUT]
            return _as_symbols(id, cut, part.origins[:1], part.origins[-1:])
        ids: list[int] = []
        ranks: list[int] = []
        starts: list[int] = []  # in bytes of the part
        stops: list[int] = []
        for word, place in self._cutting.words_of(part):
            merged = self.merged(word)
            ids += merged.symbols
            ranks.append(PATTERN_CUT)
            ranks += merged.ranks
            for width in self._spelling.widths(word, merged.symbols):
                starts.append(place)
                place += width
                stops.append(place)
        return _as_symbols(ids, ranks, part.origins[starts], part.origins[stops])


def _as_symbols(ids: list[int], ranks: list[int], starts: Offsets, stops: Offsets) -> Symbols:
    return Symbols(np.array(ids, np.int32), np.array(ranks, np.int32), starts, stops)
