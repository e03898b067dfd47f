"""The measures of how many ids of a text change when noise is added to the text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from bpe_core.support.arrays import Int64s


@dataclass(frozen=True)
class ChangedIds:
    """A comparison of the ids of a text before and after noise."""

    before: int = 0  # the number of tokens
    after: int = 0
    common: int = 0  # tokens that are in both, at any place
    distance: int = 0  # the least number of ids to add, take out or replace

    def __add__(self, other: ChangedIds) -> ChangedIds:
        return ChangedIds(
            self.before + other.before,
            self.after + other.after,
            self.common + other.common,
            self.distance + other.distance,
        )

    @property
    def growth(self) -> float:
        """Return how much the number of tokens grows if noise is added to the text, relative to the number without
        noise.
        """
        return self.after / self.before - 1 if self.before else float("nan")

    @property
    def overlap(self) -> float:
        """Return the share of tokens that the text without noise and the text with noise have in common.

        The share is relative to the larger number of tokens. The order of the tokens does not matter.
        """
        return self.common / max(self.before, self.after) if self.before else float("nan")

    @property
    def edits(self) -> float:
        """Return the share of ids that change if noise is added to the text.

        This is the edit distance between the ids with and without noise, divided by the number of ids without noise.
        """
        return self.distance / self.before if self.before else float("nan")


def changed_ids(pairs: Iterable[tuple[Int64s, Int64s]]) -> ChangedIds:
    """Compare the ids of pieces of a text before and after noise.

    >>> changed_ids([(np.array([1, 2, 3]), np.array([1, 4, 3, 3]))])
    ChangedIds(before=3, after=4, common=2, distance=2)
    """
    changed = ChangedIds()
    for before, after in pairs:
        changed += ChangedIds(len(before), len(after), _common(before, after), edit_distance(before, after))
    return changed


def _common(before: Int64s, after: Int64s) -> int:
    ids, places = np.unique(np.concatenate((before, after)), return_inverse=True)
    counts = [np.bincount(part, minlength=len(ids)) for part in (places[: len(before)], places[len(before) :])]
    return int(np.minimum(*counts).sum())


def edit_distance(before: Int64s, after: Int64s) -> int:
    """Return the smallest number of ids to add, remove or replace, in order to turn `before` into `after`.

    >>> edit_distance(np.array([1, 2, 3, 4]), np.array([1, 3, 4, 4]))
    2
    """
    before, after = _without_equal_ends(before, after)
    if not len(before) or not len(after):
        return max(len(before), len(after))
    places = np.arange(len(after) + 1)
    row = places.copy()
    for number, id in enumerate(before.tolist(), 1):
        best = np.empty_like(row)
        best[0] = number
        best[1:] = np.minimum(row[1:] + 1, row[:-1] + (after != id))
        row = np.minimum.accumulate(best - places) + places  # to add ids costs one for each place
    return int(row[-1])


def _without_equal_ends(before: Int64s, after: Int64s) -> tuple[Int64s, Int64s]:
    """Return both arrays without the equal ids at their beginnings and at their ends.

    Noise changes only a few ids, so the remaining arrays are short.
    """
    common = min(len(before), len(after))
    differs = np.flatnonzero(before[:common] != after[:common])
    first = int(differs[0]) if len(differs) else common
    common -= first
    differs = np.flatnonzero(before[len(before) - common :][::-1] != after[len(after) - common :][::-1])
    last = int(differs[0]) if len(differs) else common
    return before[first : len(before) - last], after[first : len(after) - last]
