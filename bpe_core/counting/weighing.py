"""Counts times a weight, in whole numbers: by largest remainder, so that the sum is as exact as a whole number can be.

    count  x 1.4  whole part  rest      the whole is 1.4 x (1 + 1 + 3) = 7, the whole parts are 6:
    1      1.4    1           .4        the largest rest gets the one that is left. Of words with the same
    1      1.4    1           .4        rest some may get one and others not; which, a hash of their
    3      4.2    4           .2        bytes decides: neither their order nor the alphabet.

Rounding each count by itself would do harm: rare words are many, and all of them would be rounded the same way.

>>> columns = WordColumns.of([b"low", b"lower", b"new"])
>>> sorted(times(np.array([1, 1, 3]), Fraction(7, 5), columns, np.arange(3)).tolist())
[1, 2, 4]
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from bpe_core.counting.joining import WordColumns
from bpe_core.repeating import repeated

Int64s = npt.NDArray[np.int64]

WORDS_AT_ONCE = 1 << 16
MULTIPLIER = 0x9E3779B97F4A7C15
_MASK = 2**64 - 1


def times(counts: Int64s, weight: Fraction, columns: WordColumns, rows: Int64s) -> Int64s:
    """These counts, of the words in those rows, times the weight. Words that occur equally often differ by one at most.

    The caller sees to it that what comes of it has a sum of 64 bits.
    """
    total = sum_of(counts) * weight
    if weight.denominator == 1:
        return counts * weight.numerator
    values, places, how_many = np.unique(counts, return_inverse=True, return_counts=True)
    parts = [divmod(value * weight.numerator, weight.denominator) for value in values.tolist()]
    whole = [part for part, _ in parts]
    left = round(total) - sum(part * many for part, many in zip(whole, how_many.tolist(), strict=True))
    in_part = -1  # the value of which only some words get one
    for i in sorted(range(len(parts)), key=lambda i: (-parts[i][1], -i)):
        if left < how_many[i]:
            in_part = i
            break
        whole[i] += 1
        left -= int(how_many[i])
    found = np.array(whole, np.int64)[places]
    if left:
        equal = np.flatnonzero(places == in_part)
        found[equal[np.argpartition(hashes(columns, rows[equal]), left - 1)[:left]]] += 1
    return found


def sum_of(counts: Int64s) -> int:
    """Exact, though it may be beyond 64 bits."""
    return (int((counts >> 32).sum()) << 32) + int((counts & 0xFFFFFFFF).sum())


def hashes(columns: WordColumns, chosen: Int64s) -> npt.NDArray[np.uint64]:
    """A number for each of these words that hangs on nothing but its bytes."""
    found = np.empty(len(chosen), np.uint64)
    for begin in range(0, len(chosen), WORDS_AT_ONCE):
        part = chosen[begin : begin + WORDS_AT_ONCE]
        firsts, lengths = columns.starts[part], columns.starts[part + 1] - columns.starts[part]
        begins = np.cumsum(lengths) - lengths
        inside = np.arange(int(lengths.sum())) - repeated(begins, lengths)
        powers = np.cumprod(np.full(int(lengths.max()), MULTIPLIER, np.uint64))
        letters = columns.text[repeated(firsts, lengths) + inside].astype(np.uint64) + np.uint64(1)
        found[begin : begin + len(part)] = np.add.reduceat(letters * powers[inside], begins)
    found ^= found >> np.uint64(32)
    found *= np.uint64(MULTIPLIER)
    found ^= found >> np.uint64(29)
    return found


def hash_plainly(word: bytes) -> int:
    """The same of one word, in plain Python."""
    found = sum((letter + 1) * pow(MULTIPLIER, place, 2**64) for place, letter in enumerate(word, start=1)) & _MASK
    found ^= found >> 32
    found = found * MULTIPLIER & _MASK
    return found ^ found >> 29
