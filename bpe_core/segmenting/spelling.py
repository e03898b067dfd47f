"""A word as base symbols, and how many of its bytes each of them covers."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from bpe_core.alphabet import Alphabet, Symbol
from bpe_core.history.history import History, Int32s
from bpe_core.of_alphabet import OfAlphabet

_AS_THE_CHARACTER = -1  # what stands for an unknown character covers all its bytes


class Spelling:
    """Spells words in the alphabet of one history."""

    def __init__(self, history: History) -> None:
        self._alphabet = history.alphabet
        self._recipe = history.recipe
        self._is_plain_bytes = self._alphabet.is_plain_bytes and self._recipe.marker in ("none", "continuation")
        self._widths = [] if self._is_plain_bytes else _WIDTHS.of(history.alphabet, "")

    @cached_property
    def symbol_of_byte(self) -> Int32s | None:
        """The symbol of each byte, where every byte is one symbol whatever word it stands in."""
        if self._recipe.base != "bytes" or self._recipe.marker not in ("none", "continuation"):
            return None
        return np.array([self._alphabet.id_of_piece[bytes([byte])] for byte in range(256)], np.int32)

    def symbols(self, word: bytes) -> list[int]:
        """The ids a word starts from, marker included."""
        return list(word) if self._is_plain_bytes else self._alphabet.symbols_of(word, self._recipe)

    def widths(self, word: bytes, symbols: list[int]) -> list[int]:
        """How many bytes of the word each of its symbols covers; a marker covers none.

        >>> from bpe_core import Alphabet, Recipe, WordTable
        >>> recipe = Recipe.preset("words", marker="symbol")
        >>> alphabet = Alphabet.for_words(WordTable.from_counts({"né": 1}), recipe)
        >>> spelling = Spelling(History.from_pairs(recipe, alphabet, []))
        >>> word = "né漢".encode()
        >>> spelling.widths(word, spelling.symbols(word))  # n, é, <unk>, </w>
        [1, 2, 3, 0]
        """
        if self._is_plain_bytes:
            return [1] * len(symbols)
        widths: list[int] = []
        place = 0
        for symbol in symbols:
            width = self._widths[symbol]
            if width == _AS_THE_CHARACTER:
                width = _character_width(word[place])
            widths.append(width)
            place += width
        return widths


def _widths(alphabet: Alphabet, _: str) -> list[int]:
    return [_width(symbol) for symbol in alphabet.symbols]


def _width(symbol: Symbol) -> int:
    if symbol.kind == "unknown":
        return _AS_THE_CHARACTER
    if symbol.kind == "marker":
        return 0
    if symbol.kind == "character":  # which may stand for a blank that it is not
        return len(symbol.text)
    return len(symbol.decoded) - (symbol.kind == "glued")  # the blank behind it is the marker's


def _character_width(lead: int) -> int:
    return 1 if lead < 0x80 else 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4


_WIDTHS = OfAlphabet(_widths)
