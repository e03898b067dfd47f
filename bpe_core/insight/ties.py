"""What the ties decided: which merges, against whom, and where another rule would have led.

A merge is decided by a tie when another pair had exactly its count. The loser is not lost:
mostly it is merged soon after. But sometimes the winner takes its tokens away, and two
correct trainers part ways for good.

    >>> from bpe_core.reference import train
    >>> from bpe_core.counting.words import WordTable
    >>> from bpe_core.recipe import Recipe
    >>> history = train(WordTable.from_counts({"aaabdaaabac": 1}), Recipe.preset("raw-bytes", min_frequency=2))
    >>> [(tie.step, tie.loser, tie.loser_step) for tie in ties(history)]  # aa+a won against a+b
    [(2, (97, 98), None)]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bpe_core.history.history import MergeHistory
from bpe_core.segmenting.tokenizer import Tokenizer


@dataclass(frozen=True)
class Tie:
    """A merge that was decided by the tie rule."""

    step: int  # 1 is the first merge
    winner: tuple[int, int]
    loser: tuple[int, int]  # the next best; there may have been more
    count: int
    loser_step: int | None  # where the loser was merged after all


def ties(history: MergeHistory, at: int | None = None) -> list[Tie]:
    """All ties among the first `at` merges (all, if not said). A table without counts knows of none."""
    tied = np.flatnonzero(history.tied[:at])
    if not len(tied):
        return []
    rank_of = history.ranks()
    rows = zip(*(column[tied].tolist() for column in history.columns[:6]), strict=True)
    found = []
    for index, (left, right, count, other_left, other_right, _) in zip(tied.tolist(), rows, strict=True):
        later = rank_of.get((other_left, other_right))
        loser_step = later + 1 if later is not None else None
        found.append(Tie(index + 1, (left, right), (other_left, other_right), count, loser_step))
    return found


@dataclass(frozen=True)
class Divergence:
    """Where two histories part, and how much their vocabularies have in common."""

    step: int | None  # the first at which they merge different pairs; None if the shorter one never leaves the other
    one: tuple[bytes, bytes] | None  # the texts of the pairs that are merged there
    other: tuple[bytes, bytes] | None
    shared: int  # tokens that both vocabularies hold, by their text
    only_one: int
    only_other: int

    @property
    def overlap(self) -> float:
        """The shared part of all tokens that either holds."""
        everything = self.shared + self.only_one + self.only_other
        return self.shared / everything if everything else 1.0


def divergence(one: MergeHistory, other: MergeHistory) -> Divergence:
    """Compare two histories by the texts of their tokens; their ids may differ.

    >>> from bpe_core import Alphabet, Recipe
    >>> some = MergeHistory.from_pairs(Recipe(), Alphabet.of_bytes(), [(97, 98), (98, 99)])
    >>> others = MergeHistory.from_pairs(Recipe(), Alphabet.of_bytes(), [(97, 98), (256, 99)])
    >>> parted = divergence(some, others)
    >>> parted.step, parted.one, parted.other, parted.shared
    (2, (b'b', b'c'), (b'ab', b'c'), 257)
    """
    texts, other_texts = written(one), written(other)
    step = pairs = None
    for index in range(min(len(one), len(other))):
        pairs = _pair_texts(one, index, texts), _pair_texts(other, index, other_texts)
        if pairs[0] != pairs[1]:
            step = index + 1
            break
    vocabulary, other_vocabulary = set(texts), set(other_texts)
    shared = len(vocabulary & other_vocabulary)
    return Divergence(
        step=step,
        one=pairs[0] if pairs and step else None,
        other=pairs[1] if pairs and step else None,
        shared=shared,
        only_one=len(vocabulary) - shared,
        only_other=len(other_vocabulary) - shared,
    )


def _pair_texts(history: MergeHistory, index: int, texts: list[bytes]) -> tuple[bytes, bytes]:
    return texts[history.columns.left[index]], texts[history.columns.right[index]]


def written(history: MergeHistory) -> list[bytes]:
    """What is written on each token, word markers included, in the order of the ids."""
    texts = [symbol.text for symbol in history.alphabet.symbols]
    for left, right in zip(history.columns.left.tolist(), history.columns.right.tolist(), strict=True):
        texts.append(texts[left] + texts[right])
    return texts


@dataclass(frozen=True)
class TextUnderBoth:
    """A text's tokens in two histories, as the bytes each token covers."""

    one: list[tuple[int, int]]
    other: list[tuple[int, int]]

    @property
    def differing(self) -> list[tuple[int, int]]:
        """The tokens of the first that are none of the second's."""
        others = set(self.other)
        return [span for span in self.one if span not in others]


def text_under_both(text: str, one: MergeHistory, other: MergeHistory, at: int | None = None) -> TextUnderBoth:
    """How both cut a text, after `at` merges each (as many as each has, if fewer)."""
    spans = []
    for history in (one, other):
        merges = len(history) if at is None else min(at, len(history))
        spans.append([(start, stop) for start, stop, _ in Tokenizer(history).spans(text, merges)])
    return TextUnderBoth(*spans)
