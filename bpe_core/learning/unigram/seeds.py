"""The pieces that Unigram begins with: the pieces of words that occur again, and do not always go on the same way.

All places where a piece may begin are sorted by what follows, so equal pieces stand side by side; a piece is then a
stretch of the sorted places. It is a seed if it

- occurs at least twice, and is no longer than the recipe allows;
- holds letters of one script, and the word marker only in front;
- is followed by different things: what is always followed by an `e` is told better by the longer piece with the `e`.

Of these the best are kept: those that cover the most characters of the corpus.

Followers differ when the first bytes of their UTF-8 differ: so SentencePiece finds them, by a suffix array over the
bytes of its lines. Behind a word there is a blank, told by the marker, or the end of the line; a word that begins no
longer one is a seed if it has had both. Words that came with their counts are taken for lines of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from bpe_core.alphabet import Alphabet, Symbol
from bpe_core.counting.words import WordTable
from bpe_core.kernels.policy import Policy
from bpe_core.learning.layout import SEPARATOR
from bpe_core.learning.unigram.cells import VARIOUS, Int32s, Int64s, Stretches, may_be_joined
from bpe_core.learning.unigram.scripts import TRANSPARENT, scripts_of
from bpe_core.recipe import Recipe

KERNELS = Policy("bpe_core.learning.unigram.compiled_seeds", small=5_000, large=500_000)
LONGEST = 512  # symbols, where the recipe says no length
_WALL = -2  # no piece holds it

UInt8s = npt.NDArray[np.uint8]

# The pieces that are seeds: a place where each stands, its length, and how often it occurs. Of words, how long a piece
# may be that begins at each cell, and what each cell counts as where it follows one.
Repeated = Callable[[Stretches, Int32s, UInt8s], Iterator[tuple[Int64s, Int64s, Int64s]]]


def tokens_at_first(words: WordTable, recipe: Recipe) -> Alphabet:
    """The base symbols, and the seeds behind them: the best first."""
    base = Alphabet.for_words(words, recipe)
    repeated: Repeated = _repeated
    if KERNELS.chooses(len(words.text)):
        from bpe_core.learning.unigram import compiled_seeds  # loads machine code

        repeated = compiled_seeds.repeated
    return with_seeds(base, seed_texts(words, base, recipe, repeated))


def with_seeds(base: Alphabet, texts: list[tuple[bytes, bytes]]) -> Alphabet:
    """An alphabet and seeds behind it: what is written on each, and the bytes it stands for."""
    return Alphabet((*base.symbols, *[Symbol(text, decoded, "seed") for text, decoded in texts]))


def seed_texts(words: WordTable, base: Alphabet, recipe: Recipe, repeated: Repeated) -> list[tuple[bytes, bytes]]:
    """What is written on each seed, and the bytes it stands for; the best first."""
    stretches = Stretches.of(words, base, recipe)
    if not len(stretches):
        return []
    limits = _limits(stretches, base, recipe, recipe.max_token_length or LONGEST)
    nothing: Int64s = np.zeros(0, np.int64)
    found = [(nothing, nothing, nothing), *repeated(stretches, limits, _followers(stretches, base))]
    firsts, lengths, counts = (np.concatenate(column) for column in zip(*found, strict=True))
    texts, covered = _texts(stretches, base, recipe, firsts, lengths), counts * lengths
    size = np.fromiter((len(text) for text, _ in texts), np.int64, len(texts))
    order = np.array(sorted(range(len(texts)), key=lambda i: texts[i][0]), np.int64)
    order = order[np.lexsort((-size[order], -covered[order]))]
    return [texts[i] for i in order[: recipe.seed_size].tolist()]


def _texts(
    stretches: Stretches, base: Alphabet, recipe: Recipe, firsts: Int64s, lengths: Int64s
) -> list[tuple[bytes, bytes]]:
    """What is written on the symbols of each piece, and the bytes they stand for."""
    ends = np.cumsum(lengths)
    cells = np.arange(ends[-1] if len(ends) else 0) + np.repeat(firsts - (ends - lengths), lengths)
    letters = _codes(base)[stretches.symbols[cells]].astype("<u4").tobytes().decode("utf-32-le")
    marker, texts, start = recipe.marker_text.encode(), [], 0
    begins = stretches.symbols[firsts] == base.marker_id
    for end, begin in zip(ends.tolist(), begins.tolist(), strict=True):
        text = letters[start + begin : end].encode()
        texts.append((marker + text, b" " + text) if begin else (text, text))
        start = end
    return texts


def _limits(stretches: Stretches, base: Alphabet, recipe: Recipe, longest: int) -> Int32s:
    """For each cell how long a piece may be that begins there."""
    symbols, cells = stretches.symbols, np.arange(len(stretches.symbols))
    codes = _codes(base)
    script_of = scripts_of("".join(map(chr, codes.tolist())))
    if base.marker_id is not None:
        script_of[base.marker_id] = TRANSPARENT  # it stands in front only, whatever follows
    walls = (symbols == SEPARATOR) | ~may_be_joined(base, recipe)[symbols]
    script = np.where(walls, _WALL, script_of[symbols])
    bearing = np.flatnonzero(script != TRANSPARENT)  # a transparent cell goes with those before and behind it
    begins = np.ones(len(bearing), np.bool_)
    begins[1:] = (script[bearing[1:]] != script[bearing[:-1]]) | walls[bearing[1:]]
    borders = np.append(bearing[begins], len(symbols))
    own = bearing[np.searchsorted(bearing, cells)]  # the last cell of all is a separator
    ends = np.where(walls[own], own, borders[np.searchsorted(borders, own, side="right")])
    limits = np.minimum(ends - cells, longest).astype(np.int32)
    limits[walls] = 0
    return limits


def _codes(base: Alphabet) -> Int64s:
    """The code point of each base symbol that is a character; of others any."""
    return np.array([ord(symbol.text.decode()) if symbol.kind == "character" else 0 for symbol in base.symbols])


def _followers(stretches: Stretches, base: Alphabet) -> UInt8s:
    """What each cell counts as where it follows a piece: the first byte of what is written there."""
    followers = np.array([symbol.text[0] for symbol in base.symbols], np.uint8)[stretches.symbols]
    followers[stretches.starts[1:] - 1] = stretches.followers
    return followers


def sorted_places(stretches: Stretches, limits: Int32s) -> tuple[Int64s, Int32s]:
    """The places where pieces may begin, sorted by what stands there; and how much each shares with the one before.

    By doubling: places sorted by so many symbols are sorted by twice as many, when to the rank of each is added that
    of the place so many symbols behind it.
    """
    symbols = stretches.symbols
    most = int(limits.max(initial=0)) + 1  # what follows the longest piece matters, too
    ranks, width = symbols.astype(np.int64) + 1, 1  # a separator is the first
    while width < most:
        behind = np.zeros(len(symbols), np.int64)
        behind[: len(symbols) - width] = ranks[width:]
        behind[ranks == 0] = 0
        ranks = np.unique(ranks * (int(ranks.max()) + 1) + behind, return_inverse=True)[1]
        width *= 2
    order = np.argsort(ranks, kind="stable")
    places = order[limits[order] > 1]
    return places, _alike(symbols, places, most)


def _alike(symbols: Int32s, places: Int64s, most: int) -> Int32s:
    """How many symbols each place has in common with the one before it, within its stretch."""
    padded = np.concatenate((symbols, np.full(most, SEPARATOR, np.int32)))
    alike = np.zeros(len(places), np.int32)
    same = np.arange(1, len(places))
    for width in range(most):
        here, before = padded[places[same] + width], padded[places[same - 1] + width]
        same = same[(here == before) & (here != SEPARATOR)]
        alike[same] += 1
    return alike


def _repeated(stretches: Stretches, limits: Int32s, followers: UInt8s) -> Iterator[tuple[Int64s, Int64s, Int64s]]:
    """The pieces that are seeds: a place where each stands, its length, and how often it occurs."""
    places, alike = sorted_places(stretches, limits)
    if not len(places):
        return
    weights, limit = stretches.cell_counts[places], limits[places]
    differs = np.zeros(len(places), np.bool_)  # whether what follows the common part of two neighbours differs
    differs[1:] = followers[places[1:] + alike[1:]] != followers[places[:-1] + alike[1:]]
    for length in range(2, int(limits.max()) + 1):
        groups = np.flatnonzero(alike < length)  # of equal pieces of that length
        firsts = places[groups]
        varies = (followers[np.minimum(firsts + length, len(followers) - 1)] == VARIOUS) & (limit[groups] >= length)
        branches = np.logical_or.reduceat(differs & (alike == length), groups) | varies
        counts = np.add.reduceat(weights, groups)
        chosen = np.flatnonzero(branches & (counts >= 2) & (limit[groups] >= length))
        yield firsts[chosen], np.full(len(chosen), length), counts[chosen]
