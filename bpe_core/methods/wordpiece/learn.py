"""Learners of WordPiece.

By the rule `count` it is learned as byte-pair encoding is, only on other symbols: those inside words are marked.

Plain Python learns by the score as it learns byte-pair encoding, and the counts of pairs only fall. But a score is a
count over two other counts, and these fall as well: where tokens are used up, the scores of their other pairs *rise*.
A pair that has risen is entered in the heap anew, and its older entry skipped; one that has fallen is put right at the
top, as ever. The reference takes 20 times as long.
"""

from __future__ import annotations

import heapq
from collections import defaultdict

import numpy as np

from bpe_core.counting.words import WordTable
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import NOTHING, TIED, Columns, History, Reasons
from bpe_core.kernels.kept import SCORING
from bpe_core.methods.kit.layout import Layout
from bpe_core.methods.kit.learner import Candidate, CompiledWay, Learner, Way, with_token_counts
from bpe_core.methods.kit.plain_pairs import PlainLearner
from bpe_core.methods.kit.reasons import Reason
from bpe_core.recipes.recipe import Recipe
from bpe_core.recipes.ties import Pair

_SCALE = 256  # bits


def score_key(count: int, left_count: int, right_count: int) -> int:
    """Return a whole number that sorts as the score does, exactly.

    Two different fractions with denominators below 2**126 differ by more than 2**-252, so scaled by 2**256
    they differ by more than one; equal fractions give the same number.

    >>> score_key(100, 500, 800) > score_key(50, 10_000, 5_000), score_key(1, 2, 3) == score_key(2, 2, 6)
    (True, True)
    """
    return (count << _SCALE) // (left_count * right_count) if count else 0


class PlainScoreLearner(PlainLearner):
    """Knows besides how often each token occurs in the corpus, and its pairs."""

    def __init__(self, words: WordTable, alphabet: Alphabet, recipe: Recipe, forced: History | None) -> None:
        self._token_counts: list[int] = []
        self._pairs_of: defaultdict[int, set[Pair]] = defaultdict(set)
        self._entries = 0
        self._entry_of: dict[Pair, tuple[int, int]] = {}  # the number of its only entry that counts, and its score
        self._left_counts: list[int] = []
        self._right_counts: list[int] = []
        self._tied: list[bool] = []
        super().__init__(words, alphabet, recipe, forced)

    @property
    def reasons(self) -> Reasons:
        return {
            "left_count": np.array(self._left_counts, np.int64),
            "right_count": np.array(self._right_counts, np.int64),
            TIED: np.array(self._tied, np.bool_),
        }

    def candidates(self, wanted: int) -> list[Candidate]:
        return with_token_counts(super().candidates(wanted), self._token_counts)

    def _begin(self, layout: Layout, words: WordTable) -> None:
        self._token_counts = layout.symbol_counts(words, self._base).tolist()

    def _add(self, pair: Pair, index: int, weight: int) -> None:
        super()._add(pair, index, weight)
        for half in pair:
            self._pairs_of[half].add(pair)

    def _score(self, pair: Pair, count: int) -> int:
        return score_key(count, self._token_counts[pair[0]], self._token_counts[pair[1]])

    def _push(self, pair: Pair) -> None:
        if self._counts[pair] >= self._least and self._may_join(pair):
            heapq.heappush(self._heap, self._entered(pair))

    def _entered(self, pair: Pair) -> tuple[object, ...]:
        score = self._score(pair, self._counts[pair])
        self._entries += 1
        self._entry_of[pair] = self._entries, score
        return -score, self._tie_key(pair), pair, self._entries

    def _best(self) -> Pair | None:
        while self._heap:
            score, key, pair, number = self._heap[0]
            if self._is_out(pair) or self._entry_of[pair][0] != number:
                heapq.heappop(self._heap)
            elif -score == self._score(pair, self._counts[pair]) and key == self._tie_key(pair):
                return pair  # type: ignore[no-any-return]
            else:
                heapq.heapreplace(self._heap, self._entered(pair))
        return None

    def _write_runner_up(self, columns: Columns, row: int) -> None:
        super()._write_runner_up(columns, row)
        left, right, other = (int(column[row]) for column in (columns.left, columns.right, columns.runner_up_left))
        runner_up = other, int(columns.runner_up_right[row])
        self._left_counts.append(self._token_counts[left])
        self._right_counts.append(self._token_counts[right])
        score = self._score((left, right), int(columns.count[row]))
        self._tied.append(other != NOTHING and self._score(runner_up, self._counts[runner_up]) == score)

    def _use_up(self, pair: Pair, token: int, joined: int) -> None:
        for half in pair:
            self._token_counts[half] -= joined
        self._token_counts.append(joined)
        for other in self._pairs_of[pair[0]] | self._pairs_of[pair[1]]:
            count = self._counts.get(other, 0)
            if (
                other in self._entry_of
                and count >= self._least
                and self._score(other, count) > self._entry_of[other][1]
            ):
                self._push(other)
        self._pairs_of[pair[0]].discard(pair)
        self._pairs_of[pair[1]].discard(pair)


SCORE = Reason(
    title="Score",
    tip="How often the pair occurred in the corpus, divided by the count of each half",
    of=("left_count", "right_count"),
    value=lambda count, told: count / told["left_count"] / told["right_count"],
    written=lambda count, told: f"{count:,} / ({told['left_count']:,} × {told['right_count']:,})",
    widest="9,999 / (99,999 × 99,999)",
)


def reasons(recipe: Recipe) -> tuple[Reason, ...]:
    return (SCORE,) if recipe.wordpiece_rule == "score" else ()


def _plain_learner(words: WordTable, alphabet: Alphabet, recipe: Recipe, forced: History | None) -> Learner:
    by_score = recipe.wordpiece_rule == "score"
    return (PlainScoreLearner if by_score else PlainLearner)(words, alphabet, recipe, forced)


def compiled_learner(words: WordTable, alphabet: Alphabet, recipe: Recipe, forced: History | None) -> Learner:
    from bpe_core.methods.wordpiece.compiled import CompiledLearner, CompiledScoreLearner  # loads machine code

    by_score = recipe.wordpiece_rule == "score"
    return (CompiledScoreLearner if by_score else CompiledLearner)(words, alphabet, recipe, forced)


PLAIN = Way(_plain_learner, bytes_a_cell=160)
COMPILED = CompiledWay(compiled_learner, 30, SCORING)
