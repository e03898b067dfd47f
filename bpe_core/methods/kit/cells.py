"""The stretches of all words. A stretch is a sequence of base symbols that pieces may cover, and it has one lattice.

No piece contains a character that the alphabet lacks, so such a character divides its word into two stretches. A
character that looks like the word marker also divides its word, because a piece with this character would look as if it
began a word.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bpe_core.counting.words import WordTable
from bpe_core.history.alphabet import Alphabet, Symbol
from bpe_core.kernels import VARIOUS
from bpe_core.methods.kit.layout import SEPARATOR, lay_out
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.arrays import Bools, Bytes, Int32s, Int64s, repeat

# A follower is the first UTF-8 byte of the text after a piece. No text begins with the bytes END and VARIOUS.
# VARIOUS means that both the end of a line and a blank follow.
_DIFFERENT = 200  # followers of symbols that are no text; the first byte of a marker is larger
END = 0  # the end of a line, or of a word if lines are not known


@dataclass(frozen=True, eq=False)
class Stretches:
    """The stretches of a corpus, with the count of each stretch.

    A stretch is a part of a word that pieces may cover. `symbols` holds the base symbols of all stretches, with a
    separator after each stretch.
    """

    symbols: Int32s
    starts: Int64s  # the first cell of each stretch, and the end of the last
    counts: Int64s
    followers: Bytes  # the follower of each stretch
    leads: Bytes  # for each base symbol, its byte as a follower
    unknown_tokens: int  # tokens of the corpus for characters that the alphabet lacks
    derived: dict[str, Any] = field(default_factory=dict, repr=False)  # results that several callers share

    @classmethod
    def of(cls, words: WordTable, alphabet: Alphabet, recipe: Recipe) -> Stretches:
        layout = lay_out(words, alphabet, recipe)
        symbols = layout.symbols[1:]  # without the separator in front
        word_of_cell = repeat(np.arange(len(words)), np.diff(layout.starts))
        known = symbols != SEPARATOR
        before = np.concatenate((np.zeros(1, np.bool_), known[:-1]))
        firsts = np.flatnonzero(known & ~before)
        lasts = np.flatnonzero(known & ~np.append(known[1:], False))
        lengths = lasts - firsts + 1
        starts = np.zeros(len(firsts) + 1, np.int64)
        np.cumsum(lengths + 1, out=starts[1:])
        kept = np.full(int(starts[-1]), SEPARATOR, np.int32)
        inside = np.ones(len(kept), np.bool_)
        inside[starts[1:] - 1] = False
        kept[inside] = symbols[known]
        spelled = int((lengths * words.counts[word_of_cell[firsts]]).sum())
        if alphabet.first_fallback_id is not None:
            unknown = layout.tokens - spelled
        else:  # neighbouring unknown characters are one token
            ends = np.zeros(len(symbols), np.bool_)
            ends[layout.starts[1:] - 2] = True
            begins = ~known & ~ends & (before | np.concatenate((np.ones(1, np.bool_), ends[:-1])))
            unknown = int(words.counts[word_of_cell[begins]].sum())
        word = word_of_cell[firsts]
        behind = np.where(lasts == layout.starts[word + 1] - 3, _followers(words, recipe)[word], np.uint8(END))
        leads = np.array([lead_of(symbol, recipe) for symbol in alphabet.but_seeds], np.uint8)
        return cls(kept, starts, words.counts[word], behind, leads, unknown)

    def __len__(self) -> int:
        return len(self.counts)


def lead_of(symbol: Symbol, recipe: Recipe) -> int:
    """Return a number for comparing the base symbols that follow a piece.

    Two symbols count as different if their numbers differ. The number is the first byte of the symbol's text. If
    the base symbols are not text, the number is computed from the code point of the symbol.
    """
    if recipe.base_symbols and symbol.kind == "character":
        return 1 + ord(symbol.text.decode()) % _DIFFERENT
    return symbol.text[0]


def _followers(words: WordTable, recipe: Recipe) -> Bytes:
    """Return the byte that follows each word in the corpus.

    If the word is always followed by a space, the byte is the first byte of the marker, or a space without a marker. If
    the word is always followed by a line end, the value is END. If both occur, the value is VARIOUS.
    """
    at_ends = words.counts if words.line_ends is None else words.line_ends
    is_various = (at_ends > 0) & (at_ends < words.counts)
    is_end = at_ends > 0
    blank = (recipe.marker_text.encode() or b" ")[0]
    return np.where(is_various, VARIOUS, np.where(is_end, END, blank)).astype(np.uint8)


def may_be_joined(alphabet: Alphabet, recipe: Recipe) -> Bools:
    """Return a mask of the base symbols that a piece of several symbols may contain."""
    marker = recipe.marker_text
    return np.array(
        [
            symbol.kind == "marker" or (symbol.kind == "character" and symbol.text.decode() not in marker)
            for symbol in alphabet.but_seeds
        ]
    )


def piece_cells(alphabet: Alphabet, recipe: Recipe) -> tuple[Int32s, Int64s]:
    """Return the base symbols of all seeds, one seed after another, and the offset of each seed.

    The seeds are the pieces with which learning begins. A marker is one symbol.
    """
    marker = recipe.marker_text
    return alphabet.spelled or alphabet.kept(("cells", marker), lambda: _piece_cells(alphabet, marker))


def _piece_cells(alphabet: Alphabet, marker_text: str) -> tuple[Int32s, Int64s]:
    marker = marker_text.encode()
    marker_id = alphabet.marker_id
    texts = alphabet.texts[len(alphabet) - alphabet.seed_count :]
    begins = np.fromiter((text.startswith(marker) for text in texts), np.bool_, len(texts))
    rests = [text.removeprefix(marker).decode() for text in texts]
    starts = np.zeros(len(texts) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, rests), np.int64, len(rests)) + begins, out=starts[1:])
    symbols = np.empty(int(starts[-1]), np.int32)
    inside = np.ones(len(symbols), np.bool_)
    inside[starts[:-1][begins]] = False
    symbols[~inside] = -1 if marker_id is None else marker_id
    symbols[inside] = symbols_by_code(alphabet)[np.frombuffer("".join(rests).encode("utf-32-le"), np.uint32)]
    return symbols, starts


def symbols_by_code(alphabet: Alphabet) -> Int32s:
    table = np.full(0x110000, SEPARATOR, np.int32)
    for text, id in alphabet.id_of_piece.items():
        table[ord(text.decode())] = id
    return table


def in_order(symbols: Int32s, firsts: Int64s, lengths: Int64s, groups: Int64s | None = None) -> Int64s:
    """Sort pieces by their number in `groups`, and then by their symbols. Return the indices of the pieces in this
    order.

    Each pass packs the group of a piece and as many symbols as possible into one number, and compares these numbers.
    Later passes compare only the pieces that are still equal.

    >>> in_order(np.array([7, 8, 9, 7, 8, 7, 9], np.int32), np.array([0, 3, 5]), np.array([3, 2, 2])).tolist()
    [1, 0, 2]
    """
    order = np.arange(len(firsts)) if groups is None else np.argsort(groups)
    group = np.zeros(len(order), np.int64) if groups is None else groups[order]
    bits = (int(symbols.max(initial=0)) + 1).bit_length()
    places, done = np.arange(len(order)), 0  # indices of the pieces that are not ordered yet
    while (lengths[order[places]] > done).any():
        group = np.cumsum(np.concatenate((np.zeros(1, np.bool_), group[1:] != group[:-1])))
        width = max(1, (63 - int(group[-1]).bit_length()) // bits)
        pieces = order[places]
        keys = group << (width * bits)
        for place in range(width):
            cells = firsts[pieces] + np.minimum(done + place, lengths[pieces] - 1)
            letters = np.where(done + place < lengths[pieces], symbols[cells].astype(np.int64) + 1, 0)
            keys |= letters << ((width - 1 - place) * bits)
        by_key = np.argsort(keys)
        order[places] = pieces[by_key]
        keys = keys[by_key]
        done = done + width
        same = np.concatenate((np.zeros(1, np.bool_), keys[1:] == keys[:-1], np.zeros(1, np.bool_)))
        alike = same[1:] | same[:-1]
        places = places[alike]
        group = keys[alike]
    return order
