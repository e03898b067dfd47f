"""What a trainer learned, merge by merge: append-only columns, seen through frozen views.

A `MergeHistory` is a view of the first `len(history)` merges. The trainer appends behind
that end; a view never changes, so it may be read from any thread.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from bpe_core.alphabet import Alphabet
from bpe_core.recipe import Recipe

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]

NOTHING = -1  # no runner-up; or a count that is not known (an imported table)

EndReason = Literal["", "vocabulary full", "too rare", "no pairs", "stopped"]

END_SENTENCES: dict[EndReason, str] = {
    "": "Training has not ended.",
    "vocabulary full": "The vocabulary has the size that was asked for.",
    "too rare": "No pair occurs as often as the minimum frequency any more.",
    "no pairs": "No two neighbouring symbols are left to merge.",
    "stopped": "Training was stopped.",
}


@dataclass(frozen=True)
class Merge:
    """One step: the pair that was joined, the token it became, and how narrowly it won."""

    step: int  # 1 for the first merge
    left: int
    right: int
    id: int
    count: int  # NOTHING where it is not known
    tied: bool  # another pair had the same count: the tie rule decided
    runner_up: tuple[int, int] | None  # the pair that would have won without this one
    runner_up_count: int
    tokens_left: int  # tokens in the corpus after this merge


class Columns(NamedTuple):
    """One row a merge; room for more rows than are filled."""

    left: Int32s
    right: Int32s
    count: Int64s  # type: ignore[assignment]  # of a tuple, which nobody asks of this one
    runner_up_left: Int32s
    runner_up_right: Int32s
    runner_up_count: Int64s
    tokens_left: Int64s

    @classmethod
    def with_room(cls, rows: int) -> Columns:
        wide = (np.empty(rows, np.int64) for _ in range(3))
        narrow = (np.empty(rows, np.int32) for _ in range(4))
        return cls(
            left=next(narrow),
            right=next(narrow),
            count=next(wide),
            runner_up_left=next(narrow),
            runner_up_right=next(narrow),
            runner_up_count=next(wide),
            tokens_left=next(wide),
        )

    def first(self, rows: int) -> Columns:
        """A read-only view of the first rows."""
        views = {name: column[:rows] for name, column in self._asdict().items()}
        for view in views.values():
            view.flags.writeable = False
        return Columns(**views)


class MergeHistory(Sequence[Merge]):
    """The merges in the order they were learned, with the alphabet and recipe they belong to."""

    def __init__(
        self,
        recipe: Recipe,
        alphabet: Alphabet,
        columns: Columns,
        *,
        tokens_at_start: int = NOTHING,
        end_reason: EndReason = "",
    ) -> None:
        self.recipe = recipe
        self.alphabet = alphabet
        self.columns = columns
        self.tokens_at_start = tokens_at_start
        self.end_reason: EndReason = end_reason

    @classmethod
    def from_pairs(cls, recipe: Recipe, alphabet: Alphabet, pairs: Sequence[tuple[int, int]]) -> MergeHistory:
        """A history of which only the merges are known, as when a table is imported."""
        columns = Columns.with_room(len(pairs))
        for column in columns:
            column[:] = NOTHING
        if pairs:
            columns.left[:], columns.right[:] = np.array(pairs, np.int32).T
        return cls(recipe, alphabet, columns.first(len(pairs)))

    def __len__(self) -> int:
        return len(self.columns.left)

    def __getitem__(self, index: int | slice) -> Merge | list[Merge]:  # type: ignore[override]
        if isinstance(index, slice):
            return [self._merge(i) for i in range(*index.indices(len(self)))]
        row = range(len(self))[index]
        return self._merge(row)

    def __iter__(self) -> Iterator[Merge]:
        return (self._merge(row) for row in range(len(self)))

    def _merge(self, row: int) -> Merge:
        left, right, count, other_left, other_right, other_count, tokens_left = (
            int(column[row]) for column in self.columns
        )
        has_other = other_left != NOTHING
        return Merge(
            step=row + 1,
            left=left,
            right=right,
            id=len(self.alphabet) + row,
            count=count,
            tied=has_other and other_count == count,
            runner_up=(other_left, other_right) if has_other else None,
            runner_up_count=other_count if has_other else 0,
            tokens_left=tokens_left,
        )

    @property
    def has_counts(self) -> bool:
        """Whether counts are known; an imported table has none until it is counted on a corpus."""
        return len(self) == 0 or int(self.columns.count[0]) != NOTHING

    @property
    def vocabulary_size(self) -> int:
        return len(self.alphabet) + len(self) + len(self.recipe.special_tokens)

    def first(self, merges: int) -> MergeHistory:
        """The history as it stood after that many merges."""
        if merges >= len(self):
            return self
        return MergeHistory(
            self.recipe, self.alphabet, self.columns.first(max(0, merges)), tokens_at_start=self.tokens_at_start
        )
