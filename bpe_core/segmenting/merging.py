"""A module that divides single words into base symbols, and merges these symbols.

The merges are applied in the order of learning, and each merge joins its pair from left to right. The rank of a
boundary is the index of the merge that removes it. The tokens after any number of merges follow from the ranks by
comparison, so a word is merged only once. Kernels compute the ranks. Until machine code is compiled, the reference
of the method computes them. The reference is slower, because it is plain Python.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bpe_core.errors import TooLarge
from bpe_core.history.alphabet import Spelling
from bpe_core.history.history import History
from bpe_core.kernels import NEVER as NEVER
from bpe_core.kernels import PATTERN_CUT as PATTERN_CUT
from bpe_core.kernels.readiness import by_machine_code
from bpe_core.kernels.stored_code import ENCODING
from bpe_core.methods.facts import WordRanks
from bpe_core.methods.registry import METHODS
from bpe_core.segmenting.boundaries import PlacedSymbols
from bpe_core.segmenting.cutting import ESCAPED, Cutting, ids_of_each
from bpe_core.support.arrays import Int32s
from bpe_core.support.progress import ALONE, Work
from bpe_core.text.characters import raw_bytes

if TYPE_CHECKING:  # these imports load machine code
    from bpe_core.segmenting.compiled_ranks import CompiledRanks
    from bpe_core.segmenting.compiled_runs import RanksOfRuns

SEPARATOR = -1  # any negative number separates words in an array of symbols


class MergedWord(NamedTuple):
    """The base symbols of a word, and the rank of each boundary between two symbols."""

    symbols: list[int]
    ranks: list[int]


class Merges:
    """The merges of a history, applied to words. For methods with superwords, they are applied to runs of words."""

    def __init__(self, history: History, *, plainly: bool = False) -> None:
        self._plainly = plainly
        self._base = len(history.alphabet)
        self._history = history
        self._method = METHODS[history.recipe.method]

    def ranks_of(self, symbols: Int32s, work: Work = ALONE) -> Int32s:
        """Return the rank of the boundary before each element of `symbols`.

        The array `symbols` holds the symbols of many words, with negative numbers between the words. The boundary
        before the first symbol of a word, and before a negative number, has the rank PATTERN_CUT. A boundary that
        stays has the rank NEVER.
        """
        if not self._plainly and by_machine_code(len(symbols), ENCODING, work, is_needed=False):
            return self._compiled.of(symbols)
        is_known = symbols >= 0
        ranks = np.full(len(symbols), PATTERN_CUT, np.int32)
        edges = np.flatnonzero(np.diff(is_known, prepend=False, append=False)).tolist()
        for begin, end in zip(edges[::2], edges[1::2], strict=True):
            word_ranks = self._specified(symbols[begin:end].tolist())
            ranks[begin + 1 : end] = [NEVER if rank is None else rank for rank in word_ranks]
        return ranks

    @cached_property
    def _compiled(self) -> CompiledRanks | RanksOfRuns:
        if self._method.joins_runs:
            from bpe_core.segmenting.compiled_runs import RanksOfRuns  # loads machine code

            return RanksOfRuns(self._history)
        from bpe_core.segmenting.compiled_ranks import CompiledRanks  # loads machine code

        return CompiledRanks(self._history)

    @cached_property
    def _specified(self) -> WordRanks:
        return self._method.word_ranks(self._history)

    def merged(self, symbols: Sequence[int]) -> MergedWord:
        """Apply all merges to a word of base symbols.

        >>> from bpe_core.history.alphabet import Alphabet
        >>> from bpe_core.recipes.recipe import Recipe
        >>> pairs = [(97, 97), (256, 97), (257, 98)]  # a+a, aa+a, aaa+b
        >>> merges = Merges(History.from_pairs(Recipe.preset("raw-bytes"), Alphabet.of_bytes(), pairs))
        >>> merges.merged(b"aaabdaa").ranks
        [0, 1, 2, 2147483647, 2147483647, 0]
        """
        cells = np.array([SEPARATOR, *symbols, SEPARATOR], np.int32)
        return MergedWord(list(symbols), self.ranks_of(cells)[2:-1].tolist() if len(symbols) > 1 else [])

    def tokens(self, word: MergedWord, at: int) -> list[int]:
        """Return the ids of a word's tokens after `at` merges.

        The highest rank of a boundary inside a token is the index of the merge that made the token.
        """
        if not word.symbols:
            return []
        ids: list[int] = []
        first = word.symbols[0]
        last_merge = -1
        for symbol, rank in zip(word.symbols[1:], word.ranks, strict=True):
            if rank < at:
                last_merge = max(last_merge, rank)
            else:
                ids.append(first if last_merge < 0 else self._base + last_merge)
                first = symbol
                last_merge = -1
        ids.append(first if last_merge < 0 else self._base + last_merge)
        return ids

    def steps(self, word: MergedWord) -> Iterator[tuple[int, list[int]]]:
        """Yield the index of each merge that changes the word, with the word's tokens after this merge.

        >>> from bpe_core.history.alphabet import Alphabet
        >>> from bpe_core.recipes.recipe import Recipe
        >>> pairs = [(108, 111), (256, 119)]  # l+o, lo+w
        >>> merges = Merges(History.from_pairs(Recipe.preset("raw-bytes"), Alphabet.of_bytes(), pairs))
        >>> list(merges.steps(merges.merged(b"slow")))
        [(0, [115, 256, 119]), (1, [115, 257])]
        """
        for rank in sorted(set(word.ranks) - {NEVER}):
            yield rank, self.tokens(word, rank + 1)


REMEMBERED_WORDS = 1 << 15
LONGEST_REMEMBERED = 64  # bytes
MOST_SYMBOLS = 1 << 23  # symbols of all tokens together; far more than tables of texts have

# --- The tokens of a word -------------------------------------------------------------------


class WordMerger:
    """An encoder in plain Python that merges word by word.

    The program uses it for single words. It also encodes texts until the kernels are ready.
    """

    def __init__(self, history: History, cutting: Cutting, *, plainly: bool = False) -> None:
        self.spelling = Spelling(history.alphabet, history.recipe)
        self._cutting = cutting
        self._merges = Merges(history, plainly=plainly)
        self._remembered: dict[bytes, MergedWord] = {}

    def ids(self, text: str, at: int) -> Int32s:
        return self.ids_of_words(self._cutting.words(text), at)

    def ids_of_words(self, words: Iterable[str], at: int) -> Int32s:
        """Return the tokens of all words, one word after another."""
        return ids_of_each(words, lambda word: self.tokens(word.encode(errors=ESCAPED), at))

    def tokens(self, word: bytes, at: int) -> list[int]:
        return self._merges.tokens(self._remembered.get(word) or self.merged(word), at)

    def greedy_ids(self, text: str, at: int, longest: LongestMatch) -> Int32s:
        words = self._cutting.words(text)
        return ids_of_each(words, lambda word: longest.tokens(self.spelling.symbols(raw_bytes(word)), at))

    def symbols(self, text: str) -> PlacedSymbols:
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


class LongestMatch:
    """A splitter that does not apply merges. It chooses the longest token that fits, from left to right."""

    def __init__(self, history: History) -> None:
        if np.minimum(history.token_lengths(), MOST_SYMBOLS + 1).sum() > MOST_SYMBOLS:
            raise TooLarge(
                f"The tokens of this table have more than {MOST_SYMBOLS:,} symbols together, too many to find the "
                "longest token that fits; encode in the order of the merges instead."
            )
        self._base = len(history.alphabet)
        spelled: list[tuple[int, ...]] = [(id,) for id in range(self._base)]
        for left, right in history.pairs():
            spelled.append(spelled[left] + spelled[right])
        self._token_of = {symbols: id for id, symbols in reversed(list(enumerate(spelled)))}  # the oldest token counts
        self._longest = max(map(len, spelled))

    def tokens(self, symbols: list[int], at: int) -> list[int]:
        ids: list[int] = []
        start = 0
        limit = self._base + at
        while start < len(symbols):
            for stop in range(min(len(symbols), start + self._longest), start, -1):
                token = self._token_of.get(tuple(symbols[start:stop]), limit)
                if token < limit:
                    break
            ids.append(token)
            start = stop
        return ids
