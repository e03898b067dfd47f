"""The ranks of the boundaries in every distinct word of a corpus.

The rank of a boundary is the index of the merge that removes the boundary. A merge makes one token for each boundary
that it removes. So the ranks show where a token occurred, when each occurrence was made and used, and which words and
files contributed to a merge. No merge has to be repeated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bpe_core.counting.words import WordTable
from bpe_core.errors import BpeError
from bpe_core.history.history import History, Pair
from bpe_core.methods.kit.histories import first_stage_steps, learns_by_ranks
from bpe_core.methods.kit.layout import lay_out
from bpe_core.methods.kit.method import Method
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.methods.registry import METHODS
from bpe_core.segmenting.merging import NEVER, PATTERN_CUT, Merges
from bpe_core.support.arrays import Int32s, Int64s, repeat


@dataclass(frozen=True, eq=False)
class Occurrences:
    """The occurrences of a token or a pair over time.

    After `at` merges, an occurrence exists if `born <= at <= died`. All occurrences have the same `born`, but `died` is
    an array with a number for each occurrence.
    """

    starts: Int64s  # cells, ascending
    ends: Int64s
    born: int
    died: Int32s

    def alive(self, at: int) -> npt.NDArray[np.bool_]:
        return (self.died >= at) if at >= self.born else np.zeros(len(self.died), bool)


class Stage(NamedTuple):
    """The words that a stage of the training learned from, and the steps of the stage."""

    since: int  # the number of steps before the stage
    until: int  # the number of steps at the end of the stage
    words: RankedWords


@dataclass(frozen=True, eq=False)
class RankedWords:
    """The words of a corpus as an array of cells, with the rank of each boundary.

    A cell holds a base symbol or a separator. A separator precedes and follows each word.
    """

    words: WordTable
    history: History
    symbols: Int32s  # the base symbol in each cell; negative for separators and symbols that never merge
    starts: Int64s  # the first cell of each word, and the end of the last
    ranks: Int32s  # of the boundary before each cell: a merge's index, NEVER, or PATTERN_CUT at a word's edge
    tokens_at_start: int

    @classmethod
    def of(cls, words: WordTable, history: History) -> RankedWords:
        """Compute the ranks of all boundaries in the words. This takes about 0.1 s for a text of 10 MB and 32,000
        merges."""
        if not learns_by_ranks(history):
            title = METHODS[history.recipe.method].title
            why = f"{title} learns in another way" if history.joining is None else "This table merges by priority"
            raise BpeError(
                "This question works only for tokenizers that merge pairs inside words one after the other. "
                f"{why}. The question `token` shows how often a token occurred, and when."
            )
        layout = lay_out(words, history.alphabet, history.recipe)
        ranks = Merges(history).ranks_of(layout.symbols)
        return cls(words, history, layout.symbols, layout.starts, ranks, layout.tokens)

    @property
    def stages(self) -> tuple[Stage, ...]:
        """Return the words of each stage.

        A method that learns within words first, and then within runs of words, has two stages.
        """
        # Not stored here: words that refer to themselves stay in memory until the garbage collector finds them.
        first = self._first_stage
        return (Stage(0, NEVER, self),) if first is None else (first, Stage(first.until, NEVER, self))

    @cached_property
    def _first_stage(self) -> Stage | None:
        """Return the first of two stages, or None if there is only one stage."""
        turn = first_stage_steps(self.history)
        method = Method.of(self.history.recipe)
        inside = method.words_at_first(self.words, self.history.recipe) if turn else None
        return None if inside is None else Stage(0, turn, RankedWords.of(inside.words, self.history))

    def at(self, steps: int) -> RankedWords:
        """Return the ranked words of the stage that the training has reached after `steps` steps."""
        return next(stage.words for stage in reversed(self.stages) if stage.since <= steps)

    @property
    def base(self) -> int:
        return len(self.history.alphabet)

    @cached_property
    def word_of_cell(self) -> Int32s:
        """Return an array with the index of the word to which each cell belongs.

        The cells hold the base symbols of all words, with separators between them. A separator belongs to the word
        before it.
        """
        lengths = np.diff(self.starts)
        words = repeat(np.arange(len(lengths), dtype=np.int32), lengths)
        return np.concatenate([np.zeros(int(self.starts[0]), np.int32), words])

    @cached_property
    def weights(self) -> Int64s:
        return self.words.counts[self.word_of_cell] if len(self.words) else np.zeros(len(self.symbols), np.int64)

    @cached_property
    def token_lengths(self) -> Int64s:
        return self.history.token_lengths()

    @cached_property
    def pair_ranks(self) -> dict[Pair, int]:
        return self.history.ranks()

    @cached_property
    def merges(self) -> Merges:
        return Merges(self.history)

    @cached_property
    def tokenizer(self) -> Tokenizer:
        return Tokenizer(self.history)

    def has_merges_of(self, history: History) -> bool:
        """Return whether these ranks include all merges of a history.

        Merges are missing if the history is still being learned and has new merges.
        """
        return len(self.history) == len(history)

    @cached_property
    def joined(self) -> Int64s:
        merged = self.ranks < len(self.history)
        totals = np.bincount(self.ranks[merged], weights=self.weights[merged], minlength=len(self.history))
        return np.rint(totals).astype(np.int64)

    @cached_property
    def symbol_counts(self) -> Int64s:
        known = self.symbols >= 0
        totals = np.bincount(self.symbols[known], weights=self.weights[known], minlength=self.base)
        counts = np.rint(totals).astype(np.int64)
        for id, count in self._unknown_counts():
            counts[id] += count
        return counts

    def token_counts(self, at: int) -> Int64s:
        return self.history.first(at).token_counts(self.symbol_counts, self.joined[:at])

    def occurrences(self, token: int) -> Occurrences:
        """Return all occurrences of a token over time.

        The unknown token has none, because `symbols` does not contain it.
        """
        if token < self.base:
            starts = np.flatnonzero(self.symbols == token)
            ends = starts + 1
            born = 0
        else:
            merge = token - self.base
            columns = self.history.columns
            first, order = self.cells_by_rank
            boundaries = order[first[merge] : first[merge + 1]].astype(np.int64)
            starts = boundaries - self.token_lengths[columns.left[merge]]
            ends = boundaries + self.token_lengths[columns.right[merge]]
            born = merge + 1
        return Occurrences(starts, ends, born, np.minimum(self._dissolved(starts), self._dissolved(ends)))

    def pair_occurrences(self, left: int, right: int) -> Occurrences:
        first = self.occurrences(left)
        second = self.occurrences(right)
        _, i, j = np.intersect1d(first.ends, second.starts, assume_unique=True, return_indices=True)
        born = max(first.born, second.born)
        died = np.minimum(first.died[i], second.died[j])
        met = died >= born
        return Occurrences(first.starts[i][met], second.ends[j][met], born, died[met])

    def count(self, occurrences: Occurrences, at: int) -> int:
        return int(self.weights[occurrences.starts][occurrences.alive(at)].sum())

    def _dissolved(self, cells: Int64s) -> Int32s:
        ranks = self.ranks[cells]
        return np.where(ranks >= PATTERN_CUT, np.int32(NEVER), ranks)

    @cached_property
    def cells_by_rank(self) -> tuple[Int64s, Int32s]:
        """Return two arrays: the index at which each rank begins in the second array, and all cells sorted by rank."""
        order = np.argsort(self.ranks, kind="stable").astype(np.int32)
        return np.searchsorted(self.ranks[order], np.arange(len(self.history) + 1, dtype=np.int32)), order

    def _unknown_counts(self) -> Iterator[tuple[int, int]]:
        alphabet = self.history.alphabet
        inside = self.symbols < 0
        inside[self.starts[1:] - 1] = False
        inside[: int(self.starts[0])] = False
        for word in np.flatnonzero(np.bincount(self.word_of_cell[inside])).tolist():
            for id in alphabet.symbols_of(self.words.word(word), self.history.recipe):
                if not alphabet.symbols[id].merges:
                    yield id, int(self.words.counts[word])


@dataclass(frozen=True)
class Contribution:
    word: int  # the index in the table of words
    times: int  # how often the pair occurs in the word
    count: int  # `times` multiplied by the count of the word


@dataclass(frozen=True)
class Contributions:
    count: int
    words: list[Contribution]


def contributions(ranked: RankedWords, step: int) -> Contributions:
    """Return the words that contributed to the count of a merge at its step. The first step is 1."""
    if Method.of(ranked.history.recipe).counts_apart:
        first, cells = ranked.cells_by_rank
        return _in_words(ranked, cells[first[step - 1] : first[step]])
    return words_with(ranked, ranked.pair_occurrences(*ranked.history.pair(step - 1)), step - 1)


def words_with(ranked: RankedWords, occurrences: Occurrences, at: int) -> Contributions:
    return _in_words(ranked, occurrences.starts[occurrences.alive(at)])


def _in_words(ranked: RankedWords, cells: Int64s | Int32s) -> Contributions:
    words, times = np.unique(ranked.word_of_cell[cells], return_counts=True)
    counts = times * ranked.words.counts[words]
    order = np.argsort(-counts, kind="stable")
    listed = zip(words[order].tolist(), times[order].tolist(), counts[order].tolist(), strict=True)
    return Contributions(int(counts.sum()), [Contribution(*row) for row in listed])


class FileCounts:
    """The count of each word in several files or groups. Words are looked up by their bytes."""

    def __init__(self, tables: Mapping[str, WordTable]) -> None:
        self._counts: dict[str, dict[bytes, int]] = {name: dict(table) for name, table in tables.items()}

    def split(self, paid: Contributions, ranked: RankedWords) -> dict[str, int]:
        """Divide the count of a step among the files. `paid` holds the words that contributed to the count.

        The numbers of all files add up to the count.
        """
        times = [(ranked.words.word(contribution.word), contribution.times) for contribution in paid.words]
        return {name: sum(n * counts.get(word, 0) for word, n in times) for name, counts in self._counts.items()}
