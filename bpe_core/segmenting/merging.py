"""The application of merges to a word.

The merges are applied in the order of learning, and each joins its pair from left to right. A merge uses only older
tokens, so it is the same to take always the lowest rank (then the leftmost boundary) that applies *now*; with a heap
that is nearly linear. The rank of a boundary is the index of the merge that removes it. The tokens after any number of
merges follow from the ranks by comparison, so a word is merged only once.

`Merges` serves the explanations and trees of words. `PlainEncoder` uses it for short texts, and for all texts until
machine code is ready: the first 16 characters by GPT-2's table take 12 ms, the kernels 100 ms with their loading, and
the reference 300 ms.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np

from bpe_core.errors import TooLarge
from bpe_core.history.alphabet import Symbol
from bpe_core.history.history import History
from bpe_core.kernels import NEVER as NEVER
from bpe_core.kernels import PATTERN_CUT as PATTERN_CUT
from bpe_core.kernels.readiness import use_machine_code
from bpe_core.segmenting.boundaries import PlacedSymbols
from bpe_core.segmenting.cutting import Cutting, ids_of_each
from bpe_core.support.arrays import Int32s
from bpe_core.text.characters import raw_bytes

_JOINED = -1  # marks a cell of the token that begins before it
_PLACE_BITS = 40  # a heap entry is one number: the rank in the high bits, the index in the word in the low bits


class MergedWord(NamedTuple):
    """The base symbols of a word, and the rank of the boundary before each symbol except the first."""

    symbols: list[int]
    ranks: list[int]


class Merges:
    def __init__(self, history: History) -> None:
        self._base = len(history.alphabet)
        self._columns = history.columns

    @cached_property
    def left(self) -> list[int]:
        left: list[int] = self._columns.left.tolist()
        return left

    @cached_property
    def right(self) -> list[int]:
        right: list[int] = self._columns.right.tolist()
        return right

    @cached_property
    def _rank_of(self) -> dict[int, int]:
        """Map each pair to its rank; of duplicates the first counts, as it leaves the others nothing to join."""
        keys = [left << 32 | right for left, right in zip(self.left, self.right, strict=True)]
        ranks = range(len(keys))  # one by one, so that other threads can run
        return {key: rank for key, rank in zip(reversed(keys), reversed(ranks), strict=True)}  # noqa: C416

    def merged(self, symbols: Sequence[int]) -> MergedWord:
        """Apply all merges to a word of base symbols.

        >>> from bpe_core.history.alphabet import Alphabet
        >>> from bpe_core.recipes.recipe import Recipe
        >>> pairs = [(97, 97), (256, 97), (257, 98)]  # a+a, aa+a, aaa+b
        >>> merges = Merges(History.from_pairs(Recipe.preset("raw-bytes"), Alphabet.of_bytes(), pairs))
        >>> merges.merged(b"aaabdaa").ranks
        [0, 1, 2, 2147483647, 2147483647, 0]
        """
        cells = len(symbols)
        ids = list(symbols)  # the id of a token is in its first cell
        before = list(range(-1, cells - 1))
        after = list(range(1, cells + 1))
        ranks = [NEVER] * cells
        heap = self._pairs_of(ids)
        while heap:
            rank, place = divmod(heappop(heap), 1 << _PLACE_BITS)
            other = after[place]
            if ids[place] != self.left[rank] or other >= cells or ids[other] != self.right[rank]:
                continue  # one of the two tokens was joined to another since
            ids[place] = self._base + rank
            ids[other] = _JOINED
            ranks[other] = rank
            behind = after[place] = after[other]
            if behind < cells:
                before[behind] = place
                self._push(heap, ids[place], ids[behind], place)
            if place > 0:
                self._push(heap, ids[before[place]], ids[place], before[place])
        return MergedWord(list(symbols), ranks[1:])

    def _pairs_of(self, ids: list[int]) -> list[int]:
        heap: list[int] = []
        for place in range(len(ids) - 1):
            rank = self._rank_of.get(ids[place] << 32 | ids[place + 1])
            if rank is not None:
                heap.append(rank << _PLACE_BITS | place)
        heapify(heap)
        return heap

    def _push(self, heap: list[int], left: int, right: int, place: int) -> None:
        rank = self._rank_of.get(left << 32 | right)
        if rank is not None:
            heappush(heap, rank << _PLACE_BITS | place)

    def tokens(self, word: MergedWord, at: int) -> list[int]:
        """Return the ids of a word's tokens after `at` merges; the highest rank inside a token made the token."""
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
        """Yield the index of each merge that changes a word, and the word's tokens after it.

        >>> from bpe_core.history.alphabet import Alphabet
        >>> from bpe_core.recipes.recipe import Recipe
        >>> pairs = [(108, 111), (256, 119)]  # l+o, lo+w
        >>> merges = Merges(History.from_pairs(Recipe.preset("raw-bytes"), Alphabet.of_bytes(), pairs))
        >>> list(merges.steps(merges.merged(b"slow")))
        [(0, [115, 256, 119]), (1, [115, 257])]
        """
        for rank in sorted(set(word.ranks) - {NEVER}):
            yield rank, self.tokens(word, rank + 1)


# The boundaries in a layout of many words


def ranks_of(symbols: Int32s, history: History) -> Int32s:
    """Return the merge that removes the boundary before each cell of a layout; the number of cells decides how."""
    return compiled_ranks(symbols, history) if use_machine_code(symbols.nbytes) else plain_ranks(symbols, history)


def plain_ranks(symbols: Int32s, history: History, merges: Merges | None = None) -> Int32s:
    is_known = symbols >= 0
    ranks = np.full(len(symbols), PATTERN_CUT, np.int32)
    ranks[1:][is_known[1:] & is_known[:-1]] = NEVER
    edges = np.flatnonzero(np.diff(is_known, prepend=False, append=False)).tolist()
    merges = merges or Merges(history)
    for begin, end in zip(edges[::2], edges[1::2], strict=True) if len(history) else ():
        ranks[begin + 1 : end] = merges.merged(symbols[begin:end].tolist()).ranks
    return ranks


def compiled_ranks(symbols: Int32s, history: History) -> Int32s:
    from bpe_core.kernels import merge_word as kernel  # loads machine code
    from bpe_core.kernels.encode import IDS
    from bpe_core.segmenting.compiled_encoder import merge_table, room_for

    left, right = (np.array(column, np.int32) for column in history.columns[:2])
    table = merge_table(len(history.alphabet), left, right)
    kernel.enter_merges(table)
    longest = int(np.diff(np.flatnonzero(symbols < 0)).max(initial=1))
    room, _ = room_for(longest, len(history), IDS)
    ranks = np.empty(len(symbols), np.int32)
    kernel.rank_boundaries(table, room, symbols, ranks)
    return ranks


REMEMBERED_WORDS = 1 << 15
LONGEST_REMEMBERED = 64  # bytes
MOST_SYMBOLS = 1 << 23  # symbols of all tokens together; far more than tables of texts have
_AS_THE_CHARACTER = -1  # the symbol for an unknown character covers all its bytes

# --- The base symbols of a word -------------------------------------------------------------


class Spelling:
    def __init__(self, history: History) -> None:
        self._alphabet = history.alphabet
        self._recipe = history.recipe
        self._is_plain_bytes = self._alphabet.is_plain_bytes and self._recipe.marker in ("none", "continuation")

    @cached_property
    def _widths(self) -> list[int]:
        return self._alphabet.kept("widths", lambda: list(map(_width, self._alphabet.symbols)))

    @property
    def joins_bytes(self) -> bool:
        """Return whether every symbol is a byte."""
        is_of_bytes = self._recipe.base == "bytes" and self._recipe.marker == "none"
        return is_of_bytes and all(len(text) == 1 for text in self._alphabet.decoded)

    @cached_property
    def symbol_of_byte(self) -> Int32s | None:
        """Return the symbol of each byte; None if symbols depend on the word or cover several bytes."""
        if self._recipe.base != "bytes" or self._recipe.marker not in ("none", "continuation"):
            return None
        return np.array([self._alphabet.id_of_piece[bytes([byte])] for byte in range(256)], np.int32)

    def symbols(self, word: bytes) -> list[int]:
        return list(word) if self._is_plain_bytes else self._alphabet.symbols_of(word, self._recipe)

    def widths(self, word: bytes, symbols: list[int]) -> list[int]:
        """Return how many bytes of the word each of its symbols covers; a marker covers none.

        >>> from bpe_core.history.alphabet import Alphabet
        >>> from bpe_core.recipes.recipe import Recipe
        >>> from bpe_core.counting.words import WordTable
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


def _width(symbol: Symbol) -> int:
    if symbol.kind == "unknown":
        return _AS_THE_CHARACTER
    if symbol.kind == "marker":
        return 0
    if symbol.kind == "character":  # it may stand for a blank
        return len(symbol.text)
    return len(symbol.decoded) - (symbol.kind == "glued")  # the blank after it belongs to the marker


def _character_width(lead: int) -> int:
    return 1 if lead < 0x80 else 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4


# --- The tokens of a word -------------------------------------------------------------------


class PlainEncoder:
    def __init__(self, history: History, cutting: Cutting, merges: Merges | None = None) -> None:
        self.spelling = Spelling(history)
        self._cutting = cutting
        self._merges = merges or Merges(history)
        self._remembered: dict[bytes, MergedWord] = {}

    def ids(self, text: str, at: int) -> Int32s:
        return ids_of_each(self._cutting.words(text), lambda word: self.tokens(raw_bytes(word), at))

    def ids_of_words(self, words: Iterable[str], at: int) -> Int32s:
        """Return the tokens of words that hold whole characters, end to end."""
        return ids_of_each(words, lambda word: self.tokens(word.encode(), at))

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
    """Another way to split by merged tokens: take the longest token that fits, from the left."""

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
        self._token_of = {symbols: id for id, symbols in reversed(list(enumerate(spelled)))}  # the oldest of equals
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
