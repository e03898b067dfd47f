"""The seeds of Unigram, the pieces with which it begins. A seed occurs repeatedly, and before different symbols.

The search groups all places at which the same piece begins. The next symbol after the piece divides the group into
smaller groups. A piece is a seed if it

- occurs at least twice, and is no longer than the recipe allows;
- holds letters of one script, unless the recipe lets scripts mix, or lets digits mix with letters;
- holds the word marker only at its beginning;
- is followed by different bytes: if an `e` always follows, only the longer piece with the `e` can be a seed.

The best seeds are kept. These are the seeds that cover the most characters of the corpus.

A follower is the symbol after a piece. Two followers differ if their first bytes in UTF-8 differ, because SentencePiece
searches in a suffix array of bytes. A word is followed by a space, which counts as the marker, or by the end of the
line. If both occur after a word, the word is a seed even if no longer word begins with it. If the input is words with
counts instead of texts, each word is treated as a whole line.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bpe_core.counting.words import WordTable
from bpe_core.history.alphabet import Alphabet, SpelledSeeds
from bpe_core.kernels import TRANSPARENT, WALL
from bpe_core.methods.kit.cells import Stretches, in_order, may_be_joined
from bpe_core.methods.kit.scripts import COMMON, scripts_of
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.arrays import Int32s, Int64s
from bpe_core.support.former_names import former_classes

DIGITS = "0123456789"
LONGEST = 512  # symbols of a piece; the default limit

# A function that finds the repeated pieces of words. It gets the scripts of the base symbols and the largest number of
# symbols in a piece, and returns the pieces with their counts.
Repeated = Callable[[Stretches, Int32s, int], tuple[SpelledSeeds, Int64s]]


def scripts_by(characters: str, recipe: Recipe) -> npt.NDArray[np.int32]:
    """Return the script of each character as a number.

    If the recipe does not split by scripts, or if its symbols are not text, all characters have the same number. If it
    does not split by numbers, a digit has the script of the letter before it.
    """
    if not recipe.split_by_unicode_script or recipe.base_symbols:
        return np.full(len(characters), COMMON, np.int32)
    scripts = scripts_of(characters)
    if not recipe.split_by_number:
        scripts[[sign in DIGITS for sign in characters]] = TRANSPARENT
    return scripts


class SeededAlphabet(NamedTuple):
    """An alphabet with seeds, and the stretches of text in which the seeds were found."""

    alphabet: Alphabet
    stretches: Stretches


def alphabet_with_seeds(words: WordTable, recipe: Recipe, repeated: Repeated) -> SeededAlphabet:
    """Return an alphabet of the base symbols and the best repeated pieces."""
    base = Alphabet.for_words(words, recipe)
    stretches = Stretches.of(words, base, recipe)
    if not len(stretches):
        return SeededAlphabet(base, stretches)
    seeds, counts = repeated(stretches, scripts_of_symbols(base, recipe), longest_of(recipe))
    best = seeds.only(_best_first(seeds, counts, base)[: recipe.seed_size])
    return SeededAlphabet(Alphabet(base.symbols, best), stretches)


def _best_first(seeds: SpelledSeeds, counts: Int64s, base: Alphabet) -> Int64s:
    """Return the indices of the seeds, sorted by how many symbols of the corpus they cover.

    The largest number comes first. Seeds with equal numbers are sorted by length, then by text.
    """
    widths = np.array([len(symbol.text) for symbol in base.symbols])
    bytes_before = np.concatenate((np.zeros(1, np.int64), np.cumsum(widths[seeds.symbols])))
    size = np.diff(bytes_before[seeds.starts])
    covered = np.unique(counts * np.diff(seeds.starts), return_inverse=True)[1]
    letters = _letters(seeds, base)
    firsts = letters.starts[:-1]
    return in_order(letters.symbols, firsts, np.diff(letters.starts), -(covered * (size.max(initial=0) + 1) + size))


def _letters(seeds: SpelledSeeds, base: Alphabet) -> SpelledSeeds:
    texts = [symbol.text.decode() for symbol in base.symbols]
    codes = np.frombuffer("".join(texts).encode("utf-32-le"), "<u4")
    ranks = np.unique(codes, return_inverse=True)[1].astype(np.int32)
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    firsts = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
    if (lengths[seeds.symbols] == 1).all():
        return SpelledSeeds(ranks[firsts[:-1]][seeds.symbols], seeds.starts)
    of_symbols = SpelledSeeds(ranks, firsts)
    ends = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths[seeds.symbols])))
    return SpelledSeeds(of_symbols.only(seeds.symbols).symbols, ends[seeds.starts])


def scripts_of_symbols(base: Alphabet, recipe: Recipe) -> Int32s:
    """Return the script of each base symbol, or WALL for a symbol that no piece may hold."""
    signs = "".join(symbol.text.decode() if symbol.kind == "character" else "\0" for symbol in base.symbols)
    script_of = scripts_by(signs, recipe)
    if base.marker_id is not None:
        script_of[base.marker_id] = TRANSPARENT  # the marker only begins pieces, before any script
    script_of[~may_be_joined(base, recipe)] = WALL
    return script_of


def longest_of(recipe: Recipe) -> int:
    return recipe.max_token_length or LONGEST


__getattr__ = former_classes(__name__, Seeded="SeededAlphabet")
