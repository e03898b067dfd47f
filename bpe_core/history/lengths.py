"""How long tokens are that are joined from others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from bpe_core.found_once import once

_Ints = npt.NDArray[np.int32] | npt.NDArray[np.int64]
_Given = tuple[list[int], _Ints, _Ints]

MOST_LENGTH = 2**62  # what is longer is as long as this: two such lengths can still be added


def joined_lengths(first: Sequence[int], left: _Ints, right: _Ints) -> npt.NDArray[np.int64]:
    """How long each token is, of the lengths of those there are at first and of the pairs that are joined.

    >>> joined_lengths([1, 1], np.array([0, 2]), np.array([1, 2])).tolist()
    [1, 1, 2, 4]
    """
    return once("lengths", (list(first), left, right), lambda: _joined_lengths(first, left, right), _are_same)


def _are_same(one: _Given, other: _Given) -> bool:
    return one[0] == other[0] and np.array_equal(one[1], other[1]) and np.array_equal(one[2], other[2])


def _joined_lengths(first: Sequence[int], lefts: _Ints, rights: _Ints) -> npt.NDArray[np.int64]:
    lengths = list(first)
    for left, right in zip(lefts.tolist(), rights.tolist(), strict=True):
        length = lengths[left] + lengths[right]
        lengths.append(min(MOST_LENGTH, length))
    return np.array(lengths, np.int64)
