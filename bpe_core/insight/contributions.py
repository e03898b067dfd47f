"""What paid for a merge: the words that held the pair, and the files those words came from.

>>> from bpe_core.reference import train
>>> from bpe_core.recipe import Recipe
>>> words = WordTable.from_counts({"low": 5, "lower": 2, "new": 4})
>>> ranked = RankedWords.of(words, train(words, Recipe.preset("words")))
>>> paid = contributions(ranked, 1)  # l+o
>>> paid.count, [(ranked.words.word(one.word), one.count) for one in paid.words]
(7, [(b'low', 5), (b'lower', 2)])
>>> split_over_files(paid, ranked, FileCounts([WordTable.from_counts({"low": 5}), WordTable.from_counts({"lower": 2})]))
[5, 2]
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bpe_core.counting.words import WordTable
from bpe_core.insight.ranked_words import Occurrences, RankedWords
from bpe_core.records import dataclass


@dataclass(frozen=True)
class Contribution:
    """One word's part."""

    word: int  # its index in the word table
    times: int  # how often the pair stands in the word
    count: int  # that many times, as often as the word occurs


@dataclass(frozen=True)
class Contributions:
    """All words that contributed, the heaviest first."""

    count: int
    words: list[Contribution]


def contributions(ranked: RankedWords, step: int) -> Contributions:
    """The words that contributed to the count of a merge (1 is the first) when it was made."""
    return words_with(ranked, ranked.pair_occurrences(*ranked.history.pair(step - 1)), step - 1)


def words_with(ranked: RankedWords, occurrences: Occurrences, at: int) -> Contributions:
    """The words that hold a token or pair after so many merges."""
    cells = occurrences.starts[occurrences.alive(at)]
    words, times = np.unique(ranked.word_of_cell[cells], return_counts=True)
    counts = times * ranked.words.counts[words]
    order = np.argsort(-counts, kind="stable")
    listed = zip(words[order].tolist(), times[order].tolist(), counts[order].tolist(), strict=True)
    return Contributions(int(counts.sum()), [Contribution(*one) for one in listed])


class FileCounts:
    """How often each word occurs in each of several files; looked up by the bytes of the word."""

    def __init__(self, tables: Sequence[WordTable]) -> None:
        self._counts: list[dict[bytes, int] | None] = [None] * len(tables)
        self._tables = tables

    def __len__(self) -> int:
        return len(self._tables)

    def of(self, file: int, word: bytes) -> int:
        counts = self._counts[file]
        if counts is None:
            counts = self._counts[file] = dict(self._tables[file])
        return counts.get(word, 0)


def split_over_files(paid: Contributions, ranked: RankedWords, files: FileCounts) -> list[int]:
    """How much of the count comes from each file; together they are the whole count."""
    found = [0] * len(files)
    for one in paid.words:
        word = ranked.words.word(one.word)
        for file in range(len(files)):
            found[file] += one.times * files.of(file, word)
    return found
