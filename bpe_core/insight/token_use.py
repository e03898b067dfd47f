"""How often a token stood in the corpus, and in which words, by a method that joins or drops in its own way.

Where pairs are joined word by word, `token_life` knows more. Here one of two things is known. What was joined is used
up by what is joined from it, and a history tells of each step how much that was. And where tokens are dropped, the
words that could hold one are cut anew at some moments.

    >>> from bpe_core.counting.words import WordTable
    >>> from bpe_core.recipe import Recipe
    >>> from bpe_core.reference.gage import train
    >>> history = train(WordTable.from_counts({"aaabdaaabac": 1}), Recipe.preset("gage", min_frequency=2))
    >>> use_by_joining(history, 256, 0)  # aa is joined twice, and becomes a part of aaa both times
    ((1, 2), (2, 0))
"""

from __future__ import annotations

import numpy as np

from bpe_core.counting.words import WordTable
from bpe_core.errors import Cancelled
from bpe_core.history.history import History
from bpe_core.insight.cut_words import CutWords
from bpe_core.progress import CancelCheck, Progress, ProgressReport, ignore_progress, never_cancelled
from bpe_core.records import dataclass
from bpe_core.token_texts import TokenBytes

MOMENTS = 24  # at which the words are cut

Steps = tuple[tuple[int, int], ...]  # from each of these numbers of steps on, a count


@dataclass(frozen=True)
class TokenUse:
    """One token in the words of a corpus."""

    curve: Steps
    count: int  # after the steps asked about
    words: list[tuple[bytes, int]]  # that hold it then, those first in which it stands most; with how often
    words_before: list[tuple[bytes, int]]  # that held it before it was dropped


def use_by_joining(history: History, token: int, at_first: int) -> Steps:
    """How often it stood there after which steps, from the steps alone; `at_first` is told of a base symbol."""
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
    """How often it stands there after some numbers of steps, and in which words after `at` of them."""
    cut = CutWords.of(_that_may_hold(words, history, token), history.recipe, history, cancelled=cancelled)
    dropped = history.row_of_drop(token)
    last = len(history) if dropped is None else dropped
    moments = sorted({*np.linspace(0, last, MOMENTS).astype(int).tolist(), min(at, last)})
    curve, count = list[tuple[int, int]](), 0
    for done, moment in enumerate(moments):
        if cancelled():
            raise Cancelled("Nobody wants to know any more how often the token stands there.")
        progress(Progress("cutting", done, len(moments), "moments"))
        times = int(cut.counts(moment)[token])
        if not curve or curve[-1][1] != times:
            curve.append((moment, times))
        count = times if moment == at else count
    if dropped is not None:
        curve.append((dropped + 1, 0))
    before = [] if dropped is None else cut.words_with(token, dropped)
    return TokenUse(tuple(curve), count, cut.words_with(token, at), before)


def _that_may_hold(words: WordTable, history: History, token: int) -> WordTable:
    """The words with the bytes that the token stands for; where words are marked, without the blank of the marker."""
    at_first = history.alphabet.decoded
    needle = at_first[token] if token < len(at_first) else TokenBytes(history)[token]
    if history.recipe.marker != "none":
        needle = needle.strip(b" ")
    return words.holding(needle) if needle else words
