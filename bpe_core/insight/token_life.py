"""The life of a token: its parts, its count in the corpus over time, and the longer tokens made of it.

If a method joins pairs inside words, all occurrences of a token are made at one step, and later steps join some of them
into longer tokens. For other methods that join tokens, the history says which later steps used the token. For methods
that drop tokens, the words that could contain the token are split again after several numbers of steps.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from bpe_core.counting.words import WordTable
from bpe_core.history.history import NOTHING, History
from bpe_core.history.token_texts import TokenBytes
from bpe_core.insight.pairs import follow_pair
from bpe_core.insight.ranked_words import Contributions, FileCounts, RankedWords, contributions, words_with
from bpe_core.insight.reachability import reachability
from bpe_core.insight.tokenized_words import TokenizedWords
from bpe_core.methods.kit.life import MOST_WORDS, Held, Holders, Steps, TokenLife
from bpe_core.methods.kit.method import Method
from bpe_core.support.arrays import Int64s
from bpe_core.support.progress import ALONE, CancelCheck, Progress, Work, never_cancelled

MOMENTS = 24  # number of steps at which the words are cut again


def ranked_holders(contributions: Contributions, ranked: RankedWords) -> Holders:
    first = tuple((ranked.words.word(holder.word), holder.count) for holder in contributions.words[:MOST_WORDS])
    return Holders(first, len(contributions.words), contributions.count)


def token_life(
    ranked: RankedWords,
    token: int,
    at: int | None = None,
    *,
    files: FileCounts | None = None,
    cancelled: CancelCheck = never_cancelled,
) -> TokenLife:
    """Return the life of a token. The method must join pairs inside words, one pair after the other."""
    history = ranked.history
    at = len(history) if at is None else at
    curve = follow_pair(ranked, (token, NOTHING))
    life = life_without_words(history, token, at, corpus=ranked, cancelled=cancelled)
    parts = history.parts(token)
    now = ranked.at(at)
    if parts is None:
        if not history.alphabet.symbols[token].merges:
            # The unknown token is never merged, and has no cells.
            curve = replace(curve, counts=ranked.symbol_counts[token : token + 1])
    else:
        step = token - ranked.base + 1
        before = follow_pair(ranked, parts, step)
        learned_in = ranked.at(step - 1)
        paid = ranked_holders(contributions(learned_in, step), learned_in)
        shares = {} if files is None else files.split(contributions(ranked, step), ranked)
        life = replace(life, pair_curve=before.changes(curve.born), paid=paid, files=shares)
    return replace(
        life,
        curve=curve.changes(),
        takers=tuple((cut.step, cut.lost) for cut in curve.losses_to_others),
        words=ranked_holders(words_with(now, now.occurrences(token), at), now),
    )


def life_without_words(
    history: History,
    token: int,
    at: int,
    *,
    corpus: RankedWords | None = None,
    cancelled: CancelCheck = never_cancelled,
) -> TokenLife:
    """Return the tokens that are made from a token, and whether a text can produce the token.

    `at` is the number of steps. No counted words are needed. If `corpus` is given, those of its words that contain
    the token are tried as texts that may produce it.
    """
    children = history.first(at).children(token) if history.only_joins else []
    reached = reachability(history, token, at, corpus=corpus, cancelled=cancelled)
    return TokenLife(token, at, tuple(children), reached)


def life_by_use(
    words: WordTable, history: History, token: int, at: int, symbol_counts: Int64s, work: Work = ALONE
) -> TokenLife:
    """Return the life of a token, computed from its use after each step.

    This works for methods that drop tokens, and for methods that do not learn by joining pairs inside words.
    """
    life = life_without_words(history, token, at, cancelled=work.cancelled)
    if not history.only_joins:
        use = use_by_splitting(words, history, token, at, work)
        return replace(life, curve=use.curve, words=Holders.of(use.words), paid=Holders.of(use.words_at_step))
    curve = use_by_joining(history, token, int(symbol_counts[token]) if token < len(symbol_counts) else 0)
    falls = ((step, before - count) for (_, before), (step, count) in pairwise(curve))
    takers = sorted((fall for fall in falls if fall[1] > 0), key=lambda fall: -fall[1])
    return replace(life, curve=curve, takers=tuple(takers))


@dataclass(frozen=True)
class TokenUse:
    curve: Steps
    words: Held  # the words that hold it after `at` steps
    words_at_step: Held  # the words that held it before it was dropped, or when it was added


def use_by_joining(history: History, token: int, at_first: int) -> Steps:
    """Return the count of a token over time. It is computed from the steps alone, without the words.

    `at_first` is the count of the token before the first step, if it is a base symbol.
    """
    row = history.row_of(token)
    joined = history.tokens_saved
    count = at_first if row is None else int(joined[row])
    counts = [(0 if row is None else row + 1, count)]
    halves = (history.columns.left == token).astype(np.int64) + (history.columns.right == token)
    for user in np.flatnonzero(halves).tolist():
        count -= int(halves[user] * joined[user])
        counts.append((user + 1, count))
    return tuple(counts)


def use_by_splitting(words: WordTable, history: History, token: int, at: int, work: Work = ALONE) -> TokenUse:
    """Return how often `token` is used at several steps, and the words that contain it after `at` steps.

    The words are split into tokens again for each of the steps.
    """
    cut = TokenizedWords.of(
        _words_that_may_hold(words, history, token), history.recipe, history, cancelled=work.cancelled
    )
    dropped = history.row_of_drop(token)
    added = history.row_of(token)
    first = 0 if added is None else added + 1
    last = len(history) if dropped is None else dropped
    moments = sorted({*np.linspace(first, last, MOMENTS).astype(int).tolist(), max(first, min(at, last))})
    curve = list[tuple[int, int]]()
    for done, moment in enumerate(moments):
        work.check()
        work.progress(Progress("cutting", done, len(moments), "moments"))
        times = int(cut.counts(moment)[token])
        if not curve or curve[-1][1] != times:
            curve.append((moment, times))
    if dropped is not None:
        curve.append((dropped + 1, 0))
    moment = dropped if added is None else first
    at_step = [] if moment is None else cut.words_with(token, moment)
    return TokenUse(tuple(curve), cut.words_with(token, at), at_step)


def words_of_step(words: WordTable, history: History, step: int, work: Work = ALONE) -> Held:
    """Return the words in which a step joins its pair, each with the number of joins. The largest number comes first.

    If the step adds or drops a token, return the words that contain the token, each with the number of its occurrences.
    """
    token = int(history.indices[step - 1])
    right = int(history.columns.right[step - 1])
    cut = TokenizedWords.of(
        _words_that_may_hold(words, history, token), history.recipe, history, cancelled=work.cancelled
    )
    if right < 0:
        return cut.words_with(token, step - 1 if right == NOTHING else step)
    before = dict(cut.words_with(token, step - 1))
    more = [(word, count - before.get(word, 0)) for word, count in cut.words_with(token, step)]
    return sorted((pair for pair in more if pair[1]), key=lambda pair: -pair[1])


def _words_that_may_hold(words: WordTable, history: History, token: int) -> WordTable:
    at_first = history.alphabet.decoded
    needle = at_first[token] if token < len(at_first) else TokenBytes(history)[token]
    if history.recipe.marker != "none":
        needle = needle.strip(b" ")
    return words.holding(needle) if needle else words


def counts_at_birth(history: History, symbol_counts: Int64s) -> Int64s:
    """Return the count of each token at the step that made the token, or 0 if the count is unknown.

    Some methods begin with all tokens and drop most of them. For such a method, the count of a token is the last
    expected count that was computed while the token existed.
    """
    counts: Int64s = np.zeros(history.index_count, np.int64)
    counts[: len(symbol_counts)] = symbol_counts
    if not history.has_counts:
        return counts
    made = history.columns.right != NOTHING
    counts[history.indices[made]] = history.columns.count[made]
    if history.scores is not None:
        cost = Method.of(history.recipe).cost_of_token
        for since in history.scores.since[1:]:
            scores = history.scores.at(since)
            known = np.isfinite(scores)
            expected = np.exp(scores[known].astype(np.float64) + cost) * history.tokens_after[since]
            counts[: len(scores)][known] = np.maximum(1, np.round(expected))
    return counts
