"""Words laid end to end as symbol ids: the array that training works on.

>>> from bpe_core.recipe import Recipe
>>> words = WordTable.from_counts({"ab": 3, "c": 1})
>>> lay_out(words, Alphabet.of_bytes(), Recipe.preset("gpt2")).symbols.tolist()
[-1, 97, 98, -1, 99, -1]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bpe_core.alphabet import Alphabet
from bpe_core.errors import TooLarge
from bpe_core.recipe import Recipe
from bpe_core.words import WordTable

SEPARATOR = -1
MOST_CELLS = 2**31 - 64  # positions are 32-bit


@dataclass(frozen=True, eq=False)
class Layout:
    """The cells of all words, each word followed by a separator, one more in front."""

    symbols: npt.NDArray[np.int32]  # what never merges stands as a separator, too
    starts: npt.NDArray[np.int64]  # the first cell of each word, and the end
    tokens: int  # in the corpus, each word as often as it occurs


def lay_out(words: WordTable, alphabet: Alphabet, recipe: Recipe) -> Layout:
    if int(words.starts[-1]) + 3 * len(words) > MOST_CELLS:
        raise TooLarge(
            f"The distinct words hold {int(words.starts[-1]):,} bytes; training can hold {MOST_CELLS:,}. "
            "Choose a pattern that splits the text into shorter words, or train on a part of it."
        )
    if alphabet.is_plain_bytes:
        return _lay_out_bytes(words)
    return _lay_out_pieces(words, alphabet, recipe)


def _lay_out_bytes(words: WordTable) -> Layout:
    lengths = np.diff(words.starts)
    starts = _starts(lengths)
    symbols = np.full(int(starts[-1]), SEPARATOR, np.int32)
    # Where nothing is inserted but separators, a cell's place is its byte's plus the separators before it.
    places = np.ones(len(symbols), bool)
    places[0] = False
    places[starts[1:] - 1] = False
    symbols[places] = words.text
    return Layout(symbols, starts, int((lengths * words.counts).sum()))


def _starts(lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The first cell of each word, behind one separator in front and one after each word."""
    starts = np.ones(len(lengths) + 1, np.int64)
    np.cumsum(lengths + 1, out=starts[1:])
    starts[1:] += 1
    return starts


def _lay_out_pieces(words: WordTable, alphabet: Alphabet, recipe: Recipe) -> Layout:
    """Any other alphabet: a table from code point (or byte) to symbol, and the marker's place."""
    codes, lengths = pieces_of(words, recipe)
    ends = np.cumsum(lengths)
    ids = _table(alphabet, ("byte", "character"))[codes]
    if recipe.marker == "glued":
        ids[ends - 1] = _table(alphabet, ("glued",))[codes[ends - 1]]
    before, after = recipe.marker == "prefix", recipe.marker == "symbol"
    starts = _starts(lengths + before + after)
    word_of_piece = np.repeat(np.arange(len(lengths)), lengths)
    places = np.arange(len(codes)) - (ends - lengths)[word_of_piece] + starts[word_of_piece] + before
    symbols = np.full(int(starts[-1]), SEPARATOR, np.int32)
    symbols[places] = ids
    if alphabet.marker_id is not None:
        symbols[starts[:-1] if before else starts[1:] - 2] = alphabet.marker_id
    tokens = int(((lengths + before + after) * words.counts).sum())
    if alphabet.first_fallback_id is not None:
        # An unknown character is as many tokens as it has bytes.
        extra = np.where(ids < 0, _utf8_lengths(codes) - 1, 0)
        tokens += int((extra * words.counts[word_of_piece]).sum())
    return Layout(symbols, starts, tokens)


def pieces_of(words: WordTable, recipe: Recipe) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The bytes or code points of all words, and how many each word has."""
    if recipe.base == "bytes":
        return words.text.astype(np.int64), np.diff(words.starts)
    code_points = np.frombuffer(words.text.tobytes().decode().encode("utf-32-le"), np.uint32).astype(np.int64)
    begins = (words.text & 0xC0) != 0x80
    before = np.zeros(len(words.text) + 1, np.int64)
    np.cumsum(begins, out=before[1:])
    return code_points, np.diff(before[words.starts])


def _table(alphabet: Alphabet, kinds: tuple[str, ...]) -> npt.NDArray[np.int32]:
    """From code point (or byte) to symbol id; -1 where the alphabet has none."""
    table = np.full(0x110000, SEPARATOR, np.int32)
    for i, symbol in enumerate(alphabet.symbols):
        if symbol.kind in kinds:
            raw = symbol.decoded[:-1] if symbol.kind == "glued" else symbol.decoded
            table[raw[0] if symbol.kind == "byte" or len(raw) == 1 else ord(raw.decode())] = i
    return table


def _utf8_lengths(codes: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    return 1 + (codes >= 0x80) + (codes >= 0x800) + (codes >= 0x10000)
