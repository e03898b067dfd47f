"""A comparison of tokenizers: their boundaries in a text, the words that they split differently, and their common
tokens.

Places are byte offsets in the given text, before normalization.

    >>> one = Tokens(np.array([0, 3, 5]), np.array([300, 301]))
    >>> other = Tokens(np.array([0, 1, 3, 5]), np.array([97, 302, 301]))
    >>> found = parallel_cuts([one, other], 5)
    >>> found.places.tolist(), found.has.tolist(), found.differing.tolist(), found.stretches.tolist()
    ([1, 3], [[False, True], [True, True]], [1], [[0, 3]])
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Self

import numpy as np

from bpe_core.history.history import History
from bpe_core.history.token_texts import TokenBytes, shown
from bpe_core.insight.tokenized_words import TokenizedWords
from bpe_core.segmenting.segmentation import NO_TOKEN, Tokens
from bpe_core.support.arrays import Bools, Int64s
from bpe_core.support.progress import CancelCheck, never_cancelled, while_wanted
from bpe_core.support.wording import count_text


@dataclass(frozen=True, eq=False)
class ParallelCuts:
    """The boundaries between tokens in a text, for several tokenizers. The two ends of the text are left out."""

    places: Int64s  # byte offsets, ascending
    has: Bools  # indexed by [tokenizer, place]
    length: int  # of the text in bytes

    @cached_property
    def is_agreed(self) -> Bools:
        mask: Bools = np.logical_and.reduce(self.has, axis=0)
        return mask

    @cached_property
    def differing(self) -> Int64s:
        return self.places[~self.is_agreed]

    @cached_property
    def stretches(self) -> Int64s:
        """Return the ranges in which the tokenizers differ, with a row for each range.

        A range begins and ends at two successive boundaries that all tokenizers have.
        """
        agreed = np.concatenate(([0], self.places[self.is_agreed], [self.length]))
        which = np.searchsorted(agreed, self.differing)
        which = which[np.diff(which, prepend=0) > 0]  # one for each range
        return np.stack((agreed[which - 1], agreed[which]), axis=1)

    @cached_property
    def own(self) -> list[Int64s]:
        return [self.places[cuts & ~self.is_agreed] for cuts in self.has]


def parallel_cuts(tokens_of_each: Sequence[Tokens], length: int) -> ParallelCuts:
    """Return the boundaries of several tokenizers in a text of `length` bytes.

    A tokenizer may leave out bytes that other tokenizers encode. Such bytes count as a part of the next token.
    """
    cuts = np.zeros((len(tokens_of_each), length + 1), bool)  # marking the bytes is faster than sorting the cuts
    for marks, tokens in zip(cuts, tokens_of_each, strict=True):
        stops = tokens.edges[1:]
        marks[stops[(stops > tokens.edges[:-1]) & (tokens.ids != NO_TOKEN)]] = True
    cuts = cuts[:, :length]
    places = np.flatnonzero(cuts.any(axis=0))
    return ParallelCuts(places, cuts[:, places], length)


def why_not_of_size(history: History, size: int) -> str:
    """Return a part of a sentence that says why the vocabulary of a history cannot have `size` tokens.

    Return an empty string if the size is possible.

    >>> from bpe_core.studies.making import train
    >>> low = train(["low low"], "gpt2", merges=2).history
    >>> [why_not_of_size(low, size) for size in (257, 193, 400)]
    ['', 'cannot be 193: 256 at least', 'cannot be 400: 258 at most']
    """
    nearest = history.vocabulary_size_at(history.step_of_size(size))
    if nearest == size:
        return ""
    sizes = history.vocabulary_sizes()
    bound = f"{nearest:,} is the nearest size"
    if size < sizes.min():
        bound = f"{sizes.min():,} at least"
    elif size > sizes.max():
        bound = f"{sizes.max():,} at most"
    return f"cannot be {size:,}: {bound}"


LISTED = 200


@dataclass(frozen=True)
class DifferingWord:
    word: bytes
    count: int  # the count of the word
    places: int  # number of boundaries that only some tokenizers cut
    cut_by_each: tuple[tuple[int, ...], ...]  # the cuts of each tokenizer, in bytes

    @property
    def weight(self) -> int:
        return self.count * self.places

    def with_bars(self, by: int, bar: str = "|") -> str:
        """Return the word with a bar at each boundary of the tokenizer with the number `by`.

        >>> DifferingWord(b" low", 1, 1, ((2,), ())).with_bars(0)
        '␣l|ow'
        """
        ends = (0, *self.cut_by_each[by], len(self.word))
        return bar.join(shown(self.word[start:stop]) for start, stop in pairwise(ends))


def differing_words(
    cut_by_each: Sequence[TokenizedWords], at: Sequence[int], most: int = LISTED
) -> list[DifferingWord]:
    """Return at most `most` words: those with the most differing boundaries in the corpus.

    The number of differing boundaries in a word is multiplied by the count of the word. Words with equal products keep
    their order.
    """
    words = cut_by_each[0].words
    if not len(words):
        return []
    cuts = np.array([cut.starts_inside_words(step) for cut, step in zip(cut_by_each, at, strict=True)])
    differs = cuts.any(axis=0) & ~cuts.all(axis=0)
    places = np.add.reduceat(differs, words.starts[:-1], dtype=np.int64)
    order = np.argsort(-places * words.counts, kind="stable")[:most]
    listed: list[DifferingWord] = []
    for index in order[places[order] > 0].tolist():
        inside = cuts[:, words.starts[index] : words.starts[index + 1]]
        own = tuple(tuple(np.flatnonzero(row).tolist()) for row in inside)
        listed.append(DifferingWord(words.word(index), int(words.counts[index]), int(places[index]), own))
    return listed


NOT_COMPARED = -1  # the unknown token, which has no text


def keys_of(history: History, cancelled: CancelCheck = never_cancelled) -> list[bytes | None]:
    """Return the text by which each token is compared with the tokens of other vocabularies.

    Markers are replaced, so that tokens of different libraries can be equal. `▁the` gives a space and `the`, `<0x41>`
    gives `A`, and `low</w>` gives `low` and a space. If the tokens inside words have a prefix, `##the` gives `the`, and
    `the` gives a space and `the`. The key of the unknown token is None.
    """
    kinds: list[str] = [symbol.kind for symbol in history.alphabet.symbols]
    marks_what_goes_on = "continuation" in kinds
    texts, first = TokenBytes(history), list[int]()  # the first base symbol of each token
    keys: list[bytes | None] = []
    for token in while_wanted(range(history.first_special), cancelled):
        parts = history.parts(token)
        first.append(token if parts is None else first[parts[0]])
        kind = kinds[first[token]]
        begins_word = marks_what_goes_on and kind != "continuation"
        text = b" " + texts[token] if begins_word else texts[token]
        keys.append(None if kind == "unknown" else text)
    return keys


@dataclass(frozen=True)
class Overlap:
    """The overlap of two vocabularies without special tokens. Tokens with the same text count once."""

    common: int
    only_in_first: int
    only_in_second: int

    @property
    def jaccard(self) -> float:
        everything = self.common + self.only_in_first + self.only_in_second
        return self.common / everything if everything else 1.0

    @property
    def share_of_first(self) -> float:
        return self.common / max(1, self.common + self.only_in_first)

    @property
    def share_of_second(self) -> float:
        return self.common / max(1, self.common + self.only_in_second)

    @property
    def in_words(self) -> str:
        """Return a sentence about the overlap.

        >>> Overlap(6, 2, 2).in_words
        '6 tokens are in both vocabularies: 75.0% of the first vocabulary, 75.0% of the second, 60.0% of all (Jaccard).'
        """
        shares = f"{self.share_of_first:.1%} of the first vocabulary, {self.share_of_second:.1%} of the second"
        return (
            f"{count_text(self.common, 'token is', 'tokens are')} in both vocabularies: {shares}, {self.jaccard:.1%} "
            "of all (Jaccard)."
        )


@dataclass(frozen=True, eq=False)
class Vocabularies:
    """The tokens of several histories. Tokens with the same text have the same number."""

    histories: tuple[History, ...]
    numbers: tuple[Int64s, ...]  # the number of each token of each history, or NOT_COMPARED
    different: int  # number of different numbers

    @classmethod
    def of(cls, histories: Sequence[History], *, cancelled: CancelCheck = never_cancelled) -> Self:
        number_of: dict[bytes, int] = {}
        numbers = tuple(
            np.array(
                [
                    NOT_COMPARED if key is None else number_of.setdefault(key, len(number_of))
                    for key in keys_of(history, cancelled)
                ],
                np.int64,
            )
            for history in histories
        )
        return cls(tuple(histories), numbers, len(number_of))

    def overlap(self, first: int, second: int, at: Sequence[int]) -> Overlap:
        held = self._mask_of_tokens(first, at[first])
        other = self._mask_of_tokens(second, at[second])
        common = int(np.count_nonzero(held & other))
        return Overlap(common, int(np.count_nonzero(held)) - common, int(np.count_nonzero(other)) - common)

    def _mask_of_tokens(self, which: int, at: int) -> Bools:
        held = np.zeros(self.different, np.bool_)
        numbers = self.numbers[which][self.histories[which].first(at).vocabulary]
        held[numbers[numbers != NOT_COMPARED]] = True
        return held
