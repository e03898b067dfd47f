"""Which vocabulary size? What every size up to the one learned would have meant for a text.

One run holds the answer for all sizes at once: a merge changes the count of three tokens,
so whatever is a sum over tokens is brought up to date in no time, merge by merge. The text
may be the one trained on, one file of it, or one held out.

    >>> from bpe_core.recipe import Recipe
    >>> from bpe_core.reference import train
    >>> words = WordTable.from_counts({"low": 5, "lower": 2})
    >>> curves = size_curves(words, train(words, Recipe.preset("words", merges=2)))
    >>> curves.tokens.tolist(), curves.bytes_per_token.round(2).tolist()
    ([25, 18, 11], [1.0, 1.39, 2.27])
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import cache

import numpy as np
import numpy.typing as npt

from bpe_core.counting.words import WordTable
from bpe_core.history.history import History
from bpe_core.insight.ranked_words import RankedWords
from bpe_core.progress import CancelCheck, never_cancelled, while_wanted
from bpe_core.records import dataclass

Int64s = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.float64]

USUAL_POWER = 2.5
ONE = 1 << 52
SELDOM = 1024
LITTLE = 0.05  # by which a text may grow longer and still be said to be hardly longer

BYTES = (
    "Bytes of the text as it was given, with blanks and all else that is in no word, before anything was normalized. "
    "Of a list of words, or a run from an older session, only the bytes of its words are known."
)
WORDS = (
    "Words are those that the recipe makes of the text, other ones by other recipes. (A benchmark and the curves of "
    "many runs count stretches between blanks, the same for all recipes.)"
)
TURN = (
    "Marked is the first size whose half would nearly do: with half as many tokens in the vocabulary the text would be "
    "less than 5 % longer. It does not hang on how far the training went."
)
FORMULA = (
    "Rényi efficiency: H / ln V, where H = ln(Σ p^α) / (1 − α) with α = 2.5, p the share of each token among all "
    "tokens of the text, and V the number of different tokens that occur in it. 1 would mean that all occur equally "
    "often; a few very frequent tokens, or many very rare ones, lower it."
)


@dataclass(frozen=True, eq=False)
class SizeCurves:
    """One number for each size, from no merge at all to all of them."""

    bytes: int  # of the text as it was given; where only its words are known, of these
    words: int
    base: int
    tokens: Int64s
    used: Int64s  # different tokens that occur
    scaffolds: Int64s  # merged tokens that once occurred here and do no longer
    renyi_efficiency: Numbers
    power: float

    @property
    def vocabulary(self) -> Int64s:
        """Base symbols and merges."""
        return self.base + np.arange(len(self.tokens))

    @property
    def bytes_per_token(self) -> Numbers:
        return self.bytes / np.maximum(self.tokens, 1)

    @property
    def tokens_per_word(self) -> Numbers:
        return self.tokens / max(1, self.words)

    @property
    def share_in_use(self) -> Numbers:
        """The part of the vocabulary that occurs in the text."""
        return self.used / self.vocabulary

    @property
    def share_of_scaffolds(self) -> Numbers:
        """The part of the vocabulary that larger tokens have used up."""
        return self.scaffolds / self.vocabulary

    @property
    def half_would_do(self) -> int | None:
        """After how many merges half of the vocabulary would nearly do, too."""
        return half_would_do(self.vocabulary, self.tokens)


def size_curves(
    words: WordTable,
    history: History,
    *,
    power: float = USUAL_POWER,
    ranked: RankedWords | None = None,
    cancelled: CancelCheck = never_cancelled,
) -> SizeCurves:
    """The curves of a text, given as its words; `ranked` saves ranking them again."""
    ranked = ranked or RankedWords.of(words, history)
    joined = ranked.joined
    tokens = ranked.tokens_at_start - np.concatenate([[0], np.cumsum(joined)]).astype(np.int64)
    used, scaffolds, sums = _follow(ranked.symbol_counts.tolist(), joined.tolist(), history, power, cancelled)
    return SizeCurves(
        bytes=words.size,
        words=words.total,
        base=ranked.base,
        tokens=tokens,
        used=np.array(used, np.int64),
        scaffolds=np.array(scaffolds, np.int64),
        renyi_efficiency=_efficiency(np.array(sums), tokens, np.array(used), power),
        power=power,
    )


def _follow(
    counts: list[int], joined: list[int], history: History, power: float, cancelled: CancelCheck
) -> tuple[list[int], list[int], list[float]]:
    """After each merge: how many tokens occur, how many occur no longer, and the sum that entropy is made of."""
    base, term = len(counts), _term(power)
    used = sum(1 for count in counts if count)
    gone, total = 0, sum(map(term, counts))
    all_used, all_gone, sums = [used], [gone], [total / ONE]
    for pair, times in while_wanted(zip(history.pairs(), joined, strict=True), cancelled):
        counts.append(times)
        if times:
            total += term(times)
            used += 1
            for part in pair:
                count = counts[part]
                counts[part] = rest = count - times
                total += term(rest) - term(count)
                if not rest:
                    used -= 1
                    gone += part >= base
        all_used.append(used)
        all_gone.append(gone)
        sums.append(total / ONE)
    return all_used, all_gone, sums


def _term(power: float) -> Callable[[int], int]:
    """What one token adds to the sum, in parts of `ONE`: so sums are exact, in whatever order they are made."""

    def exact(count: int) -> int:
        if not count:
            return 0
        value: float = count * math.log(count) if power == 1.0 else float(count) ** power
        return int(value) * ONE if value >= ONE else int(value * ONE)  # of 53 bits none is lost

    return exact


@cache
def _terms(power: float) -> list[int]:
    """Of counts that are seldom."""
    return list(map(_term(power), range(SELDOM)))


def _sum_of_terms(counts: Int64s, power: float) -> int:
    is_seldom, known, term = counts < SELDOM, _terms(power), _term(power)
    times = np.bincount(counts[is_seldom]).tolist()
    total: int = sum(number * known[count] for count, number in enumerate(times) if number)
    rest: int = sum(map(term, counts[~is_seldom].tolist()))
    return total + rest


def _efficiency(sums: Numbers, tokens: Int64s, used: Int64s, power: float) -> Numbers:
    """The entropy of these frequencies divided by the greatest it could be; 0 where a single token stands alone."""
    totals = np.maximum(tokens, 1).astype(np.float64)
    if power == 1.0:
        entropy = np.log(totals) - sums / totals
    else:
        entropy = (np.log(np.maximum(sums, np.finfo(float).tiny)) - power * np.log(totals)) / (1.0 - power)
    most = np.log(np.maximum(used, 2))
    return np.where(used > 1, entropy / most, 0.0)


def renyi_efficiency(counts: Iterable[int] | Int64s, power: float = USUAL_POWER) -> float:
    """How evenly tokens are used, from 0 to 1; a power of 1 gives Shannon's.

    >>> round(renyi_efficiency([3, 2, 1, 1], power=3.0), 12)  # pick @@ed pick @@l @@ed pick @@les
    0.803152850136
    """
    given = counts if isinstance(counts, np.ndarray) else np.array(list(counts), np.int64)
    found = given[given > 0]
    total = _sum_of_terms(found, power) / ONE
    tokens, used = np.array([found.sum()], np.int64), np.array([len(found)], np.int64)
    return float(_efficiency(np.array([total]), tokens, used, power)[0])


def half_would_do(sizes: Int64s, tokens: Int64s) -> int | None:
    """The first of these ascending sizes whose half needs less than 5 % more tokens; None where none is so large.

    It hangs on nothing but the sizes up to it, so it stays where it is when more is learned.

    >>> half_would_do(np.array([1, 2, 4, 8, 16]), np.array([900, 600, 400, 390, 389]))
    3
    """
    halves = sizes / 2
    longer = np.interp(halves, sizes, tokens) < (1 + LITTLE) * tokens
    found = np.flatnonzero(longer & (halves >= sizes[:1]))
    return int(found[0]) if len(found) else None
