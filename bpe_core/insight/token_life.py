"""The life of a token: what it was made of, how often it occurred in the corpus when, what became of it.

Where pairs are joined word by word, a token is born with all its occurrences, and larger tokens take them away. Other
methods allow one of two things: what was joined is used up by what is joined from it, as the history tells; where
tokens are dropped, the words that could hold one are cut again at some moments.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from bpe_core.counting.words import WordTable
from bpe_core.errors import Cancelled
from bpe_core.history.history import NOTHING, History
from bpe_core.history.token_texts import TokenBytes
from bpe_core.insight.cut_words import CutWords
from bpe_core.insight.pairs import Runner, follow
from bpe_core.insight.ranked_words import Contribution, Contributions, RankedWords, contributions, words_with
from bpe_core.learning.methods import Method, learns_by_ranks
from bpe_core.support.arrays import Int64s
from bpe_core.support.progress import CancelCheck, Progress, ProgressReport, ignore_progress, never_cancelled

MOST_WORDS = 200


@dataclass(frozen=True, eq=False)
class TokenLife:
    """One token, looked at from the state after `at` merges."""

    token: int
    at: int
    step: int | None  # of the merge that made it; None for a base symbol
    parts: tuple[int, int] | None
    children: tuple[int, ...]  # the tokens made from it, up to `at`
    curve: Runner  # its occurrences from its birth on
    before: Runner | None  # the count of the pair it was made of, until its birth
    count_now: int
    words: tuple[Contribution, ...]  # those that hold it now, the heaviest first; at most MOST_WORDS
    word_count: int  # how many different words hold it

    @property
    def peak(self) -> int:
        """Its occurrences at birth: never were there more."""
        return self.curve.peak

    @property
    def is_born(self) -> bool:
        return self.curve.born <= self.at

    @property
    def is_scaffold(self) -> bool:
        """Whether larger tokens have taken all its occurrences: it was needed only on the way."""
        return self.is_born and self.peak > 0 and self.count_now == 0


def token_life(ranked: RankedWords, token: int, at: int | None = None) -> TokenLife:
    history, base = ranked.history, ranked.base
    at = len(history) if at is None else at
    occurrences = ranked.occurrences(token)
    curve = follow(ranked, occurrences, (token, NOTHING), None)
    holding = words_with(ranked, occurrences, at)
    parts = history.parts(token)
    before = step = None
    if parts is not None:
        step = token - base + 1
        before = follow(ranked, ranked.pair_occurrences(*parts), parts, step)
    elif not history.alphabet.symbols[token].merges:
        # The unknown token is never merged, and has no cells.
        curve = replace(curve, counts=ranked.symbol_counts[token : token + 1])
    return TokenLife(
        token=token,
        at=at,
        step=step,
        parts=parts,
        children=tuple(history.first(at).children(token)),
        curve=curve,
        before=before,
        count_now=curve.count_at(at),
        words=tuple(holding.words[:MOST_WORDS]),
        word_count=len(holding.words),
    )


MOMENTS = 24  # at which the words are cut

Steps = tuple[tuple[int, int], ...]  # from each of these numbers of steps on, a count


@dataclass(frozen=True)
class TokenUse:
    curve: Steps
    count: int  # after the steps asked about
    words: list[tuple[bytes, int]]  # that hold it then with its count in each, the most first
    words_at_step: list[tuple[bytes, int]]  # that held it before it was dropped, or when it was added


def use_by_joining(history: History, token: int, at_first: int) -> Steps:
    """Its count after which steps, from the steps alone; `at_first` is the count of a base symbol."""
    row, joined = history.row_of(token), history.tokens_saved
    count = at_first if row is None else int(joined[row])
    found = [(0 if row is None else row + 1, count)]
    halves = (history.columns.left == token).astype(np.int64) + (history.columns.right == token)
    for user in np.flatnonzero(halves).tolist():
        count -= int(halves[user] * joined[user])
        found.append((user + 1, count))
    return tuple(found)


def use_by_cutting(
    words: WordTable,
    history: History,
    token: int,
    at: int,
    *,
    progress: ProgressReport = ignore_progress,
    cancelled: CancelCheck = never_cancelled,
) -> TokenUse:
    """Its count after some numbers of steps, and the words that hold it after `at` of them."""
    cut = CutWords.of(_that_may_hold(words, history, token), history.recipe, history, cancelled=cancelled)
    dropped, added = history.row_of_drop(token), history.row_of(token)
    first = 0 if added is None else added + 1
    last = len(history) if dropped is None else dropped
    moments = sorted({*np.linspace(first, last, MOMENTS).astype(int).tolist(), max(first, min(at, last))})
    curve, count = list[tuple[int, int]](), 0
    for done, moment in enumerate(moments):
        if cancelled():
            raise Cancelled("Cancelled.")
        progress(Progress("cutting", done, len(moments), "moments"))
        times = int(cut.counts(moment)[token])
        if not curve or curve[-1][1] != times:
            curve.append((moment, times))
        count = times if moment == at else count
    if dropped is not None:
        curve.append((dropped + 1, 0))
    moment = dropped if added is None else first
    at_step = [] if moment is None else cut.words_with(token, moment)
    return TokenUse(tuple(curve), count, cut.words_with(token, at), at_step)


def _that_may_hold(words: WordTable, history: History, token: int) -> WordTable:
    """The words with the bytes that the token stands for; where words are marked, without the blank of the marker."""
    at_first = history.alphabet.decoded
    needle = at_first[token] if token < len(at_first) else TokenBytes(history)[token]
    if history.recipe.marker != "none":
        needle = needle.strip(b" ")
    return words.holding(needle) if needle else words


Held = list[tuple[bytes, int]]  # each word and the count of the token in all its occurrences, the most first


def words_holding(
    words: WordTable, history: History, token: int, at: int, *, cancelled: CancelCheck = never_cancelled
) -> Held:
    """The words that hold a token; none are known where pairs are joined otherwise than word by word."""
    if learns_by_ranks(history):
        ranked = RankedWords.of(words, history)
        return _listed(words_with(ranked, ranked.occurrences(token), at), ranked)
    return [] if history.only_joins else use_by_cutting(words, history, token, at, cancelled=cancelled).words


def words_that_paid(words: WordTable, history: History, step: int, *, cancelled: CancelCheck = never_cancelled) -> Held:
    """For that step: the words that held its pair, or the token that it dropped or added."""
    if learns_by_ranks(history):
        ranked = RankedWords.of(words, history)
        return _listed(contributions(ranked, step), ranked)
    token = int(history.ids[step - 1])
    return (
        [] if history.only_joins else use_by_cutting(words, history, token, step - 1, cancelled=cancelled).words_at_step
    )


def _listed(found: Contributions, ranked: RankedWords) -> Held:
    return [(ranked.words.word(one.word), one.count) for one in found.words]


def counts_at_birth(history: History, symbol_counts: Int64s) -> Int64s:
    """The count of each token by id, 0 where it is unknown; `symbol_counts` are those of base symbols, if known.

    Where a method begins with pieces of words, it is the count that was last expected.
    """
    counts: Int64s = np.zeros(history.id_count, np.int64)
    counts[: len(symbol_counts)] = symbol_counts
    if not history.has_counts:
        return counts
    joins = history.columns.right >= 0
    counts[history.ids[joins]] = history.columns.count[joins]
    if history.scores is not None:
        cost = Method.of(history.recipe).cost_of_token
        for since in history.scores.since[1:]:
            scores = history.scores.at(since)
            known = np.isfinite(scores)
            expected = np.exp(scores[known].astype(np.float64) + cost) * history.tokens_after[since]
            counts[: len(scores)][known] = np.maximum(1, np.round(expected))
    return counts
