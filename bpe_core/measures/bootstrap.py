"""The bootstrap over documents, which estimates how much a measure would change with other documents.

A draw takes as many documents as there are, with replacement. Whole documents are drawn, because the lines and words of
a document are alike: draws of lines or words would make the intervals too narrow. All tokenizers get the same draws, so
the interval of a difference between two tokenizers reflects the tokenizers, not the choice of documents.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bpe_core.support.arrays import Float64s, Int64s

DRAWS = 1_000
LEAST = 5  # documents that are needed to say how much they differ
BETWEEN = (0.025, 0.975)  # 95 of 100 draws lie between these quantiles
AT_ONCE = 4_000_000  # random numbers drawn together


@dataclass(frozen=True)
class Bootstrap:
    """Random draws of documents. Equal seeds make equal draws.

    Parameters
    ----------
    documents
        The number of documents, which is also the number of documents in a draw.
    seed
        The seed of the draws.
    draws
        The number of draws.
    """

    documents: int
    seed: int | Sequence[int] = 0
    draws: int = DRAWS

    def sums(self, values: npt.NDArray[np.float64] | Int64s) -> Float64s:
        """Return the sum of the values of the drawn documents, with a row for each draw.

        `values` has a column for each document. The result has a column for each row of `values`.
        """
        random = np.random.default_rng(self.seed)
        rows = max(1, AT_ONCE // self.documents)
        columns = np.atleast_2d(values).T.astype(np.float64)
        chances = np.full(self.documents, 1 / self.documents)
        parts = []
        for begin in range(0, self.draws, rows):
            times = random.multinomial(self.documents, chances, size=min(rows, self.draws - begin))
            parts.append(times.astype(np.float64) @ columns)
        return np.concatenate(parts)


def interval(drawn: Float64s) -> tuple[Float64s, Float64s]:
    """Return the lower and the upper end of the 95 % interval. Each row of `drawn` is a draw."""
    low, high = np.quantile(drawn, BETWEEN, axis=0)
    return low, high


def ratios(some: Float64s, of: Float64s) -> Float64s:
    """Divide one array by the other, such as tokens by words in each draw of documents.

    A division by zero gives NaN.
    """
    divided: Float64s = np.where(of > 0, some / np.maximum(of, 1), np.nan)
    return divided
