"""How long tokens are that are joined from others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

MOST_LENGTH = 2**62  # what is longer is as long as this: two such lengths can still be added


def joined_lengths(first: Sequence[int], pairs: Iterable[tuple[int, int]]) -> npt.NDArray[np.int64]:
    """How long each token is, of the lengths of those there are at first and of the pairs that are joined.

    >>> joined_lengths([1, 1], [(0, 1), (2, 2)]).tolist()
    [1, 1, 2, 4]
    """
    lengths = list(first)
    for left, right in pairs:
        length = lengths[left] + lengths[right]
        lengths.append(min(MOST_LENGTH, length))
    return np.array(lengths, np.int64)
