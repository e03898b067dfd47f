"""What the ties decided: which merges, and against whom.

A merge is decided by a tie when another pair had exactly its count. The loser is not lost:
mostly it is merged soon after. But sometimes the winner takes its tokens away, and two
correct trainers part ways for good (`table_comparison` shows where).

    >>> from bpe_core.reference import train
    >>> from bpe_core.counting.words import WordTable
    >>> from bpe_core.recipe import Recipe
    >>> history = train(WordTable.from_counts({"aaabdaaabac": 1}), Recipe.preset("raw-bytes", min_frequency=2))
    >>> [(tie.step, tie.loser, tie.loser_step) for tie in ties(history)]  # aa+a won against a+b
    [(2, (97, 98), None)]
"""

from __future__ import annotations

import numpy as np

from bpe_core.history.history import History
from bpe_core.progress import CancelCheck, never_cancelled, while_wanted
from bpe_core.records import dataclass


@dataclass(frozen=True)
class Tie:
    """A merge that was decided by the tie rule."""

    step: int  # 1 is the first merge
    winner: tuple[int, int]
    loser: tuple[int, int]  # the next best; there may have been more
    count: int
    loser_step: int | None  # where the loser was merged after all


def ties(history: History, at: int | None = None, *, cancelled: CancelCheck = never_cancelled) -> list[Tie]:
    """All ties among the first `at` merges (all, if not said). A table without counts knows of none."""
    tied = np.flatnonzero(history.tied[:at])
    if not len(tied):
        return []
    rows = zip(*(column[tied].tolist() for column in history.columns[:6]), strict=True)
    found = []
    numbered = zip(tied.tolist(), rows, strict=True)
    for index, (left, right, count, other_left, other_right, _) in while_wanted(numbered, cancelled):
        later = history.row_joining((other_left, other_right), block_of=index)
        loser_step = later + 1 if later is not None else None
        found.append(Tie(index + 1, (left, right), (other_left, other_right), count, loser_step))
    return found
