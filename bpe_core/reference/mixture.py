"""The weighted counts of words in several groups of texts, in plain Python.

>>> weighted([{b"low": 1, b"new": 3}, {b"new": 2}], [Fraction(7, 3), Fraction(1)])
{b'low': 2, b'new': 9}

The counts of a group are multiplied exactly and rounded down. Rounding down makes the total of the group too small. The
missing counts go to the words with the largest fractions, one count to each word. If two words have equal fractions,
the word with the larger count comes first. If their counts are equal too, their hashes decide.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from bpe_core.counting.grouped import MULTIPLIER


def weighted(groups: Sequence[Mapping[bytes, int]], factors: Sequence[Fraction]) -> dict[bytes, int]:
    """Return the sums of the counts from all groups, in the order of first occurrence.

    Words with the sum 0 are left out.
    """
    sums: dict[bytes, int] = {}
    for counts, factor in zip(groups, factors, strict=True):
        for word, count in times(counts, factor).items():
            sums[word] = sums.get(word, 0) + count
    return {word: count for word, count in sums.items() if count}


def times(counts: Mapping[bytes, int], factor: Fraction) -> dict[bytes, int]:
    """Multiply the counts of a group by its factor, and return them as whole numbers."""
    whole = {word: count * factor.numerator // factor.denominator for word, count in counts.items()}
    missing = round(sum(counts.values()) * factor) - sum(whole.values())

    def rank(word: bytes) -> tuple[Fraction, int, int]:
        return whole[word] - counts[word] * factor, -counts[word], hash_of(word)

    for word in sorted(counts, key=rank)[:missing]:
        whole[word] += 1
    return whole


def hash_of(word: bytes) -> int:
    """Return a hash that depends only on the bytes of the word."""
    number = sum((letter + 1) * pow(MULTIPLIER, place, 2**64) for place, letter in enumerate(word, start=1)) % 2**64
    number ^= number >> 32
    number = number * MULTIPLIER % 2**64
    return number ^ number >> 29
