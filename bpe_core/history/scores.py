"""The log-probabilities of tokens, for methods that have them: a row whenever they were set anew.

A row holds those of the tokens that were not dropped by then, as the 32-bit numbers that models keep; so all rows
together are not much more than the first. What is set anew is in force from the next step on: after k steps a text is
cut by the last row that was set before step k was made, and before any step by the first row.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from bpe_core.records import dataclass

Float32s = npt.NDArray[np.float32]
Int32s = npt.NDArray[np.int32]

DROPPED = np.float32(-np.inf)


@dataclass(frozen=True, eq=False)
class Scores:
    """Rows in the order they were set, each with how many steps were made before it."""

    since: Sequence[int]  # ascending, the first is 0
    rows: Sequence[Float32s]  # one number for each token that was not dropped by then, by id; NaN for what has none
    dropped: Int32s  # the token of each step

    def number_at(self, steps: int) -> int:
        """Which row is in force after so many steps."""
        return max(0, bisect_left(self.since, steps) - 1)

    def until(self, steps: int) -> int:
        """The first number of steps beyond that after which another row is in force."""
        row = self.number_at(steps)
        return self.since[row + 1] + 1 if row + 1 < len(self.since) else 2**62

    def at(self, steps: int) -> Float32s:
        """What is in force after so many steps, by id; DROPPED for what is not in the vocabulary any more."""
        row = self.number_at(steps)
        alive = np.ones(len(self.rows[0]), np.bool_)
        alive[self.dropped[: self.since[row]]] = False
        scores = np.full(len(alive), DROPPED, np.float32)
        scores[alive] = self.rows[row]
        scores[self.dropped[self.since[row] : steps]] = DROPPED
        return scores

    def first(self, steps: int) -> Scores:
        """As they stood after so many steps."""
        rows = self.number_at(steps) + 1
        return Scores(self.since[:rows], self.rows[:rows], self.dropped[:steps])
