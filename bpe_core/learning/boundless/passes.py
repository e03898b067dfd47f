"""The two passes of BoundlessBPE in plain Python: byte-pair encoding that counts what merges make, and drops tokens.

Both are byte-pair encoding, but `aaa` holds a+a once. The first one also drops tokens where the recipe has a tau. The
second one learns in runs of words that are one token each.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np
import regex

from bpe_core.counting.words import WordTable
from bpe_core.history.alphabet import Alphabet, Symbol
from bpe_core.history.history import NOTHING, TOKEN, Columns, EndReason, Reasons
from bpe_core.learning.bpe.method import WORK_A_RUN, WORK_A_STEP, PlainLearner
from bpe_core.learning.layout import SEPARATOR, Layout
from bpe_core.learning.methods import Learner
from bpe_core.learning.superbpe.runs import Inside
from bpe_core.recipes.recipe import Recipe
from bpe_core.recipes.ties import Pair
from bpe_core.support.arrays import Int64s, repeated

_LETTER = regex.compile(r"\p{L}")


class FirstPass(Learner, Protocol):
    @property
    def more_tokens(self) -> int:
        """How many more tokens are in use than at the start."""

    def whole_words(self) -> Int64s:
        """For each word the token that it is, or NOTHING where it is several."""


class PlainApart(PlainLearner):
    def _pairs_in(self, symbols: list[int]) -> Iterable[Pair]:
        """
        >>> list(PlainApart._pairs_in(None, [1, 1, 1, 2, 2]))
        [(1, 1), (1, 2), (2, 2)]
        """
        before: Pair | None = None
        for pair in pairwise(symbols):
            overlaps = pair == before and pair[0] == pair[1]
            before = None if overlaps else pair
            if not overlaps:
                yield pair


class PlainWithin(PlainApart):
    @property
    def more_tokens(self) -> int:
        return self.learned

    def _begin(self, layout: Layout, words: WordTable) -> None:
        self._layout = layout

    def whole_words(self) -> Int64s:
        starts = self._layout.starts
        whole = np.where(np.diff(starts) == 2, self._layout.symbols[starts[:-1]], NOTHING).astype(np.int64)
        for run in self._runs:
            if len(run.symbols) == 1:
                whole[np.searchsorted(starts, run.start)] = run.symbols[0]
        return whole


class PlainDropping(PlainWithin):
    """The same where tokens are dropped, so that counts may rise again: one token a text, whoever makes it anew."""

    def __init__(self, words: WordTable, alphabet: Alphabet, recipe: Recipe, more: int) -> None:
        assert recipe.tau is not None
        self._tau, self._into_bytes, self._wanted = recipe.tau, recipe.falls_into == "bytes", more
        super().__init__(words, alphabet, recipe, None)
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

    @property
    def more_tokens(self) -> int:
        return len(self._in_use) - self._base

    def learn(self, columns: Columns, stop_at: int, work: int) -> EndReason:
        while len(self._tokens) < stop_at and work > 0:
            row = len(self._tokens)
            if self._drops:
                columns.left[row], columns.right[row] = self._drops[0], NOTHING
                columns.runner_up_left[row] = columns.runner_up_right[row] = columns.runner_up_count[row] = NOTHING
                columns.count[row] = self._held[self._drops[0]]
                work -= WORK_A_STEP + WORK_A_RUN * len(self._runs_with[self._drops[0]])
                self._drop(self._drops.pop(0))
            elif self.more_tokens >= self._wanted:
                return "vocabulary full"
            else:
                pair = self._best()
                if pair is None:
                    return "too rare" if self._any_pair_is_left() else "no pairs"
                held, count = {half: self._held[half] for half in pair}, self._counts.pop(pair)
                columns.left[row], columns.right[row] = pair
                columns.count[row] = count
                self._write_runner_up(columns, row)
                work -= WORK_A_STEP + WORK_A_RUN * len(self._places.get(pair, ()))
                self._merge(pair)
                self._drops = [half for half, times in held.items() if self._parts[half] and count / times >= self._tau]
            columns.tokens_left[row] = self._tokens_left
        return ""

    @property
    def learned(self) -> int:
        return len(self._tokens)

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

    def _drop(self, token: int) -> None:
        self._in_use.discard(token)
        self._tokens.append(token)
        parts, born = self._fallen_apart(token), dict[Pair, None]()
        for index in sorted(self._runs_with[token]):
            run = self._runs[index]
            if token not in run.symbols:
                continue
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
        times, self._held[token], self._runs_with[token] = self._held[token], 0, set()
        for part in parts:
            self._held[part] += times
        for pair in born:
            self._push(pair)

    def _fallen_apart(self, token: int) -> list[int]:
        if self._into_bytes:
            return [*self._texts[token]]
        return [
            id for half in self._parts[token] for id in ([half] if half in self._in_use else self._fallen_apart(half))
        ]


# --- The second pass --------------------------------------------------------------------


class Runs(NamedTuple):
    """Runs of whole words: each word is a base symbol."""

    words: WordTable  # only how often each run occurs
    alphabet: Alphabet
    layout: Layout
    tokens: Int64s  # what each base symbol is in the first pass


class PlainAcross(PlainApart):
    def __init__(self, runs: Runs, recipe: Recipe) -> None:
        self._runs_given = runs
        super().__init__(runs.words, runs.alphabet, recipe, None)

    def _lay_out(self, words: WordTable, alphabet: Alphabet, recipe: Recipe) -> Layout:
        return self._runs_given.layout


def runs_of(inside: Inside, counts: Int64s, whole: Int64s) -> Runs:
    """Return the runs of two whole words and more; `counts` are those of all runs, `whole` the tokens of the words."""
    text_of = {int(whole[row]): inside.words.word(row) for row in np.flatnonzero(whole != NOTHING).tolist()}
    tokens = np.array(sorted(token for token, word in text_of.items() if holds_letter(word)), np.int64)
    lettered = np.where(np.isin(whole, tokens), whole, NOTHING)
    found = lettered[inside.rows]
    beside = np.zeros(len(found) + 1, np.bool_)  # to the word before
    beside[1:-1] = (found[1:] != NOTHING) & (found[:-1] != NOTHING)
    beside[inside.first] = False
    kept = beside[:-1] | beside[1:]
    begins = kept & ~beside[:-1]
    cells = np.cumsum(kept) + np.cumsum(begins) - 1  # a separator is in front of each run, and behind the last
    symbols = np.full(int(kept.sum() + begins.sum()) + 1, SEPARATOR, np.int32)
    symbols[cells[kept]] = np.searchsorted(tokens, found[kept])
    starts = np.append(cells[begins], len(symbols))
    weights = repeated(counts, np.diff(inside.first))[begins]
    words = [text_of[token] for token in tokens.tolist()]
    alphabet = Alphabet(tuple(Symbol(word, word, "character") for word in words))
    table = WordTable(np.zeros(0, np.uint8), np.zeros(len(weights) + 1, np.int64), weights)
    return Runs(table, alphabet, Layout(symbols, starts, int(kept.sum())), tokens)


def holds_letter(word: bytes) -> bool:
    return _LETTER.search(word.decode(errors="ignore")) is not None


def first_pass(words: WordTable, alphabet: Alphabet, recipe: Recipe, more: int) -> FirstPass:
    """Learn until that many more tokens are in use than at the start."""
    return (
        PlainWithin(words, alphabet, recipe, None)
        if recipe.tau is None
        else PlainDropping(words, alphabet, recipe, more)
    )
