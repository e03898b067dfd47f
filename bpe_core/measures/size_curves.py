"""Compute what each size of the vocabulary, up to the one learned, means for a text.

Where pairs are joined, one run holds the answer for all sizes: a merge changes the counts of three tokens, so any sum
over tokens is updated merge by merge. Elsewhere tokens are counted anew at some sizes.
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
from bpe_core.insight.cut_words import CutWords
from bpe_core.insight.ranked_words import RankedWords
from bpe_core.methods.kit.histories import has_ranks
from bpe_core.support.arrays import Float64s, Int64s
from bpe_core.support.progress import ALONE, CancelCheck, Progress, Work, never_cancelled, while_wanted

USUAL_POWER = 2.5
ONE = 1 << 52
SELDOM = 1024
LITTLE = 0.05  # a text that grows by less than this is hardly longer


@dataclass(frozen=True, eq=False)
class SizeCurves:
    """A number for each size, the smallest first."""

    bytes: int  # of the given text, or of its words where only these are known
    words: int
    sizes: Int64s  # of the vocabulary
    steps: Int64s  # after which the vocabulary had that size
    tokens: Int64s  # in the text
    used: Int64s  # different tokens that occur
    renyi_efficiency: Float64s
    unknown: Int64s  # tokens that stand for what cannot be encoded
    scaffolds: Int64s | None = None  # merged tokens that occurred here and no longer do; not known for some sizes

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
    def half_would_do(self) -> int | None:
        return half_would_do(self.sizes, self.tokens)


def size_curves(
    words: WordTable,
    history: History,
    *,
    power: float = USUAL_POWER,
    ranked: RankedWords | None = None,
    cancelled: CancelCheck = never_cancelled,
) -> SizeCurves:
    """Compute the curves of a text, given as its words; `ranked` saves ranking them again."""
    ranked = ranked or RankedWords.of(words, history)
    joined = ranked.joined
    tokens = ranked.tokens_at_start - np.concatenate([[0], np.cumsum(joined)]).astype(np.int64)
    used, scaffolds, sums = _follow(ranked.symbol_counts.tolist(), joined.tolist(), history, power, cancelled)
    steps, efficiency = np.arange(len(tokens)), _efficiency(np.array(sums), tokens, np.array(used), power)
    return SizeCurves(
        words.size,
        words.total,
        ranked.base + steps,
        steps,
        tokens,
        np.array(used, np.int64),
        efficiency,
        np.full(len(tokens), _unknown_of(ranked.symbol_counts, history), np.int64),  # they are never joined
        np.array(scaffolds, np.int64),
    )


def token_counts(words: WordTable, history: History, work: Work = ALONE) -> tuple[Int64s, Int64s]:
    """Count the tokens that a text takes after each step, or after some steps where all would take too long."""
    if has_ranks(history):
        ranked = RankedWords.of(words, history)
        taken = np.concatenate([[0], np.cumsum(ranked.joined)])
        return np.arange(len(taken)), (ranked.tokens_at_start - taken).astype(np.int64)
    curves = measured_sizes(CutWords.of(words, history.recipe, history, cancelled=work.cancelled), work=work)
    order = np.argsort(curves.steps)
    return curves.steps[order], curves.tokens[order]


def _follow(
    counts: list[int], joined: list[int], history: History, power: float, cancelled: CancelCheck
) -> tuple[list[int], list[int], list[float]]:
    """Return for each merge how many tokens occur, how many no longer occur, and the sum for the entropy."""
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
    """Return what one token adds to the sum, in whole parts of `ONE`, so that sums are exact in any order."""

    def exact(count: int) -> int:
        if not count:
            return 0
        value: float = count * math.log(count) if power == 1.0 else float(count) ** power
        return int(value) * ONE if value >= ONE else int(value * ONE)  # of 53 bits none is lost

    return exact


@cache
def _terms(power: float) -> list[int]:
    return list(map(_term(power), range(SELDOM)))


def _sum_of_terms(counts: Int64s, power: float) -> int:
    is_seldom, known, term = counts < SELDOM, _terms(power), _term(power)
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


MOST_POWER = 20  # a larger one makes numbers that overflow


def checked_power(power: float) -> float:
    if not 0 < power <= MOST_POWER:
        raise BpeError(f"The power must be a number above 0, and {MOST_POWER} at most.")
    return power


def renyi_efficiency(counts: Iterable[int] | Int64s, power: float = USUAL_POWER) -> float:
    """Measure how evenly tokens are used, from 0 to 1; a power of 1 gives Shannon's efficiency.

    >>> round(renyi_efficiency([3, 2, 1, 1], power=3.0), 12)  # pick @@ed pick @@l @@ed pick @@les
    0.803152850136
    """
    given = counts if isinstance(counts, np.ndarray) else np.array(list(counts), np.int64)
    found = given[given > 0]
    total = _sum_of_terms(found, power) / ONE
    tokens, used = np.array([found.sum()], np.int64), np.array([len(found)], np.int64)
    return float(_efficiency(np.array([total]), tokens, used, power)[0])


def half_would_do(sizes: Int64s, tokens: Int64s) -> int | None:
    """Find the first of these ascending sizes whose half needs less than 5 % more tokens; None where there is none.

    It depends only on the sizes up to it, so it stays when more is learned.

    >>> half_would_do(np.array([1, 2, 4, 8, 16]), np.array([900, 600, 400, 390, 389]))
    3
    """
    halves = sizes / 2
    longer = np.interp(halves, sizes, tokens) < (1 + LITTLE) * tokens
    found = np.flatnonzero(longer & (halves >= sizes[:1]))
    return int(found[0]) if len(found) else None


MEASURED = 48  # sizes, closer together where the vocabulary is small


def measured_sizes(
    cut: CutWords, sizes: Int64s | None = None, *, power: float = USUAL_POWER, work: Work = ALONE
) -> SizeCurves:
    """Return those of these sizes that the vocabulary ever had; by default some from its smallest to its largest."""
    steps = _steps_of(cut.history, some_sizes(cut.history) if sizes is None else sizes)
    tokens, used, unknown = (np.zeros(len(steps), np.int64) for _ in range(3))
    efficiency = np.zeros(len(steps))
    order = np.argsort(steps)  # from one to the next most words stay as they are
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
    """Choose sizes that the vocabulary had; their distance from the smallest grows by equal factors."""
    ends = sorted(history.vocabulary_size_at(at) for at in (0, len(history)))
    grown = np.geomspace(1, ends[1] - ends[0] + 1, most).round().astype(np.int64) - 1
    found: Int64s = np.unique(ends[0] + grown)
    return found


def which_sizes(sizes: Int64s, history: History) -> str:
    """Say which sizes were measured, if not all."""
    if len(sizes) > len(history):
        return ""
    had = np.sort(history.vocabulary_sizes())
    gapless = int(np.argmin(np.append(np.sort(sizes) == had[: len(sizes)], False)))
    up_to = f", all of them up to {had[gapless - 1]:,}" if gapless > MEASURED else ""
    return f"Measured: {len(sizes):,} of {len(had):,} sizes{up_to}."


def _steps_of(history: History, sizes: Int64s) -> Int64s:
    low, high = sorted(history.vocabulary_size_at(at) for at in (0, len(history)))
    steps = {history.step_of_size(size) for size in sizes.tolist() if low <= size <= high}
    return np.array(sorted(steps, key=lambda step: (history.vocabulary_size_at(step), step)), np.int64)
