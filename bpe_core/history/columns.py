"""The columns of a history, one for each fact about a step, and the scores of tokens."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bpe_core.methods.facts import Single
from bpe_core.support.arrays import Int32s as Int32s
from bpe_core.support.arrays import Int64s as Int64s
from bpe_core.support.result_cache import cached

NOTHING = -1  # no runner-up; no right half, as in a step that drops a token; an unknown count
ADDED = -2  # the value of the right half in a step that adds a token
# The right half of a step on a single token, by what the method does; a method that only joins has no such step.
SINGLE: Mapping[Single | None, int] = {"drop": NOTHING, "add": ADDED, None: -3}


class Columns(NamedTuple):
    """The columns with the facts about all steps. Each step is a row. The arrays may have more rows than steps."""

    left: Int32s
    right: Int32s
    count: Int64s  # type: ignore[assignment]  # hides tuple.count, which is not needed here
    runner_up_left: Int32s
    runner_up_right: Int32s
    runner_up_count: Int64s
    tokens_left: Int64s

    @classmethod
    def with_room(cls, rows: int) -> Columns:
        wide = ("count", "runner_up_count", "tokens_left")
        columns: dict[str, Any] = {name: np.empty(rows, np.int64 if name in wide else np.int32) for name in cls._fields}
        return cls(**columns)

    def first(self, rows: int) -> Columns:
        """Return a read-only view of the first `rows` rows."""
        return Columns(**{name: frozen(column[:rows]) for name, column in self._asdict().items()})

    def behind(self, rows: int) -> Columns:
        """Return a view of all rows except the first `rows` rows."""
        return Columns(**{name: column[rows:] for name, column in self._asdict().items()})


def frozen(view: npt.NDArray[Any]) -> npt.NDArray[Any]:
    view.flags.writeable = False
    return view


_Ints = npt.NDArray[np.int32] | npt.NDArray[np.int64]
_Given = tuple[list[int], _Ints, _Ints]

MOST_LENGTH = 2**62  # the largest length that is counted; the sum of two such lengths fits into 64 bits


def joined_lengths(first: Sequence[int], left: _Ints, right: _Ints) -> npt.NDArray[np.int64]:
    """Return the lengths of all tokens, computed from the lengths of the base symbols and the joined pairs."""
    return cached("lengths", (list(first), left, right), lambda: _joined_lengths(first, left, right), _are_same)


def _are_same(given: _Given, other: _Given) -> bool:
    return given[0] == other[0] and np.array_equal(given[1], other[1]) and np.array_equal(given[2], other[2])


def _joined_lengths(first: Sequence[int], lefts: _Ints, rights: _Ints) -> npt.NDArray[np.int64]:
    lengths = list(first)
    for left, right in zip(lefts.tolist(), rights.tolist(), strict=True):
        length = lengths[left] + lengths[right]
        lengths.append(min(MOST_LENGTH, length))
    return np.array(lengths, np.int64)


Float32s = npt.NDArray[np.float32]

DROPPED = np.float32(-np.inf)


@dataclass(frozen=True, eq=False)
class Scores:
    """The log-probabilities of all tokens, which may change during a run.

    Each row holds the scores of all tokens after a certain number of steps. They are valid until the next row begins.
    """

    since: Sequence[int]  # the number of steps before each row, ascending from 0
    rows: Sequence[Float32s]  # the scores of tokens not dropped by then, by id; NaN for tokens without a score
    dropped: Int32s  # the token that each step dropped or added
    waiting: int = 0  # number of the last tokens that are in the vocabulary only after a step adds them

    def number_at(self, steps: int) -> int:
        return max(0, bisect_left(self.since, steps) - 1)

    def until(self, steps: int) -> int:
        """Return the next number of steps after which the scores differ from those after `steps` steps.

        If the scores do not change again, return a number that no run reaches.
        """
        row = self.number_at(steps)
        return self.since[row + 1] + 1 if row + 1 < len(self.since) else 2**62

    def at(self, steps: int) -> Float32s:
        """Return the score of each id after a number of steps.

        The score of a token outside the vocabulary is DROPPED.
        """
        row = self.number_at(steps)
        if self.waiting:
            scores = self.rows[row].copy()
            waiting = np.arange(len(scores) - self.waiting, len(scores))
            scores[np.setdiff1d(waiting, self.dropped[:steps])] = DROPPED
            return scores
        alive = np.ones(len(self.rows[0]), np.bool_)
        alive[self.dropped[: self.since[row]]] = False
        scores = np.full(len(alive), DROPPED, self.rows[0].dtype)
        scores[alive] = self.rows[row]
        scores[self.dropped[self.since[row] : steps]] = DROPPED
        return scores

    def first(self, steps: int) -> Scores:
        rows = self.number_at(steps) + 1
        return Scores(self.since[:rows], self.rows[:rows], self.dropped[:steps], self.waiting)
