"""The overlap of the tokens that texts use, and the Lorenz curve of the tokens that languages need."""

from __future__ import annotations

import numpy as np

from bpe_core.support.arrays import Float64s, Int64s


def jaccard(counts: Int64s, others: Int64s) -> float:
    """Return the Jaccard index of two texts: the number of tokens that both use, divided by the number that at least
    one uses.

    >>> jaccard(np.array([2, 1, 0]), np.array([1, 0, 5]))
    0.3333333333333333
    """
    either = int(np.count_nonzero(counts + others))
    return int(np.count_nonzero((counts > 0) & (others > 0))) / either if either else float("nan")


def jensen_shannon(counts: Int64s, others: Int64s) -> float:
    """Return the Jensen-Shannon divergence of the tokens of two texts, in bits.

    It is 0 if each token has the same frequency in both texts, and 1 if the texts have no token in common.

    >>> jensen_shannon(np.array([2, 0]), np.array([0, 3])), jensen_shannon(np.array([2, 4]), np.array([1, 2]))
    (1.0, 0.0)
    """
    shares = counts / max(1, int(counts.sum()))
    other_shares = others / max(1, int(others.sum()))
    between = (shares + other_shares) / 2
    return (_divergence(shares, between) + _divergence(other_shares, between)) / 2


def lorenz_curve(values: Float64s | Int64s) -> tuple[Float64s, Float64s]:
    """Return the points of the Lorenz curve of some values, as an array of x and an array of y.

    A point (x, y) says that the smallest values, which are the share x of all values, have the share y of the
    sum. In the example, the smaller half of the values is the 1, which is a quarter of the sum.

    >>> [points.tolist() for points in lorenz_curve(np.array([3, 1]))]
    [[0.0, 0.5, 1.0], [0.0, 0.25, 1.0]]
    """
    ordered = np.sort(values).astype(np.float64)
    sums = np.concatenate([[0.0], np.cumsum(ordered)])
    return np.linspace(0, 1, len(ordered) + 1), sums / max(1.0, float(sums[-1]))


def _divergence(shares: Float64s, between: Float64s) -> float:
    used = shares > 0
    return float((shares[used] * np.log2(shares[used] / between[used])).sum())
