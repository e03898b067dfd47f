"""The simplest byte-pair encoding, which shares no code with the engine or the reference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

Pair = tuple[int, int]

BYTES = [chr(byte) for byte in range(256)]  # each byte as one character


@dataclass
class Recount:
    """The learned merges, and the words split into tokens by all of these merges."""

    texts: list[str]  # of each token
    words: list[tuple[list[int], int]]  # the tokens and the count of each word
    pairs: list[Pair] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    ties: list[bool] = field(default_factory=list)  # whether another pair occurred as often

    @property
    def rows(self) -> list[tuple[str, str, int]]:
        """Return each merge as its left text, its right text and its count."""
        rows = zip(self.pairs, self.counts, strict=True)
        return [(self.texts[left], self.texts[right], count) for (left, right), count in rows]

    def tokens_left(self) -> Counter[str]:
        """Count each token in the words after the last merge."""
        left: Counter[str] = Counter()
        for word, count in self.words:
            for token in word:
                left[self.texts[token]] += count
        return left

    def ids(self, symbols: Sequence[str]) -> list[int]:
        """Encode a word that consists of the given symbols, with all merges in the order in which they were learned."""
        word = [self.texts.index(symbol) for symbol in symbols]
        for number, pair in enumerate(self.pairs, len(self.texts) - len(self.pairs)):
            word = join_pair(word, pair, number)
        return word


def recount(
    words: Mapping[tuple[str, ...], int], merges: int, *, least: int = 2, lowest_ids: bool = False, base: list[str]
) -> Recount:
    """Count all pairs again before each step and join the most frequent pair.

    If several pairs are equally frequent, join the pair that occurs first, or, with `lowest_ids`, the pair with the
    lowest ids.
    """
    numbers = {text: number for number, text in enumerate(base)}
    result = Recount(list(base), [([numbers[symbol] for symbol in word], count) for word, count in words.items()])
    for _ in range(merges):
        counts: Counter[Pair] = Counter()
        for word, count in result.words:
            for pair in pairwise(word):
                counts[pair] += count
        most = max(counts.values(), default=0)
        if most < least:
            break
        leading = [pair for pair in counts if counts[pair] == most]
        left, right = min(leading) if lowest_ids else leading[0]
        result.pairs.append((left, right))
        result.counts.append(most)
        result.ties.append(len(leading) > 1)
        result.texts.append(result.texts[left] + result.texts[right])
        result.words = [(join_pair(word, (left, right), len(result.texts) - 1), count) for word, count in result.words]
    return result


def join_pair(word: list[int], pair: Pair, number: int) -> list[int]:
    """Join the pair wherever its two tokens are neighbours, from left to right."""
    result: list[int] = []
    i = 0
    while i < len(word):
        if tuple(word[i : i + 2]) == pair:
            result.append(number)
            i += 2
        else:
            result.append(word[i])
            i += 1
    return result
