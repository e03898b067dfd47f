"""The numbers Unigram goes by: log-probabilities from expected counts, and what dropping a piece would cost.

All are worked out with 64 bits and kept with 32, as SentencePiece keeps them: what differs by less than that is equal.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bpe_core.history.scores import DROPPED, Float32s
from bpe_core.learning.unigram.cells import Int64s
from bpe_core.repeating import repeated

Float64s = npt.NDArray[np.float64]

RARE = 0.5  # a piece that is expected less often leaves
UNKNOWN_PENALTY = np.float32(10)  # what has no score counts as so much less likely than anything that has one
_LEAST_EXPECTED = 1e-3  # the score of what leaves must be a number, too
_SHIFT = 7.0  # from here on the series below is exact


def digamma(numbers: Float64s) -> Float64s:
    """The derivative of the logarithm of the gamma function, of numbers above 0.

    >>> digamma(np.array([1.0, 10.0])).round(6).tolist()
    [-0.577216, 2.251753]
    """
    shifted, lost = numbers.copy(), np.zeros(len(numbers))
    small = np.flatnonzero(shifted < _SHIFT)
    while len(small):
        lost[small] += 1 / shifted[small]
        shifted[small] += 1
        small = small[shifted[small] < _SHIFT]
    shifted -= 0.5
    inverse = 1 / (shifted * shifted)
    series = inverse * (1 / 24 - inverse * (7 / 960 - inverse * (31 / 8064 - inverse * 127 / 30720)))
    found: Float64s = np.log(shifted) + series - lost
    return found


def first_scores(coverage: Int64s) -> Float32s:
    """Of how many characters of the corpus each piece covers."""
    scores = np.log(np.maximum(coverage, 1).astype(np.float64)) - np.log(float(max(1, coverage.sum())))
    narrow: Float32s = scores.astype(np.float32)
    return narrow


def scores_of(expected: Float32s, stay: npt.NDArray[np.bool_]) -> Float32s:
    """The log-probabilities that follow from expected counts, of those that stay and had they alone been counted.

    By the digamma function a count becomes a little smaller, a small one much: rare pieces get rarer.
    """
    counts = expected[stay].astype(np.float64)
    scores = np.full(len(expected), DROPPED, np.float32)
    scores[stay] = digamma(np.maximum(counts, _LEAST_EXPECTED)) - digamma(np.array([counts.sum()]))
    return scores


def least_first(ids: Int64s, numbers: Float32s) -> Int64s:
    """These ids, those with the least numbers first; of equals the last id.

    >>> least_first(np.array([1, 2, 3, 4]), np.array([0.5, -2, 0.5, -7], np.float32)).tolist()
    [4, 2, 3, 1]
    """
    bits = (numbers + np.float32(0)).view(np.int32)  # 0 has one sign
    keys = (bits ^ (bits >> 31 & 0x7FFFFFFF)).astype(np.int64) << 32  # sorted as the numbers, and faster than two keys
    keys |= 0xFFFFFFFF - ids
    keys.sort()
    return 0xFFFFFFFF - (keys & 0xFFFFFFFF)


def losses(counts: Int64s, pieces: Int64s, starts: Int64s, others: Int64s) -> Float32s:
    """How much less likely a token of the corpus would be, on average, were a piece replaced wherever it stands.

    `counts` tells how often each token stands there; the others that would replace piece i are those from `starts[i]`
    to `starts[i + 1]`.
    """
    total = float(counts.sum())
    count, sizes = counts[pieces].astype(np.float64), np.diff(starts)
    as_it_is = np.log(count) - np.log(total)
    new_total = np.log(total + count * (sizes - 1))
    gained = np.log(counts[others] + repeated(count, sizes)) - repeated(new_total, sizes)
    replaced = np.add.reduceat(gained, starts[:-1]) if len(pieces) else gained
    found: Float32s = (count / total * (as_it_is - replaced)).astype(np.float32)
    return found
