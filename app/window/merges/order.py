"""In which order rows stand that are sorted by a column."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Order = npt.NDArray[np.int64]


def argsort(keys: npt.NDArray[Any], descending: bool) -> Order:
    """Equal keys stay in step order, whichever way round.

    >>> argsort(np.array([3, 1, 3]), descending=True).tolist()
    [0, 2, 1]
    """
    if not descending:
        return np.argsort(keys, kind="stable")
    return len(keys) - 1 - np.argsort(keys[::-1], kind="stable")[::-1]
