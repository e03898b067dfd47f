"""Byte-pair encoding that drops tokens, in plain Python: the deletions of PickyBPE.

A merge that takes nearly all of one of its halves drops that half: where it is left, it falls apart. So counts may rise
again, and one text may be joined anew; it stays the same token. Counts say how many tokens a merge makes.
"""

from __future__ import annotations

import numpy as np

from bpe_core.counting.words import WordTable
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import NOTHING, TOKEN, Columns, EndReason, Reasons
from bpe_core.methods.kit.plain_pairs import WORK_A_RUN, WORK_A_STEP, PlainLearner
from bpe_core.recipes.recipe import Recipe
from bpe_core.recipes.ties import Pair


class PlainDropping(PlainLearner):
    """Learns until that many tokens are in use."""

    def __init__(self, words: WordTable, alphabet: Alphabet, recipe: Recipe, wanted: int) -> None:
        assert recipe.tau is not None
        self._tau, self._into_bytes, self._wanted = recipe.tau, recipe.falls_into == "bytes", wanted
        super().__init__(words, alphabet, recipe, None, counts_apart=True)
        self._token_by_text = {text: token for token, text in enumerate(self._texts)}
        self._parts: list[list[int]] = [[] for _ in self._texts]
        self._in_use = set(range(self._base))
        self._held = [0] * self._base  # how often each token stands in the words
        self._runs_with: list[set[int]] = [set() for _ in self._texts]  # or that held it once
        for run in self._runs:
            for token in run.symbols:
                self._held[token] += run.weight
        self._drops: list[int] = []  # that are due
        self._tokens: list[int] = []  # of each step

    @property
    def reasons(self) -> Reasons:
        return {TOKEN: np.array(self._tokens, np.int64)}

    def learn(self, columns: Columns, stop_at: int, work: int) -> EndReason:
        while self._learned < stop_at and work > 0:
            if self._drops:
                work -= self._drop(columns, self._drops.pop(0))
                continue
            if len(self._in_use) - self._base >= self._wanted:
                return "vocabulary full"
            pair = self._best()
            if pair is None:
                return "too rare" if self._any_pair_is_left() else "no pairs"
            held, count = {half: self._held[half] for half in pair}, self._counts[pair]
            work -= self._make(columns, pair)
            self._drops = [half for half, times in held.items() if self._parts[half] and count / times >= self._tau]
        return ""

    def _token_of(self, text: bytes) -> int:
        token = self._token_by_text.setdefault(text, len(self._texts))
        if token == len(self._texts):
            self._texts.append(text)
            self._held.append(0)
            self._runs_with.append(set())
        self._in_use.add(token)
        self._tokens.append(token)
        return token

    def _use_up(self, pair: Pair, token: int, joined: int) -> None:
        if token == len(self._parts):
            self._parts.append([*pair])
        for half in pair:
            self._held[half] -= joined
        self._held[token] += joined

    def _join_in_run(self, index: int, pair: Pair, token: int, born: dict[Pair, None]) -> None:
        super()._join_in_run(index, pair, token, born)
        self._runs_with[token].add(index)

    def _drop(self, columns: Columns, token: int) -> int:
        """Let a token fall apart and write that down; how much work it was."""
        row, indices, times = self._learned, sorted(self._runs_with[token]), self._held[token]
        self._in_use.discard(token)
        self._tokens.append(token)
        self._learned += 1
        parts, born = self._fallen_apart(token), dict[Pair, None]()
        for index in indices:
            self._split_in_run(index, token, parts, born)
        self._held[token], self._runs_with[token] = 0, set()
        for part in parts:
            self._held[part] += times
        for pair in born:
            self._push(pair)
        columns.left[row], columns.right[row], columns.count[row] = token, NOTHING, times
        columns.runner_up_left[row] = columns.runner_up_right[row] = columns.runner_up_count[row] = NOTHING
        columns.tokens_left[row] = self._tokens_left
        return WORK_A_STEP + WORK_A_RUN * len(indices)

    def _split_in_run(self, index: int, token: int, parts: list[int], born: dict[Pair, None]) -> None:
        run = self._runs[index]
        if token not in run.symbols:
            return
        split = [id for one in run.symbols for id in (parts if one == token else (one,))]
        for old in self._pairs_in(run.symbols):
            self._counts[old] -= run.weight
        for new in self._pairs_in(split):
            self._add(new, index, run.weight)
            born[new] = None
        self._runs[index] = run._replace(symbols=split)
        self._tokens_left += run.weight * (len(split) - len(run.symbols))
        for part in parts:
            self._runs_with[part].add(index)

    def _fallen_apart(self, token: int) -> list[int]:
        if self._into_bytes:
            return [*self._texts[token]]
        return [
            id for half in self._parts[token] for id in ([half] if half in self._in_use else self._fallen_apart(half))
        ]
