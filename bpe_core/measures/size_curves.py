"""The measures of a text as curves over all vocabulary sizes, up to the size that was learned.

If a method joins pairs, one pass over the merges gives the values of all sizes. A merge changes the counts of only
three tokens, so each sum over tokens is updated after each merge. For other methods, the text is encoded again at some
sizes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache

import numpy as np

from bpe_core.counting.words import WordTable
from bpe_core.errors import BpeError
from bpe_core.history.history import History
from bpe_core.insight.ranked_words import RankedWords
from bpe_core.insight.tokenized_words import TokenizedWords
from bpe_core.methods.kit.histories import has_ranks
from bpe_core.support.arrays import Float64s, Int64s
from bpe_core.support.progress import ALONE, CancelCheck, Progress, Work, never_cancelled, while_wanted
from bpe_core.support.wording import count_text

USUAL_POWER = 2.5
ONE = 1 << 52
SELDOM = 1024
LITTLE = 0.05  # a text that grows by less than this share counts as hardly longer


@dataclass(frozen=True, eq=False)
class SizeCurves:
    """The value of each measure at each vocabulary size, the smallest size first."""

    bytes: int  # bytes of the given text, or of its words if only these are known
    words: int
    sizes: Int64s  # sizes of the vocabulary
    steps: Int64s  # the number of steps at each size
    tokens: Int64s  # tokens of the text
    used: Int64s  # number of different tokens that occur
    renyi_efficiency: Float64s
    unknown: Int64s  # tokens for characters that cannot be encoded
    scaffolds: Int64s | None = None  # tokens that occurred and no longer do; None if only some sizes are known

    @property
    def bytes_per_token(self) -> Float64s:
        return self.bytes / np.maximum(self.tokens, 1)

    @property
    def tokens_per_pretoken(self) -> Float64s:
        return self.tokens / max(1, self.words)

    @property
    def share_in_use(self) -> Float64s:
        return self.used / self.sizes

    @property
    def share_of_scaffolds(self) -> Float64s:
        return np.full(len(self.sizes), np.nan) if self.scaffolds is None else self.scaffolds / self.sizes

    @property
    def unknown_share(self) -> Float64s:
        return self.unknown / np.maximum(self.tokens, 1)

    @property
    def first_halvable(self) -> int | None:
        return first_halvable(self.sizes, self.tokens)


def size_curves(
    words: WordTable,
    history: History,
    *,
    power: float = USUAL_POWER,
    ranked: RankedWords | None = None,
    cancelled: CancelCheck = never_cancelled,
) -> SizeCurves:
    """Return the measures of a text at each vocabulary size.

    `words` are the words of the text. `ranked` may have the same words with the ranks of their boundaries, which saves
    time.
    """
    ranked = ranked or RankedWords.of(words, history)
    joined = ranked.joined
    tokens = ranked.tokens_at_start - np.concatenate([[0], np.cumsum(joined)]).astype(np.int64)
    used, scaffolds, sums = _values_after_merges(
        ranked.symbol_counts.tolist(), joined.tolist(), history, power, cancelled
    )
    steps = np.arange(len(tokens))
    efficiency = _efficiency(np.array(sums), tokens, np.array(used), power)
    return SizeCurves(
        words.size,
        words.total,
        ranked.base + steps,
        steps,
        tokens,
        np.array(used, np.int64),
        efficiency,
        np.full(len(tokens), _unknown_of(ranked.symbol_counts, history), np.int64),  # these tokens are never joined
        np.array(scaffolds, np.int64),
    )


def token_counts(words: WordTable, history: History, work: Work = ALONE) -> tuple[Int64s, Int64s]:
    """Count the tokens of a text after different numbers of steps. Return the numbers of steps, and the counts.

    The tokens are counted after every step, or after some of the steps if all of them would take too long.
    """
    if has_ranks(history):
        ranked = RankedWords.of(words, history)
        taken = np.concatenate([[0], np.cumsum(ranked.joined)])
        return np.arange(len(taken)), (ranked.tokens_at_start - taken).astype(np.int64)
    curves = measured_sizes(TokenizedWords.of(words, history.recipe, history, cancelled=work.cancelled), work=work)
    order = np.argsort(curves.steps)
    return curves.steps[order], curves.tokens[order]


def _values_after_merges(
    counts: list[int], joined: list[int], history: History, power: float, cancelled: CancelCheck
) -> tuple[list[int], list[int], list[float]]:
    """Update three values after each merge, and return three lists of these values.

    The values are the number of tokens that occur, the number of tokens that occurred before and no longer occur, and
    the sum that the entropy is computed from.
    """
    base = len(counts)
    term = _summand_of(power)
    used = sum(1 for count in counts if count)
    gone = 0
    total = sum(map(term, counts))
    all_used = [used]
    all_gone = [gone]
    sums = [total / ONE]
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


def _summand_of(power: float) -> Callable[[int], int]:
    """Return a function that computes the summand of a token in the entropy. Its argument is the token's count.

    The summands are whole multiples of 1 / `ONE`, so the sum is exact in any order.
    """

    def exact(count: int) -> int:
        if not count:
            return 0
        value: float = count * math.log(count) if power == 1.0 else float(count) ** power
        return int(value) * ONE if value >= ONE else int(value * ONE)  # all 53 bits are kept

    return exact


@cache
def _terms(power: float) -> list[int]:
    return list(map(_summand_of(power), range(SELDOM)))


def _sum_of_terms(counts: Int64s, power: float) -> int:
    is_seldom = counts < SELDOM
    known = _terms(power)
    term = _summand_of(power)
    times = np.bincount(counts[is_seldom]).tolist()
    total: int = sum(number * known[count] for count, number in enumerate(times) if number)
    rest: int = sum(map(term, counts[~is_seldom].tolist()))
    return total + rest


def _efficiency(sums: Float64s, tokens: Int64s, used: Int64s, power: float) -> Float64s:
    totals = np.maximum(tokens, 1).astype(np.float64)
    if power == 1.0:
        entropy = np.log(totals) - sums / totals
    else:
        entropy = (np.log(np.maximum(sums, np.finfo(float).tiny)) - power * np.log(totals)) / (1.0 - power)
    most = np.log(np.maximum(used, 2))
    return np.where(used > 1, entropy / most, 0.0)


MOST_POWER = 20  # a larger power makes numbers that overflow


def checked_power(power: float) -> float:
    if not 0 < power <= MOST_POWER:
        raise BpeError(f"The power must be a number above 0, and {MOST_POWER} at most.")
    return power


def renyi_efficiency(counts: Iterable[int] | Int64s, power: float = USUAL_POWER) -> float:
    """Return how evenly tokens are used, from 0 to 1. With a power of 1 this is Shannon's efficiency.

    >>> round(renyi_efficiency([3, 2, 1, 1], power=3.0), 12)  # pick @@ed pick @@l @@ed pick @@les
    0.803152850136
    """
    given = counts if isinstance(counts, np.ndarray) else np.array(list(counts), np.int64)
    used_counts = given[given > 0]
    total = _sum_of_terms(used_counts, power) / ONE
    tokens = np.array([used_counts.sum()], np.int64)
    used = np.array([len(used_counts)], np.int64)
    return float(_efficiency(np.array([total]), tokens, used, power)[0])


def first_halvable(sizes: Int64s, tokens: Int64s) -> int | None:
    """Return the index of the first size that could be halved with less than 5 % more tokens.

    Return None if no size could be halved. The sizes are in ascending order. The result depends only on smaller sizes,
    so it stays the same when a run learns more.

    >>> first_halvable(np.array([1, 2, 4, 8, 16]), np.array([900, 600, 400, 390, 389]))
    3
    """
    halves = sizes / 2
    longer = np.interp(halves, sizes, tokens) < (1 + LITTLE) * tokens
    rows = np.flatnonzero(longer & (halves >= sizes[:1]))
    return int(rows[0]) if len(rows) else None


MEASURED = 48  # number of sizes; small sizes are closer together


def measured_sizes(
    cut: TokenizedWords, sizes: Int64s | None = None, *, power: float = USUAL_POWER, work: Work = ALONE
) -> SizeCurves:
    """Measure a text at each of the requested vocabulary sizes.

    By default, use a selection of sizes from the smallest to the largest.
    """
    steps = _steps_of(cut.history, some_sizes(cut.history) if sizes is None else sizes)
    tokens, used, unknown = (np.zeros(len(steps), np.int64) for _ in range(3))
    efficiency = np.zeros(len(steps))
    order = np.argsort(steps)  # most words do not change from one size to the next
    for done, place in enumerate(while_wanted(order.tolist(), work.cancelled, every=1)):
        work.progress(Progress("measuring", done, len(steps), "sizes"))
        counts = cut.counts(int(steps[place]))
        tokens[place], used[place] = counts.sum(), np.count_nonzero(counts)
        efficiency[place] = renyi_efficiency(counts, power)
        unknown[place] = _unknown_of(counts, cut.history)
    had = np.array([cut.history.vocabulary_size_at(step) for step in steps.tolist()], np.int64)
    return SizeCurves(cut.words.size, cut.words.total, had, steps, tokens, used, efficiency, unknown)


def _unknown_of(counts: Int64s, history: History) -> int:
    id = history.alphabet.unknown_id
    return 0 if id is None else int(counts[id])


def some_sizes(history: History, most: int = MEASURED) -> Int64s:
    """Return at most `most` sizes of the vocabulary, from the smallest to the largest.

    The distances between the smallest size and the other sizes form a geometric series.
    """
    ends = sorted(history.vocabulary_size_at(at) for at in (0, len(history)))
    grown = np.geomspace(1, ends[1] - ends[0] + 1, most).round().astype(np.int64) - 1
    sizes: Int64s = np.unique(ends[0] + grown)
    return sizes


def which_sizes(sizes: Int64s, history: History) -> str:
    """Return a sentence about the sizes that were measured. If all sizes were measured, the sentence is empty."""
    if len(sizes) > len(history):
        return ""
    had = np.sort(history.vocabulary_sizes())
    gapless = int(np.argmin(np.append(np.sort(sizes) == had[: len(sizes)], False)))
    up_to = f", with all sizes up to {had[gapless - 1]:,}" if gapless > MEASURED else ""
    return f"Measured: {len(sizes):,} of {count_text(len(had), 'size')}{up_to}."


def _steps_of(history: History, sizes: Int64s) -> Int64s:
    low, high = sorted(history.vocabulary_size_at(at) for at in (0, len(history)))
    steps = {history.step_of_size(size) for size in sizes.tolist() if low <= size <= high}
    return np.array(sorted(steps, key=lambda step: (history.vocabulary_size_at(step), step)), np.int64)
