"""The pieces that Unigram begins with: the pieces of words that occur again, and do not always go on the same way.

All places where a piece may begin are sorted by what follows, so equal pieces stand side by side; a piece is then a
stretch of the sorted places. It is a seed if it

- occurs at least twice, and is no longer than the recipe allows;
- holds letters of one script, and the word marker only in front;
- is followed by different things: what is always followed by an `e` is told better by the longer piece with the `e`;
  or is a whole word that occurs at least `seed_words` times.

Of these the best are kept: those that cover the most characters of the corpus.

Followers differ here when the first bytes of their UTF-8 differ, or one of them is the end of the word: so
SentencePiece finds them, by a suffix array over the bytes of its lines. There it is a matter of luck whether a word
that begins no longer one is a seed: it is if it once ends a line. Words with their counts do not know of lines; so
those that are frequent are seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from bpe_core.alphabet import Alphabet, Symbol
from bpe_core.counting.words import WordTable
from bpe_core.kernels.policy import Policy
from bpe_core.learning.layout import SEPARATOR
from bpe_core.learning.unigram.cells import Int32s, Int64s, Stretches, may_be_joined
from bpe_core.learning.unigram.scripts import TRANSPARENT, scripts_of
from bpe_core.recipe import LARGEST_NUMBER, Recipe

KERNELS = Policy("bpe_core.learning.unigram.compiled_seeds", small=5_000, large=500_000)
LONGEST = 512  # symbols, where the recipe says no length
_END_CLASS = 0
_WALL = -2  # no piece holds it

# For each length the pieces that are seeds: a place where each stands, and how often it occurs.
Repeated = Callable[[Stretches, Int32s, npt.NDArray[np.uint8]], Iterator[tuple[Int64s, int, Int64s]]]


def tokens_at_first(words: WordTable, recipe: Recipe) -> Alphabet:
    """The base symbols, and the seeds behind them: the best first."""
    base = Alphabet.for_words(words, recipe)
    repeated: Repeated = _repeated
    if KERNELS.chooses(len(words.text)):
        from bpe_core.learning.unigram import compiled_seeds  # imports Numba: half a second

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
    classes = _classes(base)
    nothing: Int64s = np.zeros(0, np.int64)
    all_firsts, all_lengths, all_covered = [nothing], [nothing], [nothing]
    for firsts, length, counts in repeated(stretches, limits, classes):
        all_firsts.append(firsts)
        all_lengths.append(np.full(len(firsts), length))
        all_covered.append(counts * length)
    texts = _texts(stretches, base, recipe, np.concatenate(all_firsts), np.concatenate(all_lengths))
    known, more = {text for text, _ in texts}, list[int]()
    firsts, lengths, counts = _frequent_words(stretches, base, recipe, limits)
    for pair, count in zip(_texts(stretches, base, recipe, firsts, lengths), (counts * lengths).tolist(), strict=True):
        if pair[0] not in known:
            known.add(pair[0])
            texts.append(pair)
            more.append(count)
    covered = np.concatenate([*all_covered, np.array(more, np.int64)])
    size = np.fromiter((len(text) for text, _ in texts), np.int64, len(texts))
    order = np.array(sorted(range(len(texts)), key=lambda i: texts[i][0]), np.int64)
    order = order[np.lexsort((-size[order], -covered[order]))]
    return [texts[i] for i in order[: recipe.seed_size].tolist()]


def _frequent_words(
    stretches: Stretches, base: Alphabet, recipe: Recipe, limits: Int32s
) -> tuple[Int64s, Int64s, Int64s]:
    """Where the words begin that are seeds as a whole, their lengths, and how often they occur."""
    firsts, lengths = stretches.starts[:-1], np.diff(stretches.starts) - 1
    begins = (stretches.symbols[firsts] == base.marker_id) & (lengths > 1) & (limits[firsts] >= lengths)
    chosen = np.flatnonzero(begins & (stretches.counts >= (recipe.seed_words or LARGEST_NUMBER)))
    return firsts[chosen], lengths[chosen], stretches.counts[chosen]


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


def _classes(base: Alphabet) -> npt.NDArray[np.uint8]:
    """For each base symbol the first byte of its text; behind them what the end of a word counts as."""
    return np.array([symbol.text[0] for symbol in base.symbols] + [_END_CLASS], np.uint8)


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


def _repeated(
    stretches: Stretches, limits: Int32s, classes: npt.NDArray[np.uint8]
) -> Iterator[tuple[Int64s, int, Int64s]]:
    """For each length the pieces that are seeds: a place where each stands, and how often it occurs."""
    places, alike = sorted_places(stretches, limits)
    if not len(places):
        return
    symbols, weights, limit = stretches.symbols, stretches.cell_counts[places], limits[places]
    differs = np.zeros(len(places), np.bool_)  # whether what follows the common part of two neighbours differs
    differs[1:] = classes[symbols[places[1:] + alike[1:]]] != classes[symbols[places[:-1] + alike[1:]]]
    for length in range(2, int(limits.max()) + 1):
        groups = np.flatnonzero(alike < length)  # of equal pieces of that length
        branches = np.logical_or.reduceat(differs & (alike == length), groups)
        counts = np.add.reduceat(weights, groups)
        chosen = np.flatnonzero(branches & (counts >= 2) & (limit[groups] >= length))
        yield places[groups[chosen]], length, counts[chosen]
