"""The array that training works on. It holds the symbols of all words, one word after another.

>>> from bpe_core.recipes.recipe import Recipe
>>> words = WordTable.from_counts({"ab": 3, "c": 1})
>>> lay_out(words, Alphabet.of_bytes(), Recipe.preset("gpt2")).symbols.tolist()
[-1, 97, 98, -1, 99, -1]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bpe_core.counting.words import WordTable, are_inside
from bpe_core.errors import TooLarge
from bpe_core.history.alphabet import Alphabet, Symbol
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.arrays import repeat
from bpe_core.support.threads import available_threads, run_in_threads
from bpe_core.support.wording import count_text

SEPARATOR = -1
WORDS_AT_ONCE = 2**13
PARTS_A_THREAD = 4  # fewer parts take less time than starting a thread
MOST_CELLS = 2**31 - 64  # positions are 32-bit
FEWER_CELLS = "Train on fewer texts, or choose a pattern that makes fewer or shorter different words."


@dataclass(frozen=True, eq=False)
class Layout:
    """The symbols of all words in one array. An element of the array is called a cell.

    A separator is before the first word and after each word.
    """

    symbols: npt.NDArray[np.int32]  # a symbol that never merges is a separator, too
    starts: npt.NDArray[np.int64]  # the first cell of each word, and the end of the last
    tokens: int  # tokens of the corpus, each word as often as it occurs

    def symbol_counts(self, words: WordTable, size: int) -> npt.NDArray[np.int64]:
        """Return how often each symbol occurs in the corpus, for all symbols with an index below `size`."""
        counts = np.zeros(size, np.int64)
        symbols = self.symbols[1:]  # from here on each word is followed by its separator
        known = symbols >= 0
        np.add.at(counts, symbols[known], repeat(words.counts, np.diff(self.starts))[known])
        return counts


def lay_out(words: WordTable, alphabet: Alphabet, recipe: Recipe) -> Layout:
    if int(words.starts[-1]) + 3 * len(words) > MOST_CELLS:
        raise TooLarge(
            f"The distinct words hold {count_text(int(words.starts[-1]), 'byte')}, but training can use at most "
            f"{MOST_CELLS:,}. Choose a pattern that splits the text into shorter words, or train on a part of the text."
        )
    if alphabet.is_plain_bytes:
        return _lay_out_bytes(words)
    return _lay_out_pieces(words, alphabet, recipe)


def layout_of_parts(
    parts: Sequence[tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]], counts: npt.NDArray[np.int64]
) -> Layout:
    """Return one layout of all words. The words are given in several parts.

    Each part has the symbols of its words, one word after another, and the length of each word. `counts` are the counts
    of all words.
    """
    lengths = np.concatenate([np.zeros(0, np.int64), *(lengths for _, lengths in parts)])
    starts = _starts(lengths)
    symbols = np.empty(int(starts[-1]), np.int32)
    symbols[0] = SEPARATOR
    first = 0
    for ids, some in parts:
        own = starts[first : first + len(some) + 1]
        part = symbols[own[0] - 1 : own[-1]]
        part[:] = SEPARATOR
        part[_places(own - own[0] + 1, 0, 0)] = ids
        first += len(some)
    return Layout(symbols, starts, int((lengths * counts).sum()))


def count_symbols(words: WordTable, alphabet: Alphabet, recipe: Recipe) -> npt.NDArray[np.int64]:
    """Return the count of each base symbol in the corpus before the first step."""
    if alphabet.is_plain_bytes:
        counts = np.zeros(len(alphabet), np.int64)
        for first in range(0, len(words), WORDS_AT_ONCE):  # in blocks, so that temporary arrays stay small
            starts = words.starts[first : first + WORDS_AT_ONCE + 1]
            weights = np.repeat(words.counts[first : first + WORDS_AT_ONCE].astype(np.float64), np.diff(starts))
            letters = words.text[starts[0] : starts[-1]]
            counts += np.bincount(letters, weights=weights, minlength=len(alphabet)).astype(np.int64)
        return counts
    return lay_out(words, alphabet, recipe).symbol_counts(words, len(alphabet))


def _lay_out_bytes(words: WordTable) -> Layout:
    lengths = np.diff(words.starts)
    starts = _starts(lengths)
    symbols = np.empty(int(starts[-1]), np.int32)
    symbols[0] = SEPARATOR

    def fill(parts: range) -> None:
        for first in parts:  # in blocks, so that temporary arrays stay small
            own = starts[first : first + WORDS_AT_ONCE + 1]
            begin = own[0] - 1
            end = own[-1]
            letters = words.text[words.starts[first] : words.starts[first + len(own) - 1]]
            symbols[begin:end] = SEPARATOR
            symbols[begin:end][_places(own - begin, 0, 0)] = letters

    parts = range(0, len(words), WORDS_AT_ONCE)
    threads = min(available_threads(), 1 + len(parts) // PARTS_A_THREAD)
    run_in_threads(fill, [parts[i::threads] for i in range(threads)])
    return Layout(symbols, starts, int((lengths * words.counts).sum()))


def _places(starts: npt.NDArray[np.int64], before: int, after: int) -> npt.NDArray[np.bool_]:
    places = np.ones(int(starts[-1]), bool)
    places[0] = False
    places[starts[1:] - 1] = False
    if before:
        places[starts[:-1]] = False
    if after:
        places[starts[1:] - 2] = False
    return places


def _starts(lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    starts = np.ones(len(lengths) + 1, np.int64)
    np.cumsum(lengths + 1, out=starts[1:])
    starts[1:] += 1
    return starts


def _lay_out_pieces(words: WordTable, alphabet: Alphabet, recipe: Recipe) -> Layout:
    lengths = np.diff(words.starts) if recipe.base == "bytes" else words.lengths_in_characters()
    before = int(recipe.marker == "prefix")
    after = int(recipe.marker == "symbol")
    starts = _starts(lengths + before + after)
    ids, extra = _ids_of_pieces(words, alphabet, recipe, lengths)
    symbols = np.full(int(starts[-1]), SEPARATOR, np.int32)
    symbols[_places(starts, before, after)] = ids
    if alphabet.marker_id is not None:
        symbols[starts[:-1] if before else starts[1:] - 2] = alphabet.marker_id
    return Layout(symbols, starts, int(((lengths + before + after) * words.counts).sum()) + extra)


def _ids_of_pieces(
    words: WordTable, alphabet: Alphabet, recipe: Recipe, lengths: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int32], int]:
    """Return the base symbol of each byte or character, and how many tokens unknown characters add to the corpus.

    An unknown character may become several tokens, one for each of its bytes. All of these tokens except one are
    additional, each time the character occurs.
    """
    plain, glued, continuing = (
        _table(alphabet, kinds) for kinds in (("byte", "character"), ("glued",), ("continuation",))
    )
    ends = np.cumsum(lengths)
    ids = np.empty(int(ends[-1]) if len(ends) else 0, np.int32)
    done = extra = 0
    for codes in [words.text] if recipe.base == "bytes" else words.code_points():
        part = ids[done : done + len(codes)]
        plain.take(codes, out=part, mode="clip")
        if alphabet.continuing:
            inside = are_inside(ends, done, len(codes))
            part[inside] = continuing.take(codes[inside], mode="clip")
        if recipe.marker == "glued":
            first, last = np.searchsorted(ends, [done + 1, done + len(codes) + 1])
            lasts = ends[first:last] - 1 - done  # the last character of each word that ends in this part
            part[lasts] = glued.take(codes[lasts], mode="clip")
        if alphabet.first_fallback_id is not None:  # each byte of an unknown character is a token
            unknown = np.flatnonzero(part < 0)
            counts = words.counts[np.searchsorted(ends, unknown + done, side="right")]
            extra += int(((_utf8_lengths(codes[unknown]) - 1) * counts).sum())
        done += len(codes)
    return ids, extra


def _table(alphabet: Alphabet, kinds: tuple[str, ...]) -> npt.NDArray[np.int32]:
    symbols = [(id, symbol) for id, symbol in enumerate(alphabet.but_seeds) if symbol.kind in kinds]
    ids = [id for id, _ in symbols]
    codes = [_code(symbol) for _, symbol in symbols]
    table = np.full(max(codes, default=-1) + 2, SEPARATOR, np.int32)
    table[codes] = ids
    return table


def _code(symbol: Symbol) -> int:
    raw = symbol.decoded[:-1] if symbol.kind == "glued" else symbol.decoded
    raw = symbol.text if symbol.kind == "character" else raw  # a character that stands for a blank is itself in a word
    return raw[0] if symbol.kind == "byte" or len(raw) == 1 else ord(raw.decode())


def _utf8_lengths(codes: npt.NDArray[np.unsignedinteger]) -> npt.NDArray[np.int64]:
    return np.array(1, np.int64) + (codes >= 0x80) + (codes >= 0x800) + (codes >= 0x10000)
