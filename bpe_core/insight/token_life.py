"""The life of a token: what it was made of, how often it stood in the corpus when, what became of it.

A token is born with all its occurrences at once, and from then on larger tokens take them
away. Before its birth the pair it was made of had a life of its own.

    >>> from bpe_core.reference import train
    >>> from bpe_core.recipe import Recipe
    >>> from bpe_core.counting.words import WordTable
    >>> words = WordTable.from_counts({"low": 5, "lower": 2, "lot": 3})
    >>> ranked = RankedWords.of(words, train(words, Recipe.preset("words", merges=2)))  # l+o, lo+w
    >>> life = token_life(ranked, 7)
    >>> life.children, life.curve.counts.tolist(), life.count_now, life.is_scaffold
    ((8,), [10, 3], 3, False)
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bpe_core.history.history import NOTHING
from bpe_core.insight.contributions import Contribution, words_with
from bpe_core.insight.race import Runner, follow
from bpe_core.insight.ranked_words import RankedWords
from bpe_core.records import dataclass

Int64s = npt.NDArray[np.int64]

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

    def count_at(self, at: int) -> int:
        return self.curve.count_at(at)


def token_life(ranked: RankedWords, token: int, at: int | None = None) -> TokenLife:
    """All that the history and the words of the corpus tell about a token."""
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
        curve = _unchanging(token, int(ranked.symbol_counts[token]))
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


def _unchanging(token: int, count: int) -> Runner:
    """What stands for the unknown is never merged."""
    return Runner((token, NOTHING), 0, np.zeros(0, np.int64), np.array([count], np.int64), None)


def scaffolds(ranked: RankedWords, at: int | None = None) -> list[int]:
    """All tokens made by the first `at` merges that no longer occur in the corpus.

    >>> from bpe_core.reference import train
    >>> from bpe_core.recipe import Recipe
    >>> from bpe_core.counting.words import WordTable
    >>> words = WordTable.from_counts({"low": 5, "lower": 2})
    >>> scaffolds(RankedWords.of(words, train(words, Recipe.preset("words", merges=2))))  # lo is only in low
    [6]
    """
    at = len(ranked.history) if at is None else at
    counts = ranked.token_counts(at)
    gone = (ranked.joined[:at] > 0) & (counts[ranked.base :] == 0)
    found: list[int] = (np.flatnonzero(gone) + ranked.base).tolist()
    return found
